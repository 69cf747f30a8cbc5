/* avx2/copy.c - copies past the caches; within them the C library's copy is as good. */
#include <string.h>

#include "../x86_loop.h"
#include "avx2.h"
#include "intrin.h"

TAPER_INLINE void copy_step(void *dst, const void *src, size_t count, const void *how,
                            bool stream)
{
    const char *const s = src;
    (void)how;
    if (!stream) { /* less than a cache line, before the first or after the last */
        memcpy(dst, src, count);
        return;
    }
    const __m256i a = _mm256_loadu_si256((const void *)s);
    const __m256i b = _mm256_loadu_si256((const void *)(s + 32));
    _mm256_stream_si256(dst, a);
    _mm256_stream_si256((void *)((char *)dst + 32), b);
}

void taper_avx2_copy(void *dst, const void *src, size_t bytes, bool stream)
{
    if (stream)
        convert(dst, 8, src, 8, bytes, copy_step, NULL, true);
    else
        memcpy(dst, src, bytes);
}
