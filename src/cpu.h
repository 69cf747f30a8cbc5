/* cpu.h - what this CPU and its operating system let us run. */
#ifndef TAPER_CPU_H
#define TAPER_CPU_H

#include <stdint.h>

enum {
    TAPER_CPU_F16C = 1 << 0,
    TAPER_CPU_AVX2 = 1 << 1,
    TAPER_CPU_AVX512 = 1 << 2, /* F, BW, DQ and VL together */
    TAPER_CPU_NEON = 1 << 3,
};

/* The words that decide on x86-64, as CPUID and XGETBV return them; 0 where a leaf or
 * register does not exist. */
struct taper_cpuid {
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx;
    uint32_t xcr0;
};

/* TAPER_CPU_* bits that those words allow: a feature counts only if the operating
 * system saves the registers it uses. A pure function, so that tests can try any
 * machine. */
unsigned taper_cpu_from_cpuid(struct taper_cpuid words);

/* TAPER_CPU_* bits of this machine. */
unsigned taper_cpu(void);

#endif
