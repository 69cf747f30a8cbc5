/* avx512/widen.c - widening to binary32, 64 elements a step. Integers, but for the
 * half-precision conversion, which carries {sae} and does not obey DAZ. */
#include <immintrin.h>

#include "../x86_formats.h"
#include "../x86_loop.h"
#include "avx512.h"

/* Stores 16 floats, elements `first` on of a step of `count`. */
TAPER_INLINE void store16(float *dst, __m512i v, unsigned first, size_t count,
                          bool stream)
{
    if (count != STEP)
        _mm512_mask_storeu_epi32(dst + first, (__mmask16)(lowest(count) >> first), v);
    else if (stream)
        _mm512_stream_si512((void *)(dst + first), v);
    else
        _mm512_storeu_si512(dst + first, v);
}

/* ---- 16-bit floats ---- */

TAPER_INLINE __m256i load16(const uint16_t *src, unsigned first, size_t count)
{
    return _mm256_maskz_loadu_epi16((__mmask16)(lowest(count) >> first), src + first);
}

TAPER_INLINE void bf16_step(void *dst, const void *src, size_t count, const void *how,
                            bool stream)
{
    (void)how;
    for (unsigned i = 0; i < STEP; i += 16) {
        if (count <= i)
            break;
        const __m512i x = _mm512_cvtepu16_epi32(load16(src, i, count));
        store16(dst, _mm512_slli_epi32(x, 16), i, count, stream);
    }
}

void taper_avx512_widen_bf16(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 16, n, bf16_step, NULL, stream);
}

TAPER_INLINE void f16_step(void *dst, const void *src, size_t count, const void *how,
                           bool stream)
{
    (void)how;
    for (unsigned i = 0; i < STEP; i += 16) {
        if (count <= i)
            break;
        const __m512 x =
            _mm512_cvt_roundph_ps(load16(src, i, count), _MM_FROUND_NO_EXC);
        store16(dst, _mm512_castps_si512(x), i, count, stream);
    }
}

void taper_avx512_widen_f16(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 16, n, f16_step, NULL, stream);
}

/* ---- 8-bit floats ----
 *
 * Each of their values is the high half of a binary32. Its two bytes are made in two
 * registers, for 64 codes at a time, and then interleaved with each other and with
 * zeros. */

struct format {
    unsigned mantissa, bias;
    unsigned nan;       /* the magnitude that is one; 0x80 if there is none */
    bool negative_zero; /* if not, 80 is the NaN */
};

struct halves {
    __m512i low, high;
};

/* 64 times `byte`, in a register of its own: without the barrier gcc 12 makes some of
 * these anew in each step, by a general register, and a sixth of the speed is gone. */
TAPER_INLINE __m512i bytes(unsigned byte)
{
    __m512i v = _mm512_set1_epi8((char)byte);
    __asm__("" : "+v"(v));
    return v;
}

/* A table of 16 bytes for _mm512_shuffle_epi8. */
TAPER_INLINE __m512i table(uint64_t first, uint64_t second)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)second, (long long)first));
}

/* Where magnitudes are normal: up to where the exponents align, and the bias added. An
 * odd difference of the biases reaches down into the low byte, so its 1 is added
 * before. */
TAPER_INLINE struct halves normal_halves(__m512i a, struct format f)
{
    const unsigned bias = 127 - f.bias, m = f.mantissa;
    if (bias % 2 != 0)
        a = _mm512_add_epi8(a, bytes(1u << m));
    const __m512i low = _mm512_slli_epi16(a, 7 - m), high = _mm512_srli_epi16(a, 1 + m);
    return (struct halves){
        _mm512_and_si512(low, bytes(0xffu << (7 - m))),
        _mm512_add_epi8(_mm512_and_si512(high, bytes(0xffu >> (1 + m))),
                        bytes(bias / 2)),
    };
}

/* What normal_halves() lacks where magnitudes are subnormal, as a table. */
TAPER_INLINE __m512i corrections(struct format f, unsigned shift)
{
    return table(0, subnormal_corrections(f.mantissa, f.bias, shift));
}

TAPER_INLINE struct halves halves_from_f8(__m512i x, struct format f)
{
    const __m512i a = _mm512_and_si512(x, bytes(0x7f));
    /* Normal magnitudes get bit 7, for which a shuffle gives 0. */
    const __m512i index = _mm512_add_epi8(a, bytes(0x80 - (1u << f.mantissa)));
    struct halves v = normal_halves(a, f);
    v.low = _mm512_add_epi8(v.low, _mm512_shuffle_epi8(corrections(f, 0), index));
    v.high = _mm512_add_epi8(v.high, _mm512_shuffle_epi8(corrections(f, 8), index));
    /* At a NaN there is nan << (7 - mantissa), with the bias, or else 0. */
    const unsigned low = f.negative_zero ? f.nan << (7 - f.mantissa) : 0;
    const unsigned high = f.negative_zero ? (low >> 8) + (127 - f.bias) / 2 : 0;
    const __mmask64 nan = f.negative_zero ? _mm512_cmpeq_epi8_mask(a, bytes(f.nan))
                                          : _mm512_cmpeq_epi8_mask(x, bytes(0x80));
    v.low = _mm512_mask_add_epi8(v.low, nan, v.low, bytes(0xc0 - low));
    v.high = _mm512_mask_add_epi8(v.high, nan, v.high, bytes(0x7f - high));
    /* Bit 7 is the sign of x: third operand ? second : first. */
    v.high = _mm512_ternarylogic_epi32(v.high, x, bytes(0x80), 0xd8);
    return v;
}

TAPER_INLINE void f8_step(void *dst, const void *src, size_t count, const void *how,
                          bool stream)
{
    /* Dealt so that the unpackings put the elements in order. */
    const __m512i dealt = _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
        _mm512_maskz_loadu_epi8(lowest(count), src));
    const struct halves x = halves_from_f8(dealt, *(const struct format *)how);
    const __m512i v = _mm512_unpacklo_epi8(x.low, x.high);
    const __m512i w = _mm512_unpackhi_epi8(x.low, x.high);
    const __m512i zero = _mm512_setzero_si512();
    store16(dst, _mm512_unpacklo_epi16(zero, v), 0, count, stream);
    if (count > 16)
        store16(dst, _mm512_unpackhi_epi16(zero, v), 16, count, stream);
    if (count > 32)
        store16(dst, _mm512_unpacklo_epi16(zero, w), 32, count, stream);
    if (count > 48)
        store16(dst, _mm512_unpackhi_epi16(zero, w), 48, count, stream);
}

void taper_avx512_widen_f8e4m3fn(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {3, 7, 0x7f, true};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx512_widen_f8e4m3fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {3, 8, 0x80, false};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx512_widen_f8e5m2fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {2, 16, 0x80, false};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

/* 16 codes that are not NaN, or NaNs that are 7e or fe: each is the high byte of a
 * binary16 of the same value, and the conversion of that does the rest. */
TAPER_INLINE __m512i f32_from_f8e5m2(__m128i x)
{
    const __m256i half = _mm256_slli_epi16(_mm256_cvtepu8_epi16(x), 8);
    return _mm512_castps_si512(_mm512_cvt_roundph_ps(half, _MM_FROUND_NO_EXC));
}

TAPER_INLINE __m128i one_nan(__m128i x)
{
    const __m128i a = _mm_and_si128(x, _mm_set1_epi8(0x7f));
    const __mmask16 nan = _mm_cmpgt_epi8_mask(a, _mm_set1_epi8(0x7c));
    return _mm_mask_add_epi8(x, nan, _mm_xor_si128(x, a), _mm_set1_epi8(0x7e));
}

TAPER_INLINE void f8e5m2_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    const __m512i all = _mm512_maskz_loadu_epi8(lowest(count), src);
    const __m512i a = _mm512_and_si512(all, _mm512_set1_epi8(0x7f));
    const bool nan = _mm512_cmpgt_epi8_mask(a, _mm512_set1_epi8(0x7c)) != 0;
    (void)how;
    for (unsigned i = 0; i < STEP && i < count; i += 16) {
        /* Loaded again, which is cheaper than taking `all` apart. */
        __m128i x = _mm_maskz_loadu_epi8((__mmask16)(lowest(count) >> i),
                                         (const uint8_t *)src + i);
        if (__builtin_expect(nan, 0))
            x = one_nan(x);
        store16(dst, f32_from_f8e5m2(x), i, count, stream);
    }
}

void taper_avx512_widen_f8e5m2(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 8, n, f8e5m2_step, NULL, stream);
}

TAPER_INLINE void f8e8m0_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    const uint8_t *const in = src;
    (void)how;
    for (unsigned i = 0; i < STEP; i += 16) {
        if (count <= i)
            break;
        const __mmask16 m = (__mmask16)(lowest(count) >> i);
        const __m512i x = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(m, in + i));
        __m512i v = _mm512_slli_epi32(x, 23);
        v = _mm512_mask_mov_epi32(v, _mm512_testn_epi32_mask(x, x),
                                  _mm512_set1_epi32(0x00400000)); /* 2^-127 */
        v = _mm512_mask_mov_epi32(v,
                                  _mm512_cmpeq_epi32_mask(x, _mm512_set1_epi32(0xff)),
                                  _mm512_set1_epi32(0x7fc00000));
        store16(dst, v, i, count, stream);
    }
}

void taper_avx512_widen_f8e8m0(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 8, n, f8e8m0_step, NULL, stream);
}

/* ---- packed 4-bit floats: all sixteen values in a register ---- */

TAPER_INLINE void f4e2m1_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    const __m512 values =
        _mm512_setr_ps(0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f, -0.5f,
                       -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f);
    const __m512i nibble =
        _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    const __m512i eighth =
        _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m256i codes =
        _mm256_maskz_loadu_epi8((__mmask32)lowest((count + 1) / 2), src);
    (void)how;
    for (unsigned i = 0; i < STEP; i += 16) {
        if (count <= i)
            break;
        const __m512i pick = _mm512_add_epi32(eighth, _mm512_set1_epi32((int)i / 8));
        const __m512i x = _mm512_permutexvar_epi32(pick, _mm512_castsi256_si512(codes));
        const __m512 v = _mm512_permutexvar_ps(_mm512_srlv_epi32(x, nibble), values);
        store16(dst, _mm512_castps_si512(v), i, count, stream);
    }
}

void taper_avx512_widen_f4e2m1(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 4, n, f4e2m1_step, NULL, stream);
}
