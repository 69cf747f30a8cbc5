/* stats.h - what casting did to the values: losses counted, the largest error. */
#ifndef TAPER_STATS_H
#define TAPER_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "taper/taper.h"

struct stats {
    uint64_t saturated; /* beyond the largest finite value, and became it */
    uint64_t infinite;  /* finite, and became infinity */
    uint64_t nan;       /* a number or infinity, and became NaN */
    uint64_t zero;      /* not zero, and became zero */
    uint64_t lost_nan;  /* NaN, and became a number */
    /* |result - value| / |value| in magnitudes, over the values that are finite and not
     * zero, became such a value, and did not saturate. */
    double worst;
};

/* Adds `more` to `stats`. */
void stats_merge(struct stats *stats, const struct stats *more);

/* Adds `n` values `x` and what they became in type `to`, widened again to `y`. */
void stats_add_f32(struct stats *stats, taper_dtype to, const float *x, const float *y,
                   size_t n);
void stats_add_f64(struct stats *stats, taper_dtype to, const double *x,
                   const double *y, size_t n);

#endif
