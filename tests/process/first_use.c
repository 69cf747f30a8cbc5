/* first_use.c - the first calls of a process, by 64 threads at once: every kind of call
 * is the first one of some thread; one thread asks for the instruction set, one changes
 * settings. One process is one try: starts.c makes many. */
#include "process.h"

#include <pthread.h>
#include <string.h>

#include "taper/taper.h"

enum { THREADS = 64, ASKS = THREADS - 1, SETS = THREADS - 2 };

static pthread_barrier_t barrier;
static unsigned char arrays[THREADS][3][ROOM_BYTES(SMALL_ROWS)];

static void *use_first(void *data)
{
    const size_t i = (size_t)data;
    const struct room room = {arrays[i][0], arrays[i][1], arrays[i][2]};
    pthread_barrier_wait(&barrier);
    if (i == ASKS) {
        const char *const isa = taper_isa();
        if (strcmp(isa, taper_isa_name(0)) != 0)
            give_up("taper_isa() is %s at first", isa);
    } else if (i == SETS) {
        cut_taper(2);
        taper_set_parallel_for(NULL, NULL);
        cut_taper(0);
    }
    check_taper(&room, SMALL_ROWS, i, "first use");
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, use_first, (void *)i) != 0)
            give_up("no thread %zu", i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
