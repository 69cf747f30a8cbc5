/* intrin.h - the AVX2 and F16C intrinsics, or SIMDe's where tests emulate them. */
#ifndef TAPER_AVX2_INTRIN_H
#define TAPER_AVX2_INTRIN_H

#if defined(__x86_64__)

#include <immintrin.h>

#else

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/f16c.h>

/* SIMDe's MXCSR knows of rounding only. This one is FPCR and FPSR, which have no bit in
 * common, such that their defaults are those of MXCSR. */
#if defined(__aarch64__)
#undef _mm_getcsr
#undef _mm_setcsr

enum { MXCSR_DEFAULT = 0x1f80, FPSR_BITS = 0x0800009f };

static inline unsigned _mm_getcsr(void)
{
    uint64_t fpcr, fpsr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    __asm__ volatile("mrs %0, fpsr" : "=r"(fpsr));
    return (unsigned)(fpcr | (fpsr & FPSR_BITS)) ^ MXCSR_DEFAULT;
}

static inline void _mm_setcsr(unsigned bits)
{
    const uint64_t both = bits ^ MXCSR_DEFAULT;
    __asm__ volatile("msr fpcr, %0" : : "r"(both & ~(uint64_t)FPSR_BITS));
    __asm__ volatile("msr fpsr, %0" : : "r"(both & FPSR_BITS));
}
#endif

#endif

#endif
