/* avx2/fill.c - repeats a pattern of 16 bytes. */
#include <string.h>

#include "../loop.h"
#include "avx2.h"
#include "intrin.h"

enum { VECTOR = 32, UNROLL = 4 * VECTOR };

/* The pattern as it goes on `phase` bytes later. */
TAPER_INLINE __m256i pattern_at(const unsigned char *pattern, size_t phase)
{
    unsigned char twice[2 * TAPER_PATTERN_BYTES];
    memcpy(twice, pattern, TAPER_PATTERN_BYTES);
    memcpy(twice + TAPER_PATTERN_BYTES, pattern, TAPER_PATTERN_BYTES);
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const void *)(twice + phase % TAPER_PATTERN_BYTES)));
}

TAPER_INLINE void store(char *dst, __m256i v, bool stream)
{
    if (stream)
        _mm256_stream_si256((void *)dst, v);
    else
        _mm256_storeu_si256((void *)dst, v);
}

/* At most a vector: two halves that may overlap, or the bytes through a copy. */
TAPER_INLINE void fill_small(char *dst, const unsigned char *pattern, size_t bytes)
{
    const __m128i v = _mm_loadu_si128((const void *)pattern);
    if (bytes >= TAPER_PATTERN_BYTES) {
        const __m256i last = pattern_at(pattern, bytes);
        _mm_storeu_si128((void *)dst, v);
        _mm_storeu_si128((void *)(dst + bytes - TAPER_PATTERN_BYTES),
                         _mm256_castsi256_si128(last));
    } else {
        memcpy(dst, pattern, bytes);
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
    if (bytes <= VECTOR) {
        fill_small(d, pattern, bytes);
        return;
    }
    /* One vector at each end, as they come, and aligned ones between. */
    const size_t head = VECTOR - (uintptr_t)d % VECTOR;
    _mm256_storeu_si256((void *)d, pattern_at(pattern, 0));
    const __m256i v = pattern_at(pattern, head);
    if (stream) {
        fill_lines(d + head, bytes - head, v, true);
        _mm_sfence();
    } else {
        fill_lines(d + head, bytes - head, v, false);
    }
    _mm256_storeu_si256((void *)(d + bytes - VECTOR), pattern_at(pattern, bytes));
}
