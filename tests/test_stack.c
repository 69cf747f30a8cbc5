/* test_stack.c - how deep the calling thread's stack gets below a call of each public
 * function: on a stack that was painted, the lowest byte that changed tells it. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "taper/onnx.h"

/* What is promised, in bytes. Sanitizers and builds without optimisation have frames of
 * their own, so that there only the figures are shown. */
enum { ARRAY_LIMIT = 4096, TENSOR_LIMIT = 32768 };
enum { STACK = 256 << 10, PAINTED = 64 << 10, PAINT = 0xb7 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                   \
    !defined(__OPTIMIZE__)
#define LIMITED false
#elif defined(__has_feature)
#define LIMITED                                                                        \
    (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&          \
     !__has_feature(memory_sanitizer))
#else
#define LIMITED true
#endif

/* ---- Measuring ---- */

struct call {
    enum op {
        FILL,
        COPY,
        NARROW,
        WIDEN,
        CAST,
        TENSOR_FILL,
        TENSOR_COPY,
        TENSOR_CAST,
        CONSTANT,
        IDENTITY,
        ONNX_CAST,
        OPS
    } op;
    size_t n;
    taper_tensor dst, src; /* array functions take data and type of these */
};

static const char *const names[OPS] = {
    [FILL] = "fill",
    [COPY] = "copy",
    [NARROW] = "narrow",
    [WIDEN] = "widen",
    [CAST] = "cast",
    [TENSOR_FILL] = "tensor_fill",
    [TENSOR_COPY] = "tensor_copy",
    [TENSOR_CAST] = "tensor_cast",
    [CONSTANT] = "onnx_constant_of_shape",
    [IDENTITY] = "onnx_identity",
    [ONNX_CAST] = "onnx_cast",
};

/* An instruction set that is not this machine's is made of functions by SIMDe. */
static bool is_emulated(const char *isa)
{
#if defined(__x86_64__)
    return strcmp(isa, "neon") == 0;
#else
    return strncmp(isa, "avx", 3) == 0;
#endif
}

static size_t deepest[OPS];
static unsigned calls;

static taper_status run(const struct call *c)
{
    const taper_tensor *const dst = &c->dst, *const src = &c->src;
    switch (c->op) {
    case FILL:
        return taper_fill(dst->type, dst->data, c->n, src->data);
    case COPY:
        return taper_copy(dst->type, dst->data, src->data, c->n);
    case NARROW:
        return taper_narrow(dst->type, dst->data, src->data, c->n, NULL);
    case WIDEN:
        return taper_widen(src->type, dst->data, src->data, c->n);
    case CAST:
        return taper_cast(dst->type, dst->data, src->type, src->data, c->n, NULL);
    case TENSOR_FILL:
        return taper_tensor_fill(dst, src->data);
    case TENSOR_COPY:
        return taper_tensor_copy(dst, src);
    case TENSOR_CAST:
        return taper_tensor_cast(dst, src, NULL);
    case CONSTANT: {
        const int64_t rank = dst->rank;
        const taper_tensor shape = {(void *)(uintptr_t)dst->shape, TAPER_I64, 1, &rank,
                                    NULL};
        const taper_tensor value = {src->data, dst->type, 0, NULL, NULL};
        return taper_onnx_constant_of_shape(26, dst, &shape, &value);
    }
    case IDENTITY: {
        const taper_value to = taper_value_of(dst), from = taper_value_of(src);
        return taper_onnx_identity(26, &to, &from);
    }
    default:
        return taper_onnx_cast(26, dst, src, NULL);
    }
}

struct measurement {
    const struct call *call;
    unsigned char *painted;
    taper_status status;
    size_t used;
};

static void *on_painted_stack(void *data)
{
    struct measurement *const m = data;
    unsigned char here;
    m->status = run(m->call);
    size_t untouched = 0;
    while (m->painted[untouched] == PAINT)
        untouched++;
    m->used = (size_t)((uintptr_t)&here - (uintptr_t)(m->painted + untouched));
    return NULL;
}

/* Includes the frame of run(), which stands in for the caller's, and what starting a
 * thread takes below its first frame: a hundred bytes or two. */
static void measure(const struct call *c)
{
    static unsigned char *stack;
    pthread_attr_t attributes;
    pthread_t thread;
    if (stack == NULL)
        stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    assert_true(stack != MAP_FAILED);
    struct measurement m = {c, stack + STACK - PAINTED, TAPER_OK, 0};
    m.status = run(c); /* resolves symbols, which is not repeated */
    memset(m.painted, PAINT, PAINTED);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, on_painted_stack, &m), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_true(m.status == TAPER_OK || m.status == TAPER_BAD_STRIDE ||
                m.status == TAPER_OVERLAP);

    calls++;
    if (m.used <= deepest[c->op])
        return;
    deepest[c->op] = m.used;
    const size_t limit = c->op < TENSOR_FILL ? ARRAY_LIMIT : TENSOR_LIMIT;
    if (LIMITED && m.used >= limit)
        fail_msg("%s: %s to %s by %s, n %zu: %zu bytes of stack", taper_isa(),
                 taper_dtype_name(c->src.type), taper_dtype_name(c->dst.type),
                 names[c->op], c->n, m.used);
}

/* With each instruction set; with streaming stores from the first byte on, or never. */
static void for_each_way(void (*measure_all)(void))
{
    const char *isa;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        if (is_emulated(isa))
            continue;
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        calls = 0;
        memset(deepest, 0, sizeof deepest);
        for (int stream = 0; stream < 2; stream++) {
            const size_t bytes = stream ? 1 : SIZE_MAX;
            assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_BYTES, bytes), 0);
            assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_FILL_BYTES, bytes),
                             0);
            measure_all();
        }
        for (int op = 0; op < OPS; op++)
            if (deepest[op] != 0)
                print_message("%s: %s: %zu bytes of stack\n", isa, names[op],
                              deepest[op]);
        print_message("%s: %u calls\n", isa, calls);
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

static unsigned char dst_data[1 << 20], src_data[1 << 20];

/* ---- Arrays ---- */

static void measure_arrays(void)
{
    static const size_t counts[] = {1, 65, 3001};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct call c = {.n = counts[i]};
        c.dst.data = dst_data + 1;
        c.src.data = src_data + 1;
        for (int type = TAPER_F32; type <= TAPER_I2; type++) {
            c.dst.type = c.src.type = (taper_dtype)type;
            if (type == TAPER_STRING)
                continue;
            c.op = FILL;
            measure(&c);
            c.op = COPY;
            measure(&c);
        }
        for (int to = 0; to < CAST_TYPES; to++)
            for (int from = 0; from < CAST_TYPES; from++) {
                c.dst.type = cast_types[to];
                c.src.type = cast_types[from];
                c.op = CAST;
                measure(&c);
                if (from == 0 && to >= FIRST_NARROW_TYPE) {
                    c.op = NARROW;
                    measure(&c);
                }
                if (to == 0 && from >= FIRST_NARROW_TYPE) {
                    c.op = WIDEN;
                    measure(&c);
                }
            }
    }
}

static void test_arrays(void **state)
{
    (void)state;
    for_each_way(measure_arrays);
}

/* ---- Tensors ---- */

static void measure_tensors(struct call *c)
{
    static const enum op moves[] = {TENSOR_FILL, TENSOR_COPY, CONSTANT, IDENTITY};
    static const taper_dtype moved[] = {TAPER_U8, TAPER_U16, TAPER_F32, TAPER_F64};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        for (size_t j = 0; j < sizeof moves / sizeof *moves; j++) {
            c->op = moves[j];
            c->dst.type = c->src.type = moved[i];
            measure(c);
        }
    static const taper_dtype cast[] = {TAPER_F32, TAPER_F64, TAPER_BF16, TAPER_F8E4M3FN,
                                       TAPER_F4E2M1};
    enum { CAST_COUNT = sizeof cast / sizeof *cast };
    for (int to = 0; to < CAST_COUNT; to++)
        for (int from = 0; from < CAST_COUNT; from++) {
            c->dst.type = cast[to];
            c->src.type = cast[from];
            c->op = TENSOR_CAST;
            measure(c);
            c->op = ONNX_CAST;
            measure(c);
        }
}

static void measure_layouts(void)
{
    static const int64_t shapes[][2] = {{130, 131}, {1000, 37}};
    enum { LAYOUTS = 6 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t rows = shapes[i][0], columns = shapes[i][1];
        const int64_t strides[LAYOUTS][2] = {
            {columns, 1},         {1, rows},          {columns + 29, 1}, {1, rows + 30},
            {3 * columns + 7, 3}, {3, 3 * rows + 10},
        };
        for (int to = 0; to < LAYOUTS; to++)
            for (int from = 0; from < LAYOUTS; from++) {
                struct call c = {
                    .dst = {dst_data + 1, TAPER_U8, 2, shapes[i], strides[to]},
                    .src = {src_data, TAPER_U8, 2, shapes[i], strides[from]},
                };
                measure_tensors(&c);
            }
    }
}

static void test_layouts(void **state)
{
    (void)state;
    for_each_way(measure_layouts);
}

/* Strides that it takes as deep a search as there can be to tell that no element of
 * one tensor is in another: as many terms as there are dimensions in both. */
static void measure_contrived(void)
{
    enum { MOST = 59 };
    int64_t shape[MOST], dst[MOST], src[MOST];
    uint64_t seed = 5;
    for (int32_t rank = 20; rank <= MOST; rank++)
        for (int way = 0; way < 3; way++) {
            for (int k = 0; k < rank; k++) {
                const int64_t power = INT64_C(1) << (rank - 1 - k);
                shape[k] = 2;
                dst[k] = way < 2 ? power : 1 + (int64_t)(next_random(&seed) >> 47);
                src[k] = way == 0   ? power
                         : way == 1 ? power + 1
                                    : 1 + (int64_t)(next_random(&seed) >> 47);
            }
            struct call c = {
                .dst = {dst_data, TAPER_U8, rank, shape, dst},
                .src = {dst_data + 1, TAPER_U8, rank, shape, src},
            };
            c.op = TENSOR_COPY;
            measure(&c);
            c.op = IDENTITY;
            measure(&c);
            if (way == 2) { /* else it would be done: gigabytes */
                c.op = TENSOR_FILL;
                measure(&c);
            }
            c.dst.type = TAPER_F8E5M2;
            c.src.type = TAPER_F8E4M3FN;
            c.op = TENSOR_CAST;
            measure(&c);
            c.op = ONNX_CAST;
            measure(&c);
        }
}

static void test_contrived(void **state)
{
    (void)state;
    for_each_way(measure_contrived);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_contrived),
    };
    for (size_t i = 0; i < sizeof src_data; i++)
        src_data[i] = (unsigned char)(i * 29 + i / 256);
    if (taper_set_max_threads(1) != TAPER_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
