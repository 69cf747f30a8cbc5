/* intrin.h - the NEON intrinsics, or SIMDe's portable ones where tests emulate them. */
#ifndef TAPER_NEON_INTRIN_H
#define TAPER_NEON_INTRIN_H

#if defined(__aarch64__)

#include <arm_neon.h>

#else

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

/* Not yet in SIMDe 0.7: shift left and insert, which keeps the low `n` bits of `d`. */
#if !defined(vsliq_n_u8)
#define vsliq_n_u8(d, x, n)                                                            \
    vbslq_u8(vdupq_n_u8((1u << (n)) - 1), (d), vshlq_n_u8((x), (n)))
#endif
#if !defined(vsliq_n_u16)
#define vsliq_n_u16(d, x, n)                                                           \
    vbslq_u16(vdupq_n_u16((1u << (n)) - 1), (d), vshlq_n_u16((x), (n)))
#endif

#endif

#endif
