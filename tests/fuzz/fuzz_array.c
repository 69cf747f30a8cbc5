/* fuzz_array.c - taper_fill(), taper_copy(), taper_narrow(), taper_widen() and
 * taper_cast() with any type, number, option and place of the arrays. */
#include "fuzz.h"

#include <stdio.h>

enum call { CALL_FILL, CALL_COPY, CALL_NARROW, CALL_WIDEN, CALL_CAST, CALLS };

struct arguments {
    enum call call;
    taper_dtype to, from;
    bool has_options;
    taper_cast_options options;
    size_t n;
    unsigned char *dst, *src; /* src: the value of a fill */
};

static struct memory first, second;

/* ---- What must come out ---- */

/* Whether a cast is from or to such a type. */
static bool is_narrow(taper_dtype type)
{
    return oracle_bits(type) != 0 && type != TAPER_F32 && type != TAPER_F64;
}

static bool too_large(taper_dtype type, size_t n)
{
    const size_t bits = taper_dtype_bits(type);
    return n > PTRDIFF_MAX || (bits > 8 && n > PTRDIFF_MAX / (bits / 8));
}

static bool valid(const struct arguments *a)
{
    return (unsigned)a->options.overflow <= TAPER_NO_SATURATE &&
           (unsigned)a->options.rounding <= TAPER_ROUND_NEAREST;
}

static bool overlap(const struct arguments *a)
{
    const uintptr_t p = (uintptr_t)a->dst, q = (uintptr_t)a->src;
    return p < q ? q - p < bytes_of(a->to, a->n) : p - q < bytes_of(a->from, a->n);
}

/* The checks as taper.h has them, in its order. */
static taper_status want_status(const struct arguments *a)
{
    const bool moves = a->call == CALL_FILL || a->call == CALL_COPY;
    const bool casts = a->call == CALL_CAST;
    if (!is_dtype(a->to) || !is_dtype(a->from))
        return TAPER_BAD_DTYPE;
    if (moves   ? taper_dtype_bits(a->to) == 0
        : casts ? oracle_bits(a->to) == 0 || oracle_bits(a->from) == 0
                : !is_narrow(a->call == CALL_NARROW ? a->to : a->from))
        return TAPER_UNSUPPORTED;
    if ((a->call == CALL_NARROW || casts) && a->has_options && !valid(a))
        return TAPER_BAD_OPTION;
    if (too_large(a->to, a->n) || too_large(a->from, a->n))
        return TAPER_TOO_LARGE;
    if (a->n == 0)
        return TAPER_OK;
    if (a->dst == NULL || a->src == NULL)
        return TAPER_NULL;
    if (a->call != CALL_FILL && overlap(a) &&
        (a->dst != a->src || taper_dtype_bits(a->to) > taper_dtype_bits(a->from)))
        return TAPER_OVERLAP;
    return TAPER_OK;
}

static taper_status run(const struct arguments *a)
{
    const taper_cast_options *const options = a->has_options ? &a->options : NULL;
    switch (a->call) {
    case CALL_FILL:
        return taper_fill(a->to, a->dst, a->n, a->src);
    case CALL_COPY:
        return taper_copy(a->to, a->dst, a->src, a->n);
    case CALL_NARROW:
        return taper_narrow(a->to, a->dst, a->src, a->n, options);
    case CALL_WIDEN:
        return taper_widen(a->from, a->dst, a->src, a->n);
    default:
        return taper_cast(a->to, a->dst, a->from, a->src, a->n, options);
    }
}

/* ---- Arguments ---- */

/* Elements that repeat after so many that no part of a call sees the same as another,
 * and what they become: the oracle takes its time. */
enum { PERIOD = 61 };

struct elements {
    uint64_t in[PERIOD], out[PERIOD];
};

static void take_elements(struct input *in, const struct arguments *a,
                          struct elements *e)
{
    const bool raw = take_below(in, 2) != 0;
    uint64_t seed = take(in, 2);
    const unsigned bits = oracle_bits(a->from);
    for (size_t i = 0; i < PERIOD; i++) {
        e->in[i] = raw && in->size > 0
                       ? take(in, (bits + 7) / 8) & UINT64_MAX >> (64 - bits)
                       : random_element(a->from, &seed);
        e->out[i] = oracle_cast(a->to, a->from, e->in[i],
                                a->has_options ? a->options : (taper_cast_options){0});
    }
}

static size_t take_n(struct input *in)
{
    switch (take_below(in, 16)) {
    case 0: /* enough for several threads */
        return take(in, 2);
    case 1:
        return (size_t)take_number(in);
    case 2:
        return take(in, 2) % 2000;
    default:
        return take(in, 1);
    }
}

static void take_arguments(struct input *in, struct arguments *a)
{
    a->call = (enum call)take_below(in, CALLS);
    a->to = a->call < CALL_NARROW ? take_dtype(in) : take_cast_dtype(in);
    a->from = a->call == CALL_NARROW ? TAPER_F32
              : a->call == CALL_CAST ? take_cast_dtype(in)
                                     : a->to;
    if (a->call == CALL_WIDEN)
        a->to = TAPER_F32;
    a->has_options = take_options(in, &a->options) &&
                     (a->call == CALL_NARROW || a->call == CALL_CAST);
    a->n = take_n(in);
}

/* Sets the pointers, to room for `n` elements if it can be. */
static void take_places(struct input *in, struct arguments *a)
{
    const unsigned nulls = take_below(in, 32), way = take_below(in, 8);
    const bool fits = want_status(a) != TAPER_TOO_LARGE;
    const bool known_types =
        taper_dtype_bits(a->to) != 0 && taper_dtype_bits(a->from) != 0;
    size_t to = known_types && fits ? bytes_of(a->to, a->n) : 0;
    size_t from = known_types && fits ? bytes_of(a->from, a->n) : 0;
    if (a->call == CALL_FILL)
        from = known_types ? bytes_of(a->to, 1) : 0;
    to = to > MEMORY - 64 ? 0 : to;
    from = from > MEMORY - 64 ? 0 : from;

    a->dst = memory_place(&first, way == 0 && from > to ? from : to, in);
    a->src = memory_place(&second, from, in);
    if (way == 0) {
        a->src = a->dst;
    } else if (way == 1) { /* near, or right behind */
        const ptrdiff_t d = (ptrdiff_t)take(in, 1) - 128;
        a->src = (unsigned char *)((uintptr_t)a->dst + (uintptr_t)d);
    } else if (way == 2) {
        const ptrdiff_t d = (ptrdiff_t)take_below(in, 4) - 1;
        const size_t step = take_below(in, 2) ? to : 0 - from;
        a->src = (unsigned char *)((uintptr_t)a->dst + step + (uintptr_t)d);
    }
    if (way < 3 && !memory_holds(&first, a->src, from))
        a->src = a->dst;
    if (!memory_holds(&first, a->src, from) && !memory_holds(&second, a->src, from))
        a->src = memory_place(&second, from, in);
    a->dst = nulls == 0 || nulls == 1 ? NULL : a->dst;
    a->src = nulls == 0 || nulls == 2 ? NULL : a->src;
}

/* ---- The check ---- */

static struct memory *memory_of(const void *at)
{
    return memory_holds(&first, at, 0) ? &first : &second;
}

static void watch(const unsigned char *at, size_t bytes)
{
    if (at != NULL)
        memory_watch(memory_of(at), at, bytes);
}

/* Makes of the images what the call must make of the memory. */
static void do_to_images(const struct arguments *a, const struct elements *e)
{
    unsigned char *const dst = memory_image(memory_of(a->dst), a->dst);
    const unsigned char *const src = memory_image(memory_of(a->src), a->src);
    const unsigned bits = (unsigned)taper_dtype_bits(a->to);
    const size_t bytes = bytes_of(a->to, a->n), size = bits / 8;
    if (a->call == CALL_FILL) {
        unsigned char value[16];
        memcpy(value, src, bytes_of(a->to, 1));
        for (size_t i = 0; i < a->n; i++)
            if (bits < 8)
                set_element(dst, bits, i, value[0] & ((1u << bits) - 1));
            else
                memcpy(dst + i * size, value, size);
    } else if (a->to == a->from) {
        memmove(dst, src, bytes);
    } else {
        for (size_t i = 0; i < a->n; i++)
            set_element(dst, bits, i, e->out[i % PERIOD]);
        const size_t all = bytes_of(a->from, a->n);
        if (a->dst == a->src) /* what is left of the source may be anything */
            memcpy(dst + bytes, a->dst + bytes, all - bytes);
    }
    if (a->n * bits % 8 != 0)
        dst[bytes - 1] &= (unsigned char)((1u << a->n * bits % 8) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct arguments a;
    struct elements elements;
    memory_make(&first);
    memory_make(&second);
    take_settings(&in);
    take_arguments(&in, &a);
    take_places(&in, &a);
    taper_status want = want_status(&a);
    if (want == TAPER_OK && a.n > 0) {
        const size_t to = bytes_of(a.to, a.n), from = bytes_of(a.from, a.n);
        if (!memory_holds(memory_of(a.dst), a.dst, to) ||
            (a.call != CALL_FILL && !memory_holds(memory_of(a.src), a.src, from)))
            return 0; /* so much memory there is not */
    }

    const bool runs = want == TAPER_OK && a.n > 0;
    const bool converts = runs && a.call >= CALL_NARROW && a.to != a.from;
    memory_forget(&first);
    memory_forget(&second);
    watch(a.dst, runs ? bytes_of(a.to, a.n) : 0);
    watch(a.src, !runs                 ? 0
                 : a.call == CALL_FILL ? bytes_of(a.to, 1)
                                       : bytes_of(a.from, a.n));
    const uint64_t seed = take(&in, 2);
    memory_fill(&first, seed);
    memory_fill(&second, ~seed);
    if (converts) {
        take_elements(&in, &a, &elements);
        for (size_t i = 0; i < a.n; i++)
            set_element(a.src, oracle_bits(a.from), i, elements.in[i % PERIOD]);
    }
    memory_take(&first);
    memory_take(&second);

    const taper_status status = run(&a);
    if (status != want)
        finding("call %d, %d from %d, overflow %d, rounding %d, n %zu, dst %p, src %p: "
                "status %d, not %d",
                (int)a.call, (int)a.to, (int)a.from, (int)a.options.overflow,
                (int)a.options.rounding, a.n, (void *)a.dst, (void *)a.src, (int)status,
                (int)want);
    if (runs)
        do_to_images(&a, &elements);
    char what[160];
    snprintf(what, sizeof what,
             "call %d, %d from %d, overflow %d, rounding %d, n %zu, src %s",
             (int)a.call, (int)a.to, (int)a.from, (int)a.options.overflow,
             (int)a.options.rounding, a.n, a.src == a.dst ? "in place" : "apart");
    memory_check(&first, what, a.dst);
    memory_check(&second, what, a.src);
    return 0;
}
