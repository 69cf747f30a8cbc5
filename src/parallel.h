/* parallel.h - how a large array is cut into parts for threads, and which stores it gets. */
#ifndef TAPER_PARALLEL_H
#define TAPER_PARALLEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* An operation on `n` elements that can be done in parts: the first member of a structure
 * that also holds what its `run` needs. */
struct taper_work {
    void (*run)(const struct taper_work *work, void *dst, const void *src, size_t n,
                bool stream);
    void *dst;
    const void *src; /* NULL: a fill */
    size_t n;
    size_t dst_bits, src_bits; /* per element; src_bits is 0 for a fill */
};

/* Does all of `work`: on several threads and with streaming stores if its size asks for
 * it. When dst == src it is one part with ordinary stores. */
void taper_run(const struct taper_work *work);

/* Below this many bytes read and written taper_run() would change nothing, and the kernel
 * is called directly: even an idle OpenMP region costs more than a small array. */
extern _Atomic size_t taper_large_bytes;

static inline bool taper_is_large(size_t bytes)
{
    return bytes >= atomic_load_explicit(&taper_large_bytes, memory_order_relaxed);
}

#endif
