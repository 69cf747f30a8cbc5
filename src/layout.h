/* layout.h - where the elements of tensors lie, and the best order to visit them. */
#ifndef TAPER_LAYOUT_H
#define TAPER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "taper/tensor.h"

/* A tensor of any rank has at most 63 dimensions of 2 or more, or its elements could
 * not be counted; the others do not matter here. */
enum { TAPER_MAX_DIMS = 64 };

/* Whether the elements follow each other in row-major order. */
bool taper_is_contiguous(const taper_tensor *t);

/* Whether the elements lie no more than PTRDIFF_MAX / 4 bytes apart, which keeps sums
 * of such distances far from overflow. `t` has strides; here and below no type is
 * packed.
 */
bool taper_span_fits(const taper_tensor *t);

/* Whether two indices of `t`, which has strides and whose span fits, mean the same
 * element; or whether that is too hard to tell. */
bool taper_indices_meet(const taper_tensor *t);

/* Whether an element of `a` shares a byte with one of `b`; or whether that is too hard
 * to tell. Both spans fit. */
bool taper_elements_overlap(const taper_tensor *a, const taper_tensor *b);

/* Whether both have the same elements at the same places. */
bool taper_same_layout(const taper_tensor *a, const taper_tensor *b);

/* One dimension of two tensors of the same shape: `n` indices, strides in bytes. */
struct taper_dim {
    size_t n;
    ptrdiff_t dst, src;
};

/* Two tensors of the same shape, as few dimensions as describe them. `dst` strides are
 * positive and fall from the first dimension to the last; n is never 0 or 1. */
struct taper_layout {
    char *dst;
    const char *src;
    int rank;
    struct taper_dim dim[TAPER_MAX_DIMS];
};

/* Dimensions of 1 are dropped, those with a negative stride in `dst` are turned round,
 * all are sorted by it, and neighbours that lie in both tensors as one are merged.
 * Neither tensor is empty, and no indices of dst meet. Without `src`, its strides are
 * 0. */
void taper_lay_out(struct taper_layout *layout, const taper_tensor *dst,
                   const taper_tensor *src);

#endif
