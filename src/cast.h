/* cast.h - the kernels that a cast is made of. */
#ifndef TAPER_CAST_H
#define TAPER_CAST_H

#include "kernels.h"

/* The way from one type to another through binary32. One of the two kernels may be
 * NULL: the side that is binary32 already. */
struct taper_path {
    taper_widen_fn *widen;
    taper_narrow_fn *narrow;
    taper_cast_options options;
    size_t dst_bits, src_bits;
};

/* Finds the way between two known types; there is none to follow if they are the same.
 * TAPER_UNSUPPORTED if one of them is not a type of casts; else TAPER_BAD_OPTION if
 * `options` are none. */
taper_status taper_find_path(struct taper_path *path, taper_dtype to, taper_dtype from,
                             const taper_cast_options *options);

/* Casts `n` elements on this thread; dst and src are as kernels take them. */
void taper_follow(const struct taper_path *path, void *dst, const void *src, size_t n,
                  bool stream);

#endif
