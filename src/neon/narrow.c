/* neon/narrow.c - narrowing from binary32 with integer instructions only, so that FPCR
 * cannot matter. None of them may saturate, which would set FPSR.QC.
 *
 * The types of 8 and 4 bits are rounded in bytes, sixteen elements at a time. A byte
 * holds the hidden bit and seven fraction bits; if the last one is set whenever
 * anything was cut off behind it, which is rounding to odd, then rounding again to at
 * most five bits comes out as if straight from binary32. */
#include "intrin.h"
#include "loop.h"
#include "neon.h"

/* ---- bf16 ---- */

TAPER_INLINE uint16x8_t bf16_from_halves(uint16x8_t low, uint16x8_t high)
{
    const uint16x8_t one = vdupq_n_u16(1), infinity = vdupq_n_u16(0xff00);
    const uint16x8_t odd = vandq_u16(high, one);
    const uint16x8_t up = vcgtq_u16(vorrq_u16(low, odd), vdupq_n_u16(0x8000));
    const uint16x8_t rounded = vsubq_u16(high, up); /* a mask is -1 */

    /* Without the sign, and with a last bit for all of `low`. */
    const uint16x8_t magnitude = vsliq_n_u16(vminq_u16(low, one), high, 1);
    const uint16x8_t quiet = vorrq_u16(high, vdupq_n_u16(0x0040));
    return vbslq_u16(vcgtq_u16(magnitude, infinity), quiet, rounded);
}

TAPER_INLINE void bf16_block(unsigned char *dst, const unsigned char *src,
                             const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 8) {
        const uint16x8_t a = vreinterpretq_u16_u8(vld1q_u8(src + 4 * i));
        const uint16x8_t b = vreinterpretq_u16_u8(vld1q_u8(src + 4 * i + 16));
        const uint16x8_t y = bf16_from_halves(vuzp1q_u16(a, b), vuzp2q_u16(a, b));
        vst1q_u8(dst + 2 * i, vreinterpretq_u8_u16(y));
    }
}

void taper_neon_narrow_bf16(void *dst, const void *src, size_t n,
                            taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    cast_loop(dst, 16, src, 32, n, bf16_block, NULL);
}

/* ---- what all bytes begin with ---- */

/* Sixteen binary32, rounded to odd. In `sign` only the top bit counts. `significand`
 * has its hidden bit, also where a subnormal has none. */
struct parts {
    uint8x16_t sign, exponent, significand;
};

TAPER_INLINE struct parts load_parts(const unsigned char *src)
{
    const uint8x16x4_t x = vld4q_u8(src); /* every fourth byte, from the lowest up */
    const uint8x16_t cut = vorrq_u8(x.val[0], x.val[1]);
    const uint8x16_t low = vorrq_u8(x.val[2], vminq_u8(cut, vdupq_n_u8(1)));
    return (struct parts){
        .sign = x.val[3],
        .exponent = vsriq_n_u8(vshlq_n_u8(x.val[3], 1), low, 7),
        .significand = vorrq_u8(low, vdupq_n_u8(0x80)),
    };
}

TAPER_INLINE uint8x16_t is_nan(struct parts x)
{
    return vandq_u8(vceqq_u8(x.exponent, vdupq_n_u8(0xff)),
                    vcgtq_u8(x.significand, vdupq_n_u8(0x80)));
}

/* ---- 8-bit floats and f4e2m1 ---- */

/* As in scalar/narrow.c. What rounds to a code above `largest` overflows. */
struct format {
    uint8_t mantissa, bias;
    uint8_t largest, beyond,
        nan;            /* codes for overflow, saturating or not, and for NaN */
    bool negative_zero; /* if not, the code with only the sign bit is the NaN */
};

/* See round_magnitude() in scalar/narrow.c. All from 0x80 up stands for codes too large
 * for a byte. */
TAPER_INLINE uint8x16_t round_magnitudes(struct parts x, struct format f)
{
    const int least = 128 - f.bias; /* binary32 exponent of the least normal */
    const int too_large = least + (0x80 >> f.mantissa) - 1;
    const uint8x16_t e = vminq_u8(x.exponent, vdupq_n_u8((uint8_t)too_large));
    const uint8x16_t low = vminq_u8(x.exponent, vdupq_n_u8((uint8_t)least));
    const uint8x16_t right =
        vsubq_u8(low, vdupq_n_u8((uint8_t)(least + 7 - f.mantissa)));
    const int8x16_t shift = vreinterpretq_s8_u8(right); /* negative is to the right */

    /* This shift rounds halves up. One less makes that down, if the code is even, and
     * changes nothing else: what is exact comes back up. */
    const uint8x16_t even = vbicq_u8(vdupq_n_u8(1), vshlq_u8(x.significand, shift));
    const uint8x16_t rounded = vrshlq_u8(vsubq_u8(x.significand, even), shift);
    return vmlaq_u8(rounded, vsubq_u8(e, low), vdupq_n_u8((uint8_t)(1 << f.mantissa)));
}

TAPER_INLINE uint8x16_t f8_from_parts(struct parts x, struct format f,
                                      uint8x16_t overflow)
{
    const uint8x16_t number = vminq_u8(round_magnitudes(x, f), overflow);
    const uint8x16_t code = vbslq_u8(is_nan(x), vdupq_n_u8(f.nan), number);
    const uint8x16_t top = vdupq_n_u8(0x80);
    if (f.negative_zero)
        return vbslq_u8(top, x.sign, code);
    return vorrq_u8(code, vandq_u8(vandq_u8(x.sign, top), vtstq_u8(code, code)));
}

struct f8_how {
    struct format format;
    uint8x16_t overflow;
};

TAPER_INLINE void f8_block(unsigned char *dst, const unsigned char *src,
                           const void *how)
{
    const struct f8_how *const h = how;
    for (size_t i = 0; i < BLOCK; i += 16)
        vst1q_u8(dst + i,
                 f8_from_parts(load_parts(src + 4 * i), h->format, h->overflow));
}

TAPER_INLINE void narrow_f8(void *dst, const void *src, size_t n, struct format f,
                            taper_cast_options options)
{
    const bool saturate = options.overflow == TAPER_SATURATE;
    const struct f8_how how = {f, vdupq_n_u8(saturate ? f.largest : f.beyond)};
    cast_loop(dst, 8, src, 32, n, f8_block, &how);
}

void taper_neon_narrow_f8e4m3fn(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    const struct format e4m3fn = {3, 7, 0x7e, 0x7f, 0x7f, true};
    (void)stream;
    narrow_f8(dst, src, n, e4m3fn, options);
}

void taper_neon_narrow_f8e4m3fnuz(void *dst, const void *src, size_t n,
                                  taper_cast_options options, bool stream)
{
    const struct format e4m3fnuz = {3, 8, 0x7f, 0x80, 0x80, false};
    (void)stream;
    narrow_f8(dst, src, n, e4m3fnuz, options);
}

void taper_neon_narrow_f8e5m2(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    const struct format e5m2 = {2, 15, 0x7b, 0x7c, 0x7e, true};
    (void)stream;
    narrow_f8(dst, src, n, e5m2, options);
}

void taper_neon_narrow_f8e5m2fnuz(void *dst, const void *src, size_t n,
                                  taper_cast_options options, bool stream)
{
    const struct format e5m2fnuz = {2, 16, 0x7f, 0x80, 0x80, false};
    (void)stream;
    narrow_f8(dst, src, n, e5m2fnuz, options);
}

TAPER_INLINE uint8x16_t f4e2m1_from_parts(struct parts x)
{
    const struct format e2m1 = {.mantissa = 1, .bias = 1};
    const uint8x16_t seven = vdupq_n_u8(7); /* the largest, and what NaN becomes: +6 */
    const uint8x16_t code = vminq_u8(round_magnitudes(x, e2m1), seven);
    const uint8x16_t number = vbslq_u8(vdupq_n_u8(8), vshrq_n_u8(x.sign, 4), code);
    return vbslq_u8(is_nan(x), seven, number);
}

TAPER_INLINE void f4e2m1_block(unsigned char *dst, const unsigned char *src,
                               const void *how)
{
    const uint8x16_t a = f4e2m1_from_parts(load_parts(src));
    const uint8x16_t b = f4e2m1_from_parts(load_parts(src + 64));
    (void)how;
    vst1q_u8(dst, vsliq_n_u8(vuzp1q_u8(a, b), vuzp2q_u8(a, b), 4));
}

void taper_neon_narrow_f4e2m1(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    cast_loop(dst, 4, src, 32, n, f4e2m1_block, NULL);
}

/* ---- f8e8m0 ---- */

/* Bounds of significands. */
struct f8e8m0_how {
    uint8x16_t normal, subnormal; /* above these the exponent is rounded up */
    uint8x16_t least;             /* subnormals below it are out of range: ff */
    uint8x16_t largest;           /* of the codes other than NaN */
};

static struct f8e8m0_how f8e8m0_how(taper_cast_options options)
{
    static const uint8_t bounds[][3] = {
        [TAPER_ROUND_UP] = {0x80, 0xc0, 0xa1},
        [TAPER_ROUND_DOWN] = {0xff, 0xff, 0xc0},
        [TAPER_ROUND_NEAREST] = {0xbf, 0xdf, 0xb0},
    };
    const uint8_t *const b = bounds[options.rounding];
    const bool saturate = options.overflow == TAPER_SATURATE;
    return (struct f8e8m0_how){
        .normal = vdupq_n_u8(b[0]),
        .subnormal = vdupq_n_u8(b[1]),
        .least = vdupq_n_u8(saturate ? 0 : b[2]),
        .largest = vdupq_n_u8(saturate ? 0xfe : 0xff),
    };
}

TAPER_INLINE uint8x16_t f8e8m0_from_parts(struct parts x, const struct f8e8m0_how *how)
{
    const uint8x16_t subnormal = vceqq_u8(x.exponent, vdupq_n_u8(0));
    const uint8x16_t bound = vbslq_u8(subnormal, how->subnormal, how->normal);
    const uint8x16_t up = vcgtq_u8(x.significand, bound);
    const uint8x16_t code = vminq_u8(vsubq_u8(x.exponent, up), how->largest);
    const uint8x16_t small = vandq_u8(subnormal, vcltq_u8(x.significand, how->least));
    return vorrq_u8(code, vorrq_u8(is_nan(x), small));
}

TAPER_INLINE void f8e8m0_block(unsigned char *dst, const unsigned char *src,
                               const void *how)
{
    for (size_t i = 0; i < BLOCK; i += 16)
        vst1q_u8(dst + i, f8e8m0_from_parts(load_parts(src + 4 * i), how));
}

void taper_neon_narrow_f8e8m0(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    const struct f8e8m0_how how = f8e8m0_how(options);
    (void)stream;
    cast_loop(dst, 8, src, 32, n, f8e8m0_block, &how);
}
