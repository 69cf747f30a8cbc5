/* avx2.h - kernels for x86-64 with AVX2 and F16C. */
#ifndef TAPER_AVX2_H
#define TAPER_AVX2_H

#include "../kernels.h"

taper_fill_fn taper_avx2_fill;
taper_copy_fn taper_avx2_copy;
taper_transpose_fn taper_avx2_transpose1;
taper_transpose_fn taper_avx2_transpose2;
taper_transpose_fn taper_avx2_transpose4;
taper_transpose_fn taper_avx2_transpose8;

taper_narrow_fn taper_avx2_f64_from_f32;
taper_narrow_fn taper_avx2_narrow_f16;
taper_narrow_fn taper_avx2_narrow_bf16;
taper_narrow_fn taper_avx2_narrow_f8e4m3fn;
taper_narrow_fn taper_avx2_narrow_f8e4m3fnuz;
taper_narrow_fn taper_avx2_narrow_f8e5m2;
taper_narrow_fn taper_avx2_narrow_f8e5m2fnuz;
taper_narrow_fn taper_avx2_narrow_f4e2m1;
taper_narrow_fn taper_avx2_narrow_f8e8m0;

taper_widen_fn taper_avx2_f32_odd_from_f64;
taper_widen_fn taper_avx2_widen_f16;
taper_widen_fn taper_avx2_widen_bf16;
taper_widen_fn taper_avx2_widen_f8e4m3fn;
taper_widen_fn taper_avx2_widen_f8e4m3fnuz;
taper_widen_fn taper_avx2_widen_f8e5m2;
taper_widen_fn taper_avx2_widen_f8e5m2fnuz;
taper_widen_fn taper_avx2_widen_f4e2m1;
taper_widen_fn taper_avx2_widen_f8e8m0;
taper_widen_fn taper_avx2_f32_from_f64;

#endif
