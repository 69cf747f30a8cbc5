/* test_tensor_property.c - random tensors against a reference that visits one element
 * after the other, with every instruction set and number of threads.
 *
 *     test_tensor_property [cases [seed]]
 *
 * Below 100000 cases the tests that are not random are cut down, too. A case that fails
 * is printed with what it takes to run it again. */
#include "naive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_RANK = 8, CANARY = 0xa5, MARGIN = 64 };

static uint64_t cases = 1000000, first_seed = 1;

static bool cut_down(void)
{
    return cases < 100000;
}

/* ---- Random numbers ---- */

static uint64_t seed;

static int64_t below(int64_t n)
{
    return (int64_t)(next_random(&seed) % (uint64_t)n);
}

static bool one_in(int64_t n)
{
    return below(n) == 0;
}

/* ---- Instruction sets ---- */

static const char *isas[8];
static size_t isa_count;

static void list_isas(void)
{
    while (isa_count < 8 && (isas[isa_count] = taper_isa_name(isa_count)) != NULL)
        isa_count++;
}

/* ---- Cases ---- */

/* A tensor with room for its shape and strides. */
struct view {
    taper_tensor tensor;
    int64_t shape[MAX_RANK], strides[MAX_RANK];
};

struct test_case {
    uint64_t seed;
    enum op op;
    const char *isa;
    int threads;
    size_t parallel, stream; /* thresholds */
    taper_cast_options options;
    struct view dst, src;
    unsigned char value[16];
};

/* What the call must do, from data `src` to data `dst`, which stand for those of the
 * tensors. */
static void do_case_naively(const struct test_case *c, unsigned char *dst,
                            const unsigned char *src)
{
    do_naively(c->op, &c->dst.tensor, &c->src.tensor, c->options, dst,
               c->op == FILL ? c->value : src);
}

/* ---- Running a case ---- */

static void use_settings(const struct test_case *c)
{
    if (strcmp(taper_isa(), c->isa) != 0)
        assert_int_equal(taper_use_isa(c->isa), TAPER_OK);
    assert_int_equal(taper_set_max_threads(c->threads), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, c->parallel),
                     TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_BYTES, c->stream),
                     TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_FILL_BYTES, c->stream),
                     TAPER_OK);
}

static taper_status call(const struct test_case *c)
{
    const taper_tensor *const dst = &c->dst.tensor, *const src = &c->src.tensor;
    use_settings(c);
    return c->op == FILL   ? taper_tensor_fill(dst, c->value)
           : c->op == COPY ? taper_tensor_copy(dst, src)
                           : taper_tensor_cast(dst, src, &c->options);
}

static void print_numbers(const char *name, int count_of, const int64_t *numbers)
{
    fprintf(stderr, ", %s", name);
    if (numbers == NULL)
        fprintf(stderr, " NULL");
    else
        for (int k = 0; k < count_of; k++)
            fprintf(stderr, "%s%" PRId64, k == 0 ? " {" : ", ", numbers[k]);
    fprintf(stderr, numbers == NULL ? "" : count_of == 0 ? " {}" : "}");
}

static void print_view(const char *name, const struct view *v)
{
    const taper_tensor *const t = &v->tensor;
    fprintf(stderr, "  %s: %s, data %p", name, taper_dtype_name(t->type), t->data);
    print_numbers("shape", t->rank, t->shape);
    print_numbers("strides", t->rank, t->strides);
    fprintf(stderr, "\n");
}

static void fail_case(const struct test_case *c, const char *what, int64_t at)
{
    static const char *const ops[] = {"fill", "copy", "cast"};
    fprintf(stderr, "%s (%" PRId64 "): %s, %s, %d threads, thresholds %zu and %zu",
            what, at, ops[c->op], c->isa, c->threads, c->parallel, c->stream);
    fprintf(stderr, ", overflow %d, rounding %d\n", (int)c->options.overflow,
            (int)c->options.rounding);
    print_view("dst", &c->dst);
    if (c->op != FILL)
        print_view("src", &c->src);
    if (c->seed != 0)
        fprintf(stderr, "  alone: test_tensor_property 1 %" PRIu64 "\n", c->seed);
    else
        fprintf(stderr, "  again: test_tensor_property %" PRIu64 " %" PRIu64 "\n",
                cases, first_seed);
    fail();
}

/* Two places for tensors, and an image of what the first must become. */
struct memory {
    struct guarded dst, src;
    unsigned char *image;
};

static struct memory small, large;
enum { SMALL_BYTES = 64 << 10, LARGE_BYTES = 24 << 20 };

static void make_memory(struct memory *m, size_t bytes)
{
    m->dst = guarded_new(bytes);
    m->src = guarded_new(bytes);
    m->image = malloc(bytes);
    assert_non_null(m->image);
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t random = next_random(&seed);
        memcpy(m->src.begin + i, &random, 8);
    }
}

/* The bytes of `m->dst` that can differ after the call from before, and a margin. */
static void window_of(const struct memory *m, const taper_tensor *t, size_t *begin,
                      size_t *end)
{
    const int64_t bits = (int64_t)taper_dtype_bits(t->type);
    const int64_t data = (unsigned char *)t->data - m->dst.begin;
    const int64_t all = m->dst.end - m->dst.begin;
    int64_t lowest, highest;
    bounds(t, &lowest, &highest);
    const int64_t first = data + lowest * bits / 8 - MARGIN;
    const int64_t last = data + ((highest + 1) * bits + 7) / 8 + MARGIN;
    *begin = first < 0 ? 0 : (size_t)first;
    *end = (size_t)(last > all ? all : last);
}

/* Sets the image to what the call must make of `m->dst`. */
static void make_image(const struct test_case *c, const struct memory *m)
{
    const taper_tensor *const dst = &c->dst.tensor;
    size_t begin, end;
    window_of(m, dst, &begin, &end);
    memset(m->image + begin, CANARY, end - begin);
    do_case_naively(c, m->image + ((unsigned char *)dst->data - m->dst.begin),
                    c->src.tensor.data);
}

static void check_case(const struct test_case *c, const struct memory *m)
{
    size_t begin, end;
    window_of(m, &c->dst.tensor, &begin, &end);
    memset(m->dst.begin + begin, CANARY, end - begin);
    const taper_status status = call(c);
    if (status != TAPER_OK)
        fail_case(c, "refused", status);
    if (memcmp(m->dst.begin + begin, m->image + begin, end - begin) == 0)
        return;
    for (size_t i = begin;; i++)
        if (m->dst.begin[i] != m->image[i])
            fail_case(c, "wrong byte, from data on",
                      m->dst.begin + i - (unsigned char *)c->dst.tensor.data);
}

/* ---- Random tensors ---- */

/* To choose one takes as long as many cases, so that neighbours share one. */
enum { CASES_PER_ISA = 64 };

static void random_settings(struct test_case *c)
{
    static const size_t thresholds[] = {0, 1, 1, SIZE_MAX};
    c->isa = isas[c->seed / CASES_PER_ISA % isa_count];
    c->threads = 1 + (int)below(4);
    c->parallel = thresholds[below(4)];
    c->stream = thresholds[below(4)];
    c->options.overflow = (taper_overflow)below(2);
    c->options.rounding = (taper_rounding)below(3);
    for (size_t i = 0; i < sizeof c->value; i++)
        c->value[i] = (unsigned char)below(256);
}

static taper_dtype random_type(void)
{
    for (;;) {
        const taper_dtype type = (taper_dtype)(1 + below(TAPER_I2));
        if (taper_dtype_bits(type) != 0)
            return type;
    }
}

/* Sets the operation and the types. */
static void random_op(struct test_case *c)
{
    taper_tensor *const dst = &c->dst.tensor, *const src = &c->src.tensor;
    c->op = (enum op)below(3);
    dst->type = src->type = random_type();
    if (c->op == CAST) {
        dst->type = cast_types[below(CAST_TYPES)];
        src->type = cast_types[below(CAST_TYPES)];
    }
}

/* Gives both tensors one shape of `most` elements or fewer. */
static void random_shape(struct test_case *c, int64_t most, int64_t max_rank)
{
    const int rank = (int)below(max_rank + 1);
    const int64_t start = rank == 0 ? 0 : below(rank);
    int64_t product = 1;
    for (int i = 0; i < rank; i++) {
        const int64_t pick = below(200);
        int64_t n = pick < 1     ? 0
                    : pick < 40  ? 1
                    : pick < 120 ? 2 + below(3)
                    : pick < 170 ? 5 + below(16)
                                 : 21 + below(110);
        if (product * n > most)
            n = most / product;
        product *= n == 0 ? 1 : n;
        c->dst.shape[(start + i) % rank] = n;
    }
    memcpy(c->src.shape, c->dst.shape, sizeof c->src.shape);
    c->dst.tensor.rank = c->src.tensor.rank = rank;
    c->dst.tensor.shape = rank == 0 && one_in(2) ? NULL : c->dst.shape;
    c->src.tensor.shape = c->src.shape;
}

/* The order of dimensions in memory, outermost first. */
static void random_order(int *order, int rank)
{
    const int64_t way = below(4);
    for (int k = 0; k < rank; k++)
        order[k] = way == 1 ? rank - 1 - k : k;
    for (int i = rank - 1; i > 0 && way >= 2; i--) {
        const int j = way == 2 ? 0 : (int)below(i + 1); /* rotated, or any order */
        const int k = order[i];
        order[i] = order[j];
        order[j] = k;
    }
}

/* No two indices mean the same element. If not `plain`, with steps, gaps and reversed
 * dimensions. */
static void nested_strides(struct view *v, const int *order, bool plain)
{
    int64_t next = 1;
    for (int i = v->tensor.rank - 1; i >= 0; i--) {
        const int k = order[i];
        const int64_t n = v->shape[k] == 0 ? 1 : v->shape[k];
        const int64_t stride = plain || !one_in(4) ? next : next * (1 + below(3));
        v->strides[k] = !plain && one_in(5) ? -stride : stride;
        next = stride * n + (plain || !one_in(4) ? 0 : below(4));
    }
}

static void row_major_strides(struct view *v)
{
    int64_t next = 1;
    for (int k = v->tensor.rank - 1; k >= 0; k--) {
        v->strides[k] = next;
        next *= v->shape[k] == 0 ? 1 : v->shape[k];
    }
}

static void any_strides(struct view *v, int64_t most)
{
    for (int k = 0; k < v->tensor.rank; k++)
        v->strides[k] = below(2 * most + 1) - most;
}

/* What is left to choose when the strides that matter are there: those that do not, and
 * to have none. */
static void finish_strides(struct view *v)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MIN + 1, 77};
    for (int k = 0; k < v->tensor.rank; k++)
        if (v->shape[k] <= 1 && one_in(2))
            v->strides[k] = odd[below(6)];
    v->tensor.strides = v->strides;
    if (is_row_major(&v->tensor) && one_in(2))
        v->tensor.strides = NULL;
}

static void random_strides(struct view *v, const int *order, bool source, bool plain)
{
    if (taper_dtype_bits(v->tensor.type) < 8 || one_in(4)) {
        row_major_strides(v);
    } else {
        nested_strides(v, order, plain);
        if (source && one_in(4))
            for (int k = 0; k < v->tensor.rank; k++)
                v->strides[k] = one_in(2) ? 0 : v->strides[k];
        else if (source && one_in(8))
            any_strides(v, 9);
    }
    finish_strides(v);
}

/* Puts `t` at one of the ends of `memory`, or near; false if it is too large. */
static bool put(taper_tensor *t, const struct guarded *memory)
{
    const int64_t bits = (int64_t)taper_dtype_bits(t->type);
    const int64_t offset = one_in(2) ? 0 : below(64);
    int64_t lowest, highest;
    if (count(t) == 0) {
        t->data = one_in(2) ? NULL : wild_pointer();
        return true;
    }
    bounds(t, &lowest, &highest);
    const int64_t bytes = ((highest - lowest + 1) * bits + 7) / 8;
    if (bytes + 64 > memory->end - memory->begin)
        return false;
    unsigned char *const first =
        one_in(2) ? memory->begin + offset : memory->end - offset - bytes;
    t->data = first - lowest * bits / 8;
    return true;
}

/* Numbers that are worth casting. */
static void random_elements(const taper_tensor *t)
{
    const unsigned bits = (unsigned)taper_dtype_bits(t->type);
    const size_t n = count(t);
    for (size_t i = 0; i < n; i++) {
        const int64_t at = place_of(t, i);
        unsigned char *const data = t->data;
        set_element(bits < 8 ? data : data + at * (int64_t)(bits / 8), bits,
                    bits < 8 ? (size_t)at : 0, random_element(t->type, &seed));
    }
}

static void check_apart(struct test_case *c, const struct memory *m, int64_t most)
{
    int dst_order[MAX_RANK], src_order[MAX_RANK];
    random_shape(c, most, MAX_RANK);
    random_order(dst_order, c->dst.tensor.rank);
    random_order(src_order, c->dst.tensor.rank);
    const int *const order = one_in(3) ? dst_order : src_order;
    random_strides(&c->dst, dst_order, false, false);
    while (!put(&c->dst.tensor, &m->dst))
        random_strides(&c->dst, dst_order, false, true);
    random_strides(&c->src, order, true, false);
    while (!put(&c->src.tensor, &m->src))
        random_strides(&c->src, order, true, true);

    if (count(&c->dst.tensor) == 0) {
        const taper_status status = call(c);
        if (status != TAPER_OK)
            fail_case(c, "refused though empty", status);
        return;
    }
    if (c->op == CAST) /* also, what is left of other cases must not matter */
        random_elements(&c->src.tensor);
    make_image(c, m);
    check_case(c, m);
}

/* ---- Views into one array ---- */

enum { ARENA = 64 << 10 };
static unsigned char arena[ARENA], arena_before[ARENA], arena_want[ARENA];

static uint64_t accepted, refused, too_hard;

/* Sets strides and place of a view into the first `bytes` bytes; false if it is too
 * large for them. `near` is another view of the same shape, or NULL. */
static bool random_place(struct view *v, const struct view *near, int64_t bytes)
{
    const int64_t bits = (int64_t)taper_dtype_bits(v->tensor.type);
    const int64_t way = below(near == NULL ? 2 : 4);
    int order[MAX_RANK];
    if (bits < 8 && !one_in(8)) {
        row_major_strides(v);
    } else if (way == 0) {
        random_order(order, v->tensor.rank);
        nested_strides(v, order, false);
    } else if (way == 1) {
        any_strides(v, bytes < 2000 ? 12 : 400);
    } else {
        memcpy(v->strides, near->strides, sizeof v->strides);
        if (way == 3 && v->tensor.rank > 0)
            v->strides[below(v->tensor.rank)] += below(5) - 2;
    }
    v->tensor.strides = v->strides;
    if (is_row_major(&v->tensor) && one_in(2))
        v->tensor.strides = NULL;

    int64_t lowest, highest;
    bounds(&v->tensor, &lowest, &highest);
    const int64_t least = -(lowest * bits / 8);
    const int64_t most = bytes - ((highest + 1) * bits + 7) / 8;
    if (least > most)
        return false;
    int64_t at = least + below(most - least + 1);
    if (near != NULL && !one_in(4)) {
        const int64_t close =
            (unsigned char *)near->tensor.data - arena + below(41) - 20;
        at = one_in(5) ? (unsigned char *)near->tensor.data - arena : close;
        at = at < least ? least : at > most ? most : at;
    }
    v->tensor.data = arena + at;
    return true;
}

static void check_together(struct test_case *c, bool many)
{
    const int64_t bytes = many ? ARENA : 1024;
    do
        random_shape(c, many ? 1500 : 48, many ? MAX_RANK : 5);
    while (count(&c->dst.tensor) == 0);
    while (!random_place(&c->dst, NULL, bytes))
        continue;
    while (!random_place(&c->src, &c->dst, bytes))
        continue;
    for (int64_t i = 0; i < bytes; i += 8) {
        const uint64_t random = next_random(&seed);
        memcpy(arena + i, &random, 8);
    }
    memcpy(arena_before, arena, (size_t)bytes);
    memcpy(arena_want, arena, (size_t)bytes);
    const taper_status want = naive_status(c->op, &c->dst.tensor, &c->src.tensor);
    if (want == TAPER_OK)
        do_case_naively(c, arena_want + ((unsigned char *)c->dst.tensor.data - arena),
                        arena_before + ((unsigned char *)c->src.tensor.data - arena));
    const taper_status status = call(c);
    if (many && want == TAPER_OK &&
        (status == TAPER_OVERLAP || status == TAPER_BAD_STRIDE)) {
        too_hard++; /* the header says that this can be */
        memcpy(arena_want, arena_before, (size_t)bytes);
    } else if (status != want) {
        fail_case(c, "wrong status", status);
    } else {
        *(status == TAPER_OK ? &accepted : &refused) += 1;
    }
    if (memcmp(arena, arena_want, (size_t)bytes) == 0)
        return;
    for (int64_t i = 0;; i++)
        if (arena[i] != arena_want[i])
            fail_case(c, status == TAPER_OK ? "wrong byte, from data on" : "written",
                      arena + i - (unsigned char *)c->dst.tensor.data);
}

static void test_random(void **state)
{
    static const int64_t most[] = {10, 80, 400, 400, 2000};
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct test_case c = {.seed = first_seed + i};
        seed = c.seed;
        random_settings(&c);
        random_op(&c);
        const int64_t kind = below(6000);
        if (kind == 0)
            check_apart(&c, &large, 300000);
        else if (kind < 3200)
            check_apart(&c, &small, most[below(5)]);
        else
            check_together(&c, kind > 5940);
    }
    print_message("views into one array: %" PRIu64 " accepted, %" PRIu64
                  " refused, %" PRIu64 " refused as too hard\n",
                  accepted, refused, too_hard);
}

/* ---- Matrices turned, of every size ---- */

static const taper_dtype widths[] = {TAPER_U8, TAPER_BF16, TAPER_F32, TAPER_I64,
                                     TAPER_C128};
enum { WIDTHS = sizeof widths / sizeof *widths };

static void check_turn(const char *isa, taper_dtype to, taper_dtype from, int64_t rows,
                       int64_t columns)
{
    struct test_case c = {.op = to == from ? COPY : CAST};
    random_settings(&c);
    c.isa = isa;
    c.dst.tensor = (taper_tensor){NULL, to, 2, c.dst.shape, c.dst.strides};
    c.src.tensor = (taper_tensor){NULL, from, 2, c.src.shape, c.src.strides};
    c.dst.shape[0] = c.src.shape[0] = rows;
    c.dst.shape[1] = c.src.shape[1] = columns;
    const int64_t gap = one_in(2) ? 0 : below(5);
    c.dst.strides[0] = columns + gap;
    c.dst.strides[1] = 1;
    c.src.strides[0] = 1;
    c.src.strides[1] = rows + (one_in(2) ? 0 : below(5));
    if (taper_dtype_bits(from) < 8) { /* then it is the destination that is turned */
        memcpy(c.dst.strides, c.src.strides, sizeof c.dst.strides);
        c.src.tensor.strides = NULL;
    }
    if (taper_dtype_bits(to) < 8)
        c.dst.tensor.strides = NULL;
    assert_true(put(&c.dst.tensor, &large.dst) && put(&c.src.tensor, &large.src));
    make_image(&c, &large);
    check_case(&c, &large);
}

static void test_turns(void **state)
{
    enum { MOST = 130 };
    const int64_t step = cut_down() ? 7 : 1;
    (void)state;
    seed = first_seed;
    for (int64_t rows = 1; rows <= MOST; rows += step)
        for (int64_t columns = 1; columns <= MOST; columns += step) {
            const taper_dtype type = widths[below(WIDTHS)];
            check_turn(isas[(size_t)rows % isa_count], type, type, rows, columns);
        }
    /* every width and instruction set, at sizes around those of blocks */
    for (size_t t = 0; t < isa_count; t++) {
        for (int w = 0; w < WIDTHS; w++)
            for (int64_t rows = 1; rows <= MOST; rows += rows < 35 ? step : 13)
                for (int64_t columns = 1; columns <= MOST;
                     columns += columns < 35 ? step : 17)
                    check_turn(isas[t], widths[w], widths[w], rows, columns);
        for (int i = 0; i < 500; i++) {
            const taper_dtype to = cast_types[below(CAST_TYPES)];
            const taper_dtype from = cast_types[below(CAST_TYPES)];
            check_turn(isas[t], to, from, 1 + below(MOST), 1 + below(MOST));
        }
    }
}

/* ---- Layouts of real tensors, large enough for several threads ---- */

/* The dimensions of memory, outermost first, of both; negative: reversed. `step` is the
 * distance of innermost elements of src. */
struct layout {
    int64_t shape[4];
    int dst[4], src[4];
    int64_t step;
};

static const struct layout layouts[] = {
    {{1, 24, 56, 50}, {0, 1, 2, 3}, {0, 1, 2, 3}, 2}, /* a slice with a step */
    {{1, 24, 56, 50}, {0, 2, 3, 1}, {0, 1, 2, 3}, 1}, /* NCHW to NHWC */
    {{1, 24, 56, 50}, {0, 1, 2, 3}, {0, 2, 3, 1}, 1}, /* NHWC to NCHW */
    {{1, 3, 150, 151}, {0, 2, 3, 1}, {0, 1, 2, 3}, 1},
    {{1, 3, 150, 151}, {0, 1, 2, 3}, {0, 2, 3, 1}, 1},
    {{1, 1, 251, 271}, {0, 1, 2, 3}, {0, 1, 3, 2}, 1}, /* a matrix */
    {{1, 1, 2, 33333}, {0, 1, 2, 3}, {0, 1, 3, 2}, 1}, /* a long and thin one */
    {{1, 1, 33333, 2}, {0, 1, 2, 3}, {0, 1, 3, 2}, 1},
    {{1, 8, 64, 128}, {0, 1, 2, 3}, {2, 0, 1, 3}, 1}, /* heads of attention */
    {{1, 8, 64, 128}, {3, 2, 1, 0}, {1, 3, 0, 2}, 1},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void set_strides(struct view *v, const int *order, int64_t step)
{
    for (int i = 3; i >= 0; i--) {
        v->strides[order[i]] = step;
        step *= v->shape[order[i]];
    }
}

/* With every instruction set, by 1 to 4 threads, as much as 4 threads are used for. */
static void check_layout(const struct layout *l, enum op op, taper_dtype to,
                         taper_dtype from)
{
    enum { TRAFFIC = 5 << 19 };
    struct test_case c = {.op = op};
    random_settings(&c);
    c.dst.tensor = (taper_tensor){NULL, to, 4, c.dst.shape, c.dst.strides};
    c.src.tensor = (taper_tensor){NULL, from, 4, c.src.shape, c.src.strides};
    memcpy(c.dst.shape, l->shape, sizeof l->shape);
    memcpy(c.src.shape, l->shape, sizeof l->shape);
    const size_t bits =
        taper_dtype_bits(to) + (op == FILL ? 0 : taper_dtype_bits(from));
    const size_t each = count(&c.dst.tensor) * bits / 8;
    c.dst.shape[0] = c.src.shape[0] = (int64_t)(TRAFFIC / each + 1);
    set_strides(&c.dst, l->dst,
                taper_dtype_bits(to) < 8 ? 1
                : op == FILL             ? l->step
                                         : 1);
    set_strides(&c.src, l->src, l->step);
    if (taper_dtype_bits(to) < 8)
        c.dst.tensor.strides = NULL;
    if (taper_dtype_bits(from) < 8)
        c.src.tensor.strides = NULL;
    assert_true(put(&c.dst.tensor, &large.dst) && put(&c.src.tensor, &large.src));
    make_image(&c, &large);
    c.parallel = 1;
    for (size_t t = 0; t < isa_count; t++)
        for (int threads = 1; threads <= 4; threads += cut_down() ? 3 : 1) {
            c.isa = isas[t];
            c.threads = threads;
            c.stream = threads % 2 ? 1 : SIZE_MAX;
            check_case(&c, &large);
        }
}

static void test_layouts(void **state)
{
    static const taper_dtype pairs[][2] = {
        {TAPER_BF16, TAPER_F32},   {TAPER_F8E4M3FN, TAPER_F16},
        {TAPER_F4E2M1, TAPER_F32}, {TAPER_F32, TAPER_F4E2M1},
        {TAPER_F64, TAPER_BF16},
    };
    (void)state;
    seed = first_seed;
    for (int i = 0; i < LAYOUTS; i++) {
        for (int w = 0; w < WIDTHS; w++) {
            check_layout(&layouts[i], COPY, widths[w], widths[w]);
            check_layout(&layouts[i], FILL, widths[w], widths[w]);
        }
        for (int p = 2 * i; p < 2 * i + 2; p++)
            check_layout(&layouts[i], CAST, pairs[p % 5][0], pairs[p % 5][1]);
    }
}

/* -------------------------------------------------------------------------------- */

static int make_memories(void **state)
{
    (void)state;
    list_isas();
    make_memory(&small, SMALL_BYTES);
    make_memory(&large, LARGE_BYTES);
    return 0;
}

static int free_memories(void **state)
{
    (void)state;
    free(small.image);
    free(large.image);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_layouts),
    };
    if (argc > 1)
        cases = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 0);
    print_message("%" PRIu64 " random cases from seed %" PRIu64 "\n", cases,
                  first_seed);
    return cmocka_run_group_tests(tests, make_memories, free_memories);
}
