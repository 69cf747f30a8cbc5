/* avx2/fill.c - repeats a pattern of 16 bytes. */
#include <string.h>

#include "../x86_loop.h"
#include "avx2.h"
#include "intrin.h"

enum { VECTOR = 32, UNROLL = 4 * VECTOR };

/* The pattern as it goes on `phase` bytes later. */
TAPER_INLINE __m256i pattern_at(__m128i pattern, size_t phase)
{
    const __m128i bytes =
        _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i from = _mm_and_si128(_mm_add_epi8(bytes, _mm_set1_epi8((char)phase)),
                                       _mm_set1_epi8(15));
    return _mm256_broadcastsi128_si256(_mm_shuffle_epi8(pattern, from));
}

TAPER_INLINE void store(char *dst, __m256i v, bool stream)
{
    if (stream)
        _mm256_stream_si256((void *)dst, v);
    else
        _mm256_storeu_si256((void *)dst, v);
}

/* At most a vector: two halves that may overlap, or bytes of one. */
TAPER_INLINE void fill_small(char *dst, __m128i pattern, size_t bytes)
{
    const size_t half = VECTOR / 2;
    if (bytes >= half) {
        const __m128i last = _mm256_castsi256_si128(pattern_at(pattern, bytes));
        _mm_storeu_si128((void *)dst, pattern);
        _mm_storeu_si128((void *)(dst + bytes - half), last);
    } else {
        memcpy(dst, &pattern, bytes);
    }
}

TAPER_INLINE void fill_lines(char *d, size_t bytes, __m256i v, bool stream)
{
    for (; bytes >= UNROLL; bytes -= UNROLL, d += UNROLL)
        for (int i = 0; i < UNROLL; i += VECTOR)
            store(d + i, v, stream);
    for (; bytes >= VECTOR; bytes -= VECTOR, d += VECTOR)
        store(d, v, stream);
}

void taper_avx2_fill(void *dst, const unsigned char *pattern, size_t bytes, bool stream)
{
    char *const d = dst;
    const __m128i p = _mm_loadu_si128((const void *)pattern);
    if (bytes <= VECTOR) {
        fill_small(d, p, bytes);
        return;
    }
    /* One vector at each end, as they come, and aligned ones between. */
    const size_t head = VECTOR - (uintptr_t)d % VECTOR;
    _mm256_storeu_si256((void *)d, pattern_at(p, 0));
    const __m256i v = pattern_at(p, head);
    if (stream)
        fill_lines(d + head, bytes - head, v, true);
    else
        fill_lines(d + head, bytes - head, v, false);
    _mm256_storeu_si256((void *)(d + bytes - VECTOR), pattern_at(p, bytes));
}
