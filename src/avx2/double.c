/* avx2/double.c - binary64 to and from binary32, 64 elements a step. */
#include "../x86_loop.h"
#include "avx2.h"
#include "control.h"
#include "intrin.h"

enum { LANES = 4 };

/* Four elements to binary32; a constant at every call, as `convert` has it. */
typedef __m128i from_f64_fn(__m256d x);

TAPER_INLINE __m128i nearest(__m256d x)
{
    return _mm_castps_si128(_mm256_cvtpd_ps(x));
}

/* The low halves of four 64-bit masks, as 32-bit masks. */
TAPER_INLINE __m128i masks(__m256d k)
{
    const __m256i v = _mm256_permutevar8x32_epi32(
        _mm256_castpd_si256(k), _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return _mm256_castsi256_si128(v);
}

/* Rounded to odd: to nearest first, one step back where that went outwards, and the
 * last bit set where it was not exact. From 2^128 on all is infinity; see
 * scalar/widen.c. */
TAPER_INLINE __m128i odd(__m256d x)
{
    const __m256d magnitude = _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX));
    const __m256d two_to_128 = _mm256_set1_pd(0x1p128);
    const __m128 y = _mm256_cvtpd_ps(x);
    const __m256d back = _mm256_and_pd(_mm256_cvtps_pd(y), magnitude);
    const __m256d a = _mm256_and_pd(x, magnitude);
    const __m256d finite = _mm256_cmp_pd(a, two_to_128, _CMP_LT_OQ);
    const __m256d outwards = _mm256_cmp_pd(back, a, _CMP_GT_OQ);
    const __m256d inexact = _mm256_cmp_pd(back, a, _CMP_NEQ_OQ);
    const __m128i less = masks(_mm256_and_pd(outwards, finite)); /* -1 where it holds */
    const __m128i set = masks(_mm256_and_pd(inexact, finite));
    return _mm_or_si128(_mm_add_epi32(_mm_castps_si128(y), less),
                        _mm_and_si128(set, _mm_set1_epi32(1)));
}

TAPER_INLINE void from_f64(void *dst, const void *src, from_f64_fn *round, bool stream)
{
    for (unsigned i = 0; i < STEP; i += LANES) {
        const __m128i v = round(_mm256_loadu_pd((const double *)src + i));
        if (stream)
            _mm_stream_si128((void *)((float *)dst + i), v);
        else
            _mm_storeu_si128((void *)((float *)dst + i), v);
    }
}

TAPER_INLINE void nearest_whole(void *dst, const void *src, const void *how,
                                bool stream)
{
    (void)how;
    from_f64(dst, src, nearest, stream);
}

TAPER_INLINE void nearest_step(void *dst, const void *src, size_t count,
                               const void *how, bool stream)
{
    padded(dst, 32, src, 64, count, nearest_whole, how, stream);
}

void taper_avx2_f32_from_f64(void *dst, const void *src, size_t n, bool stream)
{
    const unsigned host = use_default_control();
    convert(dst, 32, src, 64, n, nearest_step, NULL, stream);
    restore_control(host);
}

TAPER_INLINE void odd_whole(void *dst, const void *src, const void *how, bool stream)
{
    (void)how;
    from_f64(dst, src, odd, stream);
}

TAPER_INLINE void odd_step(void *dst, const void *src, size_t count, const void *how,
                           bool stream)
{
    padded(dst, 32, src, 64, count, odd_whole, how, stream);
}

void taper_avx2_f32_odd_from_f64(void *dst, const void *src, size_t n, bool stream)
{
    const unsigned host = use_default_control();
    convert(dst, 32, src, 64, n, odd_step, NULL, stream);
    restore_control(host);
}

TAPER_INLINE void exact_whole(void *dst, const void *src, const void *how, bool stream)
{
    (void)how;
    for (unsigned i = 0; i < STEP; i += LANES) {
        const __m256d v = _mm256_cvtps_pd(_mm_loadu_ps((const float *)src + i));
        if (stream)
            _mm256_stream_pd((double *)dst + i, v);
        else
            _mm256_storeu_pd((double *)dst + i, v);
    }
}

TAPER_INLINE void exact_step(void *dst, const void *src, size_t count, const void *how,
                             bool stream)
{
    padded(dst, 64, src, 32, count, exact_whole, how, stream);
}

void taper_avx2_f64_from_f32(void *dst, const void *src, size_t n,
                             taper_cast_options options, bool stream)
{
    const unsigned host = use_default_control();
    (void)options;
    convert(dst, 64, src, 32, n, exact_step, NULL, stream);
    restore_control(host);
}
