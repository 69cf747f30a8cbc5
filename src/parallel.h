/* parallel.h - how a large array is cut into parts for threads, and which stores it
 * gets. */
#ifndef TAPER_PARALLEL_H
#define TAPER_PARALLEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* An operation on `n` items that can be done in parts: the first member of a structure
 * that also holds what its `run` needs. */
struct taper_work {
    /* Does items `begin` to `end`; `stream` asks for streaming stores. */
    void (*run)(const struct taper_work *work, size_t begin, size_t end, bool stream);
    size_t n;
    size_t grain;         /* parts begin on multiples of it */
    size_t read, written; /* bytes, by all items; nothing read: a fill */
    bool in_place;        /* the source is overwritten: one part, no streaming stores */
};

/* Does all of `work`: on several threads and with streaming stores if its size asks for
 * it. */
void taper_run(const struct taper_work *work);

/* Elements of an array: a multiple of every vector, and a cache line of every type. */
enum { TAPER_ARRAY_GRAIN = 4096 };

/* Below this many bytes read and written taper_run() would change nothing, and the
 * kernel is called directly: even an idle OpenMP region costs more than it. */
extern _Atomic size_t taper_large_bytes;

static inline bool taper_is_large(size_t bytes)
{
    return bytes >= atomic_load_explicit(&taper_large_bytes, memory_order_relaxed);
}

#endif
