/* regions.c - calls inside OpenMP regions of the program: they stay on their threads,
 * give the right bits, and leave the settings of OpenMP alone. The environment of the
 * tests limits threads, or asks for nesting.
 *
 *     regions [ROWS] */
#include "process.h"

#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taper/taper.h"

enum { TEAM = 4 };

static size_t rows = LARGE_ROWS;
static struct room rooms[TEAM];

/* ---- Settings ---- */

struct settings {
    int threads, dynamic, levels, limit, schedule, chunk;
};

static struct settings get_settings(void)
{
    omp_sched_t kind;
    struct settings s = {.threads = omp_get_max_threads(),
                         .dynamic = omp_get_dynamic(),
                         .levels = omp_get_max_active_levels(),
                         .limit = omp_get_thread_limit()};
    omp_get_schedule(&kind, &s.chunk);
    s.schedule = (int)kind;
    return s;
}

static void check_settings(struct settings before, const char *when)
{
    const struct settings after = get_settings();
    if (memcmp(&before, &after, sizeof before) != 0)
        give_up("%s: OpenMP has other settings than before", when);
}

/* ---- The first threads ---- */

/* Zero if it is the one that threads begin with. */
static unsigned control_of_floats(void)
{
#if defined(__x86_64__)
    return (__builtin_ia32_stmxcsr() & ~0x3fu) ^ 0x1f80;
#else
    return 0;
#endif
}

/* They are there, and do not take over the state that the caller of taper was in. */
static void check_first_threads(void)
{
    enum { BYTES = 1 << 20 };
    static unsigned char bytes[BYTES];
    static const unsigned char value = 7;
    const size_t before = thread_count();
    unsigned others = 0;
    omp_set_dynamic(false);
    cut_taper(TEAM);
#if defined(__x86_64__)
    const unsigned host = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0xff80 | 0x40); /* FTZ, DAZ, toward zero */
#endif
    const taper_status status = taper_fill(TAPER_U8, bytes, BYTES, &value);
#if defined(__x86_64__)
    const bool kept = (__builtin_ia32_stmxcsr() & ~0x3fu) == (0xff80 | 0x40);
    __builtin_ia32_ldmxcsr(host);
    if (!kept)
        give_up("the caller is in another state than before");
#endif
    if (status != TAPER_OK)
        give_up("the first call failed");
    if (omp_get_thread_limit() > 1 && thread_count() == before)
        give_up("no threads were started");
#pragma omp parallel num_threads(TEAM) reduction(| : others)
    others |= control_of_floats();
    if (others != 0)
        give_up("threads began in the state of the caller");
}

/* Of the program, changed between calls. */
static void check_own_settings(void)
{
    for (int threads = 1; threads <= 5; threads += 2) {
        omp_set_num_threads(threads);
        omp_set_dynamic(threads == 3);
        omp_set_schedule(omp_sched_dynamic, threads);
        const struct settings before = get_settings();
        cut_taper(8);
        check_taper(&rooms[0], rows, 0, "8 threads");
        check_settings(before, "8 threads");
        cut_taper(0);
        if (taper_max_threads() != threads)
            give_up("%d threads by default, not %d", taper_max_threads(), threads);
        check_taper(&rooms[0], rows, 0, "threads by default");
        check_settings(before, "threads by default");
    }
}

/* ---- Regions ---- */

static void check_region(const char *when, bool dynamic, int levels)
{
    omp_set_dynamic(dynamic);
    omp_set_max_active_levels(levels);
    cut_taper(8);
#pragma omp parallel num_threads(TEAM)
    {
        const size_t me = (size_t)omp_get_thread_num();
        size_t threads = 0;
        const struct settings before = get_settings();
#pragma omp single copyprivate(threads)
        threads = thread_count();
        check_taper(&rooms[me], rows, me, when);
        check_settings(before, when);
#pragma omp barrier
#pragma omp single
        if (thread_count() > threads)
            give_up("%s: %zu threads became %zu", when, threads, thread_count());
    }
}

static void check_nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        const size_t outer = (size_t)omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
            const size_t me = 2 * outer + (size_t)omp_get_thread_num();
            check_taper(&rooms[me], rows, me, "nested");
        }
    }
}

static void check_tasks(void)
{
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    for (size_t i = 0; i < TEAM; i++)
#pragma omp task firstprivate(i)
        check_taper(&rooms[i], rows, i, "task");

#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        check_taper(&rooms[0], rows, 0, "section");
#pragma omp section
        check_taper(&rooms[1], rows, 1, "section");
    }
}

/* A region of one thread is as none. */
static void check_single(void)
{
#pragma omp parallel num_threads(1)
    check_taper(&rooms[0], rows, 0, "region of one thread");
}

/* The threads of OpenMP, lent by the program. */
static void run_in_region(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
#pragma omp parallel for num_threads(3) schedule(dynamic, 1)
    for (size_t i = 0; i < count; i++)
        task(data, i);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rows = strtoul(argv[1], NULL, 0);
    for (int i = 0; i < TEAM; i++)
        rooms[i] = room_new(rows);
    check_first_threads();
    check_own_settings();
    check_region("region", false, 1);
    check_region("dynamic region", true, 1);
    check_region("region that may nest", false, 4);
    check_region("dynamic region that may nest", true, 4);
    check_nested();
    check_tasks();
    check_single();
    taper_set_parallel_for(run_in_region, NULL);
    check_taper(&rooms[0], rows, 0, "lent threads of OpenMP");
    check_nested();
    printf("thread limit %d, %d levels\n", omp_get_thread_limit(),
           omp_get_max_active_levels());
    return 0;
}
