/* neon/fill.c - repeats a pattern of 16 bytes. */
#include <stdint.h>
#include <string.h>

#include "intrin.h"
#include "neon.h"

enum { VECTOR = 16, UNROLL = 4 * VECTOR };

/* The pattern as it goes on `phase` bytes later. */
TAPER_INLINE uint8x16_t pattern_at(uint8x16_t pattern, size_t phase)
{
    static const uint8_t bytes[VECTOR] = {0, 1, 2,  3,  4,  5,  6,  7,
                                          8, 9, 10, 11, 12, 13, 14, 15};
    const uint8x16_t from =
        vandq_u8(vaddq_u8(vld1q_u8(bytes), vdupq_n_u8((uint8_t)phase)), vdupq_n_u8(15));
    return vqtbl1q_u8(pattern, from);
}

TAPER_INLINE void store4(unsigned char *dst, uint8x16_t v)
{
    for (int i = 0; i < UNROLL; i += VECTOR)
        vst1q_u8(dst + i, v);
}

/* Ends overlap what lies between. Vectors there are aligned: a store across two of the
 * cache's banks of 16 bytes, or two lines, takes twice as long. `stream` changes
 * nothing: the CPU itself stops reading lines that are written whole. */
void taper_neon_fill(void *dst, const unsigned char *pattern, size_t bytes, bool stream)
{
    const uint8x16_t p = vld1q_u8(pattern);
    unsigned char *const d = dst, *const end = d + bytes;
    (void)stream;

    if (bytes < VECTOR) {
        memcpy(d, pattern, bytes);
        return;
    }
    const uint8x16_t last = pattern_at(p, bytes);
    vst1q_u8(d, p);
    if (bytes > UNROLL) {
        const size_t head = VECTOR - (uintptr_t)d % VECTOR;
        const uint8x16_t v = pattern_at(p, head);
        unsigned char *at = d + head;
        for (; end - at > UNROLL; at += UNROLL)
            store4(at, v);
        store4(end - UNROLL, last);
    } else if (bytes > 2 * VECTOR) {
        vst1q_u8(d + VECTOR, p);
        vst1q_u8(end - 2 * VECTOR, last);
    }
    vst1q_u8(end - VECTOR, last);
}
