/* fill.c - taper_fill(): checks, the pattern, the tail. */
#include <string.h>

#include "dispatch.h"
#include "dtype.h"
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
    uint64_t word; /* eight bytes of it, whatever their order */
    uint32_t half;
    uint16_t quarter;

    switch (bits) {
    case 128:
        memcpy(pattern, value, 16);
        return;
    case 64:
        memcpy(&word, value, 8);
        break;
    case 32:
        memcpy(&half, value, 4);
        word = half | (uint64_t)half << 32;
        break;
    case 16:
        memcpy(&quarter, value, 2);
        word = quarter * UINT64_C(0x0001000100010001);
        break;
    default: /* 8, 4 or 2: the element in the low bits of a byte */
        word = *(const unsigned char *)value & ((1u << bits) - 1);
        for (; bits < 64; bits *= 2)
            word |= word << bits;
    }
    memcpy(pattern, &word, 8);
    memcpy(pattern + 8, &word, 8);
}

taper_status taper_fill(taper_dtype type, void *dst, size_t n, const void *value)
{
    if (!taper_dtype_known(type))
        return TAPER_BAD_DTYPE;
    const size_t bits = taper_dtypes[type].bits;
    if (bits == 0)
        return TAPER_UNSUPPORTED;
    size_t bytes;
    if (!taper_array_bytes(type, n, &bytes))
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
