/* avx2/narrow.c - narrowing from binary32, 64 elements a step. */
#include "../x86_formats.h"
#include "../x86_loop.h"
#include "avx2.h"
#include "control.h"
#include "intrin.h"

TAPER_INLINE void store(void *dst, __m256i v, bool stream)
{
    if (stream)
        _mm256_stream_si256(dst, v);
    else
        _mm256_storeu_si256(dst, v);
}

TAPER_INLINE __m256i bits(__m256 x)
{
    return _mm256_castps_si256(x);
}

struct floats {
    __m256 a, b, c, d;
};

/* Elements `first` to `first` + 7 of a step of `count`; those past it as zeros and not
 * read. */
TAPER_INLINE __m256 load8(const void *src, unsigned first, size_t count)
{
    const float *const in = (const float *)src + first;
    if (count == STEP)
        return _mm256_loadu_ps(in);
#if defined(__x86_64__)
    const __m256i left = _mm256_set1_epi32((int)count - (int)first);
    return _mm256_maskload_ps(
        in, _mm256_cmpgt_epi32(left, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
#else /* SIMDe's masked load reads past the end */
    float part[8] = {0};
    for (size_t i = 0; i < 8 && first + i < count; i++)
        memcpy(part + i, in + i, sizeof *in);
    return _mm256_loadu_ps(part);
#endif
}

TAPER_INLINE struct floats load(const void *src, unsigned first, size_t count)
{
    return (struct floats){load8(src, first, count), load8(src, first + 8, count),
                           load8(src, first + 16, count),
                           load8(src, first + 24, count)};
}

/* All ones in the lanes of a that are NaN. */
TAPER_INLINE __m256i nan_lanes(__m256 a)
{
    return bits(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

TAPER_INLINE bool any_nan(struct floats x)
{
    const __m256 ab = _mm256_cmp_ps(x.a, x.b, _CMP_UNORD_Q);
    const __m256 cd = _mm256_cmp_ps(x.c, x.d, _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(ab, cd)) != 0;
}

/* Doublewords to bytes: saturation keeps signs and masks, and values that fit. */
TAPER_INLINE __m256i pack(__m256i a, __m256i b, __m256i c, __m256i d)
{
    return _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
}

/* Into order what packing 32 doublewords to bytes has dealt over the halves. */
TAPER_INLINE __m256i in_order(__m256i v)
{
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* ---- 8-bit and 4-bit floats: the pipe that avx512/narrow.c explains, on |x| ---- */

struct f8 {
    struct small_float format;
    uint8_t overflow;
};

TAPER_INLINE __m256i step_sum(__m256 x, struct small_float f)
{
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    const __m256 power = _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000));
    const __m256 least = _mm256_castsi256_ps(_mm256_set1_epi32((127 + f.least) << 23));
    const uint32_t bias =
        -((150u - f.mantissa + (unsigned)f.least) << f.mantissa) & 0xffff;
    const __m256 m =
        _mm256_castsi256_ps(_mm256_set1_epi32((int)((150 - f.mantissa) << 23 | bias)));
    const __m256 s = _mm256_max_ps(_mm256_and_ps(x, power), least);
    const __m256 t = _mm256_add_ps(_mm256_mul_ps(s, m), _mm256_and_ps(x, magnitude));
    return _mm256_madd_epi16(bits(t),
                             _mm256_set1_epi32(1 << 16 | 1 << (7 - f.mantissa)));
}

/* Magnitude codes of 32 floats, in the order that packing leaves, and 80 in *sign where
 * the float is negative. */
TAPER_INLINE __m256i magnitudes(struct floats x, struct small_float f, uint8_t overflow,
                                __m256i *sign)
{
    const __m256i ab = _mm256_packs_epi32(step_sum(x.a, f), step_sum(x.b, f));
    const __m256i cd = _mm256_packs_epi32(step_sum(x.c, f), step_sum(x.d, f));
    const __m256i code = _mm256_packus_epi16(_mm256_srli_epi16(ab, 7 - f.mantissa),
                                             _mm256_srli_epi16(cd, 7 - f.mantissa));
    *sign = _mm256_and_si256(pack(bits(x.a), bits(x.b), bits(x.c), bits(x.d)),
                             _mm256_set1_epi8((char)0x80));
    return _mm256_min_epu8(code, _mm256_set1_epi8((char)overflow));
}

TAPER_INLINE __m256i nan_bytes(struct floats x)
{
    return pack(nan_lanes(x.a), nan_lanes(x.b), nan_lanes(x.c), nan_lanes(x.d));
}

TAPER_INLINE __m256i f8_from_f32(struct floats x, const struct f8 *f8)
{
    const struct small_float f = f8->format;
    __m256i sign;
    __m256i v = magnitudes(x, f, f8->overflow, &sign);
    if (!f.negative_zero) /* no sign for codes 00 and 80: as signed bytes, not > 0 */
        sign = _mm256_and_si256(sign, _mm256_cmpgt_epi8(v, _mm256_setzero_si256()));
    v = _mm256_or_si256(v, sign);
    if (__builtin_expect(any_nan(x), 0)) {
        __m256i nan = _mm256_set1_epi8((char)f.nan);
        if (f.negative_zero)
            nan = _mm256_or_si256(nan, sign);
        v = _mm256_blendv_epi8(v, nan, nan_bytes(x));
    }
    return in_order(v);
}

TAPER_INLINE void f8_step(void *dst, const void *src, size_t count, const void *how,
                          bool stream)
{
    _Alignas(LINE) char part[STEP];
    char *const out = count == STEP ? dst : part;
    for (unsigned i = 0; i < STEP; i += 32)
        store(out + i, f8_from_f32(load(src, i, count), how), stream);
    if (count != STEP)
        memcpy(dst, part, count);
}

TAPER_INLINE void narrow_f8(void *dst, const void *src, size_t n, struct small_float f,
                            taper_cast_options options, bool stream)
{
    const struct f8 how = {f,
                           options.overflow == TAPER_SATURATE ? f.largest : f.beyond};
    const unsigned host = use_default_control();
    convert(dst, 8, src, 32, n, f8_step, &how, stream);
    restore_control(host);
}

void taper_avx2_narrow_f8e4m3fn(void *dst, const void *src, size_t n,
                                taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e4m3fn, options, stream);
}

void taper_avx2_narrow_f8e4m3fnuz(void *dst, const void *src, size_t n,
                                  taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e4m3fnuz, options, stream);
}

void taper_avx2_narrow_f8e5m2(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e5m2, options, stream);
}

void taper_avx2_narrow_f8e5m2fnuz(void *dst, const void *src, size_t n,
                                  taper_cast_options options, bool stream)
{
    narrow_f8(dst, src, n, f8e5m2fnuz, options, stream);
}

/* 32 floats to 16 words, each a packed byte of two codes; in order. */
TAPER_INLINE __m256i f4e2m1_from_f32(struct floats x)
{
    __m256i sign;
    __m256i v = magnitudes(x, f4e2m1, f4e2m1.largest, &sign);
    v = _mm256_or_si256(v, _mm256_srli_epi16(sign, 4));
    if (__builtin_expect(any_nan(x), 0))
        v = _mm256_blendv_epi8(v, _mm256_set1_epi8(7), nan_bytes(x));
    return _mm256_maddubs_epi16(in_order(v), _mm256_set1_epi16(0x1001));
}

TAPER_INLINE void f4e2m1_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    _Alignas(LINE) char part[STEP / 2];
    const __m256i v = _mm256_packus_epi16(f4e2m1_from_f32(load(src, 0, count)),
                                          f4e2m1_from_f32(load(src, 32, count)));
    (void)how;
    store(count == STEP ? dst : part, _mm256_permute4x64_epi64(v, 0xd8), stream);
    if (count != STEP)
        memcpy(dst, part, (count + 1) / 2);
}

void taper_avx2_narrow_f4e2m1(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    const unsigned host = use_default_control();
    (void)options;
    convert(dst, 4, src, 32, n, f4e2m1_step, NULL, stream);
    restore_control(host);
}

/* ---- 16-bit floats ---- */

/* bf16 in the low half of each lane; see bf16_from_bits() in scalar/narrow.c. */
TAPER_INLINE __m256i bf16_from_f32(__m256i x)
{
    const __m256i top = _mm256_srli_epi32(x, 16);
    const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(x, _mm256_set1_epi32(0x7fff));
    return _mm256_srli_epi32(_mm256_add_epi32(up, odd), 16);
}

TAPER_INLINE __m256i bf16_with_nan(__m256 x, __m256i v)
{
    const __m256i cut = _mm256_srli_epi32(bits(x), 16);
    return _mm256_blendv_epi8(v, _mm256_or_si256(cut, _mm256_set1_epi32(0x0040)),
                              nan_lanes(x));
}

TAPER_INLINE void bf16_step(void *dst, const void *src, size_t count, const void *how,
                            bool stream)
{
    _Alignas(LINE) uint16_t part[STEP];
    uint16_t *const out = count == STEP ? dst : part;
    (void)how;
    for (unsigned i = 0; i < STEP && i < count; i += 16) {
        const __m256 x = load8(src, i, count), y = load8(src, i + 8, count);
        __m256i v = bf16_from_f32(bits(x)), w = bf16_from_f32(bits(y));
        if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q)),
                             0)) {
            v = bf16_with_nan(x, v);
            w = bf16_with_nan(y, w);
        }
        store(out + i, _mm256_permute4x64_epi64(_mm256_packus_epi32(v, w), 0xd8),
              stream);
    }
    if (count != STEP)
        memcpy(dst, part, count * sizeof *part);
}

void taper_avx2_narrow_bf16(void *dst, const void *src, size_t n,
                            taper_cast_options options, bool stream)
{
    const unsigned host = use_default_control();
    (void)options;
    convert(dst, 16, src, 32, n, bf16_step, NULL, stream);
    restore_control(host);
}

TAPER_INLINE __m128i f16_from_f32(__m256 x)
{
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}

TAPER_INLINE void f16_step(void *dst, const void *src, size_t count, const void *how,
                           bool stream)
{
    _Alignas(LINE) uint16_t part[STEP];
    uint16_t *const out = count == STEP ? dst : part;
    (void)how;
    for (unsigned i = 0; i < STEP && i < count; i += 16) {
        const __m128i v = f16_from_f32(load8(src, i, count));
        const __m128i w = f16_from_f32(load8(src, i + 8, count));
        if (stream) {
            _mm256_stream_si256((void *)(out + i), _mm256_set_m128i(w, v));
        } else { /* halves as they are: joining them costs more */
            _mm_storeu_si128((void *)(out + i), v);
            _mm_storeu_si128((void *)(out + i + 8), w);
        }
    }
    if (count != STEP)
        memcpy(dst, part, count * sizeof *part);
}

void taper_avx2_narrow_f16(void *dst, const void *src, size_t n,
                           taper_cast_options options, bool stream)
{
    const unsigned host = use_default_control();
    (void)options;
    convert(dst, 16, src, 32, n, f16_step, NULL, stream);
    restore_control(host);
}

/* ---- powers of two: integers, by the modes of x86_formats.h ---- */

TAPER_INLINE __m256i f8e8m0_from_f32(__m256 x, const struct f8e8m0 *how)
{
    const __m256i a = _mm256_and_si256(bits(x), _mm256_set1_epi32(0x7fffffff));
    const __m256i subnormal = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x00800000), a);
    /* Below the range, or a NaN; an unsigned comparison made of a signed one. */
    const __m256i none = _mm256_cmpgt_epi32(
        _mm256_sub_epi32(a, _mm256_set1_epi32(INT32_MIN + how->least)),
        _mm256_set1_epi32(INT32_MIN + 0x7f800000 - how->least));
    const __m256i carry =
        _mm256_blendv_epi8(_mm256_set1_epi32(how->carry),
                           _mm256_set1_epi32(how->subnormal_carry), subnormal);
    const __m256i v = _mm256_srli_epi32(_mm256_add_epi32(a, carry), 23);
    return _mm256_blendv_epi8(_mm256_min_epu32(v, _mm256_set1_epi32(how->large)),
                              _mm256_set1_epi32(0xff), none);
}

TAPER_INLINE void f8e8m0_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    _Alignas(LINE) char part[STEP];
    char *const out = count == STEP ? dst : part;
    for (unsigned i = 0; i < STEP; i += 32) {
        const struct floats x = load(src, i, count);
        const __m256i ab =
            _mm256_packus_epi32(f8e8m0_from_f32(x.a, how), f8e8m0_from_f32(x.b, how));
        const __m256i cd =
            _mm256_packus_epi32(f8e8m0_from_f32(x.c, how), f8e8m0_from_f32(x.d, how));
        store(out + i, in_order(_mm256_packus_epi16(ab, cd)), stream);
    }
    if (count != STEP)
        memcpy(dst, part, count);
}

void taper_avx2_narrow_f8e8m0(void *dst, const void *src, size_t n,
                              taper_cast_options options, bool stream)
{
    const struct f8e8m0 how = f8e8m0_mode(options);
    convert(dst, 8, src, 32, n, f8e8m0_step, &how, stream);
}
