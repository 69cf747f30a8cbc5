/* pump.c - see pump.h.
 *
 * The ranges are cut into pieces. Each thread takes the next piece, reads it, casts it
 * and writes it: memory is two small buffers a thread, whatever the size of the file.
 * The input is read, not mapped: that costs one copy within the cache, and in return a
 * disk error or another program that shortens the file is an error message, not a
 * SIGBUS. */
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"

enum {
    /* Bytes of a piece on its wider side: input and output stay in the second cache. */
    PIECE = 256 << 10,
    /* Elements that are cast, widened again and counted while in the first cache. */
    BLOCK = 2048,
};

struct piece {
    const struct range *range;
    uint64_t begin; /* element of the range */
    size_t count;
};

struct run {
    const struct pump *pump;
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t ended; /* a thread has */
    size_t range;         /* of the next piece */
    uint64_t begin;       /* of the next piece, in that range */
    uint64_t done;        /* bytes of input */
    int running;          /* threads */
    bool failed;
    char error[1024];
};

struct buffers {
    _Alignas(64) unsigned char in[PIECE];
    _Alignas(64) unsigned char out[PIECE];
    _Alignas(64) double values[BLOCK];  /* of the input, if it is not binary32 or -64 */
    _Alignas(64) double results[BLOCK]; /* widened again */
};

uint64_t pump_bytes(taper_dtype type, uint64_t count)
{
    const uint64_t bits = taper_dtype_bits(type);
    return bits >= 8 ? count * (bits / 8) : count / (8 / bits);
}

static size_t piece_elements(const struct range *range)
{
    const size_t from = taper_dtype_bits(range->from), to = taper_dtype_bits(range->to);
    return (size_t)PIECE * 8 / (from > to ? from : to);
}

__attribute__((format(printf, 2, 3))) static void fail(struct run *run,
                                                       const char *format, ...)
{
    va_list values;
    va_start(values, format);
    pthread_mutex_lock(&run->lock);
    if (!run->failed) /* one line, of the first */
        vsnprintf(run->error, sizeof run->error, format, values);
    run->failed = true;
    pthread_mutex_unlock(&run->lock);
    va_end(values);
}

/* Counts `before` as done and takes the next piece; false when there is none to do. */
static bool next_piece(struct run *run, struct piece *piece, uint64_t before)
{
    const struct pump *const pump = run->pump;
    bool found = false;
    pthread_mutex_lock(&run->lock);
    run->done += before;
    if (!run->failed && !interrupt_came()) {
        while (run->range < pump->count &&
               run->begin == pump->ranges[run->range].count) {
            run->range++;
            run->begin = 0;
        }
        found = run->range < pump->count;
    }
    if (found) {
        const struct range *const range = pump->ranges + run->range;
        const uint64_t left = range->count - run->begin;
        const size_t most = piece_elements(range);
        *piece = (struct piece){range, run->begin, left < most ? (size_t)left : most};
        run->begin += piece->count;
    }
    pthread_mutex_unlock(&run->lock);
    return found;
}

static bool read_at(struct run *run, unsigned char *to, size_t bytes, uint64_t at)
{
    while (bytes != 0) {
        const ssize_t got = pread(run->pump->in, to, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fail(run, "%s: cannot be read at byte %llu: %s", run->pump->in_path,
                 (unsigned long long)at,
                 got < 0 ? strerror(errno) : "it became shorter meanwhile");
            return false;
        }
        to += got;
        bytes -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

static bool write_at(struct run *run, const unsigned char *from, size_t bytes,
                     uint64_t at)
{
    while (bytes != 0) {
        const ssize_t put = pwrite(run->pump->out, from, bytes, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            fail(run, "%s: cannot be written: %s", run->pump->out_path,
                 strerror(errno));
            return false;
        }
        from += put;
        bytes -= (size_t)put;
        at += (uint64_t)put;
    }
    return true;
}

static taper_status cast_block(const struct range *range, taper_cast_options options,
                               void *dst, const void *src, size_t n, struct buffers *b,
                               struct stats *stats)
{
    taper_status status = taper_cast(range->to, dst, range->from, src, n, &options);
    if (status != TAPER_OK)
        return status;

    if (range->from == TAPER_F64) {
        status = taper_cast(TAPER_F64, b->results, range->to, dst, n, NULL);
        if (status == TAPER_OK)
            stats_add_f64(stats, range->to, src, b->results, n);
        return status;
    }
    const void *values = src, *results = dst;
    if (range->from != TAPER_F32) {
        status = taper_widen(range->from, b->values, src, n);
        values = b->values;
    }
    if (status == TAPER_OK && range->to != TAPER_F32) {
        status = taper_widen(range->to, b->results, dst, n);
        results = b->results;
    }
    if (status == TAPER_OK)
        stats_add_f32(stats, range->to, values, results, n);
    return status;
}

static bool cast_piece(struct run *run, const struct piece *piece, struct buffers *b)
{
    const struct range *const range = piece->range;
    struct stats stats = {0};
    for (size_t i = 0; i < piece->count; i += BLOCK) {
        const size_t left = piece->count - i;
        const taper_status status = cast_block(
            range, run->pump->options, b->out + pump_bytes(range->to, i),
            b->in + pump_bytes(range->from, i), left < BLOCK ? left : BLOCK, b, &stats);
        if (status != TAPER_OK) {
            fail(run, "%s: taper_cast: %s", run->pump->in_path,
                 taper_status_text(status));
            return false;
        }
    }
    pthread_mutex_lock(&run->lock);
    stats_merge(range->stats, &stats);
    pthread_mutex_unlock(&run->lock);
    return true;
}

static bool do_piece(struct run *run, const struct piece *piece, struct buffers *b)
{
    const struct range *const range = piece->range;
    const bool copy = range->from == range->to;
    return read_at(run, b->in, pump_bytes(range->from, piece->count),
                   range->src + pump_bytes(range->from, piece->begin)) &&
           (copy || cast_piece(run, piece, b)) &&
           write_at(run, copy ? b->in : b->out, pump_bytes(range->to, piece->count),
                    range->dst + pump_bytes(range->to, piece->begin));
}

static void *work(void *data)
{
    struct run *const run = data;
    struct piece piece;
    struct buffers *const buffers = aligned_alloc(64, sizeof *buffers);
    if (buffers == NULL)
        fail(run, "out of memory");
    else
        for (uint64_t done = 0; next_piece(run, &piece, done);
             done = pump_bytes(piece.range->from, piece.count))
            if (!do_piece(run, &piece, buffers))
                break;
    free(buffers);

    pthread_mutex_lock(&run->lock);
    run->running--;
    pthread_cond_signal(&run->ended);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* Starts threads, at least one and no more than there are pieces. Signals are left to
 * the thread that waits. */
static int start(struct run *run, pthread_t *threads)
{
    uint64_t pieces = 0;
    for (size_t i = 0; i < run->pump->count; i++)
        pieces +=
            run->pump->ranges[i].count / piece_elements(run->pump->ranges + i) + 1;
    const uint64_t wanted =
        pieces < (uint64_t)run->pump->threads ? pieces : (uint64_t)run->pump->threads;

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = 0;
    while ((uint64_t)started < wanted &&
           pthread_create(threads + started, NULL, work, run) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool pump_run(const struct pump *pump)
{
    struct run run = {.pump = pump, .running = pump->threads};
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.ended, NULL);
    pthread_t *const threads = calloc((size_t)pump->threads, sizeof *threads);
    const int started = threads == NULL ? 0 : start(&run, threads);
    if (started == 0 && pump->count != 0)
        fail(&run, "cannot start a thread");

    pthread_mutex_lock(&run.lock);
    run.running -= pump->threads - started;
    while (run.running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&run.ended, &run.lock, &until);
        const uint64_t done = run.done;
        pthread_mutex_unlock(&run.lock);
        progress_draw(pump->progress, done);
        pthread_mutex_lock(&run.lock);
    }
    pthread_mutex_unlock(&run.lock);

    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    pthread_cond_destroy(&run.ended);
    pthread_mutex_destroy(&run.lock);
    pump->progress->before += run.done;
    if (run.failed) {
        progress_clear(pump->progress);
        cli_error("%s", run.error);
    }
    return !run.failed && !interrupt_came();
}
