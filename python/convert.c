/* convert.c - casts and copies between operands of which one or both are padded.
 *
 * The library packs elements of 4 and 2 bits, two or four a byte; NumPy arrays have one
 * per byte. A cast between the two goes through small packed blocks. */
#include "binding.h"

#include <stdlib.h>

static void pack(unsigned char *packed, const unsigned char *codes, size_t n)
{
    for (size_t i = 0; i < n / 2; i++)
        packed[i] = (unsigned char)((codes[2 * i] & 15) | codes[2 * i + 1] << 4);
    if (n % 2 != 0)
        packed[n / 2] = codes[n - 1] & 15;
}

static void unpack(unsigned char *codes, const unsigned char *packed, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        codes[2 * i] = packed[i] & 15;
        codes[2 * i + 1] = packed[i] >> 4;
    }
    if (n % 2 != 0)
        codes[n - 1] = packed[n / 2] & 15;
}

/* The bytes before element `i`, which is even. */
static size_t offset_of(const struct operand *op, size_t i)
{
    return op->padded ? i : i * taper_dtype_bits(op->type) / 8;
}

/* Of contiguous operands that do not overlap. */
static taper_status convert_blocks(const struct operand *dst, const struct operand *src,
                                   const taper_cast_options *options)
{
    enum { BLOCK = 4096 };
    unsigned char src_block[BLOCK / 2], dst_block[BLOCK / 2];
    taper_status status = TAPER_OK;

    for (size_t i = 0; i < src->n && status == TAPER_OK; i += BLOCK) {
        const size_t n = src->n - i < BLOCK ? src->n - i : BLOCK;
        const unsigned char *from = (unsigned char *)src->t.data + offset_of(src, i);
        unsigned char *const to = (unsigned char *)dst->t.data + offset_of(dst, i);
        if (src->padded) {
            pack(src_block, from, n);
            from = src_block;
        }
        unsigned char *const packed = dst->padded ? dst_block : to;
        status = dst->type == src->type
                     ? taper_copy(dst->type, packed, from, n)
                     : taper_cast(dst->type, packed, src->type, from, n, options);
        if (dst->padded && status == TAPER_OK)
            unpack(to, dst_block, n);
    }
    return status;
}

static bool overlap(const struct operand *a, const struct operand *b)
{
    const uintptr_t p = (uintptr_t)a->t.data, q = (uintptr_t)b->t.data;
    return p < q + b->bytes && q < p + a->bytes;
}

/* A contiguous tensor like op->t, at `data`. */
static taper_tensor contiguous_at(const struct operand *op, void *data)
{
    taper_tensor t = op->t;
    t.data = data;
    t.strides = NULL;
    return t;
}

/* With copies of what is not contiguous; it is also safe if the operands overlap. */
static taper_status convert_copies(const struct operand *dst, const struct operand *src,
                                   const taper_cast_options *options)
{
    struct operand from = *src, to = *dst;
    taper_status status = (taper_status)NO_MEMORY;

    void *const from_data = malloc(src->bytes);
    void *const to_data = malloc(dst->bytes);
    if (from_data != NULL && to_data != NULL) {
        from.t = contiguous_at(src, from_data);
        to.t = contiguous_at(dst, to_data);
        status = taper_tensor_copy(&from.t, &src->t);
        if (status == TAPER_OK)
            status = convert_blocks(&to, &from, options);
        if (status == TAPER_OK)
            status = taper_tensor_copy(&dst->t, &to.t);
    }
    free(from_data);
    free(to_data);
    return status;
}

/* The short way, for what most arrays are. */
static taper_status convert_arrays(const struct operand *dst, const struct operand *src,
                                   const taper_cast_options *options)
{
    if (dst->type == src->type)
        return taper_copy(dst->type, dst->t.data, src->t.data, dst->n);
    return taper_cast(dst->type, dst->t.data, src->type, src->t.data, dst->n, options);
}

taper_status convert(const struct operand *dst, const struct operand *src,
                     const taper_cast_options *options)
{
    if (!dst->padded && !src->padded && dst->t.strides == NULL &&
        src->t.strides == NULL)
        return convert_arrays(dst, src, options);
    if (dst->type == src->type && dst->padded == src->padded)
        return taper_tensor_copy(&dst->t, &src->t);
    if (!dst->padded && !src->padded)
        return taper_tensor_cast(&dst->t, &src->t, options);
    if (src->n == 0)
        return TAPER_OK;
    if (operand_is_contiguous(dst) && operand_is_contiguous(src) && !overlap(dst, src))
        return convert_blocks(dst, src, options);
    return convert_copies(dst, src, options);
}
