/* reload.c - a plugin that uses taper, loaded and unloaded again and again.
 *
 *     reload ROUNDS PLUGIN LIBRARY stays|goes
 *
 * LIBRARY is the file with taper in it, which may be PLUGIN itself.
 *
 * OpenMP's threads are never ended: after a parallel call they wait inside of the
 * runtime for the next one. If dlclose() took the runtime or the code that it calls
 * away, they would wake up in memory that is not there. That is why the shared library
 * is linked with -z nodelete, and why a plugin that has the static one inside should
 * be: dlclose() then leaves them, the next dlopen() finds them again, and nothing piles
 * up. Without OpenMP there is nothing to stay for, and everything goes.
 *
 * This program itself links neither taper nor OpenMP, or they would stay for that. */
#include "process.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UP = 100, THREADS = 4, MIDDLE_ROWS = 144 };

/* OpenMP may end threads and start others, and the C library keeps some stacks. */
enum { HEAP_GROWTH = 256 << 10, ADDRESS_GROWTH = 64 << 20 };

static struct room small, large, beside;

/* In use, from malloc(). */
static size_t heap_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static size_t address_bytes(void)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        give_up("no /proc/self/statm");
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* How many more keys for data of threads there are. */
static int free_keys(void)
{
    static pthread_key_t keys[4096];
    int count = 0;
    while (count < 4096 && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    for (int i = 0; i < count; i++)
        pthread_key_delete(keys[i]);
    return count;
}

/* ---- A thread that outlives every round, and calls in each ---- */

static pthread_barrier_t begin, end;
static use_taper_fn *use_beside; /* NULL: no more rounds */

static void *call_beside(void *data)
{
    (void)data;
    for (;;) {
        pthread_barrier_wait(&begin);
        if (use_beside == NULL)
            return NULL;
        const char *const wrong = use_beside(&beside, SMALL_ROWS, 3);
        if (wrong != NULL)
            give_up("beside: %s is wrong", wrong);
        pthread_barrier_wait(&end);
    }
}

/* ---- */

static void *open_plugin(const char *plugin)
{
    void *const handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        give_up("%s", dlerror());
    return handle;
}

static void *look_up(void *handle, const char *name)
{
    void *const found = dlsym(handle, name);
    if (found == NULL)
        give_up("%s", dlerror());
    return found;
}

static void check(use_taper_fn *use, const struct room *room, size_t rows, size_t i)
{
    const char *const wrong = use(room, rows, i);
    if (wrong != NULL)
        give_up("round %zu: %s is wrong", i, wrong);
}

static void do_round(const char *plugin, size_t i)
{
    enum { LARGE_EVERY = 20 };
    void *const handle = open_plugin(plugin);
    use_taper_fn *use;
    cut_taper_fn *cut;
    *(void **)&use = look_up(handle, "use_taper");
    *(void **)&cut = look_up(handle, "cut_taper");
    use_beside = use;
    pthread_barrier_wait(&begin);
    check(use, &small, SMALL_ROWS, i);
    cut(THREADS);
    check(use, &large, i % LARGE_EVERY == 0 ? LARGE_ROWS : MIDDLE_ROWS, 0);
    cut(0);
    pthread_barrier_wait(&end);
    if (dlclose(handle) != 0)
        give_up("%s", dlerror());
}

int main(int argc, char **argv)
{
    const long rounds = argc == 5 ? strtol(argv[1], NULL, 0) : 0;
    pthread_t thread;
    if (rounds <= WARM_UP)
        give_up("usage: reload ROUNDS PLUGIN LIBRARY stays|goes, from %d rounds on",
                WARM_UP + 1);
    const bool stays = strcmp(argv[4], "stays") == 0;
    small = room_new(SMALL_ROWS);
    beside = room_new(SMALL_ROWS);
    large = room_new(LARGE_ROWS);
    pthread_barrier_init(&begin, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    if (pthread_create(&thread, NULL, call_beside, NULL) != 0)
        give_up("no thread");

    size_t i = 0;
    for (; i < WARM_UP; i++)
        do_round(argv[2], i);
    const size_t heap = heap_bytes(), addresses = address_bytes();
    const size_t threads = thread_count();
    const int keys = free_keys();
    for (; i < (size_t)rounds; i++)
        do_round(argv[2], i);
    printf("%zu rounds; heap %zu, then %zu; addresses %zu, %zu; threads %zu, %zu; "
           "free keys %d, %d\n",
           i, heap, heap_bytes(), addresses, address_bytes(), threads, thread_count(),
           keys, free_keys());
    /* libgomp's threads come and go with the size of a team. */
    if (thread_count() > threads + THREADS || free_keys() < keys)
        give_up("threads or keys grow");
#if !defined(TAPER_SANITIZED) /* which keep notes of their own */
    if (heap_bytes() > heap + HEAP_GROWTH ||
        address_bytes() > addresses + ADDRESS_GROWTH)
        give_up("memory grows");
#endif
    if ((dlopen(argv[3], RTLD_NOW | RTLD_NOLOAD) != NULL) != stays)
        give_up("%s is %s", argv[3], stays ? "gone" : "still there");

    use_beside = NULL;
    pthread_barrier_wait(&begin);
    pthread_join(thread, NULL);
    return 0;
}
