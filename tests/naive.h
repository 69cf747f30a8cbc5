/* naive.h - what the calls of taper/tensor.h must do, worked out one element after the
 * other. Of tensors that pass the checks that need no strides; none is empty. */
#ifndef TAPER_TESTS_NAIVE_H
#define TAPER_TESTS_NAIVE_H

#include "support.h"

#include "taper/tensor.h"

enum op { FILL, COPY, CAST };

size_t count(const taper_tensor *t);

/* Where the element number `index`, in row-major order, lies: in elements from data. */
int64_t place_of(const taper_tensor *t, size_t index);

/* The elements of `t` that lie lowest and highest, from data. */
void bounds(const taper_tensor *t, int64_t *lowest, int64_t *highest);

bool is_row_major(const taper_tensor *t);

/* Whether a tensor that is not row-major lies within what tensor.h allows. The
 * functions above are for those alone that do, or that are row-major. */
bool span_fits(const taper_tensor *t);

/* TAPER_OK, or the TAPER_BAD_STRIDE or TAPER_OVERLAP that is due; without `src` for a
 * fill. */
taper_status naive_status(enum op op, const taper_tensor *dst, const taper_tensor *src);

/* Does the call from data `src` to data `dst`, which stand for those of the tensors and
 * do not overlap. A fill has no `from`, and its value at `src`. */
void do_naively(enum op op, const taper_tensor *to, const taper_tensor *from,
                taper_cast_options options, unsigned char *dst,
                const unsigned char *src);

#endif
