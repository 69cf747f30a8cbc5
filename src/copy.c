/* copy.c - taper_copy(): checks and the tail. */
#include "dispatch.h"
#include "dtype.h"
#include "parallel.h"

struct copy {
    struct taper_work work;
    taper_copy_fn *kernel;
    unsigned char *dst;
    const unsigned char *src;
};

/* Items are bytes. */
static void run(const struct taper_work *work, size_t begin, size_t end, bool stream)
{
    const struct copy *const c = (const struct copy *)work;
    c->kernel(c->dst + begin, c->src + begin, end - begin, stream);
}

taper_status taper_copy(taper_dtype type, void *dst, const void *src, size_t n)
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
    if (dst == NULL || src == NULL)
        return TAPER_NULL;
    if (dst != src && taper_overlap(dst, bytes, src, bytes))
        return TAPER_OVERLAP;

    const size_t tail = n * bits % 8; /* bits in a last byte that is not full */
    const size_t whole = tail == 0 ? bytes : bytes - 1;
    if (tail != 0)
        ((unsigned char *)dst)[whole] =
            (unsigned char)(((const unsigned char *)src)[whole] & ((1u << tail) - 1));
    if (dst == src)
        return TAPER_OK;
    taper_copy_fn *const kernel = taper_active()->copy;
    if (!taper_is_large(2 * bytes)) {
        kernel(dst, src, whole, false);
        return TAPER_OK;
    }
    const struct copy large = {
        .work = {run, whole, TAPER_ARRAY_GRAIN, whole, whole, false},
        .kernel = kernel,
        .dst = dst,
        .src = src,
    };
    taper_run(&large.work);
    return TAPER_OK;
}
