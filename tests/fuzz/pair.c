/* pair.c - see pair.h. */
#include "pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Memory for one input ---- */

static void *pieces[64];
static size_t piece_count;

void *scratch(size_t bytes)
{
    void *const piece = malloc(bytes == 0 ? 1 : bytes);
    if (piece == NULL || piece_count == sizeof pieces / sizeof *pieces)
        abort();
    return pieces[piece_count++] = piece;
}

void scratch_free(void)
{
    while (piece_count > 0)
        free(pieces[--piece_count]);
}

/* ---- Shapes and strides ---- */

static int64_t take_dimension(struct input *in)
{
    const unsigned way = take_below(in, 256);
    return way < 160   ? way % 8
           : way < 230 ? way % 67
           : way < 248 ? (int64_t)take(in, 2) % 6000
                       : take_number(in);
}

/* At most as many as the memory of a shape is made for. */
static int32_t take_rank(struct input *in)
{
    const unsigned way = take_below(in, 128);
    return way < 120 ? (int32_t)way % 7
           : way < 124
               ? (int32_t)take_below(in, 72)
               : (int32_t)-take_below(in, 128) - (way == 127 ? INT32_MAX - 127 : 0);
}

void take_shape(struct input *in, taper_tensor *t)
{
    const unsigned way = take_below(in, 64);
    t->rank = take_rank(in);
    t->shape = NULL;
    t->strides = NULL;
    if (t->rank <= 0 ? way < 32 : way == 0)
        return;
    const size_t rank = t->rank < 0 ? 0 : (size_t)t->rank;
    int64_t *const shape = scratch(rank * sizeof *shape);
    for (size_t k = 0; k < rank; k++) /* long ones are mostly of 1 */
        shape[k] = rank > 8 && k % 8 != way % 8 ? 1 : take_dimension(in);
    t->shape = shape;
}

/* Strides in some order of dimensions that no two indices of a destination meet with,
 * with gaps. */
static void nested_strides(struct input *in, const taper_tensor *t, int64_t *strides)
{
    const int rank = t->rank;
    const unsigned turn = take_below(in, 16);
    uint64_t next = 1;
    for (int i = rank - 1; i >= 0; i--) {
        const int k = turn < 6    ? i
                      : turn < 9  ? rank - 1 - i
                      : turn < 15 ? (int)((unsigned)i + turn) % rank
                                  : i ^ (i ^ 1 ? (i ^ 1) < rank : 0);
        const unsigned gaps = take_below(in, 32);
        const uint64_t stride = next * (gaps >= 28 ? gaps - 26 : 1);
        strides[k] = (int64_t)(gaps & 1 ? 0 - stride : stride);
        next = stride * (uint64_t)(t->shape[k] == 0 ? 1 : t->shape[k]) +
               (gaps >= 20 && gaps < 28 ? gaps - 20 : 0);
    }
}

static void row_major_strides(const taper_tensor *t, int64_t *strides)
{
    uint64_t next = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        strides[k] = (int64_t)next;
        next *= (uint64_t)(t->shape[k] == 0 ? 1 : t->shape[k]);
    }
}

void take_strides(struct input *in, taper_tensor *t, const int64_t *near)
{
    const unsigned way = take_below(in, 16);
    t->strides = NULL;
    if (t->rank <= 0 || t->shape == NULL || way < 3)
        return;
    const size_t rank = (size_t)t->rank;
    int64_t *const strides = scratch(rank * sizeof *strides);
    t->strides = strides;
    if (way < 8)
        nested_strides(in, t, strides);
    else if (way < 10 && near != NULL)
        memcpy(strides, near, rank * sizeof *strides);
    else if (way < 13)
        row_major_strides(t, strides);
    else
        for (size_t k = 0; k < rank; k++)
            strides[k] = take_number(in);
    for (unsigned changes = take_below(in, 8); changes > 5; changes--) {
        int64_t *const one = &strides[take_below(in, 256) % rank];
        *one = take_below(in, 4) == 0 ? 0 : take_number(in);
    }
}

/* ---- What a call must do ---- */

taper_status want_tensor(const taper_tensor *t, size_t *n)
{
    size_t product = 1;
    bool empty = false, large = false;
    if (t->rank > 0 && t->shape == NULL)
        return TAPER_NULL;
    if (!is_dtype(t->type))
        return TAPER_BAD_DTYPE;
    if (t->type == TAPER_STRING)
        return TAPER_UNSUPPORTED;
    if (t->rank < 0)
        return TAPER_BAD_SHAPE;
    for (int k = 0; k < t->rank; k++)
        if (t->shape[k] < 0)
            return TAPER_BAD_SHAPE;
    for (int k = 0; k < t->rank; k++) {
        empty |= t->shape[k] == 0;
        large |= __builtin_mul_overflow(product, (size_t)t->shape[k], &product) ||
                 product > PTRDIFF_MAX;
    }
    *n = empty ? 0 : product;
    const size_t bits = taper_dtype_bits(t->type);
    large |= bits > 8 && product > PTRDIFF_MAX / (bits / 8);
    return large && !empty ? TAPER_TOO_LARGE : TAPER_OK;
}

bool same_shape(const taper_tensor *a, const taper_tensor *b)
{
    return a->rank == b->rank &&
           (a->rank <= 0 ||
            memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

/* The bytes from the lowest element to the highest, and how far that is from data; none
 * if there is no memory for them, or they are too many to be looked at. */
static size_t reach(const taper_tensor *t, ptrdiff_t *lowest_byte)
{
    const int64_t bits = (int64_t)taper_dtype_bits(t->type);
    size_t n;
    int64_t lowest, highest;
    *lowest_byte = 0;
    if (want_tensor(t, &n) != TAPER_OK || n == 0 || n > MOST_ELEMENTS ||
        (!is_row_major(t) && (bits < 8 || !span_fits(t))))
        return 0;
    bounds(t, &lowest, &highest);
    if (highest - lowest > MEMORY ||
        ((highest - lowest + 1) * bits + 7) / 8 > MEMORY - 64)
        return 0;
    *lowest_byte = (ptrdiff_t)(lowest * bits / 8);
    return (size_t)((highest - lowest + 1) * bits + 7) / 8;
}

static bool lies_in(const taper_tensor *t, const struct memory *m)
{
    ptrdiff_t lowest;
    const size_t bytes = reach(t, &lowest);
    const uintptr_t at = (uintptr_t)t->data + (uintptr_t)lowest;
    return bytes > 0 && memory_holds(m, (const void *)at, bytes);
}

static bool surely_bad(const taper_tensor *t, bool destination)
{
    if (is_row_major(t))
        return false;
    bool meets = false;
    for (int k = 0; k < t->rank; k++)
        meets |= t->strides[k] == 0 && t->shape[k] > 1;
    return taper_dtype_bits(t->type) < 8 || !span_fits(t) || (destination && meets);
}

int want_pair(const struct pair *p)
{
    size_t n = 0;
    taper_status status = want_tensor(&p->dst, &n);
    if (status == TAPER_OK && p->op != FILL)
        status = want_tensor(&p->src, &n);
    if (status != TAPER_OK)
        return status;
    if (p->op == COPY && p->dst.type != p->src.type)
        return TAPER_TYPE_MISMATCH;
    if (p->op == CAST &&
        (oracle_bits(p->dst.type) == 0 || oracle_bits(p->src.type) == 0))
        return TAPER_UNSUPPORTED;
    if (p->op != FILL && !same_shape(&p->dst, &p->src))
        return TAPER_SHAPE_MISMATCH;
    if (p->op == CAST && p->has_options &&
        ((unsigned)p->options.overflow > TAPER_NO_SATURATE ||
         (unsigned)p->options.rounding > TAPER_ROUND_NEAREST))
        return TAPER_BAD_OPTION;
    if (n == 0)
        return TAPER_OK;
    if (p->dst.data == NULL || p->src.data == NULL)
        return TAPER_NULL;
    if (surely_bad(&p->dst, true))
        return TAPER_BAD_STRIDE;
    if (n > MOST_ELEMENTS)
        return NOT_CALLED;
    status = naive_status(p->op, &p->dst, &p->src);
    if (status == TAPER_OK && !(lies_in(&p->dst, p->dst_memory) &&
                                (p->op == FILL || lies_in(&p->src, p->src_memory))))
        return NOT_CALLED;
    return status;
}

/* ---- What a call may refuse ---- */

/* tensor.h lets contrived strides be refused. What taper does then is a search for
 * numbers x, each from 0 to `most`, whose sum of factor * x is some target: it tries
 * the largest factor first, and of its numbers those alone that leave something the
 * others can make up. It gives up after 2^16 steps: where it cannot take as many, it
 * may not. */
struct terms {
    int count;
    struct {
        uint64_t factor, most;
    } term[32]; /* MOST_ELEMENTS have 14 dimensions above 1, and there are two tensors
                 */
};

/* Factors fall; terms of one factor are one. */
static void add_term(struct terms *terms, uint64_t factor, uint64_t most)
{
    int k = terms->count;
    if (factor == 0 || most == 0)
        return;
    while (k > 0 && terms->term[k - 1].factor < factor)
        k--;
    if (k > 0 && terms->term[k - 1].factor == factor) {
        terms->term[k - 1].most += most;
        return;
    }
    memmove(&terms->term[k + 1], &terms->term[k],
            (size_t)(terms->count++ - k) * sizeof *terms->term);
    terms->term[k].factor = factor;
    terms->term[k].most = most;
}

/* Returns the bytes of an element. A packed tensor is the bytes it is made of. */
static uint64_t add_tensor(struct terms *terms, const taper_tensor *t)
{
    const size_t bits = taper_dtype_bits(t->type);
    int64_t next = 1;
    if (bits < 8) {
        add_term(terms, 1, bytes_of(t->type, count(t)) - 1);
        return 1;
    }
    for (int k = t->rank - 1; k >= 0; k--) {
        const int64_t stride = t->strides == NULL ? next : t->strides[k];
        if (t->shape[k] > 1)
            add_term(terms, (uint64_t)(stride < 0 ? -stride : stride) * (bits / 8),
                     (uint64_t)t->shape[k] - 1);
        next *= t->shape[k];
    }
    return bits / 8;
}

static bool is_long_search(const struct terms *terms)
{
    uint64_t steps = 0, rest = 0; /* what smaller factors take and give at most */
    for (int k = terms->count - 1; k >= 0 && steps <= 1 << 16; k--) {
        const uint64_t factor = terms->term[k].factor, most = terms->term[k].most;
        const uint64_t branches = rest / factor < most ? rest / factor : most;
        steps = 1 + (1 + branches) * steps;
        rest += factor * most;
    }
    return steps > 1 << 16;
}

/* Whether it can take long to tell that no indices meet: there is a search for each
 * stride that is not above the span of those below it. */
static bool may_seem_to_meet(const taper_tensor *dst)
{
    struct terms all = {0};
    uint64_t below = 0;
    bool may = false;
    add_tensor(&all, dst);
    for (int k = all.count - 1; k >= 0; k--) {
        const uint64_t factor = all.term[k].factor, most = all.term[k].most;
        struct terms terms = {0};
        add_term(&terms, factor, most - 1);
        for (int i = k + 1; i < all.count; i++)
            add_term(&terms, all.term[i].factor, 2 * all.term[i].most);
        may |= factor <= below && is_long_search(&terms);
        below += factor * most;
    }
    return may;
}

/* Whether it can take long to tell that no elements overlap: there is a search if the
 * ranges of bytes meet, of two tensors that are not both row-major. Those with the same
 * data are the same, or overlap in the first element. */
static bool may_seem_to_overlap(const taper_tensor *dst, const taper_tensor *src)
{
    struct terms terms = {0};
    ptrdiff_t to, from;
    const size_t dst_bytes = reach(dst, &to), src_bytes = reach(src, &from);
    const uintptr_t gap =
        (uintptr_t)dst->data + (uintptr_t)to - ((uintptr_t)src->data + (uintptr_t)from);
    if ((is_row_major(dst) && is_row_major(src)) || dst->data == src->data ||
        (gap >= src_bytes && 0 - gap >= dst_bytes))
        return false;
    const uint64_t sizes = add_tensor(&terms, dst) + add_tensor(&terms, src);
    add_term(&terms, 1, sizes - 2);
    return is_long_search(&terms);
}

/* ---- Pairs ---- */

static struct memory memories[PLACES][2];

static void take_place(struct input *in, taper_tensor *t, const struct memory *m,
                       const void *near)
{
    ptrdiff_t lowest;
    const size_t bytes = reach(t, &lowest);
    unsigned char *at = memory_place(m, bytes, in);
    if (near != NULL) { /* relative to the data of another one */
        const unsigned way = take_below(in, 4);
        const ptrdiff_t d = way == 0 ? 0 : (int16_t)take(in, way == 1 ? 2 : 1) - 64;
        unsigned char *const close =
            (unsigned char *)((uintptr_t)near + (uintptr_t)d + (uintptr_t)lowest);
        if (memory_holds(m, close, bytes))
            at = close;
    }
    t->data = (void *)((uintptr_t)at - (uintptr_t)lowest);
}

void take_pair(struct input *in, struct pair *p, enum op op, taper_dtype to,
               taper_dtype from, int place)
{
    const unsigned nulls = take_below(in, 64), together = take_below(in, 2);
    *p = (struct pair){.op = op, .dst.type = to};
    p->src.type = op == FILL ? to : from;
    memory_make(&memories[place][0]);
    memory_make(&memories[place][1]);
    p->dst_memory = &memories[place][0];
    p->src_memory = together ? p->dst_memory : &memories[place][1];

    take_shape(in, &p->dst);
    if (op != FILL) {
        p->src.rank = p->dst.rank;
        p->src.shape = p->dst.shape;
    }
    if (op != FILL && nulls > 58)
        take_shape(in, &p->src);
    take_strides(in, &p->dst, NULL);
    take_place(in, &p->dst, p->dst_memory, NULL);
    if (op == FILL) {
        take_place(in, &p->src, p->src_memory, together ? p->dst.data : NULL);
    } else {
        const bool alike = p->dst.shape != NULL && p->src.shape != NULL &&
                           same_shape(&p->dst, &p->src);
        take_strides(in, &p->src, alike ? p->dst.strides : NULL);
        take_place(in, &p->src, p->src_memory,
                   p->src_memory == p->dst_memory ? p->dst.data : NULL);
    }
    if (op == CAST)
        p->has_options = take_options(in, &p->options);
    p->dst.data = nulls == 0 || nulls == 1 ? NULL : p->dst.data;
    p->src.data = nulls == 0 || nulls == 2 ? NULL : p->src.data;
}

static void watch(struct memory *m, const taper_tensor *t)
{
    ptrdiff_t lowest;
    const size_t bytes = reach(t, &lowest);
    const unsigned char *const at =
        (const unsigned char *)((uintptr_t)t->data + (uintptr_t)lowest);
    if (t->data != NULL && memory_holds(m, at, bytes))
        memory_watch(m, at, bytes);
}

void pair_start(struct pair *p, struct input *in)
{
    uint64_t seed = take(in, 2);
    size_t n;
    memory_forget(p->dst_memory);
    memory_forget(p->src_memory);
    watch(p->dst_memory, &p->dst);
    watch(p->src_memory, &p->src);
    memory_fill(p->dst_memory, seed);
    if (p->src_memory != p->dst_memory)
        memory_fill(p->src_memory, ~seed);

    const unsigned bits = oracle_bits(p->src.type);
    if (p->op == CAST && bits != 0 && want_tensor(&p->src, &n) == TAPER_OK && n > 0 &&
        p->src.data != NULL && lies_in(&p->src, p->src_memory))
        for (size_t i = 0; i < n; i++) { /* numbers that are worth casting */
            const int64_t at = place_of(&p->src, i);
            unsigned char *const from = p->src.data;
            set_element(bits < 8 ? from : from + at * (bits / 8), bits,
                        bits < 8 ? (size_t)at : 0, random_element(p->src.type, &seed));
        }
    memory_take(p->dst_memory);
    memory_take(p->src_memory);
}

static void describe(char *text, size_t size, const taper_tensor *t)
{
    int used = snprintf(text, size, "type %d rank %d (", (int)t->type, t->rank);
    for (int k = 0; k < t->rank && t->shape != NULL && (size_t)used < size; k++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRId64,
                         k == 0 ? "" : " ", t->shape[k]);
    for (int k = 0; k < t->rank && t->strides != NULL && (size_t)used < size; k++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRId64,
                         k == 0 ? ") strides (" : " ", t->strides[k]);
    if ((size_t)used < size)
        snprintf(text + used, size - (size_t)used, ") at %p", t->data);
}

/* Makes of the images what the call must make of the memory. */
static void do_to_images(const struct pair *p)
{
    const taper_tensor *const dst = &p->dst, *const src = &p->src;
    unsigned char *const to = memory_image(p->dst_memory, dst->data);
    const unsigned char *from = memory_image(p->src_memory, src->data);
    unsigned char value[16];
    if (p->op == FILL)
        from = memcpy(value, from, bytes_of(dst->type, 1));
    do_naively(p->op, dst, src, p->has_options ? p->options : (taper_cast_options){0},
               to, from);
    if (p->op == CAST && dst->data == src->data && dst->type != src->type) {
        /* What is left of the source may be anything. */
        const size_t n = count(dst);
        const size_t bytes = bytes_of(dst->type, n);
        memcpy(to + bytes, (const unsigned char *)dst->data + bytes,
               bytes_of(src->type, n) - bytes);
    }
}

bool pair_allows(const struct pair *p, int want, taper_status status)
{
    if ((int)status == want)
        return true;
    if ((want != TAPER_OK && want != TAPER_OVERLAP) || count(&p->dst) == 0)
        return false;
    return status == TAPER_BAD_STRIDE ? may_seem_to_meet(&p->dst)
                                      : status == TAPER_OVERLAP && p->op != FILL &&
                                            may_seem_to_overlap(&p->dst, &p->src);
}

static void describe_pair(const struct pair *p, char *text, size_t size)
{
    static const char *const ops[] = {"fill", "copy", "cast"};
    char dst[900], src[900];
    describe(dst, sizeof dst, &p->dst);
    describe(src, sizeof src, &p->src);
    snprintf(text, size, "%s of %s from %s, overflow %d, rounding %d", ops[p->op], dst,
             src, (int)p->options.overflow, (int)p->options.rounding);
}

void pair_compare(const struct pair *p, bool done)
{
    char what[2000];
    size_t n = 0;
    if (done && want_tensor(&p->dst, &n) == TAPER_OK && n > 0)
        do_to_images(p);
    describe_pair(p, what, sizeof what);
    memory_check(p->dst_memory, what, p->dst.data);
    if (p->src_memory != p->dst_memory)
        memory_check(p->src_memory, what, p->src.data);
}

void pair_check(const struct pair *p, int want, taper_status status)
{
    char what[2000];
    if (!pair_allows(p, want, status)) {
        describe_pair(p, what, sizeof what);
        finding("%s: status %d, not %d", what, (int)status, want);
    }
    pair_compare(p, status == TAPER_OK);
}
