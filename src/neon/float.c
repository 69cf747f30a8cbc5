/* neon/float.c - the casts that one floating-point instruction does best: binary16 and
 * binary64. Built for AArch64 only: SIMDe's versions differ from it in NaNs, rounding
 * and flags, so the emulated table borrows from scalar here. */
#include "intrin.h"
#include "loop.h"
#include "neon.h"

/* ---- the float environment ---- */

/* What the host has in FPCR (rounding, flushing, default NaN, alternative half
 * precision, traps) and in FPSR (cumulative flags). */
struct float_state {
    uint64_t control, status;
};

/* All-zero FPCR is IEEE 754 to nearest, without traps. Writing either register can cost
 * as much as a small array, so they are written only when that changes something. The
 * compiler does not know that float instructions read and write them, but it cannot
 * move the loads they work on before the first asm, nor the stores behind the second.
 */
TAPER_INLINE struct float_state enter_float(void)
{
    struct float_state host;
    __asm__ volatile("mrs %0, fpcr" : "=r"(host.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(host.status));
    if (host.control != 0)
        __asm__ volatile("msr fpcr, xzr");
    __asm__ volatile("" ::: "memory");
    return host;
}

TAPER_INLINE void leave_float(struct float_state host)
{
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status) : : "memory");
    if (status != host.status)
        __asm__ volatile("msr fpsr, %0" : : "r"(host.status));
    if (host.control != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(host.control));
}

TAPER_INLINE void float_loop(void *dst, size_t dst_bits, const void *src,
                             size_t src_bits, size_t n, block_fn *block)
{
    const struct float_state host = enter_float();
    cast_loop(dst, dst_bits, src, src_bits, n, block, NULL);
    leave_float(host);
}

TAPER_INLINE float32x4_t load_f32(const unsigned char *src)
{
    return vreinterpretq_f32_u8(vld1q_u8(src));
}

TAPER_INLINE float64x2_t load_f64(const unsigned char *src)
{
    return vreinterpretq_f64_u8(vld1q_u8(src));
}

/* ---- binary16 ---- */

TAPER_INLINE void f16_from_f32_block(unsigned char *dst, const unsigned char *src,
                                     const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 8) {
        const float16x4_t low = vcvt_f16_f32(load_f32(src + 4 * i));
        const float16x8_t all = vcvt_high_f16_f32(low, load_f32(src + 4 * i + 16));
        vst1q_u8(dst + 2 * i, vreinterpretq_u8_f16(all));
    }
}

void taper_neon_narrow_f16(void *dst, const void *src, size_t n,
                           taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    float_loop(dst, 16, src, 32, n, f16_from_f32_block);
}

TAPER_INLINE void f32_from_f16_block(unsigned char *dst, const unsigned char *src,
                                     const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 8) {
        const float16x8_t x = vreinterpretq_f16_u8(vld1q_u8(src + 2 * i));
        vst1q_u8(dst + 4 * i, vreinterpretq_u8_f32(vcvt_f32_f16(vget_low_f16(x))));
        vst1q_u8(dst + 4 * i + 16, vreinterpretq_u8_f32(vcvt_high_f32_f16(x)));
    }
}

void taper_neon_widen_f16(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    float_loop(dst, 32, src, 16, n, f32_from_f16_block);
}

/* ---- binary64 ---- */

TAPER_INLINE void f64_from_f32_block(unsigned char *dst, const unsigned char *src,
                                     const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 4) {
        const float32x4_t x = load_f32(src + 4 * i);
        vst1q_u8(dst + 8 * i, vreinterpretq_u8_f64(vcvt_f64_f32(vget_low_f32(x))));
        vst1q_u8(dst + 8 * i + 16, vreinterpretq_u8_f64(vcvt_high_f64_f32(x)));
    }
}

void taper_neon_f64_from_f32(void *dst, const void *src, size_t n,
                             taper_cast_options options, bool stream)
{
    (void)options, (void)stream;
    float_loop(dst, 64, src, 32, n, f64_from_f32_block);
}

TAPER_INLINE void f32_from_f64_block(unsigned char *dst, const unsigned char *src,
                                     const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 4) {
        const float32x2_t low = vcvt_f32_f64(load_f64(src + 8 * i));
        const float32x4_t all = vcvt_high_f32_f64(low, load_f64(src + 8 * i + 16));
        vst1q_u8(dst + 4 * i, vreinterpretq_u8_f32(all));
    }
}

void taper_neon_f32_from_f64(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    float_loop(dst, 32, src, 64, n, f32_from_f64_block);
}

/* Rounding to odd is an instruction, but one that stops at the largest finite number,
 * where infinity is next; see scalar/widen.c for why it is that from 2^128 up. */
TAPER_INLINE uint32x4_t f32_odd_from_f64(float64x2_t a, float64x2_t b)
{
    const uint32_t two_to_128 = 0x47f00000, infinity = 0x7ff00000; /* high words */
    const float32x4_t odd = vcvtx_high_f32_f64(vcvtx_f32_f64(a), b);
    const uint32x4_t high =
        vuzp2q_u32(vreinterpretq_u32_f64(a), vreinterpretq_u32_f64(b));
    const uint32x4_t above =
        vsubq_u32(vshlq_n_u32(high, 1), vdupq_n_u32(two_to_128 << 1));
    const uint32x4_t too_large =
        vcltq_u32(above, vdupq_n_u32((infinity - two_to_128) << 1));
    return vsubq_u32(vreinterpretq_u32_f32(odd), too_large); /* a mask is -1 */
}

TAPER_INLINE void f32_odd_from_f64_block(unsigned char *dst, const unsigned char *src,
                                         const void *how)
{
    (void)how;
    for (size_t i = 0; i < BLOCK; i += 4) {
        const uint32x4_t y =
            f32_odd_from_f64(load_f64(src + 8 * i), load_f64(src + 8 * i + 16));
        vst1q_u8(dst + 4 * i, vreinterpretq_u8_u32(y));
    }
}

void taper_neon_f32_odd_from_f64(void *dst, const void *src, size_t n, bool stream)
{
    (void)stream;
    float_loop(dst, 32, src, 64, n, f32_odd_from_f64_block);
}
