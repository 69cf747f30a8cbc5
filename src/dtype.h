/* dtype.h - sizes of elements, and the checks on arrays of them. They are inline, since
 * a call on a few elements takes little longer than its checks. */
#ifndef TAPER_DTYPE_H
#define TAPER_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

struct taper_dtype_info {
    const char *name; /* as the ONNX operator pages spell it; NULL: no such number */
    unsigned char bits;
    unsigned char shift; /* bits are 1 << shift; all sizes are powers of two */
};

extern const struct taper_dtype_info taper_dtypes[TAPER_DTYPE_COUNT];

/* Whether `type` is the number of a taper_dtype. */
static inline bool taper_dtype_known(taper_dtype type)
{
    return (unsigned)type < TAPER_DTYPE_COUNT && taper_dtypes[type].name != NULL;
}

/* Bytes that `n` elements of a known type take, packed; false if they or `n` exceed
 * PTRDIFF_MAX. */
static inline bool taper_array_bytes(taper_dtype type, size_t n, size_t *bytes)
{
    const unsigned shift = taper_dtypes[type].shift;
    if (shift >= 3) {
        *bytes = n << (shift - 3);
        return n <= (size_t)PTRDIFF_MAX >> (shift - 3);
    }
    *bytes = (n >> (3 - shift)) + ((n & ((1u << (3 - shift)) - 1)) != 0);
    return n <= PTRDIFF_MAX;
}

/* Whether two arrays share a byte. */
static inline bool taper_overlap(const void *a, size_t a_bytes, const void *b,
                                 size_t b_bytes)
{
    const uintptr_t p = (uintptr_t)a, q = (uintptr_t)b;
    return p < q ? q - p < a_bytes : p - q < b_bytes;
}

#endif
