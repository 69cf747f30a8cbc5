/* avx512/table.c - the kernels for AVX-512. */
#include "../cpu.h"
#include "avx512.h"

const struct taper_kernels taper_avx512 = {
    .name = "avx512",
    .needs = TAPER_CPU_AVX512 | TAPER_CPU_AVX2 | TAPER_CPU_F16C,
    .fill = taper_avx512_fill,
    .copy = taper_avx512_copy,
    .transpose =
        {
            taper_avx512_transpose1,
            taper_avx512_transpose2,
            taper_avx512_transpose4,
            taper_avx512_transpose8,
            taper_avx512_transpose16,
        },
    .narrow =
        {
            [TAPER_F64] = taper_avx2_f64_from_f32,
            [TAPER_F16] = taper_avx512_narrow_f16,
            [TAPER_BF16] = taper_avx512_narrow_bf16,
            [TAPER_F8E4M3FN] = taper_avx512_narrow_f8e4m3fn,
            [TAPER_F8E4M3FNUZ] = taper_avx512_narrow_f8e4m3fnuz,
            [TAPER_F8E5M2] = taper_avx512_narrow_f8e5m2,
            [TAPER_F8E5M2FNUZ] = taper_avx512_narrow_f8e5m2fnuz,
            [TAPER_F4E2M1] = taper_avx512_narrow_f4e2m1,
            [TAPER_F8E8M0] = taper_avx512_narrow_f8e8m0,
        },
    .widen =
        {
            [TAPER_F64] = taper_avx2_f32_odd_from_f64,
            [TAPER_F16] = taper_avx512_widen_f16,
            [TAPER_BF16] = taper_avx512_widen_bf16,
            [TAPER_F8E4M3FN] = taper_avx512_widen_f8e4m3fn,
            [TAPER_F8E4M3FNUZ] = taper_avx512_widen_f8e4m3fnuz,
            [TAPER_F8E5M2] = taper_avx512_widen_f8e5m2,
            [TAPER_F8E5M2FNUZ] = taper_avx512_widen_f8e5m2fnuz,
            [TAPER_F4E2M1] = taper_avx512_widen_f4e2m1,
            [TAPER_F8E8M0] = taper_avx512_widen_f8e8m0,
        },
    .f32_from_f64 = taper_avx2_f32_from_f64,
};
