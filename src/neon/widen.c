/* neon/widen.c - widening to binary32 with integer instructions only, so that FPCR
 * cannot matter. Of the types here no number needs more than the high half of a
 * binary32. */
#include "intrin.h"
#include "loop.h"
#include "neon.h"

/* Eight binary32 from their high halves. */
TAPER_INLINE void store_halves(unsigned char *dst, uint16x8_t high)
{
    const uint16x8_t zero = vdupq_n_u16(0);
    vst1q_u8(dst, vreinterpretq_u8_u16(vzip1q_u16(zero, high)));
    vst1q_u8(dst + 16, vreinterpretq_u8_u16(vzip2q_u16(zero, high)));
}

/* Sixteen binary32 whose top bytes are `top` and the next ones `next`. */
TAPER_INLINE void store_bytes(unsigned char *dst, uint8x16_t top, uint8x16_t next)
{
    store_halves(dst, vreinterpretq_u16_u8(vzip1q_u8(next, top)));
    store_halves(dst + 32, vreinterpretq_u16_u8(vzip2q_u8(next, top)));
}

TAPER_INLINE void bf16_block(unsigned char *dst, const unsigned char *src,
                             const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 8)
        store_halves(dst + 4 * i, vreinterpretq_u16_u8(vld1q_u8(src + 2 * i)));
}

void taper_neon_widen_bf16(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    cast_loop(dst, 32, src, 16, n, bf16_block, NULL);
}

/* ---- 8-bit floats ---- */

struct format {
    uint8_t mantissa, bias;
    uint8_t finite, infinity; /* magnitudes above are not finite, and NaN */
    bool fnuz;                /* no infinity, and the only NaN is 80 */
};

/* The magnitudes 0 to 15 of a type with 3 or 2 fraction bits, in units of its least
 * one, as high halves of binary32. */
static const uint16_t small3[] = {
    0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, /* 0 to 7 */
    0x4100, 0x4110, 0x4120, 0x4130, 0x4140, 0x4150, 0x4160, 0x4170, /* 8 to 15 */
};
static const uint16_t small2[] = {
    0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, /* 0 to 7 */
    0x4100, 0x4120, 0x4140, 0x4160, 0x4180, 0x41a0, 0x41c0, 0x41e0, /* 8 to 28 */
};

/* A format, and its magnitudes 0 to 15 as top and next bytes. */
struct f8_how {
    struct format format;
    uint8x16_t small_top, small_next;
};

TAPER_INLINE struct f8_how f8_how(struct format f)
{
    const uint16_t *const small = f.mantissa == 3 ? small3 : small2;
    const uint16x8_t scale = vdupq_n_u16((uint16_t)((f.bias + f.mantissa - 1) << 7));
    const uint16x8_t a = vld1q_u16(small), b = vld1q_u16(small + 8);
    const uint16x8_t a_or_zero = vandq_u16(vsubq_u16(a, scale), vtstq_u16(a, a));
    const uint8x16_t low = vreinterpretq_u8_u16(a_or_zero);
    const uint8x16_t high = vreinterpretq_u8_u16(vsubq_u16(b, scale));
    return (struct f8_how){f, vuzp2q_u8(low, high), vuzp1q_u8(low, high)};
}

/* Exponent and fraction move to their places as one; a table puts right the subnormals,
 * which need more than that. */
TAPER_INLINE void f8_block(unsigned char *dst, const unsigned char *src,
                           const void *how)
{
    const struct f8_how *const h = how;
    const struct format f = h->format;
    const int rebias = (127 - f.bias) & 1; /* to an even difference, for whole bytes */
    const uint8x16_t base = vdupq_n_u8((uint8_t)((127 - f.bias) / 2));
    const uint8x16_t quiet = vdupq_n_u8(0xc0);

    for (size_t i = 0; i < BLOCK; i += 16) {
        const uint8x16_t code = vld1q_u8(src + i);
        const uint8x16_t a = vandq_u8(code, vdupq_n_u8(0x7f));
        const uint8x16_t c = vaddq_u8(a, vdupq_n_u8((uint8_t)(rebias << f.mantissa)));
        uint8x16_t top = f.mantissa == 3 ? vshrq_n_u8(c, 4) : vshrq_n_u8(c, 3);
        uint8x16_t next = f.mantissa == 3 ? vshlq_n_u8(c, 4) : vshlq_n_u8(c, 5);

        top = vqtbx1q_u8(vaddq_u8(top, base), h->small_top, a);
        next = vqtbx1q_u8(next, h->small_next, a);

        const uint8x16_t special = f.fnuz ? vceqq_u8(code, vdupq_n_u8(0x80))
                                          : vcgtq_u8(a, vdupq_n_u8(f.finite));
        const uint8x16_t nan = f.fnuz ? special : vcgtq_u8(a, vdupq_n_u8(f.infinity));
        top = vbslq_u8(vdupq_n_u8(0x80), code, vorrq_u8(top, special));
        next = vbslq_u8(nan, quiet, next);
        store_bytes(dst + 4 * i, top, next);
    }
}

TAPER_INLINE void widen_f8(void *dst, const void *src, size_t n, struct format f)
{
    const struct f8_how how = f8_how(f);
    cast_loop(dst, 32, src, 8, n, f8_block, &how);
}

void taper_neon_widen_f8e4m3fn(void *dst, const void *src, size_t n, bool stream)
{
    const struct format e4m3fn = {3, 7, 0x7e, 0x7e, false};
    (void)stream;
    widen_f8(dst, src, n, e4m3fn);
}

void taper_neon_widen_f8e4m3fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format e4m3fnuz = {3, 8, 0x7f, 0x7f, true};
    (void)stream;
    widen_f8(dst, src, n, e4m3fnuz);
}

void taper_neon_widen_f8e5m2(void *dst, const void *src, size_t n, bool stream)
{
    const struct format e5m2 = {2, 15, 0x7b, 0x7c, false};
    (void)stream;
    widen_f8(dst, src, n, e5m2);
}

void taper_neon_widen_f8e5m2fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format e5m2fnuz = {2, 16, 0x7f, 0x7f, true};
    (void)stream;
    widen_f8(dst, src, n, e5m2fnuz);
}

/* ---- f4e2m1 and f8e8m0 ---- */

/* The sixteen codes as top and next bytes. */
static const uint8_t f4e2m1_top[] = {0x00, 0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40,
                                     0x80, 0xbf, 0xbf, 0xbf, 0xc0, 0xc0, 0xc0, 0xc0};
static const uint8_t f4e2m1_next[] = {0x00, 0x00, 0x80, 0xc0, 0x00, 0x40, 0x80, 0xc0,
                                      0x00, 0x00, 0x80, 0xc0, 0x00, 0x40, 0x80, 0xc0};

TAPER_INLINE void f4e2m1_block(unsigned char *dst, const unsigned char *src,
                               const void *how)
{
    const uint8x16_t top = vld1q_u8(f4e2m1_top), next = vld1q_u8(f4e2m1_next);
    const uint8x16_t pairs = vld1q_u8(src);
    const uint8x16_t even = vandq_u8(pairs, vdupq_n_u8(15)), odd = vshrq_n_u8(pairs, 4);
    const uint8x16_t a = vzip1q_u8(even, odd), b = vzip2q_u8(even, odd);
    (void)how;
    store_bytes(dst, vqtbl1q_u8(top, a), vqtbl1q_u8(next, a));
    store_bytes(dst + 64, vqtbl1q_u8(top, b), vqtbl1q_u8(next, b));
}

void taper_neon_widen_f4e2m1(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    cast_loop(dst, 32, src, 4, n, f4e2m1_block, NULL);
}

/* The code is the exponent; 00, which is subnormal, and ff, which is NaN, also have the
 * top fraction bit. */
TAPER_INLINE void f8e8m0_block(unsigned char *dst, const unsigned char *src,
                               const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 16) {
        const uint8x16_t code = vld1q_u8(src + i), two = vdupq_n_u8(2);
        const uint8x16_t ends = vcltq_u8(vaddq_u8(code, vdupq_n_u8(1)), two);
        const uint8x16_t fraction = vandq_u8(ends, vdupq_n_u8(0x40));
        store_bytes(dst + 4 * i, vshrq_n_u8(code, 1),
                    vorrq_u8(vshlq_n_u8(code, 7), fraction));
    }
}

void taper_neon_widen_f8e8m0(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    cast_loop(dst, 32, src, 8, n, f8e8m0_block, NULL);
}
