/* lent.c - the caller's parallel_for: its parts in any order, on any threads, from
 * several calls at once, with calls of taper inside, and exchanged while calls run.
 *
 *     lent [ROWS] */
#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "taper/taper.h"

enum { MOST_PARTS = 8, CALLERS = 3 };

static size_t rows = LARGE_ROWS;
static atomic_size_t calls; /* of any hook */

struct lent_task {
    taper_task *task;
    void *data;
    size_t index;
};

static void *run_task(void *data)
{
    const struct lent_task *const t = data;
    t->task(t->data, t->index);
    return NULL;
}

static void note_call(size_t count)
{
    atomic_fetch_add(&calls, 1);
    if (count < 2 || count > MOST_PARTS)
        give_up("%zu parts", count);
}

/* ---- Orders and threads ---- */

static void one_by_one(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
    note_call(count);
    for (size_t i = 0; i < count; i++)
        task(data, i);
}

static void backwards(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
    note_call(count);
    while (count-- > 0)
        task(data, count);
}

/* Another permutation at each call, made by steps that have no common factor with any
 * count but 7 itself. */
static void shuffled(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
    note_call(count);
    const size_t from = atomic_load(&calls), step = count == 7 ? 3 : 7;
    for (size_t i = 0; i < count; i++)
        task(data, (from + i * step) % count);
}

static void a_thread_each(void *context, size_t count, taper_task *task, void *data)
{
    pthread_t threads[MOST_PARTS];
    struct lent_task tasks[MOST_PARTS];
    (void)context;
    note_call(count);
    for (size_t i = 0; i < count; i++) {
        tasks[i] = (struct lent_task){task, data, i};
        if (pthread_create(&threads[i], NULL, run_task, &tasks[i]) != 0)
            give_up("no thread");
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* All of them on one thread that is not the caller's. */
static void one_other_thread(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
    note_call(count);
    for (size_t i = 0; i < count; i++) {
        struct lent_task t = {task, data, i};
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_task, &t) != 0)
            give_up("no thread");
        pthread_join(thread, NULL);
    }
}

/* ---- Calls of taper inside, large enough to come here again, twice ---- */

static _Thread_local int depth;

static void reentrant(void *context, size_t count, taper_task *task, void *data)
{
    enum { N = 300000 }; /* elements, for two parts */
    (void)context;
    note_call(count);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 && depth < 2) {
            depth++;
            const uint32_t value = 0xdeadbeef ^ (uint32_t)depth;
            uint32_t *const array = malloc(N * sizeof *array);
            if (array == NULL || taper_fill(TAPER_U32, array, N, &value) != TAPER_OK)
                give_up("no call inside");
            for (size_t k = 0; k < N; k++)
                if (array[k] != value)
                    give_up("a call inside is wrong");
            free(array);
            depth--;
        }
        task(data, i);
    }
}

/* ---- All of these, one after the other and at once ---- */

static taper_parallel_for *const hooks[] = {
    one_by_one, backwards, shuffled, a_thread_each, one_other_thread, reentrant,
};
enum { HOOKS = sizeof hooks / sizeof *hooks };

static void *call_once(void *data)
{
    struct room room = room_new(rows);
    check_taper(&room, rows, (size_t)data, "lent, at once");
    room_free(&room);
    return NULL;
}

static void check_hooks(void)
{
    struct room room = room_new(rows);
    for (int i = 0; i < HOOKS; i++)
        for (int threads = 2; threads <= MOST_PARTS; threads += 3) {
            const size_t before = atomic_load(&calls);
            cut_taper(threads);
            taper_set_parallel_for(hooks[i], NULL);
            check_taper(&room, rows, 0, "lent");
            if (atomic_load(&calls) == before)
                give_up("hook %d was not called", i);
        }
    room_free(&room);
    for (int i = 0; i < HOOKS; i++) {
        pthread_t threads[CALLERS];
        taper_set_parallel_for(hooks[i], NULL);
        for (size_t k = 0; k < CALLERS; k++)
            if (pthread_create(&threads[k], NULL, call_once, (void *)k) != 0)
                give_up("no thread");
        for (int k = 0; k < CALLERS; k++)
            pthread_join(threads[k], NULL);
    }
}

/* ---- Exchanged while calls run: each call is done, by one hook or by OpenMP ---- */

static atomic_int running;

static void *call_and_end(void *data)
{
    call_once(data);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void check_exchange(void)
{
    pthread_t threads[CALLERS];
    size_t changes = 0;
    atomic_store(&running, CALLERS);
    for (size_t k = 0; k < CALLERS; k++)
        if (pthread_create(&threads[k], NULL, call_and_end, (void *)k) != 0)
            give_up("no thread");
    while (atomic_load(&running) > 0) {
        const size_t i = changes++ % (HOOKS + 1);
        taper_set_parallel_for(i < HOOKS ? hooks[i] : NULL, NULL);
        cut_taper(2 + (int)(changes % (MOST_PARTS - 1)));
    }
    for (int k = 0; k < CALLERS; k++)
        pthread_join(threads[k], NULL);
    printf("%zu changes\n", changes);
    taper_set_parallel_for(NULL, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rows = strtoul(argv[1], NULL, 0);
    check_hooks();
    check_exchange();
    printf("%zu calls of hooks\n", atomic_load(&calls));
    return 0;
}
