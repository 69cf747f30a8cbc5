/* tensor.h - tensors of any rank and layout: fill, copy and cast.
 *
 * What taper.h says of arrays holds for tensors too: no alignment is needed, no byte
 * outside the elements is touched, arguments are checked before the first write, and
 * results are the same on every CPU, with any number of threads and in any
 * floating-point environment. But the stack used stays below 32 KiB in an
 * optimised build. */
#ifndef TAPER_TENSOR_H
#define TAPER_TENSOR_H

#include "taper/taper.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A tensor: element (i0, i1, ...) is at `data` plus the sum of i_k * strides[k]
 * elements. The caller owns all that it points to.
 *
 * - Rank 0 is one element. A dimension of 0 makes the tensor empty, whatever the others
 *   are; a negative one is an error, also beside a 0.
 * - Strides may be negative, and in a source 0 (ONNX Expand, broadcasting). Those of
 *   dimensions of 0 or 1 are ignored, as are all of an empty tensor. The elements of a
 *   tensor that is not contiguous may lie up to PTRDIFF_MAX / 4 bytes apart.
 * - Tensors of packed 4-bit and 2-bit types are contiguous: their elements follow each
 *   other in row-major order, from the low bits of the first byte on.
 * - In a destination no two indices may mean the same element. Where strides are so
 *   contrived that finding out would take long, they are taken to.
 */
typedef struct taper_tensor {
    void *data;
    taper_dtype type;
    int32_t rank;
    const int64_t *shape; /**< `rank` dimensions; may be NULL when rank is 0 */
    const int64_t
        *strides; /**< `rank` strides in elements; NULL: contiguous, row-major */
} taper_tensor;

/**
 * Sets *bytes to the storage of a contiguous tensor of this type and shape; `data` and
 * `strides` are not looked at.
 *
 * Checks: TAPER_NULL (`t`, `bytes`, or `shape` with a rank above 0), TAPER_BAD_DTYPE,
 * TAPER_UNSUPPORTED (string), TAPER_BAD_SHAPE, TAPER_TOO_LARGE.
 */
TAPER_CHECKED taper_status taper_tensor_bytes(const taper_tensor *t, size_t *bytes);

/**
 * Sets every element of `dst` to the one at `value`, as taper_fill() does.
 *
 * Checks: TAPER_NULL (`dst`, or its `shape` with a rank above 0), TAPER_BAD_DTYPE,
 * TAPER_UNSUPPORTED (string), TAPER_BAD_SHAPE, TAPER_TOO_LARGE; then an empty tensor is
 * TAPER_OK; TAPER_NULL (`data`, `value`), TAPER_BAD_STRIDE.
 */
TAPER_CHECKED taper_status taper_tensor_fill(const taper_tensor *dst,
                                             const void *value);

/**
 * Copies every element of `src` to the same index of `dst`, bit for bit. Both have the
 * same type and shape; layouts are free: transposed, sliced, reversed, broadcast.
 *
 * A tensor may be copied onto itself: same data, same strides. Otherwise no element of
 * one may share a byte with an element of the other; that is decided on the elements
 * themselves, so that interleaved views are fine, such as the even columns of a matrix
 * and its odd ones. Where strides are so contrived that the decision would take long,
 * the answer is TAPER_OVERLAP.
 *
 * Checks: those of taper_tensor_fill() up to TAPER_TOO_LARGE, for `dst`, then for
 * `src`; TAPER_TYPE_MISMATCH, TAPER_SHAPE_MISMATCH; then an empty tensor is TAPER_OK;
 * TAPER_NULL (`data`), TAPER_BAD_STRIDE, TAPER_OVERLAP.
 */
TAPER_CHECKED taper_status taper_tensor_copy(const taper_tensor *dst,
                                             const taper_tensor *src);

/**
 * Casts every element of `src` to the same index of `dst`, as taper_cast() does.
 *
 * Overlap is as in taper_tensor_copy(), but for one case: with the same data, both
 * contiguous and `dst` of no more bits than `src`, it is taper_cast() with dst == src.
 *
 * Checks: those of taper_tensor_fill() up to TAPER_TOO_LARGE, for `dst`, then for
 * `src`; TAPER_UNSUPPORTED (a type that taper_cast() does not take),
 * TAPER_SHAPE_MISMATCH, TAPER_BAD_OPTION; then an empty tensor is TAPER_OK; TAPER_NULL
 * (`data`), TAPER_BAD_STRIDE, TAPER_OVERLAP.
 */
TAPER_CHECKED taper_status taper_tensor_cast(const taper_tensor *dst,
                                             const taper_tensor *src,
                                             const taper_cast_options *options);

#ifdef __cplusplus
}
#endif

#endif
