/* scalar/widen.c - reference widening to binary32, one element at a time, and the two
 * ways from binary64. Integers only, as in narrow.c. */
#include "scalar.h"

/* The finite magnitude `code` of a type with `mantissa` fraction bits and an exponent
 * bias of `bias`, as a binary32 magnitude; exact. */
TAPER_INLINE uint32_t widen_magnitude(uint32_t code, uint32_t mantissa, uint32_t bias)
{
    uint32_t exponent = 127 - bias;
    if (code == 0)
        return 0;
    /* Subnormal: shift until the hidden bit is in its place, where it adds the 1 that
     * the exponent field of the least normal code has. */
    for (; code >> mantissa == 0; exponent--)
        code <<= 1;
    return (code << (23 - mantissa)) + (exponent << 23);
}

static uint32_t f32_from_f16(uint32_t x)
{
    const uint32_t sign = (x & 0x8000) << 16, a = x & 0x7fff;
    if (a > 0x7c00)
        return sign | F32_INFINITY | F32_QUIET | (a & 0x3ff) << 13;
    return sign | (a == 0x7c00 ? F32_INFINITY : widen_magnitude(a, 10, 15));
}

static uint32_t f32_from_f8e4m3fn(uint32_t x)
{
    const uint32_t sign = (x & 0x80) << 24, a = x & 0x7f;
    return sign | (a == 0x7f ? F32_INFINITY | F32_QUIET : widen_magnitude(a, 3, 7));
}

static uint32_t f32_from_f8e5m2(uint32_t x)
{
    const uint32_t sign = (x & 0x80) << 24, a = x & 0x7f;
    if (a > 0x7c)
        return sign | F32_INFINITY | F32_QUIET;
    return sign | (a == 0x7c ? F32_INFINITY : widen_magnitude(a, 2, 15));
}

/* `mantissa` and `bias` are those of one of the two FNUZ types. */
TAPER_INLINE uint32_t f32_from_fnuz(uint32_t x, uint32_t mantissa, uint32_t bias)
{
    const uint32_t sign = (x & 0x80) << 24;
    return sign | (x == 0x80 ? F32_INFINITY | F32_QUIET
                             : widen_magnitude(x & 0x7f, mantissa, bias));
}

static uint32_t f32_from_f4e2m1(uint32_t x)
{
    return (x & 8) << 28 | widen_magnitude(x & 7, 1, 1);
}

static uint32_t f32_from_f8e8m0(uint32_t x)
{
    if (x == 0xff)
        return F32_INFINITY | F32_QUIET;
    return x == 0 ? 0x00400000 : x << 23; /* 2^-127 is a binary32 subnormal */
}

void taper_scalar_widen_bf16(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, (uint32_t)load16(src, i) << 16);
}

void taper_scalar_widen_f16(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_f16(load16(src, i)));
}

void taper_scalar_widen_f8e4m3fn(void *dst, const void *src, size_t n, bool stream)
{
    const uint8_t *const in = src;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_f8e4m3fn(in[i]));
}

void taper_scalar_widen_f8e4m3fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const uint8_t *const in = src;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_fnuz(in[i], 3, 8));
}

void taper_scalar_widen_f8e5m2(void *dst, const void *src, size_t n, bool stream)
{
    const uint8_t *const in = src;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_f8e5m2(in[i]));
}

void taper_scalar_widen_f8e5m2fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const uint8_t *const in = src;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_fnuz(in[i], 2, 16));
}

void taper_scalar_widen_f4e2m1(void *dst, const void *src, size_t n, bool stream)
{
    const uint8_t *const in = src;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_f4e2m1((uint32_t)in[i / 2] >> (i % 2 * 4) & 15));
}

void taper_scalar_widen_f8e8m0(void *dst, const void *src, size_t n, bool stream)
{
    const uint8_t *const in = src;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_from_f8e8m0(in[i]));
}

/* ---- from binary64 ---- */

static const uint64_t f64_infinity = UINT64_C(0x7ff0000000000000);

/* The finite magnitude `a` of a binary64, cut to binary32. *lost has what was cut off:
 * its top bit is worth half of the last place, and any other makes it more or less. */
static uint32_t cut_f64(uint64_t a, uint64_t *lost)
{
    enum { LEAST = 1023 - 126 }; /* exponent field of the least normal binary32 */
    const uint64_t exponent = a >> 52;
    if (exponent >= LEAST) {
        *lost = a << 35;
        return (uint32_t)((a >> 29) - ((uint64_t)(1023 - 127) << 23));
    }
    const uint64_t significand = (a & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    const uint64_t shift = 29 + LEAST - exponent;
    if (shift > 54) { /* less than half of the least binary32 */
        *lost = a != 0;
        return 0;
    }
    *lost = significand << (64 - shift);
    return (uint32_t)(significand >> shift);
}

/* Infinity from 2^128 on and NaN: the same however finite values are rounded. */
static uint32_t f32_from_f64_special(uint64_t a)
{
    if (a > f64_infinity)
        return F32_INFINITY | F32_QUIET | (uint32_t)(a >> 29 & 0x3fffff);
    return F32_INFINITY;
}

static const uint64_t f64_two_to_128 = UINT64_C(0x47f0000000000000);

/* To odd: an inexact result gets its last bit set. It then lies on the same side of
 * every shorter number and of every midpoint between two as the input does, so that a
 * second rounding, to a shorter type, comes out as one from the input would. That holds
 * for types with two fraction bits less than binary32, at every exponent. */
static uint32_t f32_odd_from_f64(uint64_t x)
{
    const uint32_t sign = (uint32_t)(x >> 32) & 0x80000000;
    const uint64_t a = x & (UINT64_MAX >> 1);
    uint64_t lost;
    if (a >= f64_two_to_128)
        return sign | f32_from_f64_special(a);
    const uint32_t cut = cut_f64(a, &lost);
    return sign | cut | (lost != 0);
}

static uint32_t f32_nearest_from_f64(uint64_t x)
{
    const uint32_t sign = (uint32_t)(x >> 32) & 0x80000000;
    const uint64_t a = x & (UINT64_MAX >> 1), half = UINT64_C(1) << 63;
    uint64_t lost;
    if (a >= f64_two_to_128)
        return sign | f32_from_f64_special(a);
    const uint32_t cut = cut_f64(a, &lost);
    return sign | (cut + (lost > half || (lost == half && (cut & 1))));
}

void taper_scalar_f32_odd_from_f64(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_odd_from_f64(load64(src, i)));
}

void taper_scalar_f32_from_f64(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++)
        store32(dst, i, f32_nearest_from_f64(load64(src, i)));
}
