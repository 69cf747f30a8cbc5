/* avx2/widen.c - widening to binary32, 64 elements a step. */
#include "../x86_formats.h"
#include "../x86_loop.h"
#include "avx2.h"
#include "control.h"
#include "intrin.h"

TAPER_INLINE void store(float *dst, __m256i v, bool stream)
{
    if (stream)
        _mm256_stream_si256((void *)dst, v);
    else
        _mm256_storeu_si256((void *)dst, v);
}

/* ---- 16-bit floats ---- */

TAPER_INLINE void bf16_whole(void *dst, const void *src, const void *how, bool stream)
{
    (void)how;
    for (unsigned i = 0; i < STEP; i += 8) {
        const __m128i x = _mm_loadu_si128((const void *)((const uint16_t *)src + i));
        store((float *)dst + i, _mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16),
              stream);
    }
}

TAPER_INLINE void bf16_step(void *dst, const void *src, size_t count, const void *how,
                            bool stream)
{
    padded(dst, 32, src, 16, count, bf16_whole, how, stream);
}

void taper_avx2_widen_bf16(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 16, n, bf16_step, NULL, stream);
}

TAPER_INLINE void f16_whole(void *dst, const void *src, const void *how, bool stream)
{
    (void)how;
    for (unsigned i = 0; i < STEP; i += 8) {
        const __m128i x = _mm_loadu_si128((const void *)((const uint16_t *)src + i));
        store((float *)dst + i, _mm256_castps_si256(_mm256_cvtph_ps(x)), stream);
    }
}

TAPER_INLINE void f16_step(void *dst, const void *src, size_t count, const void *how,
                           bool stream)
{
    padded(dst, 32, src, 16, count, f16_whole, how, stream);
}

void taper_avx2_widen_f16(void *dst, const void *src, size_t n, bool stream)
{
    const unsigned host = use_default_control();
    convert(dst, 32, src, 16, n, f16_step, NULL, stream);
    restore_control(host);
}

/* ---- 8-bit and 4-bit floats ----
 *
 * Each of their values is the high half of a binary32. Its two bytes are made in two
 * registers, for 32 codes at a time, and then interleaved with each other and with
 * zeros. */

struct halves {
    __m256i low, high;
};

/* Deals 32 bytes so that the unpackings of store_halves() put them in order. */
TAPER_INLINE __m256i deal(__m256i v)
{
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}

/* Stores 16 floats at `dst` and 16 at `dst2`. */
TAPER_INLINE void store_halves(float *dst, float *dst2, struct halves x, bool stream)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i v = _mm256_unpacklo_epi8(x.low, x.high);
    const __m256i w = _mm256_unpackhi_epi8(x.low, x.high);
    store(dst, _mm256_unpacklo_epi16(zero, v), stream);
    store(dst + 8, _mm256_unpackhi_epi16(zero, v), stream);
    store(dst2, _mm256_unpacklo_epi16(zero, w), stream);
    store(dst2 + 8, _mm256_unpackhi_epi16(zero, w), stream);
}

/* A table of 16 bytes for _mm256_shuffle_epi8. */
TAPER_INLINE __m256i table(uint64_t first, uint64_t second)
{
    return _mm256_broadcastsi128_si256(
        _mm_set_epi64x((long long)second, (long long)first));
}

struct format {
    unsigned mantissa, bias;
    uint8_t infinity, nan; /* first magnitude to be one; 80 if there is none */
    bool negative_zero;    /* if not, 80 is the NaN */
};

/* Where magnitudes are normal: up to where the exponents align, and the bias added. An
 * odd difference of the biases reaches down into the low byte, so its 1 is added
 * before. */
TAPER_INLINE struct halves normal_halves(__m256i a, struct format f)
{
    const unsigned bias = 127 - f.bias;
    if (bias % 2 != 0)
        a = _mm256_add_epi8(a, _mm256_set1_epi8((char)(1 << f.mantissa)));
    const __m256i low = _mm256_slli_epi16(a, 7 - (int)f.mantissa);
    const __m256i high = _mm256_srli_epi16(a, 1 + (int)f.mantissa);
    return (struct halves){
        _mm256_and_si256(low, _mm256_set1_epi8((char)(0xff << (7 - f.mantissa)))),
        _mm256_add_epi8(
            _mm256_and_si256(high, _mm256_set1_epi8((char)(0xff >> (1 + f.mantissa)))),
            _mm256_set1_epi8((char)(bias / 2))),
    };
}

/* What normal_halves() lacks where magnitudes are subnormal, as a table. */
TAPER_INLINE __m256i corrections(struct format f, unsigned shift)
{
    return table(0, subnormal_corrections(f.mantissa, f.bias, shift));
}

TAPER_INLINE __m256i keep(__m256i mask, int byte)
{
    return _mm256_and_si256(mask, _mm256_set1_epi8((char)byte));
}

TAPER_INLINE struct halves halves_from_f8(__m256i x, struct format f)
{
    const __m256i a = keep(x, 0x7f);
    /* Normal magnitudes get bit 7, for which a shuffle gives 0. */
    const __m256i index =
        _mm256_add_epi8(a, _mm256_set1_epi8((char)(0x80 - (1 << f.mantissa))));
    struct halves v = normal_halves(a, f);
    v.low = _mm256_add_epi8(v.low, _mm256_shuffle_epi8(corrections(f, 0), index));
    v.high = _mm256_add_epi8(v.high, _mm256_shuffle_epi8(corrections(f, 8), index));
    if (f.infinity != 0x80) {
        const __m256i k =
            _mm256_cmpgt_epi8(a, _mm256_set1_epi8((char)(f.infinity - 1)));
        v.high = _mm256_blendv_epi8(v.high, _mm256_set1_epi8(0x7f), k);
    }
    if (f.nan != 0x80) {
        const __m256i k = _mm256_cmpgt_epi8(a, _mm256_set1_epi8((char)(f.nan - 1)));
        v.low = _mm256_blendv_epi8(v.low, _mm256_set1_epi8((char)0xc0), k);
        v.high = _mm256_blendv_epi8(v.high, _mm256_set1_epi8(0x7f), k);
    }
    if (!f.negative_zero) {
        const __m256i k = _mm256_cmpeq_epi8(x, _mm256_set1_epi8((char)0x80));
        v.low = _mm256_or_si256(v.low, keep(k, 0xc0)); /* the magnitude was 0 */
        v.high = _mm256_or_si256(v.high, keep(k, 0x7f));
    }
    v.high = _mm256_or_si256(v.high, keep(x, 0x80));
    return v;
}

TAPER_INLINE void f8_whole(void *dst, const void *src, const void *how, bool stream)
{
    const struct format *const f = how;
    float *const out = dst;
    for (unsigned i = 0; i < STEP; i += 32) {
        const __m256i x = _mm256_loadu_si256((const void *)((const uint8_t *)src + i));
        store_halves(out + i, out + i + 16, halves_from_f8(deal(x), *f), stream);
    }
}

TAPER_INLINE void f8_step(void *dst, const void *src, size_t count, const void *how,
                          bool stream)
{
    padded(dst, 32, src, 8, count, f8_whole, how, stream);
}

void taper_avx2_widen_f8e4m3fn(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {3, 7, 0x80, 0x7f, true};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx2_widen_f8e4m3fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {3, 8, 0x80, 0x80, false};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx2_widen_f8e5m2(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {2, 15, 0x7c, 0x7d, true};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

void taper_avx2_widen_f8e5m2fnuz(void *dst, const void *src, size_t n, bool stream)
{
    const struct format f = {2, 16, 0x80, 0x80, false};
    convert(dst, 32, src, 8, n, f8_step, &f, stream);
}

/* The sixteen values are tables of both bytes. */
TAPER_INLINE struct halves halves_from_f4e2m1(__m256i codes)
{
    const __m256i low = table(0xc0804000c0800000, 0xc0804000c0800000);
    const __m256i high = table(0x404040403f3f3f00, 0xc0c0c0c0bfbfbf80);
    return (struct halves){_mm256_shuffle_epi8(low, codes),
                           _mm256_shuffle_epi8(high, codes)};
}

TAPER_INLINE void f4e2m1_whole(void *dst, const void *src, const void *how, bool stream)
{
    float *const out = dst;
    const __m256i x = _mm256_loadu_si256(src);
    const __m256i even = keep(x, 0x0f), odd = keep(_mm256_srli_epi16(x, 4), 0x0f);
    /* Unpacking works in each half, so the first has elements 0 to 15 and 32 to 47. */
    const __m256i first = _mm256_unpacklo_epi8(even, odd);
    const __m256i second = _mm256_unpackhi_epi8(even, odd);
    (void)how;
    store_halves(out, out + 32, halves_from_f4e2m1(deal(first)), stream);
    store_halves(out + 16, out + 48, halves_from_f4e2m1(deal(second)), stream);
}

TAPER_INLINE void f4e2m1_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    padded(dst, 32, src, 4, count, f4e2m1_whole, how, stream);
}

void taper_avx2_widen_f4e2m1(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 4, n, f4e2m1_step, NULL, stream);
}

/* ---- powers of two ---- */

TAPER_INLINE void f8e8m0_whole(void *dst, const void *src, const void *how, bool stream)
{
    (void)how;
    for (unsigned i = 0; i < STEP; i += 8) {
        const __m128i codes = _mm_loadl_epi64((const void *)((const uint8_t *)src + i));
        const __m256i x = _mm256_cvtepu8_epi32(codes);
        /* The top fraction bit makes 2^-127 of code 00 and a quiet NaN of code ff. */
        const __m256i k =
            _mm256_or_si256(_mm256_cmpeq_epi32(x, _mm256_setzero_si256()),
                            _mm256_cmpeq_epi32(x, _mm256_set1_epi32(0xff)));
        const __m256i top = _mm256_and_si256(k, _mm256_set1_epi32(0x00400000));
        store((float *)dst + i, _mm256_or_si256(_mm256_slli_epi32(x, 23), top), stream);
    }
}

TAPER_INLINE void f8e8m0_step(void *dst, const void *src, size_t count, const void *how,
                              bool stream)
{
    padded(dst, 32, src, 8, count, f8e8m0_whole, how, stream);
}

void taper_avx2_widen_f8e8m0(void *dst, const void *src, size_t n, bool stream)
{
    convert(dst, 32, src, 8, n, f8e8m0_step, NULL, stream);
}
