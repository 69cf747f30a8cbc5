/* forks.c - children of a process that has used threads, several at once, and their
 * children: all functions work in them, and in the parent afterwards.
 *
 *     forks [ROWS]
 *
 * The threads of an OpenMP team do not survive fork(), so a child that asked OpenMP for
 * one would wait forever. */
#include "process.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "taper/taper.h"

enum { CHILDREN = 4, MOST_THREADS = 8 };

static size_t rows = LARGE_ROWS;
static struct room room;

/* ---- Children ---- */

static void run_in_turn(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
    for (size_t i = count; i-- > 0;)
        task(data, i);
}

_Noreturn static void be_child(size_t number, const char *when)
{
    check_taper(&room, rows, number, when);
    const pid_t grandchild = fork_child();
    if (grandchild == 0) {
        check_taper(&room, rows, number, when);
        taper_set_parallel_for(run_in_turn, NULL); /* threads of its own */
        check_taper(&room, rows, number, when);
        _exit(0);
    }
    join_child(grandchild, when);
    check_taper(&room, rows, number, when);
    _exit(0);
}

static void check_children(const char *when)
{
    pid_t children[CHILDREN];
    for (size_t i = 0; i < CHILDREN; i++) {
        children[i] = fork_child();
        if (children[i] == 0)
            be_child(i, when);
    }
    for (int i = 0; i < CHILDREN; i++)
        join_child(children[i], when);
}

/* ---- A fork while other threads are inside a call ---- */

static atomic_bool stop;

static void *keep_calling(void *data)
{
    struct room own = room_new(rows);
    (void)data;
    while (!atomic_load(&stop))
        check_taper(&own, rows, 0, "beside a fork");
    room_free(&own);
    return NULL;
}

static void check_while_calling(void)
{
    enum { CALLERS = 2, ROUNDS = 5 };
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&threads[i], NULL, keep_calling, NULL) != 0)
            give_up("no thread");
    for (int i = 0; i < ROUNDS; i++) {
        const pid_t child = fork_child();
        if (child == 0)
            be_child(0, "forked beside calls");
        join_child(child, "forked beside calls");
    }
    atomic_store(&stop, true);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- A new program: it has threads of its own, and nothing is inherited ---- */

static void check_spawned(const char *program)
{
    extern char **environ;
    char *arguments[] = {(char *)program, "spawned", NULL};
    pid_t child;
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0)
        give_up("cannot start %s", program);
    join_child(child, "spawned");
}

int main(int argc, char **argv)
{
    const bool spawned = argc > 1 && strcmp(argv[1], "spawned") == 0;
    if (argc > 1 && !spawned)
        rows = strtoul(argv[1], NULL, 0);
    room = room_new(rows);
    cut_taper(MOST_THREADS);
    if (spawned) {
        alarm(TIME_LIMIT);
        check_taper(&room, rows, 0, "spawned");
        return 0;
    }

    check_children("before any use");
#ifdef _OPENMP
#pragma omp parallel num_threads(MOST_THREADS)
    if (thread_count() < 1) /* whatever: the team has started */
        give_up("no threads");
    check_children("after OpenMP in the program alone");
#endif
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        char when[40];
        snprintf(when, sizeof when, "after use of %d threads", threads);
        cut_taper(threads);
        check_taper(&room, rows, 0, when);
        check_children(when);
        check_taper(&room, rows, 0, "after forks");
    }
    check_while_calling();
    check_spawned(argv[0]);
    return 0;
}
