/* avx512/fill.c - repeats a pattern of 16 bytes. */
#include <immintrin.h>
#include <string.h>

#include "../loop.h"
#include "avx512.h"

enum { UNROLL = 4 * LINE };

/* The pattern as it goes on `phase` bytes later. */
TAPER_INLINE __m512i pattern_at(const unsigned char *pattern, size_t phase)
{
    unsigned char twice[2 * TAPER_PATTERN_BYTES];
    memcpy(twice, pattern, TAPER_PATTERN_BYTES);
    memcpy(twice + TAPER_PATTERN_BYTES, pattern, TAPER_PATTERN_BYTES);
    return _mm512_broadcast_i32x4(
        _mm_loadu_si128((const void *)(twice + phase % TAPER_PATTERN_BYTES)));
}

TAPER_INLINE void store(char *dst, __m512i v, bool stream)
{
    if (stream)
        _mm512_stream_si512((void *)dst, v);
    else
        _mm512_storeu_si512(dst, v);
}

TAPER_INLINE void fill_lines(char *d, size_t bytes, __m512i v, bool stream)
{
    for (; bytes >= UNROLL; bytes -= UNROLL, d += UNROLL)
        for (int i = 0; i < UNROLL; i += LINE)
            store(d + i, v, stream);
    for (; bytes >= LINE; bytes -= LINE, d += LINE)
        store(d, v, stream);
}

void taper_avx512_fill(void *dst, const unsigned char *pattern, size_t bytes,
                       bool stream)
{
    char *const d = dst;
    const __m512i first =
        _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)pattern));
    if (bytes < LINE) {
        _mm512_mask_storeu_epi8(d, (UINT64_C(1) << bytes) - 1, first);
        return;
    }
    /* One vector at each end, as they come, and aligned ones between. */
    const size_t head = LINE - (uintptr_t)d % LINE;
    _mm512_storeu_si512(d, first);
    const __m512i v = pattern_at(pattern, head);
    if (stream) {
        fill_lines(d + head, bytes - head, v, true);
        _mm_sfence();
    } else {
        fill_lines(d + head, bytes - head, v, false);
    }
    _mm512_storeu_si512(d + bytes - LINE, pattern_at(pattern, bytes));
}
