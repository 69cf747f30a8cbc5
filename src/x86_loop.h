/* x86_loop.h - the loop that the casts and copies of AVX2 and AVX-512 share.
 *
 * A step converts STEP elements, or fewer if `count` says so. In the body of the loop
 * that is the constant STEP, and most of what `how` points to is constant too, so that
 * after inlining the body has no trace of them. */
#ifndef TAPER_X86_LOOP_H
#define TAPER_X86_LOOP_H

#include <stdint.h>
#include <string.h>

#include "kernels.h"

enum { STEP = 64, LINE = 64 };

/* Bytes from what is read to what is prefetched, at most, while results are streamed:
 * arrays are large then, and the prefetchers of the CPU alone leave the arithmetic
 * waiting. */
enum { AHEAD = 8192 };

typedef void step_fn(void *dst, const void *src, size_t count, const void *how,
                     bool stream);

/* Elements before the first one at the start of a cache line, where streaming stores
 * can begin; `n` if there is none, or if the source has it in the middle of a byte. */
TAPER_INLINE size_t until_line(const void *dst, size_t dst_bits, size_t src_bits,
                               size_t n)
{
    const size_t bytes = -(uintptr_t)dst % LINE;
    const size_t elements = bytes * 8 / dst_bits;
    const bool whole = elements * dst_bits == bytes * 8 && elements * src_bits % 8 == 0;
    return whole && elements < n ? elements : n;
}

/* Where to prefetch while `at` is read. It may lie past the array, where prefetching
 * does no harm but a pointer must not go. */
TAPER_INLINE const void *ahead(const void *at, ptrdiff_t bytes)
{
    return (const void *)((uintptr_t)at + (uintptr_t)bytes);
}

/* Converts `n` elements of `src_bits` bits at `src` to `dst_bits` bits. Forward, and no
 * store of a step comes before the loads of what it covers, so dst may be src when that
 * is no wider. */
TAPER_INLINE void convert(void *dst, size_t dst_bits, const void *src, size_t src_bits,
                          size_t n, step_fn *step, const void *how, bool stream)
{
    char *d = dst;
    const char *s = src;

    if (stream) {
        for (size_t head = until_line(dst, dst_bits, src_bits, n); head != 0;) {
            const size_t count = head < STEP ? head : STEP;
            step(d, s, count, how, false);
            d += count * dst_bits / 8;
            s += count * src_bits / 8;
            n -= count;
            head -= count;
        }
        /* Not past the end: behind a short row lies what nobody is going to read. */
        const size_t bytes = n * src_bits / 8;
        const ptrdiff_t distance = bytes / 4 < AHEAD ? (ptrdiff_t)bytes / 4 : AHEAD;
        const char *const last = s + bytes - distance;
        for (; n >= STEP; n -= STEP) {
            for (size_t at = 0; s < last && at < STEP / 8 * src_bits; at += LINE)
                __builtin_prefetch(ahead(s + at, distance));
            step(d, s, STEP, how, true);
            d += STEP / 8 * dst_bits;
            s += STEP / 8 * src_bits;
        }
    }
    for (; n >= STEP; n -= STEP) {
        step(d, s, STEP, how, false);
        d += STEP / 8 * dst_bits;
        s += STEP / 8 * src_bits;
    }
    if (n != 0)
        step(d, s, n, how, false);
}

/* A whole step for instruction sets without masks to leave lanes out. */
typedef void whole_step_fn(void *dst, const void *src, const void *how, bool stream);

/* A step of `count` elements by a whole one: through copies when it is less. */
TAPER_INLINE void padded(void *dst, size_t dst_bits, const void *src, size_t src_bits,
                         size_t count, whole_step_fn *whole, const void *how,
                         bool stream)
{
    if (count == STEP) {
        whole(dst, src, how, stream);
        return;
    }
    _Alignas(LINE) char in[STEP * sizeof(double)], out[STEP * sizeof(double)];
    memset(in, 0, STEP / 8 * src_bits);
    memcpy(in, src, (count * src_bits + 7) / 8);
    whole(out, in, how, false);
    memcpy(dst, out, (count * dst_bits + 7) / 8);
}

#endif
