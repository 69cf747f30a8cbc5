/* oracle.h - what every cast must give, worked out by exact arithmetic.
 *
 * It shares no code and no method with the library: a code is decoded to the number
 * that it stands for, and a number is compared with the midpoints between neighbours.
 * All of these are binary64 numbers, so no comparison is off by a bit. Speed is no aim.
 *
 * The functions are pure, so threads need no care. They use the floating-point unit:
 * call them with rounding to nearest and subnormals kept. */
#ifndef TAPER_ORACLE_H
#define TAPER_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "taper/taper.h"

/* Bits of a code of `type`; 0 if it is not one of the float types that casts take. */
unsigned oracle_bits(taper_dtype type);

/* The bits of what taper_cast() must make of the element of type `from` with these
 * bits. Both types are float types, and the result is in the low bits. */
uint64_t oracle_cast(taper_dtype to, taper_dtype from, uint64_t bits,
                     taper_cast_options options);

/* A narrowing from binary32 changes its result only at some magnitudes: from `first`,
 * binary32 bits without a sign, until the next step it gives `code`, and `negative` if
 * the input has a sign. */
struct oracle_step {
    uint32_t first;
    uint16_t code, negative;
};

enum { ORACLE_MAX_STEPS = 0x8001 };

/* Writes the steps of narrowing to `to`, a type of 16 bits or less, in rising order
 * from magnitude 0 to the last NaN. Returns how many: at most ORACLE_MAX_STEPS. */
size_t oracle_steps(taper_dtype to, taper_cast_options options,
                    struct oracle_step *steps);

#endif
