/* stats.c - see stats.h.
 *
 * Values are judged by their bits, without the sign: those of numbers are in the order
 * of the numbers, those of NaN come after infinity. The loops have no branch, so that
 * they become vector code; the bits are signed because SSE2 compares only such.
 *
 * The errors are exact but for one rounding, that of the quotient: a result is between
 * half its value and twice it, so that their difference is a number of the same type
 * (Sterbenz). Only a binary64 value far below the smallest of f8_e8m0 loses bits in the
 * difference. */
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The largest finite value of a type that casts end at. */
static float largest(taper_dtype to)
{
    switch (to) {
    case TAPER_F16:
        return 65504.0f;
    case TAPER_BF16:
        return 0x1.fep127f;
    case TAPER_F8E4M3FN:
        return 448.0f;
    case TAPER_F8E4M3FNUZ:
        return 240.0f;
    case TAPER_F8E5M2:
    case TAPER_F8E5M2FNUZ:
        return 57344.0f;
    case TAPER_F8E8M0:
        return 0x1p127f;
    case TAPER_F4E2M1:
        return 6.0f;
    default:
        return 0x1.fffffep127f;
    }
}

void stats_merge(struct stats *stats, const struct stats *more)
{
    stats->saturated += more->saturated;
    stats->infinite += more->infinite;
    stats->nan += more->nan;
    stats->zero += more->zero;
    stats->lost_nan += more->lost_nan;
    if (more->worst > stats->worst)
        stats->worst = more->worst;
}

static int32_t magnitude_f32(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffff;
}

static int64_t magnitude_f64(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffffffffffff;
}

/* Adds values, if all are finite and none is beyond `max`, which leaves little to count
 * and so is quicker. False, and nothing added, if one is not. */
static bool add_if_within(struct stats *stats, int32_t max, const float *x,
                          const float *y, size_t n)
{
    int32_t beyond = 0, zero = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t a = magnitude_f32(x[i]), b = magnitude_f32(y[i]);
        const int32_t counts = (a > 0) & (b > 0);
        beyond |= (a > max) | (b > max);
        zero += (a > 0) - counts;
        const int32_t error =
            magnitude_f32((fabsf(y[i]) - fabsf(x[i])) / fabsf(x[i])) & -counts;
        worst = error > worst ? error : worst;
    }
    if (beyond)
        return false;
    float worst_value;
    memcpy(&worst_value, &worst, sizeof worst);
    stats_merge(stats, &(struct stats){.zero = (uint64_t)zero, .worst = worst_value});
    return true;
}

void stats_add_f32(struct stats *stats, taper_dtype to, const float *x, const float *y,
                   size_t n)
{
    const int32_t inf = magnitude_f32(INFINITY), max = magnitude_f32(largest(to));
    if (add_if_within(stats, max, x, y, n))
        return;

    int32_t saturated = 0, infinite = 0, nan = 0, zero = 0, lost_nan = 0, worst = 0;

    for (size_t i = 0; i < n; i++) {
        const int32_t a = magnitude_f32(x[i]), b = magnitude_f32(y[i]);
        const int32_t clipped = (a > max) & (a <= inf) & (b == max);
        saturated += clipped;
        infinite += (a < inf) & (b == inf);
        nan += (a <= inf) & (b > inf);
        zero += (a != 0) & (b == 0);
        lost_nan += (a > inf) & (b <= inf);

        const int32_t counts = (a != 0) & (a < inf) & (b != 0) & (b < inf) & !clipped;
        const int32_t error =
            magnitude_f32((fabsf(y[i]) - fabsf(x[i])) / fabsf(x[i])) & -counts;
        worst = error > worst ? error : worst;
    }
    float worst_value;
    memcpy(&worst_value, &worst, sizeof worst);
    stats_merge(stats,
                &(struct stats){(uint64_t)saturated, (uint64_t)infinite, (uint64_t)nan,
                                (uint64_t)zero, (uint64_t)lost_nan, worst_value});
}

void stats_add_f64(struct stats *stats, taper_dtype to, const double *x,
                   const double *y, size_t n)
{
    const int64_t inf = magnitude_f64(INFINITY), max = magnitude_f64(largest(to));
    int64_t saturated = 0, infinite = 0, nan = 0, zero = 0, lost_nan = 0, worst = 0;

    for (size_t i = 0; i < n; i++) {
        const int64_t a = magnitude_f64(x[i]), b = magnitude_f64(y[i]);
        const int64_t clipped = (a > max) & (a <= inf) & (b == max);
        saturated += clipped;
        infinite += (a < inf) & (b == inf);
        nan += (a <= inf) & (b > inf);
        zero += (a != 0) & (b == 0);
        lost_nan += (a > inf) & (b <= inf);

        const int64_t counts = (a != 0) & (a < inf) & (b != 0) & (b < inf) & !clipped;
        const int64_t error =
            magnitude_f64((fabs(y[i]) - fabs(x[i])) / fabs(x[i])) & -counts;
        worst = error > worst ? error : worst;
    }
    double worst_value;
    memcpy(&worst_value, &worst, sizeof worst);
    stats_merge(stats,
                &(struct stats){(uint64_t)saturated, (uint64_t)infinite, (uint64_t)nan,
                                (uint64_t)zero, (uint64_t)lost_nan, worst_value});
}
