/* avx512/fill.c - repeats a pattern of 16 bytes. */
#include <immintrin.h>
#include <string.h>

#include "../x86_loop.h"
#include "avx512.h"

enum { UNROLL = 4 * LINE };

/* The pattern as it goes on `phase` bytes later. */
TAPER_INLINE __m512i pattern_at(__m128i pattern, size_t phase)
{
    const __m128i bytes =
        _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i from = _mm_and_si128(_mm_add_epi8(bytes, _mm_set1_epi8((char)phase)),
                                       _mm_set1_epi8(15));
    return _mm512_broadcast_i32x4(_mm_shuffle_epi8(pattern, from));
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
    const __m128i p = _mm_loadu_si128((const void *)pattern);
    const __m512i first = _mm512_broadcast_i32x4(p);
    if (bytes < LINE) {
        _mm512_mask_storeu_epi8(d, (UINT64_C(1) << bytes) - 1, first);
        return;
    }
    /* One vector at each end, as they come, and aligned ones between. */
    const size_t head = LINE - (uintptr_t)d % LINE;
    _mm512_storeu_si512(d, first);
    const __m512i v = pattern_at(p, head);
    if (stream)
        fill_lines(d + head, bytes - head, v, true);
    else
        fill_lines(d + head, bytes - head, v, false);
    _mm512_storeu_si512(d + bytes - LINE, pattern_at(p, bytes));
}
