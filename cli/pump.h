/* pump.h - moves the bytes of one file into another, casting on the way. */
#ifndef TAPER_PUMP_H
#define TAPER_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "progress.h"
#include "stats.h"
#include "taper/taper.h"

/* Elements that follow each other in both files. */
struct range {
    taper_dtype from, to; /* the same type twice: nothing is cast */
    uint64_t src, dst;    /* where the first byte is in the input, and in the output */
    uint64_t count;
    struct stats *stats; /* where casts are counted */
};

struct pump {
    int in, out;
    const char *in_path, *out_path; /* for messages */
    const struct range *ranges;
    size_t count;
    taper_cast_options options;
    int threads;
    struct progress *progress;
};

/* Bytes of `count` elements, of whole bytes. */
uint64_t pump_bytes(taper_dtype type, uint64_t count);

/* Does it. False if that failed, which it has said, or an interrupt came. */
bool pump_run(const struct pump *pump);

#endif
