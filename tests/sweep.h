/* sweep.h - every input of a cast against the oracle, and a hash of what came out. */
#ifndef TAPER_SWEEP_H
#define TAPER_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle.h"

/* What is swept: a cast of `n` elements, one after another as in taper.h. `n` is at
 * most SWEEP_BLOCK. Threads call it at the same time, each on arrays of its own. */
typedef void sweep_fn(const void *context, void *dst, const void *src, size_t n);

enum { SWEEP_BLOCK = 4096 }; /* keeps what a block reads and writes in the L1 cache */

struct sweep {
    taper_dtype to, from;
    taper_cast_options options;
    sweep_fn *run;
    const void *context;
    const struct oracle_step
        *steps; /* of this narrowing; only sweep_f32() looks at them */
    size_t step_count;
    bool hash_only; /* nothing is compared, so that no steps are needed */
};

struct sweep_result {
    uint64_t inputs; /* that were tried */
    uint64_t hash;   /* 0 if there is a difference */
    bool differs;    /* then this is the first that does, as bits: */
    uint64_t input, got, want;
};

/* Called by one thread at a time with the number of inputs that are done. */
typedef void sweep_progress(void *context, uint64_t inputs);

/* Tries the `count` binary32 bit patterns from `first` on (2^32 from 0 is all of them)
 * on `threads` threads, up to the first difference. Expected are `steps`; or, if `to`
 * is TAPER_F64, what the compiler makes of a float, with a NaN made quiet. `progress`
 * may be NULL. Returns whether there was no difference.
 *
 * The hash depends on the range and the codes, not on threads, blocks or byte order:
 * the range is cut where a pattern is a multiple of 2^24; each piece is hashed by
 * XXH3-64 as little-endian codes (two a byte for f4e2m1, the first one of the piece in
 * the low half); and so are then these hashes, little-endian, in order. */
bool sweep_f32(const struct sweep *sweep, uint64_t first, uint64_t count, int threads,
               sweep_progress *progress, void *context, struct sweep_result *result);

/* Tries all codes of `from`, a type of 16 bits or less, against oracle_cast(). The hash
 * is one XXH3-64 of the little-endian results for codes 0, 1, 2, ... */
bool sweep_codes(const struct sweep *sweep, struct sweep_result *result);

/* Takes up to SWEEP_BLOCK inputs, as bits. Returns whether there should be more. */
typedef bool sweep_take(void *context, const uint64_t *in, size_t n);

/* Hands out binary64 inputs for a cast to `to`, the same ones each time: its codes, the
 * midpoints beside them and what is near, then any bits. `more` is some ten times as
 * many. */
void sweep_f64_points(taper_dtype to, bool more, sweep_take *take, void *context);

/* Tries these, without `more`, against oracle_cast(). The hash is one XXH3-64 of the
 * little-endian results in order. */
bool sweep_f64(const struct sweep *sweep, struct sweep_result *result);

#endif
