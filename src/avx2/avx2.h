/* avx2.h - kernels for x86-64 with AVX2 and F16C. */
#ifndef TAPER_AVX2_H
#define TAPER_AVX2_H

#include "../kernels.h"

taper_narrow_fn taper_avx2_narrow_bf16;
taper_narrow_fn taper_avx2_narrow_f16;
taper_narrow_fn taper_avx2_narrow_f8e4m3fn;

#endif
