/* neon/fill.c - repeats a pattern, sixty-four bytes at a time. */
#include <string.h>

#include "intrin.h"
#include "neon.h"

void taper_neon_fill(void *dst, const unsigned char *pattern, size_t bytes, bool stream)
{
    const uint8x16_t p = vld1q_u8(pattern);
    unsigned char *out = dst, own[TAPER_PATTERN_BYTES];
    (void)stream;

    for (; bytes >= 4 * sizeof p; bytes -= 4 * sizeof p, out += 4 * sizeof p) {
        vst1q_u8(out, p);
        vst1q_u8(out + sizeof p, p);
        vst1q_u8(out + 2 * sizeof p, p);
        vst1q_u8(out + 3 * sizeof p, p);
    }
    for (; bytes >= sizeof p; bytes -= sizeof p, out += sizeof p)
        vst1q_u8(out, p);
    vst1q_u8(own, p);
    memcpy(out, own, bytes);
}
