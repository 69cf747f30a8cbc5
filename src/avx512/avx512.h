/* avx512.h - kernels for x86-64 with AVX-512 F, BW, DQ and VL. */
#ifndef TAPER_AVX512_H
#define TAPER_AVX512_H

#include <stdint.h>

#include "../avx2/avx2.h" /* kernels this table borrows */

taper_fill_fn taper_avx512_fill;
taper_copy_fn taper_avx512_copy;

taper_transpose_fn taper_avx512_transpose1;
taper_transpose_fn taper_avx512_transpose2;
taper_transpose_fn taper_avx512_transpose4;
taper_transpose_fn taper_avx512_transpose8;
taper_transpose_fn taper_avx512_transpose16;

taper_narrow_fn taper_avx512_narrow_f16;
taper_narrow_fn taper_avx512_narrow_bf16;
taper_narrow_fn taper_avx512_narrow_f8e4m3fn;
taper_narrow_fn taper_avx512_narrow_f8e4m3fnuz;
taper_narrow_fn taper_avx512_narrow_f8e5m2;
taper_narrow_fn taper_avx512_narrow_f8e5m2fnuz;
taper_narrow_fn taper_avx512_narrow_f4e2m1;
taper_narrow_fn taper_avx512_narrow_f8e8m0;

taper_widen_fn taper_avx512_widen_f16;
taper_widen_fn taper_avx512_widen_bf16;
taper_widen_fn taper_avx512_widen_f8e4m3fn;
taper_widen_fn taper_avx512_widen_f8e4m3fnuz;
taper_widen_fn taper_avx512_widen_f8e5m2;
taper_widen_fn taper_avx512_widen_f8e5m2fnuz;
taper_widen_fn taper_avx512_widen_f4e2m1;
taper_widen_fn taper_avx512_widen_f8e8m0;

/* The lowest `count` of 64 bits: a mask for that many lanes. What a masked load or
 * store leaves out may lie outside the array. */
TAPER_INLINE uint64_t lowest(size_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

#endif
