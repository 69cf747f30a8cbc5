/* scalar/fill.c - repeats a pattern, sixteen bytes at a time. */
#include "scalar.h"

void taper_scalar_fill(void *dst, const unsigned char *pattern, size_t bytes,
                       bool stream)
{
    unsigned char *const out = dst;
    unsigned char own[TAPER_PATTERN_BYTES]; /* the compiler may keep it in a register */
    size_t i = 0;
    (void)stream;

    memcpy(own, pattern, sizeof own);
    for (; bytes - i >= sizeof own; i += sizeof own)
        memcpy(out + i, own, sizeof own);
    memcpy(out + i, own, bytes - i);
}
