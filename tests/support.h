/* support.h - what the tests with cmocka share: random inputs, guarded memory, and the
 * check that a cast does what the oracle says at every size and place. */
#ifndef TAPER_TESTS_SUPPORT_H
#define TAPER_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elements.h"
#include "kernels.h"

/* ---- Inputs ---- */

/* Bits of an element of `type`: one of the values that are famous for being got wrong,
 * a short number or a neighbour of one (ties are short numbers), or just any bits. */
uint64_t random_element(taper_dtype type, uint64_t *seed);

/* ---- Guarded memory ---- */

/* Whole pages between two that cannot be touched. Made once by a test, freed at exit.
 */
struct guarded {
    unsigned char *begin, *end;
};

struct guarded guarded_new(size_t bytes);

/* An address that cannot be read or written. */
void *wild_pointer(void);

/* ---- Casts ---- */

/* A way to cast: a kernel, or a public function with the table in use. */
struct cast {
    const char *isa;
    taper_dtype to, from;
    taper_cast_options options;
    const struct taper_kernels *kernels; /* for `run` to look at */
    void (*run)(const struct cast *cast, void *dst, const void *src, size_t n,
                bool stream);
};

enum { MAX_N = 1100 }; /* the most elements of the checks below */

/* Runs `cast` on random inputs and compares every byte with the oracle, on arrays that
 * end or begin at a page that cannot be touched, with guard bytes on the other side. */

/* All n up to `most`, at the four combinations of the two ends. */
void check_sizes(const struct cast *cast, size_t most, uint64_t seed);

/* One size, at every distance below 64 bytes between array and guard page. */
void check_offsets(const struct cast *cast, size_t n, uint64_t seed);

/* dst == src. */
void check_in_place(const struct cast *cast, size_t n, uint64_t seed);

#endif
