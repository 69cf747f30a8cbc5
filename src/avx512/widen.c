/* avx512/widen.c - widening to binary32, 64 elements a step. Integers, but for the
 * half-precision conversion, which carries {sae} and does not obey DAZ. */
#include <immintrin.h>

#include "../loop.h"
#include "avx512.h"

TAPER_INLINE uint64_t lowest(size_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

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

/* ---- 16-bit floats -----------------------------------------------------------------
 */

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

/* ---- 8-bit floats ------------------------------------------------------------------
 *
 * Each of their values is the high half of a binary32, so this works on words: the
 * magnitude moves up to where the exponents align and the bias is added. Subnormals, of
 * which there are few, come out of a table, and the codes that are no numbers are
 * replaced. */

struct format {
    unsigned mantissa, bias;
    unsigned infinity, nan; /* first magnitude to be one; 0x80 if there is none */
    bool negative_zero;     /* if not, 80 is the NaN */
};

/* High halves of the values of magnitudes 0 to 7; those that are normal are not used.
 */
TAPER_INLINE __m512i subnormals(struct format f)
{
    const uint32_t e = 127 - f.bias - f.mantissa + 1; /* that of one step */
    const uint32_t one = e << 7, two = (e + 1) << 7, four = (e + 2) << 7;
    const uint64_t low =
        (uint64_t)one << 16 | (uint64_t)two << 32 | (uint64_t)(two | 0x40) << 48;
    const uint64_t high = (uint64_t)four | (uint64_t)(four | 0x20) << 16 |
                          (uint64_t)(four | 0x40) << 32 | (uint64_t)(four | 0x60) << 48;
    return _mm512_broadcast_i32x4(_mm_set_epi64x((long long)high, (long long)low));
}

/* 32 codes as words to 32 high halves. */
TAPER_INLINE __m512i high_halves(__m512i x, struct format f)
{
    const __m512i a = _mm512_and_si512(x, _mm512_set1_epi16(0x7f));
    const __mmask32 subnormal =
        _mm512_cmplt_epu16_mask(a, _mm512_set1_epi16((short)(1 << f.mantissa)));
    __m512i v = _mm512_add_epi16(_mm512_slli_epi16(a, 7 - f.mantissa),
                                 _mm512_set1_epi16((short)((127 - f.bias) << 7)));
    v = _mm512_mask_permutexvar_epi16(v, subnormal, a, subnormals(f));
    if (f.infinity != 0x80) {
        const __mmask32 k =
            _mm512_cmpge_epu16_mask(a, _mm512_set1_epi16((short)f.infinity));
        v = _mm512_mask_mov_epi16(v, k, _mm512_set1_epi16(0x7f80));
    }
    if (f.nan != 0x80) {
        const __mmask32 k = _mm512_cmpge_epu16_mask(a, _mm512_set1_epi16((short)f.nan));
        v = _mm512_mask_mov_epi16(v, k, _mm512_set1_epi16(0x7fc0));
    }
    if (!f.negative_zero) {
        const __mmask32 k = _mm512_cmpeq_epi16_mask(x, _mm512_set1_epi16(0x80));
        v = _mm512_mask_mov_epi16(v, k, _mm512_set1_epi16(0x7fc0));
    }
    const __m512i sign = _mm512_slli_epi16(x, 8);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi16((short)0x8000), sign, v, 0xca);
}

TAPER_INLINE void f8_step(void *dst, const void *src, size_t count, const void *how,
                          bool stream)
{
    const struct format *const f = how;
    const uint8_t *const in = src;
    for (unsigned i = 0; i < STEP; i += 32) {
        if (count <= i)
            break;
        const __m256i codes =
            _mm256_maskz_loadu_epi8((__mmask32)(lowest(count) >> i), in + i);
        /* So that the two unpackings below leave the elements in order. */
        const __m256i dealt = _mm256_permutevar8x32_epi32(
            codes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        const __m512i v = high_halves(_mm512_cvtepu8_epi16(dealt), *f);
        const __m512i zero = _mm512_setzero_si512();
        store16(dst, _mm512_unpacklo_epi16(zero, v), i, count, stream);
        if (count > i + 16)
            store16(dst, _mm512_unpackhi_epi16(zero, v), i + 16, count, stream);
    }
}

void taper_avx512_widen_f8e4m3fn(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {3, 7, 0x80, 0x7f, true};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx512_widen_f8e4m3fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {3, 8, 0x80, 0x80, false};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx512_widen_f8e5m2(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {2, 15, 0x7c, 0x7d, true};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx512_widen_f8e5m2fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {2, 16, 0x80, 0x80, false};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
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

/* ---- packed 4-bit floats: all sixteen values in a register -------------------------
 */

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
