/* avx2/narrow.c - placeholder until the kernels land in the next commit. */
#include "../scalar/scalar.h"
#include "avx2.h"
void taper_avx2_narrow_bf16(void *d, const void *s, size_t n, taper_cast_options o, bool t) { taper_scalar_narrow_bf16(d, s, n, o, t); }
void taper_avx2_narrow_f16(void *d, const void *s, size_t n, taper_cast_options o, bool t) { taper_scalar_narrow_f16(d, s, n, o, t); }
void taper_avx2_narrow_f8e4m3fn(void *d, const void *s, size_t n, taper_cast_options o, bool t) { taper_scalar_narrow_f8e4m3fn(d, s, n, o, t); }
