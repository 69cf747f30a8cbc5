/* cast.c - taper_narrow(), taper_widen(), taper_cast(): checks, and the way through
 * binary32 when neither side is that type. */
#include "cast.h"
#include "dispatch.h"
#include "dtype.h"
#include "parallel.h"

/* Elements of a block on that way: 2 KiB of binary32, little enough for the stack. */
enum { BLOCK = 512 };

struct cast {
    struct taper_work work;
    struct taper_path path;
    char *dst;
    const char *src;
};

/* Not inlined, or every frame between a caller and a kernel would have a block. */
__attribute__((noinline)) static void
follow_in_blocks(const struct taper_path *path, void *dst, const void *src, size_t n)
{
    _Alignas(64) float block[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t part = n - i < BLOCK ? n - i : BLOCK;
        path->widen(block, (const char *)src + i / 8 * path->src_bits, part, false);
        /* Not streamed: the ends of so short a row would cost more than it saves. */
        path->narrow((char *)dst + i / 8 * path->dst_bits, block, part, path->options,
                     false);
    }
}

/* A side that is constantly binary32 leaves nothing of this but a call. */
TAPER_INLINE void follow(const struct taper_path *path, void *dst, const void *src,
                         size_t n, bool stream)
{
    if (path->widen == NULL)
        path->narrow(dst, src, n, path->options, stream);
    else if (path->narrow == NULL)
        path->widen(dst, src, n, stream);
    else
        follow_in_blocks(path, dst, src, n);
}

void taper_follow(const struct taper_path *path, void *dst, const void *src, size_t n,
                  bool stream)
{
    follow(path, dst, src, n, stream);
}

/* Items are elements; `begin` is a multiple of 8, so it is at the start of a byte. */
static void run(const struct taper_work *work, size_t begin, size_t end, bool stream)
{
    const struct cast *const c = (const struct cast *)work;
    follow(&c->path, c->dst + begin / 8 * c->path.dst_bits,
           c->src + begin / 8 * c->path.src_bits, end - begin, stream);
}

static const taper_cast_options default_options = {TAPER_SATURATE, TAPER_ROUND_UP};

static bool valid(const taper_cast_options *options)
{
    return (unsigned)options->overflow <= TAPER_NO_SATURATE &&
           (unsigned)options->rounding <= TAPER_ROUND_NEAREST;
}

/* The checks that are left once the types are known to be a pair that `path` serves. */
TAPER_INLINE taper_status cast_array(const struct taper_path *path, taper_dtype to,
                                     void *dst, taper_dtype from, const void *src,
                                     size_t n)
{
    size_t dst_bytes, src_bytes;
    if (!taper_array_bytes(to, n, &dst_bytes) ||
        !taper_array_bytes(from, n, &src_bytes))
        return TAPER_TOO_LARGE;
    if (n == 0)
        return TAPER_OK;
    if (dst == NULL || src == NULL)
        return TAPER_NULL;
    if (taper_overlap(dst, dst_bytes, src, src_bytes) &&
        (dst != src || path->dst_bits > path->src_bits))
        return TAPER_OVERLAP;

    if (!taper_is_large(dst_bytes + src_bytes)) {
        follow(path, dst, src, n, false);
        return TAPER_OK;
    }
    const struct cast large = {
        .work = {run, n, TAPER_ARRAY_GRAIN, src_bytes, dst_bytes,
                 dst == src && path->dst_bits < path->src_bits},
        .path = *path,
        .dst = dst,
        .src = src,
    };
    taper_run(&large.work);
    return TAPER_OK;
}

taper_status taper_narrow(taper_dtype to, void *dst, const void *src, size_t n,
                          const taper_cast_options *options)
{
    if (!taper_dtype_known(to))
        return TAPER_BAD_DTYPE;
    const struct taper_path path = {
        .narrow = taper_active()->narrow[to],
        .options = options == NULL ? default_options : *options,
        .dst_bits = taper_dtypes[to].bits,
        .src_bits = 32,
    };
    if (path.narrow == NULL || to == TAPER_F64)
        return TAPER_UNSUPPORTED;
    if (!valid(&path.options))
        return TAPER_BAD_OPTION;
    return cast_array(&path, to, dst, TAPER_F32, src, n);
}

taper_status taper_widen(taper_dtype from, void *dst, const void *src, size_t n)
{
    if (!taper_dtype_known(from))
        return TAPER_BAD_DTYPE;
    const struct taper_path path = {
        .widen = taper_active()->widen[from],
        .dst_bits = 32,
        .src_bits = taper_dtypes[from].bits,
    };
    if (path.widen == NULL || from == TAPER_F64)
        return TAPER_UNSUPPORTED;
    return cast_array(&path, TAPER_F32, dst, from, src, n);
}

taper_status taper_find_path(struct taper_path *path, taper_dtype to, taper_dtype from,
                             const taper_cast_options *options)
{
    const struct taper_kernels *const k = taper_active();
    if ((to != TAPER_F32 && k->narrow[to] == NULL) ||
        (from != TAPER_F32 && k->widen[from] == NULL))
        return TAPER_UNSUPPORTED;
    *path = (struct taper_path){
        .widen = k->widen[from],
        .narrow = k->narrow[to],
        .options = options == NULL ? default_options : *options,
        .dst_bits = taper_dtypes[to].bits,
        .src_bits = taper_dtypes[from].bits,
    };
    if (to == TAPER_F32 && from == TAPER_F64)
        path->widen = k->f32_from_f64;
    return valid(&path->options) ? TAPER_OK : TAPER_BAD_OPTION;
}

taper_status taper_cast(taper_dtype to, void *dst, taper_dtype from, const void *src,
                        size_t n, const taper_cast_options *options)
{
    struct taper_path path;
    if (!taper_dtype_known(to) || !taper_dtype_known(from))
        return TAPER_BAD_DTYPE;
    const taper_status status = taper_find_path(&path, to, from, options);
    if (status != TAPER_OK)
        return status;
    if (to == from)
        return taper_copy(to, dst, src, n);
    return cast_array(&path, to, dst, from, src, n);
}
