/* kernels.h - what an instruction set provides: one constant table of functions. */
#ifndef TAPER_KERNELS_H
#define TAPER_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "taper/taper.h"

enum { TAPER_DTYPE_COUNT = TAPER_I2 + 1, TAPER_PATTERN_BYTES = 16 };

/* For loops shared by the types of a folder: a constant argument disappears. */
#define TAPER_INLINE static inline __attribute__((always_inline))

/* For loops over an array of vectors, which stays in registers only if they are
 * unrolled: gcc does that of itself at -O3 alone. */
#define TAPER_UNROLL _Pragma("GCC unroll 16")

/* Kernels run on the calling thread, trust their arguments, accept zero sizes and any
 * alignment. `stream` asks for stores that go past the caches; it never changes a bit.
 * Such stores wait for a fence before other threads may see them, which is
 * taper_run()'s.
 *
 * Without it, a cast kernel may be called with dst == src when an element of dst is no
 * wider than one of src: it goes forward and loads all that a store covers first. */

/* Repeats the 16 bytes at `pattern` over `bytes` bytes: a pattern for every width. */
typedef void taper_fill_fn(void *dst, const unsigned char *pattern, size_t bytes,
                           bool stream);
typedef void taper_copy_fn(void *dst, const void *src, size_t bytes, bool stream);
typedef void taper_narrow_fn(void *dst, const void *src, size_t n,
                             taper_cast_options options, bool stream);
typedef void taper_widen_fn(void *dst, const void *src, size_t n, bool stream);

/* A matrix turned: for all i < rows and j < columns, element j of the row of `dst` at
 * i * dst_stride is element i of the row of `src` at j * src_stride, in bytes. */
typedef void taper_transpose_fn(void *dst, ptrdiff_t dst_stride, const void *src,
                                ptrdiff_t src_stride, size_t rows, size_t columns,
                                bool stream);

struct taper_kernels {
    const char *name; /* as taper_isa() and TAPER_ISA spell it */
    unsigned needs;   /* TAPER_CPU_* bits: every flag the folder is compiled with */
    taper_fill_fn *fill;
    taper_copy_fn *copy;
    taper_transpose_fn *transpose[5]; /* by elements of 1, 2, 4, 8, 16 bytes */

    /* Casts meet at binary32: `narrow`, by destination, goes out of it and `widen`, by
     * source, comes into it. Two entries stand for f64 so that every pair is one of
     * each: narrow[TAPER_F64] is exact, and widen[TAPER_F64] rounds to odd, after which
     * narrowing is as if straight from f64. NULL: not a type of casts. */
    taper_narrow_fn *narrow[TAPER_DTYPE_COUNT];
    taper_widen_fn *widen[TAPER_DTYPE_COUNT];
    taper_widen_fn *f32_from_f64; /* to nearest even: the cast that ends at binary32 */
};

extern const struct taper_kernels taper_scalar;
extern const struct taper_kernels taper_avx2;
extern const struct taper_kernels taper_avx512;
extern const struct taper_kernels taper_neon;

/* The i-th table that can run here, best first, or NULL past the last. */
const struct taper_kernels *taper_usable(size_t i);

/* The i-th table of this build, able to run here or not, or NULL past the last. */
const struct taper_kernels *taper_built(size_t i);

#endif
