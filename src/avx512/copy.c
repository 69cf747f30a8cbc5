/* avx512/copy.c - copies past the caches; within them the C library's copy is as good.
 */
#include <immintrin.h>
#include <string.h>

#include "../x86_loop.h"
#include "avx512.h"

TAPER_INLINE void copy_step(void *dst, const void *src, size_t count, const void *how,
                            bool stream)
{
    (void)how;
    if (!stream) { /* less than a cache line, before the first or after the last */
        memcpy(dst, src, count);
        return;
    }
    _mm512_stream_si512(dst, _mm512_loadu_si512(src));
}

void taper_avx512_copy(void *dst, const void *src, size_t bytes, bool stream)
{
    if (stream)
        convert(dst, 8, src, 8, bytes, copy_step, NULL, true);
    else
        memcpy(dst, src, bytes);
}
