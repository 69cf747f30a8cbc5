/* parallel.c - large arrays: parts, threads, streaming stores, and their settings. */
#include "parallel.h"

#include <stdint.h>

#include "openmp.h"
#include "taper/taper.h"

enum { PART_BYTES = 512 << 10 }; /* traffic per thread that pays for waking it */

/* Defaults: where threads and streaming stores begin to win (docs/performance.md). The
 * first is the least. */
enum { PARALLEL_BYTES = 1 << 20 };
static const size_t defaults[] = {
    [TAPER_PARALLEL_BYTES] = PARALLEL_BYTES,
    [TAPER_STREAM_BYTES] = (size_t)12 << 20,
    [TAPER_STREAM_FILL_BYTES] = (size_t)32 << 20,
};
enum { THRESHOLDS = sizeof defaults / sizeof *defaults };

static _Atomic size_t thresholds[THRESHOLDS]; /* 0: the default */
_Atomic size_t taper_large_bytes = PARALLEL_BYTES;
static atomic_int max_threads; /* 0: left to OpenMP */
static _Atomic(taper_parallel_for *) lent_run;
static _Atomic(void *) lent_context;

size_t taper_threshold_bytes(taper_threshold which)
{
    if ((unsigned)which >= THRESHOLDS)
        return 0;
    const size_t set = atomic_load_explicit(&thresholds[which], memory_order_relaxed);
    return set != 0 ? set : defaults[which];
}

taper_status taper_set_threshold_bytes(taper_threshold which, size_t bytes)
{
    if ((unsigned)which >= THRESHOLDS)
        return TAPER_BAD_OPTION;
    atomic_store_explicit(&thresholds[which], bytes, memory_order_relaxed);
    size_t least = SIZE_MAX;
    for (int i = 0; i < THRESHOLDS; i++)
        if (taper_threshold_bytes((taper_threshold)i) < least)
            least = taper_threshold_bytes((taper_threshold)i);
    atomic_store_explicit(&taper_large_bytes, least, memory_order_relaxed);
    return TAPER_OK;
}

int taper_max_threads(void)
{
    const int set = atomic_load_explicit(&max_threads, memory_order_relaxed);
    return set > 0 ? set : taper_openmp_max_threads();
}

taper_status taper_set_max_threads(int threads)
{
    if (threads < 0)
        return TAPER_BAD_OPTION;
    atomic_store_explicit(&max_threads, threads, memory_order_relaxed);
    return TAPER_OK;
}

void taper_set_parallel_for(taper_parallel_for *run, void *context)
{
    atomic_store_explicit(&lent_context, context, memory_order_relaxed);
    atomic_store_explicit(&lent_run, run, memory_order_release);
}

/* How many threads a call may spread over: of OpenMP, or of `run` if that is not NULL.
 * With a limit of 1 the OpenMP runtime is not even asked, since that alone may start
 * it. */
static size_t thread_limit(taper_parallel_for *run)
{
    const int most = taper_max_threads();
    if (most <= 1 || run != NULL || taper_openmp_has_threads())
        return (size_t)most;
    return 1;
}

struct parts {
    const struct taper_work *work;
    size_t size; /* items in all parts but the last; a multiple of the grain */
    bool stream;
};

/* So that what follows the call in this thread, such as a flag for others, is seen
 * after what was stored past the caches. One for a whole part, since it waits for them
 * all. */
static void fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

static void run_part(void *data, size_t index)
{
    const struct parts *const parts = data;
    const struct taper_work *const w = parts->work;
    const size_t begin = index * parts->size;
    const size_t left = w->n - begin;
    w->run(w, begin, begin + (left < parts->size ? left : parts->size), parts->stream);
    if (parts->stream)
        fence();
}

void taper_run(const struct taper_work *work)
{
    const size_t traffic = work->read + work->written;
    struct parts parts = {work, work->n, false};
    size_t count = 1;

    if (work->in_place || work->n == 0) {
        run_part(&parts, 0);
        return;
    }
    const size_t parallel = taper_threshold_bytes(TAPER_PARALLEL_BYTES);
    taper_parallel_for *run = NULL;
    if (traffic >= parallel) {
        /* A threshold below the default says that threads pay for less. */
        const size_t part = parallel / 2 < PART_BYTES ? parallel / 2 : PART_BYTES;
        run = atomic_load_explicit(&lent_run, memory_order_acquire);
        const size_t most = thread_limit(run), worth = traffic / (part == 0 ? 1 : part);
        const size_t grains = (work->n - 1) / work->grain + 1;
        count = worth < most ? worth : most;
        parts.size = ((grains - 1) / count + 1) * work->grain;
        count = (work->n - 1) / parts.size + 1;
    }
    parts.stream = work->read == 0
                       ? work->written >= taper_threshold_bytes(TAPER_STREAM_FILL_BYTES)
                       : work->read >= taper_threshold_bytes(TAPER_STREAM_BYTES);

    if (count == 1)
        run_part(&parts, 0);
    else if (run != NULL)
        run(atomic_load_explicit(&lent_context, memory_order_relaxed), count, run_part,
            &parts);
    else
        taper_openmp_run(count, run_part, &parts);
}
