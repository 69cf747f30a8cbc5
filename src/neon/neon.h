/* neon.h - kernels for AArch64, whose base architecture has NEON. */
#ifndef TAPER_NEON_H
#define TAPER_NEON_H

#include "../kernels.h"

taper_fill_fn taper_neon_fill;

taper_transpose_fn taper_neon_transpose1;
taper_transpose_fn taper_neon_transpose2;
taper_transpose_fn taper_neon_transpose4;
taper_transpose_fn taper_neon_transpose8;

taper_narrow_fn taper_neon_narrow_bf16;
taper_narrow_fn taper_neon_narrow_f8e4m3fn;
taper_narrow_fn taper_neon_narrow_f8e4m3fnuz;
taper_narrow_fn taper_neon_narrow_f8e5m2;
taper_narrow_fn taper_neon_narrow_f8e5m2fnuz;
taper_narrow_fn taper_neon_narrow_f4e2m1;
taper_narrow_fn taper_neon_narrow_f8e8m0;

taper_widen_fn taper_neon_widen_bf16;
taper_widen_fn taper_neon_widen_f8e4m3fn;
taper_widen_fn taper_neon_widen_f8e4m3fnuz;
taper_widen_fn taper_neon_widen_f8e5m2;
taper_widen_fn taper_neon_widen_f8e5m2fnuz;
taper_widen_fn taper_neon_widen_f4e2m1;
taper_widen_fn taper_neon_widen_f8e8m0;

/* Those that use floating-point instructions; see float.c. */
taper_narrow_fn taper_neon_narrow_f16;
taper_narrow_fn taper_neon_f64_from_f32; /* f32 to f64 */
taper_widen_fn taper_neon_widen_f16;
taper_widen_fn taper_neon_f32_odd_from_f64; /* f64 to f32, rounded to odd */
taper_widen_fn taper_neon_f32_from_f64;

#endif
