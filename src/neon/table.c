/* neon/table.c - the kernels for AArch64. */
#include "../cpu.h"
#include "../scalar/scalar.h"
#include "neon.h"

/* Emulated, for tests on other machines, it needs nothing of the CPU and has no
 * float.c. */
#if defined(__aarch64__)
#define NEEDS      TAPER_CPU_NEON
#define NATIVE(op) taper_neon_##op
#else
#define NEEDS      0
#define NATIVE(op) taper_scalar_##op
#endif

const struct taper_kernels taper_neon = {
    .name = "neon",
    .needs = NEEDS,
    .fill = taper_neon_fill,
    .copy = taper_scalar_copy, /* the C library knows this CPU better */
    .transpose =
        {
            taper_neon_transpose1,
            taper_neon_transpose2,
            taper_neon_transpose4,
            taper_neon_transpose8,
            taper_scalar_transpose16,
        },
    .narrow =
        {
            [TAPER_F64] = NATIVE(f64_from_f32),
            [TAPER_F16] = NATIVE(narrow_f16),
            [TAPER_BF16] = taper_neon_narrow_bf16,
            [TAPER_F8E4M3FN] = taper_neon_narrow_f8e4m3fn,
            [TAPER_F8E4M3FNUZ] = taper_neon_narrow_f8e4m3fnuz,
            [TAPER_F8E5M2] = taper_neon_narrow_f8e5m2,
            [TAPER_F8E5M2FNUZ] = taper_neon_narrow_f8e5m2fnuz,
            [TAPER_F4E2M1] = taper_neon_narrow_f4e2m1,
            [TAPER_F8E8M0] = taper_neon_narrow_f8e8m0,
        },
    .widen =
        {
            [TAPER_F64] = NATIVE(f32_odd_from_f64),
            [TAPER_F16] = NATIVE(widen_f16),
            [TAPER_BF16] = taper_neon_widen_bf16,
            [TAPER_F8E4M3FN] = taper_neon_widen_f8e4m3fn,
            [TAPER_F8E4M3FNUZ] = taper_neon_widen_f8e4m3fnuz,
            [TAPER_F8E5M2] = taper_neon_widen_f8e5m2,
            [TAPER_F8E5M2FNUZ] = taper_neon_widen_f8e5m2fnuz,
            [TAPER_F4E2M1] = taper_neon_widen_f4e2m1,
            [TAPER_F8E8M0] = taper_neon_widen_f8e8m0,
        },
    .f32_from_f64 = NATIVE(f32_from_f64),
};
