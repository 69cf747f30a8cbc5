/* tensor.c - taper_tensor_*(): checks, and what needs no walk over two layouts. */
#include "taper/tensor.h"

#include <string.h>

#include "cast.h"
#include "checks.h"
#include "dtype.h"
#include "layout.h"
#include "walk.h"

/* ---- Checks ---- */

taper_status taper_check_tensor(const taper_tensor *t, size_t *count, size_t *bytes)
{
    size_t n = 1;
    bool empty = false;

    if (t == NULL || (t->rank > 0 && t->shape == NULL))
        return TAPER_NULL;
    if (!taper_dtype_known(t->type))
        return TAPER_BAD_DTYPE;
    if (taper_dtypes[t->type].bits == 0)
        return TAPER_UNSUPPORTED;
    if (t->rank < 0)
        return TAPER_BAD_SHAPE;
    for (int k = 0; k < t->rank; k++) {
        if (t->shape[k] < 0)
            return TAPER_BAD_SHAPE;
        empty = empty || t->shape[k] == 0;
    }
    for (int k = 0; k < t->rank && !empty; k++) {
        if ((uint64_t)t->shape[k] > PTRDIFF_MAX / n)
            return TAPER_TOO_LARGE;
        n *= (size_t)t->shape[k];
    }
    *count = empty ? 0 : n;
    return taper_array_bytes(t->type, *count, bytes) ? TAPER_OK : TAPER_TOO_LARGE;
}

bool taper_same_shape(const taper_tensor *a, const taper_tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (int k = 0; k < a->rank; k++)
        if (a->shape[k] != b->shape[k])
            return false;
    return true;
}

/* Of a tensor that is not empty. */
static bool strides_ok(const taper_tensor *t, bool destination)
{
    if (taper_is_contiguous(t))
        return true;
    return taper_dtype_bits(t->type) >= 8 && taper_span_fits(t) &&
           !(destination && taper_indices_meet(t));
}

taper_status taper_check_copy(const taper_tensor *dst, const taper_tensor *src,
                              size_t *count)
{
    size_t bytes;
    bool overlap;
    taper_status status = taper_check_tensor(dst, count, &bytes);
    if (status == TAPER_OK)
        status = taper_check_tensor(src, count, &bytes);
    if (status != TAPER_OK)
        return status;
    if (dst->type != src->type)
        return TAPER_TYPE_MISMATCH;
    if (!taper_same_shape(dst, src))
        return TAPER_SHAPE_MISMATCH;
    if (*count == 0)
        return TAPER_OK;
    if (dst->data == NULL || src->data == NULL)
        return TAPER_NULL;
    if (taper_is_contiguous(dst) && taper_is_contiguous(src))
        overlap =
            dst->data != src->data && taper_overlap(dst->data, bytes, src->data, bytes);
    else if (strides_ok(dst, true) && strides_ok(src, false))
        overlap = !taper_same_layout(dst, src) && taper_elements_overlap(dst, src);
    else
        return TAPER_BAD_STRIDE;
    return overlap ? TAPER_OVERLAP : TAPER_OK;
}

/* ---- The copy itself ---- */

taper_status taper_copy_checked(const taper_tensor *dst, const taper_tensor *src,
                                size_t count)
{
    if (taper_is_contiguous(dst) && taper_is_contiguous(src))
        return taper_copy(dst->type, dst->data, src->data, count);
    if (taper_same_layout(dst, src))
        return TAPER_OK;

    struct taper_layout layout;
    const size_t size = taper_dtype_bits(dst->type) / 8;
    taper_lay_out(&layout, dst, src);
    if (layout.rank == 1 && layout.dim[0].dst == (ptrdiff_t)size &&
        layout.dim[0].src == (ptrdiff_t)size)
        return taper_copy(dst->type, layout.dst, layout.src, count);
    taper_walk_copy(&layout, size);
    return TAPER_OK;
}

/* ---- The public functions ---- */

taper_status taper_tensor_bytes(const taper_tensor *t, size_t *bytes)
{
    size_t count, size;
    if (bytes == NULL)
        return TAPER_NULL;
    const taper_status status = taper_check_tensor(t, &count, &size);
    if (status == TAPER_OK)
        *bytes = size;
    return status;
}

taper_status taper_tensor_fill(const taper_tensor *dst, const void *value)
{
    size_t count, bytes;
    const taper_status status = taper_check_tensor(dst, &count, &bytes);
    if (status != TAPER_OK || count == 0)
        return status;
    if (dst->data == NULL || value == NULL)
        return TAPER_NULL;
    if (taper_is_contiguous(dst))
        return taper_fill(dst->type, dst->data, count, value);
    if (!strides_ok(dst, true))
        return TAPER_BAD_STRIDE;

    struct taper_layout layout;
    const size_t size = taper_dtype_bits(dst->type) / 8;
    char own[TAPER_PATTERN_BYTES]; /* `value` may lie inside dst */
    memcpy(own, value, size);
    taper_lay_out(&layout, dst, NULL);
    layout.src = own;
    if (layout.rank == 1 && layout.dim[0].dst == (ptrdiff_t)size)
        return taper_fill(dst->type, layout.dst, count, own);
    taper_walk_copy(&layout, size);
    return TAPER_OK;
}

taper_status taper_tensor_copy(const taper_tensor *dst, const taper_tensor *src)
{
    size_t count;
    const taper_status status = taper_check_copy(dst, src, &count);
    return status != TAPER_OK || count == 0 ? status
                                            : taper_copy_checked(dst, src, count);
}

/* A cast between a packed tensor, which is contiguous, and one that is not. */
static taper_status cast_packed(const taper_tensor *dst, const taper_tensor *src,
                                size_t count, const struct taper_path *path)
{
    const bool to_packed = path->dst_bits < 8;
    const taper_tensor *const packed = to_packed ? dst : src;
    const taper_tensor *const other = to_packed ? src : dst;
    size_t size;
    taper_array_bytes(packed->type, count, &size);
    const int64_t length = (int64_t)size;
    const taper_tensor bytes = {packed->data, TAPER_U8, 1, &length, NULL};
    if (taper_elements_overlap(&bytes, other))
        return TAPER_OVERLAP;

    struct taper_layout layout;
    const taper_tensor index = {NULL, TAPER_U8, dst->rank, dst->shape, NULL};
    taper_lay_out(&layout, &index, other);
    taper_walk_packed(&layout, count, packed->data, other->data, path);
    return TAPER_OK;
}

taper_status taper_tensor_cast(const taper_tensor *dst, const taper_tensor *src,
                               const taper_cast_options *options)
{
    struct taper_path path;
    size_t count, bytes;
    taper_status status = taper_check_tensor(dst, &count, &bytes);
    if (status == TAPER_OK)
        status = taper_check_tensor(src, &count, &bytes);
    if (status != TAPER_OK)
        return status;
    status = taper_find_path(&path, dst->type, src->type, options);
    if (status == TAPER_UNSUPPORTED)
        return status;
    if (!taper_same_shape(dst, src))
        return TAPER_SHAPE_MISMATCH;
    if (status != TAPER_OK || count == 0)
        return status;
    if (dst->type == src->type)
        return taper_tensor_copy(dst, src);
    if (dst->data == NULL || src->data == NULL)
        return TAPER_NULL;
    if (taper_is_contiguous(dst) && taper_is_contiguous(src))
        return taper_cast(dst->type, dst->data, src->type, src->data, count, options);
    if (!strides_ok(dst, true) || !strides_ok(src, false))
        return TAPER_BAD_STRIDE;
    if (path.dst_bits < 8 || path.src_bits < 8)
        return cast_packed(dst, src, count, &path);
    if (taper_elements_overlap(dst, src))
        return TAPER_OVERLAP;

    struct taper_layout layout;
    taper_lay_out(&layout, dst, src);
    if (layout.rank == 1 && layout.dim[0].dst == (ptrdiff_t)path.dst_bits / 8 &&
        layout.dim[0].src == (ptrdiff_t)path.src_bits / 8)
        return taper_cast(dst->type, layout.dst, src->type, layout.src, count, options);
    taper_walk_cast(&layout, &path);
    return TAPER_OK;
}
