/* scalar.h - the reference kernels, and access to elements at any address. */
#ifndef TAPER_SCALAR_H
#define TAPER_SCALAR_H

#include <stdint.h>
#include <string.h>

#include "../kernels.h"

taper_fill_fn taper_scalar_fill;
taper_copy_fn taper_scalar_copy;
taper_transpose_fn taper_scalar_transpose1;
taper_transpose_fn taper_scalar_transpose2;
taper_transpose_fn taper_scalar_transpose4;
taper_transpose_fn taper_scalar_transpose8;
taper_transpose_fn taper_scalar_transpose16;

taper_narrow_fn taper_scalar_f64_from_f32;
taper_narrow_fn taper_scalar_narrow_f16;
taper_narrow_fn taper_scalar_narrow_bf16;
taper_narrow_fn taper_scalar_narrow_f8e4m3fn;
taper_narrow_fn taper_scalar_narrow_f8e4m3fnuz;
taper_narrow_fn taper_scalar_narrow_f8e5m2;
taper_narrow_fn taper_scalar_narrow_f8e5m2fnuz;
taper_narrow_fn taper_scalar_narrow_f4e2m1;
taper_narrow_fn taper_scalar_narrow_f8e8m0;

taper_widen_fn taper_scalar_f32_odd_from_f64;
taper_widen_fn taper_scalar_widen_f16;
taper_widen_fn taper_scalar_widen_bf16;
taper_widen_fn taper_scalar_widen_f8e4m3fn;
taper_widen_fn taper_scalar_widen_f8e4m3fnuz;
taper_widen_fn taper_scalar_widen_f8e5m2;
taper_widen_fn taper_scalar_widen_f8e5m2fnuz;
taper_widen_fn taper_scalar_widen_f4e2m1;
taper_widen_fn taper_scalar_widen_f8e8m0;
taper_widen_fn taper_scalar_f32_from_f64;

enum { F32_MAGNITUDE = 0x7fffffff, F32_INFINITY = 0x7f800000, F32_QUIET = 0x00400000 };

/* Element `i` of an array without alignment; compilers make one load or store of it. */

TAPER_INLINE uint16_t load16(const void *array, size_t i)
{
    uint16_t x;
    memcpy(&x, (const char *)array + i * sizeof x, sizeof x);
    return x;
}

TAPER_INLINE uint32_t load32(const void *array, size_t i)
{
    uint32_t x;
    memcpy(&x, (const char *)array + i * sizeof x, sizeof x);
    return x;
}

TAPER_INLINE uint64_t load64(const void *array, size_t i)
{
    uint64_t x;
    memcpy(&x, (const char *)array + i * sizeof x, sizeof x);
    return x;
}

TAPER_INLINE void store16(void *array, size_t i, uint16_t x)
{
    memcpy((char *)array + i * sizeof x, &x, sizeof x);
}

TAPER_INLINE void store32(void *array, size_t i, uint32_t x)
{
    memcpy((char *)array + i * sizeof x, &x, sizeof x);
}

TAPER_INLINE void store64(void *array, size_t i, uint64_t x)
{
    memcpy((char *)array + i * sizeof x, &x, sizeof x);
}

#endif
