/* cpu.c - CPU features, and whether the operating system supports them. */
#include "cpu.h"

#include <stdbool.h>

unsigned taper_cpu_from_cpuid(struct taper_cpuid words)
{
    const uint32_t osxsave = UINT32_C(1) << 27, avx = UINT32_C(1) << 28, /* leaf 1 */
        f16c = UINT32_C(1) << 29;
    const uint32_t avx2 = UINT32_C(1) << 5;                         /* leaf 7 */
    const uint32_t avx512 = UINT32_C(1) << 16 | UINT32_C(1) << 17 | /* F, DQ */
                            UINT32_C(1) << 30 | UINT32_C(1) << 31;  /* BW, VL */
    unsigned features = 0;

    /* Hypervisors mask bits one by one, and all that follows is built on AVX. */
    if (!(words.leaf1_ecx & osxsave) || !(words.leaf1_ecx & avx))
        return 0;
    const bool ymm = (words.xcr0 & 0x06) == 0x06; /* XMM and YMM are saved */
    const bool zmm =
        (words.xcr0 & 0xe6) == 0xe6; /* and mask registers and all of ZMM */
    if (ymm && (words.leaf1_ecx & f16c))
        features |= TAPER_CPU_F16C;
    if (ymm && (words.leaf7_ebx & avx2))
        features |= TAPER_CPU_AVX2;
    if (zmm && (words.leaf7_ebx & avx512) == avx512)
        features |= TAPER_CPU_AVX512;
    return features;
}

#if defined(__x86_64__)
#include <cpuid.h>

unsigned taper_cpu(void)
{
    struct taper_cpuid words = {0};
    unsigned a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d))
        words.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        words.leaf7_ebx = b;
    if (words.leaf1_ecx & bit_OSXSAVE) { /* xgetbv faults without it */
        unsigned low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        words.xcr0 = low;
    }
    return taper_cpu_from_cpuid(words);
}

#elif defined(__aarch64__)

unsigned taper_cpu(void)
{
    return TAPER_CPU_NEON; /* part of the base architecture */
}

#else

unsigned taper_cpu(void)
{
    return 0;
}

#endif
