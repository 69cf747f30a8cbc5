/* intrin.h - the AVX2 and F16C intrinsics: native, or emulated by SIMDe in tests. */
#ifndef TAPER_AVX2_INTRIN_H
#define TAPER_AVX2_INTRIN_H

#if defined(__x86_64__)
#include <immintrin.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/f16c.h>
#endif

#endif
