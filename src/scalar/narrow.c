/* scalar/narrow.c - reference narrowing from binary32, one element at a time.
 *
 * Bit patterns and integers only: no rounding mode, flush-to-zero setting or compiler
 * flag can change what these return. */
#include "scalar.h"

/* The magnitude `a` of a binary32, rounded to nearest even to `mantissa` fraction bits
 * with an exponent bias of `bias`, as a code; its range is not limited above. The
 * significand loses 23 - mantissa bits, and one more for each step that the exponent
 * lies below the least normal one of the target: at 25 nothing is left. */
TAPER_INLINE uint32_t round_magnitude(uint32_t a, uint32_t mantissa, uint32_t bias)
{
    const uint32_t least = 128 - bias; /* binary32 exponent of the least normal */
    const uint32_t exponent = a >> 23;
    const uint32_t below = exponent < least ? least - exponent : 0;
    const uint32_t above = exponent < least ? 0 : exponent - least;
    const uint32_t shift = below < mantissa + 2 ? 23 - mantissa + below : 25;
    const uint32_t significand = (a & 0x7fffff) | 0x800000;
    const uint32_t odd = significand >> shift & 1;
    /* Half of a unit. For 1 << (shift - 1) Clang would use float arithmetic. */
    const uint32_t half = 0x80000000 >> (32 - shift);
    const uint32_t rounded = (significand + half - 1 + odd) >> shift;
    return (above << mantissa) +
           rounded; /* its hidden bit adds the 1 to the exponent */
}

static uint16_t bf16_from_bits(uint32_t x)
{
    if ((x & F32_MAGNITUDE) > F32_INFINITY)
        return (uint16_t)(x >> 16 | 0x0040); /* the sign and top payload bits, quiet */
    const uint32_t odd = x >> 16 & 1;        /* ties go to the even neighbour */
    return (uint16_t)((x + 0x7fff + odd) >> 16);
}

static uint16_t f16_from_bits(uint32_t x)
{
    const uint32_t sign = x >> 16 & 0x8000, a = x & F32_MAGNITUDE;
    uint32_t code = round_magnitude(a, 10, 15);
    code =
        a >= 0x477ff000 ? 0x7c00 : code; /* 65520, halfway to 2^16, rounds past 65504 */
    code = a > F32_INFINITY ? 0x7e00 | (a >> 13 & 0x3ff) : code;
    return (uint16_t)(sign | code);
}

/* A small float type. Overflow is decided on the input: `limit` is the least magnitude
 * that rounds past the largest finite value. */
struct format {
    uint32_t mantissa, bias, limit;
    uint8_t largest, beyond,
        nan;            /* codes for overflow, saturating or not, and for NaN */
    bool negative_zero; /* if not, the code with only the sign bit is the NaN */
};

static const struct format e4m3fn = {3, 7, 0x43e80001, 0x7e, 0x7f, 0x7f, true};
static const struct format e4m3fnuz = {3, 8, 0x43780000, 0x7f, 0x80, 0x80, false};
static const struct format e5m2 = {2, 15, 0x47700000, 0x7b, 0x7c, 0x7e, true};
static const struct format e5m2fnuz = {2, 16, 0x47700000, 0x7f, 0x80, 0x80, false};

TAPER_INLINE uint8_t f8_from_bits(uint32_t x, struct format f, uint32_t overflow)
{
    const uint32_t sign = x >> 24 & 0x80, a = x & F32_MAGNITUDE;
    uint32_t code = round_magnitude(a, f.mantissa, f.bias);
    code = a >= f.limit ? overflow : code;
    code = a > F32_INFINITY ? f.nan : code;
    const bool keeps_sign = f.negative_zero || (code & 0x7f) != 0;
    return (uint8_t)(keeps_sign ? sign | code : code);
}

TAPER_INLINE void narrow_f8(uint8_t *dst, const void *src, size_t n, struct format f,
                            taper_cast_options options)
{
    const uint32_t overflow = options.overflow == TAPER_SATURATE ? f.largest : f.beyond;
    for (size_t i = 0; i < n; i++)
        dst[i] = f8_from_bits(load32(src, i), f, overflow);
}

static uint32_t f4e2m1_from_bits(uint32_t x)
{
    const uint32_t sign = x >> 28 & 8, a = x & F32_MAGNITUDE;
    const uint32_t code = round_magnitude(a, 1, 1);
    const uint32_t number = sign | (code < 7 ? code : 7); /* the largest, past 5 */
    return a > F32_INFINITY ? 7 : number;                 /* NaN is +6 */
}

/* The power of two that `a` becomes has a subnormal magnitude of less than 2^-126. */
static uint8_t f8e8m0_from_subnormal(uint32_t a, taper_cast_options options)
{
    /* First magnitude to become 2^-127, and first to become 2^-126, by rounding. */
    static const uint32_t first[][2] = {
        [TAPER_ROUND_UP] = {0x00200001, 0x00400001},
        [TAPER_ROUND_DOWN] = {0x00400000, 0x00800000},
        [TAPER_ROUND_NEAREST] = {0x00300000, 0x00600000},
    };
    if (a >= first[options.rounding][1])
        return 0x01;
    return a >= first[options.rounding][0] || options.overflow == TAPER_SATURATE ? 0x00
                                                                                 : 0xff;
}

static uint8_t f8e8m0_from_bits(uint32_t x, taper_cast_options options)
{
    /* What is added to the fraction so that its carry rounds the exponent. */
    static const uint32_t carry[] = {
        [TAPER_ROUND_UP] = 0x7fffff,
        [TAPER_ROUND_DOWN] = 0,
        [TAPER_ROUND_NEAREST] = 0x400000,
    };
    const uint32_t a = x & F32_MAGNITUDE;
    if (a > F32_INFINITY)
        return 0xff;
    if (a < 0x00800000)
        return f8e8m0_from_subnormal(a, options);
    const uint32_t code = (a + carry[options.rounding]) >> 23;
    return code == 0xff && options.overflow == TAPER_SATURATE ? 0xfe : (uint8_t)code;
}

static uint64_t f64_from_bits(uint32_t x)
{
    const uint64_t sign = (uint64_t)(x & 0x80000000) << 32;
    uint64_t a = (uint64_t)(x & F32_MAGNITUDE) << 29;
    if ((x & F32_MAGNITUDE) >= F32_INFINITY) { /* NaN is made quiet */
        const uint64_t quiet =
            (x & F32_MAGNITUDE) > F32_INFINITY ? UINT64_C(1) << 51 : 0;
        return sign | UINT64_C(0x7ff0000000000000) |
               (a & UINT64_C(0x000fffffe0000000)) | quiet;
    }
    if (a == 0)
        return sign;
    uint64_t exponent = 1023 - 127;
    for (; a >> 52 == 0; exponent--) /* subnormal: as in widen_magnitude(), widen.c */
        a <<= 1;
    return sign | (a + (exponent << 52));
}

void taper_scalar_narrow_bf16(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    for (size_t i = 0; i < n; i++)
        store16(dst, i, bf16_from_bits(load32(src, i)));
}

void taper_scalar_narrow_f16(void *dst, const void *src, size_t n,
                             taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    for (size_t i = 0; i < n; i++)
        store16(dst, i, f16_from_bits(load32(src, i)));
}

void taper_scalar_narrow_f8e4m3fn(void *dst, const void *src, size_t n,
                                  taper_cast_options options, bool stream)
{
    (void)stream;
    narrow_f8(dst, src, n, e4m3fn, options);
}

void taper_scalar_narrow_f8e4m3fnuz(void *dst, const void *src, size_t n,
                                    taper_cast_options options, bool stream)
{
    (void)stream;
    narrow_f8(dst, src, n, e4m3fnuz, options);
}

void taper_scalar_narrow_f8e5m2(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    (void)stream;
    narrow_f8(dst, src, n, e5m2, options);
}

void taper_scalar_narrow_f8e5m2fnuz(void *dst, const void *src, size_t n,
                                    taper_cast_options options, bool stream)
{
    (void)stream;
    narrow_f8(dst, src, n, e5m2fnuz, options);
}

void taper_scalar_narrow_f4e2m1(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    uint8_t *const out = dst;
    (void)options, (void)stream;
    for (size_t i = 0; i < n / 2; i++) {
        const uint32_t low = f4e2m1_from_bits(load32(src, 2 * i));
        const uint32_t high = f4e2m1_from_bits(load32(src, 2 * i + 1));
        out[i] = (uint8_t)(low | high << 4);
    }
    if (n % 2 != 0)
        out[n / 2] = (uint8_t)f4e2m1_from_bits(load32(src, n - 1));
}

void taper_scalar_narrow_f8e8m0(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    uint8_t *const out = dst;
    (void)stream;
    for (size_t i = 0; i < n; i++)
        out[i] = f8e8m0_from_bits(load32(src, i), options);
}

void taper_scalar_f64_from_f32(void *dst, const void *src, size_t n,
                               taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    for (size_t i = 0; i < n; i++)
        store64(dst, i, f64_from_bits(load32(src, i)));
}
