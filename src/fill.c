/* fill.c - taper_fill(): checks, the pattern, the tail. */
#include <string.h>

#include "dtype.h"
#include "kernels.h"
#include "parallel.h"

struct fill {
    struct taper_work work;
    taper_fill_fn *kernel;
    unsigned char *dst;
    const unsigned char *pattern;
};

/* Items are bytes. Parts begin on multiples of the pattern. */
static void run(const struct taper_work *work, size_t begin, size_t end, bool stream)
{
    const struct fill *const f = (const struct fill *)work;
    f->kernel(f->dst + begin, f->pattern, end - begin, stream);
}

/* Repeats the element at `value` until TAPER_PATTERN_BYTES are full. */
static void make_pattern(unsigned char *pattern, const void *value, size_t bits)
{
    if (bits < 8) {
        unsigned byte = *(const unsigned char *)value & ((1u << bits) - 1);
        for (size_t used = bits; used < 8; used *= 2)
            byte |= byte << used;
        memset(pattern, (int)byte, TAPER_PATTERN_BYTES);
        return;
    }
    for (size_t i = 0; i < TAPER_PATTERN_BYTES; i += bits / 8)
        memcpy(pattern + i, value, bits / 8);
}

taper_status taper_fill(taper_dtype type, void *dst, size_t n, const void *value)
{
    if (!taper_dtype_known(type))
        return TAPER_BAD_DTYPE;
    const size_t bits = taper_dtype_bits(type);
    if (bits == 0)
        return TAPER_UNSUPPORTED;
    size_t bytes;
    if (!taper_array_bytes(bits, n, &bytes))
        return TAPER_TOO_LARGE;
    if (n == 0)
        return TAPER_OK;
    if (dst == NULL || value == NULL)
        return TAPER_NULL;

    unsigned char pattern[TAPER_PATTERN_BYTES];
    make_pattern(pattern, value, bits);
    const size_t tail = n * bits % 8; /* bits in a last byte that is not full */
    const size_t whole = tail == 0 ? bytes : bytes - 1;
    if (tail != 0)
        ((unsigned char *)dst)[whole] =
            (unsigned char)(pattern[0] & ((1u << tail) - 1));
    taper_fill_fn *const kernel = taper_active()->fill;
    if (!taper_is_large(bytes)) {
        kernel(dst, pattern, whole, false);
        return TAPER_OK;
    }
    const struct fill large = {
        .work = {run, whole, TAPER_ARRAY_GRAIN, 0, whole, false},
        .kernel = kernel,
        .dst = dst,
        .pattern = pattern,
    };
    taper_run(&large.work);
    return TAPER_OK;
}
