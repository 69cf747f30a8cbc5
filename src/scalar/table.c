/* scalar/table.c - the kernels that any CPU can run, and that define every result. */
#include "scalar.h"

const struct taper_kernels taper_scalar = {
    .name = "scalar",
    .needs = 0,
    .fill = taper_scalar_fill,
    .copy = taper_scalar_copy,
    .transpose =
        {
            taper_scalar_transpose1,
            taper_scalar_transpose2,
            taper_scalar_transpose4,
            taper_scalar_transpose8,
            taper_scalar_transpose16,
        },
    .narrow =
        {
            [TAPER_F64] = taper_scalar_f64_from_f32,
            [TAPER_F16] = taper_scalar_narrow_f16,
            [TAPER_BF16] = taper_scalar_narrow_bf16,
            [TAPER_F8E4M3FN] = taper_scalar_narrow_f8e4m3fn,
            [TAPER_F8E4M3FNUZ] = taper_scalar_narrow_f8e4m3fnuz,
            [TAPER_F8E5M2] = taper_scalar_narrow_f8e5m2,
            [TAPER_F8E5M2FNUZ] = taper_scalar_narrow_f8e5m2fnuz,
            [TAPER_F4E2M1] = taper_scalar_narrow_f4e2m1,
            [TAPER_F8E8M0] = taper_scalar_narrow_f8e8m0,
        },
    .widen =
        {
            [TAPER_F64] = taper_scalar_f32_odd_from_f64,
            [TAPER_F16] = taper_scalar_widen_f16,
            [TAPER_BF16] = taper_scalar_widen_bf16,
            [TAPER_F8E4M3FN] = taper_scalar_widen_f8e4m3fn,
            [TAPER_F8E4M3FNUZ] = taper_scalar_widen_f8e4m3fnuz,
            [TAPER_F8E5M2] = taper_scalar_widen_f8e5m2,
            [TAPER_F8E5M2FNUZ] = taper_scalar_widen_f8e5m2fnuz,
            [TAPER_F4E2M1] = taper_scalar_widen_f4e2m1,
            [TAPER_F8E8M0] = taper_scalar_widen_f8e8m0,
        },
    .f32_from_f64 = taper_scalar_f32_from_f64,
};
