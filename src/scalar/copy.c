/* scalar/copy.c - the C library copies. */
#include "scalar.h"

void taper_scalar_copy(void *dst, const void *src, size_t bytes, bool stream)
{
    (void)stream;
    memcpy(dst, src, bytes);
}
