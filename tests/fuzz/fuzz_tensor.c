/* fuzz_tensor.c - taper_tensor_fill(), taper_tensor_copy(), taper_tensor_cast() and
 * taper_tensor_bytes() with any rank, shape, strides and place. */
#include "pair.h"

static void check_bytes(const taper_tensor *t)
{
    size_t n = 0, bytes = 77;
    const taper_status want = want_tensor(t, &n);
    const taper_status status = taper_tensor_bytes(t, &bytes);
    const size_t all = bytes_of(t->type, n);
    if (status != want || bytes != (want == TAPER_OK ? all : 77))
        finding("taper_tensor_bytes: %d and %zu, not %d and %zu", (int)status, bytes,
                (int)want, all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct pair p;
    take_settings(&in);
    const enum op op = (enum op)take_below(&in, 3);
    const taper_dtype to = op == CAST ? take_cast_dtype(&in) : take_dtype(&in);
    const taper_dtype from = op == CAST                 ? take_cast_dtype(&in)
                             : take_below(&in, 32) == 0 ? take_dtype(&in)
                                                        : to;
    take_pair(&in, &p, op, to, from, 0);
    check_bytes(&p.dst);
    const int want = want_pair(&p);
    if (want != NOT_CALLED) {
        pair_start(&p, &in);
        pair_check(&p, want,
                   op == FILL   ? taper_tensor_fill(&p.dst, p.src.data)
                   : op == COPY ? taper_tensor_copy(&p.dst, &p.src)
                                : taper_tensor_cast(&p.dst, &p.src,
                                                    p.has_options ? &p.options : NULL));
    }
    scratch_free();
    return 0;
}
