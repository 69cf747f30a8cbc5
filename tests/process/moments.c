/* moments.c - calls at the moments of a process at which something may not be there
 * yet, or no more: in constructors, also with a fork; in destructors of a thread's
 * data; in functions of atexit() and destructors. Each is large enough for threads. */
#include "process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "taper/taper.h"

enum { THREADS = 4, EARLY = 101 }; /* the first priority that is not the compiler's */

static struct room room;
static size_t moments, children;

static void use_with(int threads, const char *moment)
{
    cut_taper(threads);
    check_taper(&room, LARGE_ROWS, moments++, moment);
    check_taper(&room, SMALL_ROWS, moments, moment);
}

static void use(const char *moment)
{
    use_with(THREADS, moment);
}

/* What was used before has threads that the child lacks. */
static void fork_and_use(const char *moment)
{
    const pid_t child = fork_child();
    if (child == 0) {
        use(moment);
        _exit(0);
    }
    join_child(child, moment);
    children++;
}

__attribute__((constructor(EARLY))) static void construct_early(void)
{
    alarm(3 * TIME_LIMIT);
    room = room_new(LARGE_ROWS);
    use("early constructor");
    fork_and_use("child of an early constructor");
}

__attribute__((constructor)) static void construct(void)
{
    use("constructor");
    fork_and_use("child of a constructor");
}

__attribute__((destructor)) static void destruct(void)
{
    use("destructor");
}

/* The last of all; what it cannot say by a status, it says by a line. */
__attribute__((destructor(EARLY))) static void destruct_late(void)
{
    use("late destructor");
    fork_and_use("child of a late destructor");
    if (moments != 8 || children != 3)
        give_up("%zu moments and %zu children", moments, children);
    printf("%zu moments, %zu children, %s\n", moments, children, taper_isa());
    fflush(stdout);
}

static void at_exit(void)
{
    use("atexit");
}

/* LLVM's OpenMP has then taken apart what it knows of the thread, and omp_in_parallel()
 * or a region would end the process; it is not asked with a limit of one thread. */
static void end_of_thread(void *data)
{
#if defined(__clang__)
    enum { MOST = 1 };
#else
    enum { MOST = THREADS };
#endif
    (void)data;
    use_with(MOST, "destructor of a thread's data");
}

static void *live_and_end(void *data)
{
    use("thread");
    pthread_setspecific(*(pthread_key_t *)data, data);
    return NULL;
}

int main(void)
{
    pthread_key_t key;
    pthread_t thread;
    atexit(at_exit);
    use("main");
    if (pthread_key_create(&key, end_of_thread) != 0 ||
        pthread_create(&thread, NULL, live_and_end, &key) != 0)
        give_up("no thread");
    pthread_join(thread, NULL);
    return 0;
}
