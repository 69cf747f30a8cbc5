/* oracle.c - decodes codes exactly and finds the nearest by comparing with midpoints.
 */
#include "oracle.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- Types with a sign, an exponent and a fraction ---- */

struct format {
    unsigned bits;
    int fraction, bias;
    uint32_t largest;             /* the code of the largest finite magnitude */
    uint32_t saturated, overflow; /* the codes past it: saturating, and not */
    bool infinity;                /* is the code after the largest finite one */
    bool negative_zero;           /* if not, that code is the NaN */
};

static const struct format *format_of(taper_dtype type)
{
    static const struct format formats[] = {
        [TAPER_F32] = {32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7f800000, true, true},
        [TAPER_F16] = {16, 10, 15, 0x7bff, 0x7c00, 0x7c00, true, true},
        [TAPER_BF16] = {16, 7, 127, 0x7f7f, 0x7f80, 0x7f80, true, true},
        [TAPER_F8E4M3FN] = {8, 3, 7, 0x7e, 0x7e, 0x7f, false, true},
        [TAPER_F8E4M3FNUZ] = {8, 3, 8, 0x7f, 0x7f, 0x80, false, false},
        [TAPER_F8E5M2] = {8, 2, 15, 0x7b, 0x7b, 0x7c, true, true},
        [TAPER_F8E5M2FNUZ] = {8, 2, 16, 0x7f, 0x7f, 0x80, false, false},
        [TAPER_F4E2M1] = {4, 1, 1, 7, 7, 7, false, true},
    };
    const size_t i = (size_t)type;
    return i < sizeof formats / sizeof *formats && formats[i].bits != 0 ? &formats[i]
                                                                        : NULL;
}

unsigned oracle_bits(taper_dtype type)
{
    const struct format *const f = format_of(type);
    return f != NULL ? f->bits : type == TAPER_F64 ? 64 : type == TAPER_F8E8M0 ? 8 : 0;
}

/* The number that `code`, without its sign, stands for. Codes past the largest finite
 * one are read on in the same way: they are what rounding would reach if there were
 * room. */
static double value_of(const struct format *f, uint32_t code)
{
    const int exponent = (int)(code >> f->fraction);
    const uint32_t hidden = UINT32_C(1) << f->fraction;
    const uint32_t fraction = code & (hidden - 1);
    return exponent == 0 ? ldexp(fraction, 1 - f->bias - f->fraction)
                         : ldexp(hidden + fraction, exponent - f->bias - f->fraction);
}

/* Whether `magnitude` rounds to `code` or beyond: whether it is past the midpoint below
 * that code, or on it and the code is the even one of the two. */
static bool reaches(const struct format *f, uint32_t code, double magnitude)
{
    if (code == 0)
        return true;
    const double midpoint = (value_of(f, code - 1) + value_of(f, code)) / 2;
    return magnitude > midpoint || (magnitude == midpoint && code % 2 == 0);
}

static uint32_t overflow_code(const struct format *f, taper_overflow overflow)
{
    return overflow == TAPER_SATURATE ? f->saturated : f->overflow;
}

static uint32_t nearest(const struct format *f, double magnitude,
                        taper_overflow overflow)
{
    uint32_t code = 0, beyond = f->largest + 2; /* reached; not reached */
    while (beyond - code > 1) {
        const uint32_t middle = code + (beyond - code) / 2;
        if (reaches(f, middle, magnitude))
            code = middle;
        else
            beyond = middle;
    }
    return code > f->largest ? overflow_code(f, overflow) : code;
}

static uint32_t with_sign(const struct format *f, uint32_t code, bool negative)
{
    if (!negative || (code == 0 && !f->negative_zero))
        return code;
    return code | UINT32_C(1) << (f->bits - 1);
}

/* ---- f8e8m0: powers of two ---- */

enum { E8M0_LEAST = -127, E8M0_LARGEST = 127 }; /* exponents of codes 00 and fe */

/* Whether `magnitude` rounds to 2^exponent or beyond. */
static bool reaches_power(int exponent, double magnitude, taper_rounding rounding)
{
    switch (rounding) {
    case TAPER_ROUND_UP:
        return magnitude > ldexp(1, exponent - 1);
    case TAPER_ROUND_DOWN:
        return magnitude >= ldexp(1, exponent);
    case TAPER_ROUND_NEAREST:
        break;
    }
    return magnitude >= ldexp(3, exponent - 2); /* halfway from the power below */
}

static uint32_t power_code(int exponent, taper_overflow overflow)
{
    const bool saturate = overflow == TAPER_SATURATE;
    return exponent < E8M0_LEAST     ? (saturate ? 0x00 : 0xff)
           : exponent > E8M0_LARGEST ? (saturate ? 0xfe : 0xff)
                                     : (uint32_t)(exponent - E8M0_LEAST);
}

static uint32_t nearest_power(double magnitude, taper_cast_options options)
{
    int exponent = E8M0_LARGEST + 1;
    while (exponent >= E8M0_LEAST &&
           !reaches_power(exponent, magnitude, options.rounding))
        exponent--;
    return power_code(exponent, options.overflow);
}

/* ---- NaN ---- */

/* What a NaN, given as binary32 bits, becomes. */
static uint64_t nan_code(taper_dtype to, uint32_t nan)
{
    const uint32_t sign = nan >> 31, fraction = nan & 0x7fffff;
    switch (to) {
    case TAPER_F64:
        return (uint64_t)sign << 63 | UINT64_C(0x7ff8000000000000) |
               (uint64_t)fraction << 29;
    case TAPER_F32:
        return nan;
    case TAPER_F16:
        return sign << 15 | 0x7e00 | fraction >> 13;
    case TAPER_BF16:
        return sign << 15 | 0x7fc0 | fraction >> 16;
    case TAPER_F8E4M3FN:
        return sign << 7 | 0x7f;
    case TAPER_F8E5M2:
        return sign << 7 | 0x7e;
    case TAPER_F4E2M1:
        return 7;
    case TAPER_F8E8M0:
        return 0xff;
    default:
        return 0x80; /* the FNUZ types */
    }
}

/* ---- Casts ---- */

/* What an element is. */
struct number {
    bool negative, is_nan;
    uint32_t nan;     /* as binary32 bits */
    double magnitude; /* otherwise; may be infinite */
};

static struct number from_f64(uint64_t bits)
{
    struct number x = {.negative = bits >> 63};
    const uint64_t magnitude = bits & (UINT64_MAX >> 1);
    x.is_nan = magnitude > UINT64_C(0x7ff0000000000000);
    if (x.is_nan)
        x.nan = (uint32_t)x.negative << 31 | 0x7fc00000 | (magnitude >> 29 & 0x3fffff);
    else
        memcpy(&x.magnitude, &magnitude, sizeof magnitude);
    return x;
}

static struct number from_f8e8m0(uint32_t code)
{
    return (struct number){.is_nan = code == 0xff,
                           .nan = 0x7fc00000,
                           .magnitude = ldexp(1, (int)code + E8M0_LEAST)};
}

static struct number decode(taper_dtype type, uint64_t bits)
{
    if (type == TAPER_F64)
        return from_f64(bits);
    const uint32_t code = (uint32_t)bits;
    if (type == TAPER_F8E8M0)
        return from_f8e8m0(code);

    const struct format *const f = format_of(type);
    const uint32_t magnitude = code & ((UINT32_C(1) << (f->bits - 1)) - 1);
    struct number x = {.negative = code >> (f->bits - 1) & 1,
                       .magnitude = value_of(f, magnitude)};
    const uint32_t quiet = (uint32_t)x.negative << 31 | 0x7fc00000;
    switch (type) {
    case TAPER_F32:
        x.is_nan = magnitude > 0x7f800000;
        x.nan = code;
        break;
    case TAPER_BF16:
        x.is_nan = magnitude > 0x7f80;
        x.nan = code << 16;
        break;
    case TAPER_F16:
        x.is_nan = magnitude > 0x7c00;
        x.nan = quiet | (code & 0x3ff) << 13;
        break;
    case TAPER_F8E5M2:
        x.is_nan = magnitude > 0x7c;
        x.nan = quiet;
        break;
    case TAPER_F8E4M3FN:
        x.is_nan = magnitude == 0x7f;
        x.nan = quiet;
        break;
    case TAPER_F8E4M3FNUZ:
    case TAPER_F8E5M2FNUZ:
        x.is_nan = code == 0x80;
        x.nan = quiet;
        break;
    default: /* f4e2m1 has no NaN */
        break;
    }
    if (f->infinity && magnitude == f->largest + 1)
        x.magnitude = INFINITY;
    return x;
}

uint64_t oracle_cast(taper_dtype to, taper_dtype from, uint64_t bits,
                     taper_cast_options options)
{
    if (to == from)
        return bits;
    const struct number x = decode(from, bits);
    if (x.is_nan)
        return nan_code(to, x.nan);
    if (to == TAPER_F64) {
        uint64_t result;
        memcpy(&result, &x.magnitude, sizeof result);
        return result | (uint64_t)x.negative << 63;
    }
    if (to == TAPER_F8E8M0)
        return nearest_power(x.magnitude, options);
    const struct format *const f = format_of(to);
    return with_sign(f, nearest(f, x.magnitude, options.overflow), x.negative);
}

/* ---- Steps ---- */

enum { INFINITY_BITS = 0x7f800000, LAST_BITS = 0x7fffffff };

/* The magnitude of a binary32 that is not a NaN. */
static double f32_value(uint32_t bits)
{
    return bits == INFINITY_BITS ? INFINITY : value_of(format_of(TAPER_F32), bits);
}

struct list {
    struct oracle_step *steps;
    size_t count;
};

/* Adds a step, unless nothing changes there. */
static void add(struct list *list, uint32_t first, uint64_t code, uint64_t negative)
{
    const struct oracle_step step = {first, (uint16_t)code, (uint16_t)negative};
    if (list->count > 0) {
        const struct oracle_step *const last = &list->steps[list->count - 1];
        if (last->code == step.code && last->negative == step.negative)
            return;
    }
    list->steps[list->count++] = step;
}

/* The least magnitude, from `low` on, that rounds to `code` or beyond. Infinity does.
 */
static uint32_t first_to_reach(const struct format *f, uint32_t code, uint32_t low)
{
    uint32_t high = INFINITY_BITS;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (reaches(f, code, f32_value(middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add_codes(struct list *list, const struct format *f,
                      taper_overflow overflow)
{
    uint32_t first = 0;
    for (uint32_t code = 0; code <= f->largest + 1; code++) {
        const uint32_t result = code > f->largest ? overflow_code(f, overflow) : code;
        first = first_to_reach(f, code, first);
        add(list, first, result, with_sign(f, result, true));
    }
}

static uint32_t first_to_reach_power(int exponent, uint32_t low,
                                     taper_rounding rounding)
{
    uint32_t high = INFINITY_BITS;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (reaches_power(exponent, f32_value(middle), rounding))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add_powers(struct list *list, taper_cast_options options)
{
    uint32_t first = 0, code = power_code(E8M0_LEAST - 1, options.overflow); /* of 0 */
    add(list, first, code, code);
    for (int exponent = E8M0_LEAST; exponent <= E8M0_LARGEST + 1; exponent++) {
        first = first_to_reach_power(exponent, first, options.rounding);
        code = power_code(exponent, options.overflow);
        add(list, first, code, code);
    }
}

size_t oracle_steps(taper_dtype to, taper_cast_options options,
                    struct oracle_step *steps)
{
    const struct format *const f = format_of(to);
    struct list list = {steps, 0};
    if (f != NULL)
        add_codes(&list, f, options.overflow);
    else
        add_powers(&list, options);
    for (uint32_t nan = INFINITY_BITS + 1; nan <= LAST_BITS; nan++)
        add(&list, nan, nan_code(to, nan), nan_code(to, nan | 0x80000000));
    return list.count;
}
