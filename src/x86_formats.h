/* x86_formats.h - what the kernels of AVX2 and AVX-512 have to know of number formats.
 */
#ifndef TAPER_X86_FORMATS_H
#define TAPER_X86_FORMATS_H

#include <stdint.h>

#include "kernels.h"

/* What narrowing has to know of a small float. */
struct small_float {
    unsigned mantissa;
    int least;               /* exponent of the least normal */
    uint8_t largest, beyond; /* codes for overflow, to saturate and not to */
    uint8_t nan;
    bool negative_zero;
};

static const struct small_float f8e4m3fn = {3, -6, 0x7e, 0x7f, 0x7f, true};
static const struct small_float f8e4m3fnuz = {3, -7, 0x7f, 0x80, 0x80, false};
static const struct small_float f8e5m2 = {2, -14, 0x7b, 0x7c, 0x7e, true};
static const struct small_float f8e5m2fnuz = {2, -15, 0x7f, 0x80, 0x80, false};
static const struct small_float f4e2m1 = {1, 0, 7, 7, 7, true};

/* Narrowing to f8e8m0: the carry out of the fraction rounds the exponent, and what is
 * added to make it differs between normal and subnormal magnitudes. */
struct f8e8m0 {
    int carry, subnormal_carry;
    int least; /* least magnitude that has a code other than ff */
    int large; /* code for what is above the range */
};

TAPER_INLINE struct f8e8m0 f8e8m0_mode(taper_cast_options options)
{
    static const struct f8e8m0 modes[] = {
        [TAPER_ROUND_UP] = {0x7fffff, 0x3fffff, 0x00200001, 0xff},
        [TAPER_ROUND_DOWN] = {0, 0, 0x00400000, 0xff},
        [TAPER_ROUND_NEAREST] = {0x400000, 0x200000, 0x00300000, 0xff},
    };
    struct f8e8m0 mode = modes[options.rounding];
    if (options.overflow == TAPER_SATURATE) {
        mode.least = 0;
        mode.large = 0xfe;
    }
    return mode;
}

/* Widening an 8-bit float: what the low (shift 0) or high (8) bytes of the high half of
 * a binary32 lack where magnitudes are subnormal, if they are made as for normal ones.
 * The last bytes of eight; the first of them is for magnitude 0. */
TAPER_INLINE uint64_t subnormal_corrections(unsigned mantissa, unsigned bias,
                                            unsigned shift)
{
    const uint32_t one = (127 - bias - mantissa + 1) << 7;
    const uint32_t two = one + (1 << 7), four = one + (2 << 7);
    const uint32_t values[] = {0,    one,         two,         two | 0x40,
                               four, four | 0x20, four | 0x40, four | 0x60};
    const unsigned count = 1u << mantissa;
    uint64_t last = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t normal = (i << (7 - mantissa)) + ((127 - bias) << 7);
        const uint32_t lacks = (values[i] >> shift) - (normal >> shift);
        last |= (uint64_t)(lacks & 0xff) << (64 - 8 * (count - i));
    }
    return last;
}

#endif
