/* measure.c - the memory of `taper bench`, and how a row of it is measured. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "cli.h"

/* ---- memory, and what is in it ---- */

static size_t bytes_of(taper_dtype type, size_t n)
{
    return (n * taper_dtype_bits(type) + 7) / 8;
}

enum { GRAIN = 64 }; /* elements of an array are a multiple of this */

struct row bench_make_row(enum op op, taper_dtype type, size_t traffic)
{
    const taper_dtype to = op == WIDEN ? TAPER_F32 : type;
    const taper_dtype from = op == NARROW ? TAPER_F32 : type;
    const size_t bits =
        taper_dtype_bits(to) + (op == FILL ? 0 : taper_dtype_bits(from));
    const size_t n = (traffic * 8 + bits - 1) / bits;
    struct row row = {.op = op, .type = type, .n = (n + GRAIN - 1) / GRAIN * GRAIN};
    row.read = op == FILL ? 0 : bytes_of(from, row.n);
    row.written = bytes_of(to, row.n);
    return row;
}

/* "MemAvailable" of the system, in bytes; SIZE_MAX if it does not tell. */
static size_t available_memory(void)
{
    FILE *const file = fopen("/proc/meminfo", "r");
    char line[128];
    size_t kib, bytes = SIZE_MAX;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1)
            bytes = kib * 1024;
    if (file != NULL)
        fclose(file);
    return bytes;
}

enum { HUGE_PAGE = 2 << 20 };

/* On huge pages, if the system has them to give; NULL if there is no such memory. */
static unsigned char *map_bytes(size_t bytes)
{
    void *const start = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    unsigned char *const aligned =
        (unsigned char *)(((uintptr_t)start + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    madvise(aligned, bytes, MADV_HUGEPAGE); /* only advice */
    return aligned;
}

bool bench_get_memory(struct bench *b)
{
    const double needed = (double)(b->src_bytes + b->dst_bytes);
    const double available = (double)available_memory();
    if (needed > available) {
        cli_error("these sizes need %.2f GB of memory, and %.2f GB are available: "
                  "choose a smaller --size",
                  needed * 1e-9, available * 1e-9);
        return false;
    }
    b->src = map_bytes(b->src_bytes);
    b->dst = map_bytes(b->dst_bytes);
    if (b->src == NULL || b->dst == NULL) {
        cli_error("these sizes need %.2f GB of memory: %s: choose a smaller --size",
                  needed * 1e-9, strerror(errno));
        return false;
    }
    memset(b->dst, 1, b->dst_bytes); /* touched, so that pages are there */
    return true;
}

void bench_must(taper_status status)
{
    if (status != TAPER_OK) {
        cli_error("%s", taper_status_text(status));
        exit(CLI_FAILED);
    }
}

/* About N(0, 1), by a sum of four uniform numbers. */
static float next_normal(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    const uint64_t sum =
        (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
    return ((float)sum / 65536.0f - 2.0f) * 1.732f;
}

void bench_make_source(struct bench *b, taper_dtype type)
{
    enum { PERIOD = 1 << 16 };
    static float numbers[PERIOD];
    static unsigned char made[PERIOD * sizeof(float)];
    if (b->held == type)
        return;
    uint64_t state = 88172645463325252;
    for (size_t i = 0; i < PERIOD; i++)
        numbers[i] = next_normal(&state);
    bench_must(taper_cast(type, made, TAPER_F32, numbers, PERIOD, NULL));
    const size_t period = bytes_of(type, PERIOD);
    for (size_t done = 0; done < b->src_bytes; done += period) {
        const size_t left = b->src_bytes - done;
        memcpy(b->src + done, made, left < period ? left : period);
    }
    b->held = type;
}

/* ---- measuring: rounds of taper and of its rival in turn ---- */

/* Long beside a look at the clock, short beside a time slice. */
static const double batch_seconds = 150e-6;
static const double row_seconds = 0.2;
static const double fastest_seconds = 0.5; /* until some rounds are undisturbed */
static const size_t least_rounds = 3;
enum { MAX_ROUNDS = 101 };
static const size_t cached_bytes = (size_t)128 << 20; /* more is in no cache */

typedef void run_side(const struct bench *b, const struct row *row);

static void run_taper(const struct bench *b, const struct row *row)
{
    static const float one = 1;
    bench_must(row->op == FILL   ? taper_fill(row->type, b->dst, row->n, &one)
               : row->op == COPY ? taper_copy(row->type, b->dst, b->src, row->n)
               : row->op == NARROW
                   ? taper_narrow(row->type, b->dst, b->src, row->n, NULL)
                   : taper_widen(row->type, b->dst, b->src, row->n));
}

static void run_rival(const struct bench *b, const struct row *row)
{
    if (row->op == FILL)
        memset(b->dst, 1, row->written);
    else
        memcpy(b->dst, b->src, (row->read + row->written) / 2);
}

/* Seconds of one of `calls` calls. */
static double time_calls(run_side *run, const struct bench *b, const struct row *row,
                         size_t calls)
{
    const double start = cli_seconds();
    for (size_t i = 0; i < calls; i++) {
        run(b, row);
        __asm__ volatile("" ::: "memory"); /* each writes for a reader */
    }
    return (cli_seconds() - start) / (double)calls;
}

/* How many calls make a batch. */
static size_t batch_calls(run_side *run, const struct bench *b, const struct row *row)
{
    size_t calls = 1;
    run(b, row); /* code may be cold, and threads asleep */
    while (time_calls(run, b, row, calls) * (double)calls < batch_seconds / 4)
        calls *= 4;
    /* Again, for that may have been disturbed. */
    const double batch = batch_seconds / time_calls(run, b, row, calls);
    return batch < 1 ? 1 : (size_t)batch;
}

/* Cycles a second of this core now, by multiplications that wait for each other, 3
 * cycles each on all x86-64 of this century; 0 elsewhere. */
static double core_clock(void)
{
#if defined(__x86_64__)
    enum { LINKS = 30000 };
    uint64_t x = 3;
    const double start = cli_seconds();
    for (int i = 0; i < LINKS; i += 4)
        __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
                         : "+r"(x));
    return 3.0 * LINKS / (cli_seconds() - start);
#else
    return 0;
#endif
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that `part` of all are below; sorts them. */
static double quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, by_size);
    const double place = part * (double)(count - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < count ? below + 1 : below;
    return values[below] + (place - (double)below) * (values[above] - values[below]);
}

struct rounds {
    double times[2][MAX_ROUNDS], ratios[MAX_ROUNDS], clocks[MAX_ROUNDS];
};

/* What the rounds from `first` to `end` gave; sorts them. */
static struct result result_of(const struct bench *b, const struct row *row,
                               struct rounds *r, size_t first, size_t end)
{
    double *const times = r->times[0] + first, *const rival = r->times[1] + first;
    const size_t count = end - first;
    const double median = quantile(times, count, 0.5);
    const double apart = quantile(times, count, 0.75) - quantile(times, count, 0.25);
    const double least = quantile(times, count, 0);
    const double seconds = b->fastest ? least : median;
    const double clock = quantile(r->clocks + first, count, 0.5);
    return (struct result){
        .seconds = seconds,
        .spread = apart / median,
        .per_cycle = clock == 0 ? 0 : (double)row->n / seconds / clock,
        .ratio = b->fastest ? quantile(rival, count, 0) / least
                            : quantile(r->ratios + first, count, 0.5),
        .rounds = count,
    };
}

struct figures bench_measure(const struct bench *b, const struct row *row)
{
    static run_side *const sides[2] = {run_taper, run_rival};
    struct rounds r;
    size_t calls[2], rounds = 0;
    for (int side = 0; side < 2; side++)
        calls[side] = batch_calls(sides[side], b, row);

    const double end = cli_seconds() + (b->fastest ? fastest_seconds : row_seconds);
    while (rounds < least_rounds || (rounds < MAX_ROUNDS && cli_seconds() < end)) {
        for (int side = 0; side < 2; side++) {
            /* Each finds caches and threads as it leaves them. */
            if (row->read + row->written < cached_bytes || row->threads > 1)
                sides[side](b, row);
            r.times[side][rounds] = time_calls(sides[side], b, row, calls[side]);
        }
        r.ratios[rounds] = r.times[1][rounds] / r.times[0][rounds];
        r.clocks[rounds] = core_clock();
        rounds++;
    }
    struct figures figures = {.count = rounds < MAX_PARTS ? rounds : MAX_PARTS};
    for (size_t i = 0; i < figures.count; i++) /* before all are sorted */
        figures.parts[i] = result_of(b, row, &r, i * rounds / figures.count,
                                     (i + 1) * rounds / figures.count);
    figures.all = result_of(b, row, &r, 0, rounds);
    return figures;
}
