/* avx512/narrow.c - narrowing from binary32, 64 elements a step.
 *
 * Every float operation here carries {sae} or {rn-sae}: it rounds to nearest, raises no
 * flag and does not trap, whatever MXCSR says. What is left of MXCSR, DAZ, is harmless:
 * the only subnormal operand is the `x` of step_sum(), too small there to matter. */
#include <immintrin.h>

#include "../x86_formats.h"
#include "../x86_loop.h"
#include "avx512.h"

enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

TAPER_INLINE void store(void *dst, __m512i v, bool stream)
{
    if (stream)
        _mm512_stream_si512(dst, v);
    else
        _mm512_storeu_si512(dst, v);
}

struct floats {
    __m512 a, b, c, d;
};

/* 64 floats, those past `count` as zeros and not read. */
TAPER_INLINE struct floats load(const float *src, size_t count)
{
    const uint64_t m = lowest(count);
    return (struct floats){
        _mm512_maskz_loadu_ps((__mmask16)m, src),
        _mm512_maskz_loadu_ps((__mmask16)(m >> 16), src + 16),
        _mm512_maskz_loadu_ps((__mmask16)(m >> 32), src + 32),
        _mm512_maskz_loadu_ps((__mmask16)(m >> 48), src + 48),
    };
}

/* Lanes with a NaN in a or b. clang 19 knows the instruction but drops the {sae}. */
TAPER_INLINE __mmask16 unordered(__m512 a, __m512 b)
{
    __mmask16 k;
    __asm__("vcmpunordps %{sae%}, %2, %1, %0" : "=k"(k) : "v"(a), "v"(b));
    return k;
}

TAPER_INLINE bool any_nan(struct floats x)
{
    return !_mm512_kortestz(unordered(x.a, x.b), unordered(x.c, x.d));
}

TAPER_INLINE __mmask64 join(__mmask16 a, __mmask16 b, __mmask16 c, __mmask16 d)
{
    return (__mmask64)a | (__mmask64)b << 16 | (__mmask64)c << 32 | (__mmask64)d << 48;
}

TAPER_INLINE __mmask64 nan_mask(struct floats x)
{
    return join(unordered(x.a, x.a), unordered(x.b, x.b), unordered(x.c, x.c),
                unordered(x.d, x.d));
}

/* ---- 8-bit and 4-bit floats ----
 *
 * One pipe serves all; a format is a set of constants. With m fraction bits, let s be
 * the power of two at or below |x|, but no smaller than the least normal of the format,
 * with the sign of x. Then
 *
 *     t = s * M + x,  M = 2^(23-m) * (1 + bias * 2^-23)
 *
 * is one rounded addition, since s * M is exact, and the last place of t is worth one
 * step of the format at that exponent: the addition rounds normals and subnormals
 * alike, to nearest even as `bias` is even. As words, t is
 *
 *     high = sign, exponent of s, seven zeros      low = bias + |x| in steps
 *
 * and bias makes up for the exponent that high starts from, so that one multiply-add of
 * words gives code * 2^(7-m) - sign * 2^15. From there on all is packing; a code that
 * is too large is cut by a minimum with the code for overflow. A NaN comes out as
 * anything and is put right afterwards, which is rare. */

struct f8 {
    struct small_float format;
    uint8_t overflow;
};

TAPER_INLINE __m512i step_sum(__m512 x, struct small_float f)
{
    const __m512 power = _mm512_castsi512_ps(_mm512_set1_epi32((int)0xff800000));
    const __m512 least = _mm512_castsi512_ps(_mm512_set1_epi32((127 + f.least) << 23));
    const uint32_t bias =
        -((150u - f.mantissa + (unsigned)f.least) << f.mantissa) & 0xffff;
    const __m512 m =
        _mm512_castsi512_ps(_mm512_set1_epi32((int)((150 - f.mantissa) << 23 | bias)));
    /* Immediate 3: the larger magnitude with the sign of the first operand. */
    const __m512 s =
        _mm512_range_round_ps(_mm512_and_ps(x, power), least, 3, _MM_FROUND_NO_EXC);
    const __m512 t =
        _mm512_add_round_ps(_mm512_mul_round_ps(s, m, NEAREST), x, NEAREST);
    return _mm512_madd_epi16(_mm512_castps_si512(t),
                             _mm512_set1_epi32(1 << 16 | 1 << (7 - f.mantissa)));
}

TAPER_INLINE __m512i step_sums(__m512 a, __m512 b, struct small_float f)
{
    return _mm512_packs_epi32(step_sum(a, f), step_sum(b, f));
}

/* Magnitude codes of 64 floats, in the order that packing leaves; the high bits of the
 * bytes of *sign have the signs. */
TAPER_INLINE __m512i magnitudes(struct floats x, struct small_float f, uint8_t overflow,
                                __m512i *sign)
{
    const __m512i ab = step_sums(x.a, x.b, f), cd = step_sums(x.c, x.d, f);
    *sign = _mm512_packs_epi16(ab, cd);
    const __m512i code = _mm512_packus_epi16(
        _mm512_srli_epi16(_mm512_slli_epi16(ab, 1), 8 - f.mantissa),
        _mm512_srli_epi16(_mm512_slli_epi16(cd, 1), 8 - f.mantissa));
    return _mm512_min_epu8(code, _mm512_set1_epi8((char)overflow));
}

/* Bytes with the signs of 64 floats in their high bits, in the order of packing. */
TAPER_INLINE __m512i signs(struct floats x)
{
    return _mm512_packs_epi16(
        _mm512_packs_epi32(_mm512_castps_si512(x.a), _mm512_castps_si512(x.b)),
        _mm512_packs_epi32(_mm512_castps_si512(x.c), _mm512_castps_si512(x.d)));
}

TAPER_INLINE void f8_step(void *dst, const void *src, size_t count, const void *how,
                          bool stream)
{
    const struct f8 *const f8 = how;
    const struct small_float f = f8->format;
    const struct floats x = load(src, count);
    const __m512i sign_bit = _mm512_set1_epi8((char)0x80);
    const __m512i in_order =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i sign;
    __m512i v = magnitudes(x, f, f8->overflow, &sign);

    if (f.negative_zero) {
        v = _mm512_ternarylogic_epi32(sign_bit, sign, v,
                                      0xca); /* sign_bit ? sign : v */
    } else { /* codes 00 and 80 stay as they are; as signed bytes, the others are > 0 */
        const __mmask64 negative = _mm512_mask_cmpgt_epi8_mask(
            _mm512_movepi8_mask(sign), v, _mm512_setzero_si512());
        v = _mm512_mask_add_epi8(v, negative, v, sign_bit);
    }
    v = _mm512_permutexvar_epi32(in_order, v);
    if (__builtin_expect(any_nan(x), 0)) {
        __m512i nan = _mm512_set1_epi8((char)f.nan);
        if (f.negative_zero) /* packing keeps signs */
            nan = _mm512_ternarylogic_epi32(
                sign_bit, _mm512_permutexvar_epi32(in_order, signs(x)), nan, 0xca);
        v = _mm512_mask_mov_epi8(v, nan_mask(x), nan);
    }
    if (count == STEP)
        store(dst, v, stream);
    else
        _mm512_mask_storeu_epi8(dst, lowest(count), v);
}

TAPER_INLINE void narrow_f8(void *dst, const void *src, size_t n, struct small_float f,
                            taper_cast_options options, bool stream)
{
    const struct f8 how = {f,
                           options.overflow == TAPER_SATURATE ? f.largest : f.beyond};
    convert(dst, 8, src, 32, n, f8_step, &how, stream);
}

void taper_avx512_narrow_f8e4m3fn(void *dst, const void *src, size_t n,
                                  taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e4m3fn, options, stream);
}

void taper_avx512_narrow_f8e4m3fnuz(void *dst, const void *src, size_t n,
                                    taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e4m3fnuz, options, stream);
}

void taper_avx512_narrow_f8e5m2(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e5m2, options, stream);
}

void taper_avx512_narrow_f8e5m2fnuz(void *dst, const void *src, size_t n,
                                    taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e5m2fnuz, options, stream);
}

TAPER_INLINE __m512 nan_to_six(__m512 x)
{
    return _mm512_mask_mov_ps(x, unordered(x, x), _mm512_set1_ps(6.0f));
}

TAPER_INLINE void f4e2m1_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    struct floats x = load(src, count);
    (void)how;
    if (__builtin_expect(any_nan(x), 0))
        x = (struct floats){nan_to_six(x.a), nan_to_six(x.b), nan_to_six(x.c),
                            nan_to_six(x.d)};
    __m512i sign;
    __m512i v = magnitudes(x, f4e2m1, f4e2m1.largest, &sign);
    /* Bit 3 is the sign; then neighbours join: the low one + 16 * the high one. */
    v = _mm512_ternarylogic_epi32(_mm512_set1_epi8(8), _mm512_srli_epi16(sign, 4), v,
                                  0xca);
    v = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x1001));
    /* A word is now a packed byte of two; bring the 32 of them into order. */
    static const uint16_t in_order[32] = {0, 8,  16, 24, 1, 9,  17, 25,
                                          2, 10, 18, 26, 3, 11, 19, 27};
    const __m256i packed = _mm512_castsi512_si256(_mm512_permutexvar_epi16(
        _mm512_loadu_si512(in_order), _mm512_packus_epi16(v, v)));
    if (count != STEP)
        _mm256_mask_storeu_epi8(dst, (__mmask32)lowest((count + 1) / 2), packed);
    else if (stream)
        _mm256_stream_si256(dst, packed);
    else
        _mm256_storeu_si256(dst, packed);
}

void taper_avx512_narrow_f4e2m1(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    (void)options;
    convert(dst, 4, src, 32, n, f4e2m1_step, NULL, stream);
}

/* ---- 16-bit floats ---- */

/* Adds what makes the high halves round to nearest, ties to even. */
TAPER_INLINE __m512i round_high_half(__m512i x)
{
    const __m512i up = _mm512_add_epi32(x, _mm512_set1_epi32(0x7fff));
    const __mmask16 odd = _mm512_test_epi32_mask(x, _mm512_set1_epi32(0x10000));
    return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
}

TAPER_INLINE __m512i bf16_from_f32(__m512 a, __m512 b)
{
    static const uint16_t odd_words[32] = {
        1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
        33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63,
    };
    const __m512i high = _mm512_loadu_si512(odd_words);
    const __m512i x = _mm512_castps_si512(a), y = _mm512_castps_si512(b);
    __m512i v = round_high_half(x), w = round_high_half(y);
    if (__builtin_expect(unordered(a, b) != 0, 0)) { /* NaN: cut and made quiet */
        const __m512i quiet = _mm512_set1_epi32(0x00400000);
        v = _mm512_mask_or_epi32(v, unordered(a, a), x, quiet);
        w = _mm512_mask_or_epi32(w, unordered(b, b), y, quiet);
    }
    return _mm512_permutex2var_epi16(v, high, w);
}

TAPER_INLINE void bf16_step(void *dst, const void *src, size_t count, const void *how,
                            bool stream)
{
    uint16_t *const out = dst;
    const uint64_t m = lowest(count);
    (void)how;
    const struct floats x = load(src, count);
    if (count == STEP) {
        store(out, bf16_from_f32(x.a, x.b), stream);
        store(out + 32, bf16_from_f32(x.c, x.d), stream);
        return;
    }
    _mm512_mask_storeu_epi16(out, (__mmask32)m, bf16_from_f32(x.a, x.b));
    if (count > 32)
        _mm512_mask_storeu_epi16(out + 32, (__mmask32)(m >> 32),
                                 bf16_from_f32(x.c, x.d));
}

void taper_avx512_narrow_bf16(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    (void)options;
    convert(dst, 16, src, 32, n, bf16_step, NULL, stream);
}

/* To nearest without exceptions. gcc 12 knows the instruction but not its {sae}. */
TAPER_INLINE __m256i f16_from_f32(__m512 x)
{
    __m256i v;
    __asm__("vcvtps2ph $0, %{sae%}, %1, %0" : "=v"(v) : "v"(x));
    return v;
}

TAPER_INLINE __m512i f16_pair(__m512 a, __m512 b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(f16_from_f32(a)), f16_from_f32(b),
                              1);
}

TAPER_INLINE void f16_step(void *dst, const void *src, size_t count, const void *how,
                           bool stream)
{
    uint16_t *const out = dst;
    const uint64_t m = lowest(count);
    (void)how;
    const struct floats x = load(src, count);
    if (count == STEP && stream) {
        _mm512_stream_si512((void *)out, f16_pair(x.a, x.b));
        _mm512_stream_si512((void *)(out + 32), f16_pair(x.c, x.d));
    } else if (count == STEP) { /* halves as they are: joining them costs more */
        _mm256_storeu_si256((void *)out, f16_from_f32(x.a));
        _mm256_storeu_si256((void *)(out + 16), f16_from_f32(x.b));
        _mm256_storeu_si256((void *)(out + 32), f16_from_f32(x.c));
        _mm256_storeu_si256((void *)(out + 48), f16_from_f32(x.d));
    } else {
        _mm512_mask_storeu_epi16(out, (__mmask32)m, f16_pair(x.a, x.b));
        if (count > 32)
            _mm512_mask_storeu_epi16(out + 32, (__mmask32)(m >> 32),
                                     f16_pair(x.c, x.d));
    }
}

void taper_avx512_narrow_f16(void *dst, const void *src, size_t n,
                             taper_cast_options options, bool stream)
{
    (void)options;
    convert(dst, 16, src, 32, n, f16_step, NULL, stream);
}

/* ---- powers of two: integers, by the modes of x86_formats.h ---- */

TAPER_INLINE __m512i f8e8m0_from_f32(__m512 f, const struct f8e8m0 *how)
{
    const __m512i a =
        _mm512_and_si512(_mm512_castps_si512(f), _mm512_set1_epi32(0x7fffffff));
    const __mmask16 subnormal =
        _mm512_cmplt_epi32_mask(a, _mm512_set1_epi32(0x00800000));
    const __mmask16 none = /* below the range, or a NaN */
        _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(a, _mm512_set1_epi32(how->least)),
                                _mm512_set1_epi32(0x7f800000 - how->least));
    __m512i v = _mm512_add_epi32(a, _mm512_set1_epi32(how->carry));
    v = _mm512_mask_add_epi32(v, subnormal, a, _mm512_set1_epi32(how->subnormal_carry));
    v = _mm512_min_epu32(_mm512_srli_epi32(v, 23), _mm512_set1_epi32(how->large));
    return _mm512_mask_mov_epi32(v, none, _mm512_set1_epi32(0xff));
}

TAPER_INLINE void f8e8m0_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    const struct floats x = load(src, count);
    const __m512i ab =
        _mm512_packus_epi32(f8e8m0_from_f32(x.a, how), f8e8m0_from_f32(x.b, how));
    const __m512i cd =
        _mm512_packus_epi32(f8e8m0_from_f32(x.c, how), f8e8m0_from_f32(x.d, how));
    const __m512i in_order =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i v = _mm512_permutexvar_epi32(in_order, _mm512_packus_epi16(ab, cd));
    if (count == STEP)
        store(dst, v, stream);
    else
        _mm512_mask_storeu_epi8(dst, lowest(count), v);
}

void taper_avx512_narrow_f8e8m0(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    const struct f8e8m0 how = f8e8m0_mode(options);
    convert(dst, 8, src, 32, n, f8e8m0_step, &how, stream);
}
