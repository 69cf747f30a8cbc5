/* bench.h - what the files of `taper bench` share: bench.c reads the command line and
 * goes over the rows, measure.c measures one, figures.c prints and writes what came
 * out. */
#ifndef TAPER_BENCH_H
#define TAPER_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "output.h"
#include "progress.h"
#include "safetensors.h"
#include "taper/taper.h"

enum op { FILL, COPY, NARROW, WIDEN, OPS };
extern const char *const bench_op_names[OPS];

enum { MAX_VALUES = 64, MAX_PARTS = 10 };

/* What an option gave, each value once. */
struct list {
    size_t values[MAX_VALUES], count;
};

struct bench {
    bool ops[OPS];
    bool to[ST_DTYPES], from[ST_DTYPES]; /* by their place in st_dtypes */
    struct list sizes, isas, threads;    /* isas: for taper_isa_name() */
    bool fastest; /* what counts is the fastest round, not the median */
    const char *json;
    bool force, help;

    unsigned char *src, *dst;
    size_t src_bytes, dst_bytes;
    taper_dtype held; /* what `src` is full of; 0 for nothing */
    json_t *rows;
    size_t done, apart; /* rows measured, and those with more than most_spread */
    struct progress progress;
};

/* A line of the table. */
struct row {
    enum op op;
    taper_dtype type;
    const char *isa;
    int threads;
    size_t n, read, written; /* elements; bytes */
};

struct result {
    double seconds, spread, per_cycle, ratio; /* per_cycle is 0 if it is not known */
    size_t rounds;
};

/* What all rounds of a row gave, and what each part of them, one after the other, gave.
 * These are repetitions for those who compare two runs: their range tells the noise,
 * which one disturbed round alone does not set. */
struct figures {
    struct result all, parts[MAX_PARTS];
    size_t count; /* of parts: MAX_PARTS, or fewer of one round each */
};

/* The row with `traffic` bytes read and written, or a few more: a threshold of the
 * library that `traffic` is, it reaches. */
struct row bench_make_row(enum op op, taper_dtype type, size_t traffic);

/* Makes `src` and `dst`. False after saying why there is no memory for them. */
bool bench_get_memory(struct bench *b);

/* Fills `src` with numbers about N(0, 1), as elements of `type`. They repeat. */
void bench_make_source(struct bench *b, taper_dtype type);

/* Ends the program, after saying why, unless the status is TAPER_OK. */
void bench_must(taper_status status);

struct figures bench_measure(const struct bench *b, const struct row *row);

/* What the figures are of: prints it and returns it for the file. */
json_t *bench_describe(const struct bench *b);

void bench_print_row(const struct row *row, size_t size, const struct result *r);
void bench_add_json(struct bench *b, const struct row *row, size_t size,
                    const struct figures *figures);

/* Writes the file. False after saying what failed. */
bool bench_write_json(struct output *output, json_t *context, json_t *rows);

#endif
