/* test_tensor_bounds.c - tensors between pages that cannot be touched: what is between,
 * before and after their elements is neither read nor written, with each instruction
 * set, with ordinary and with streaming stores, on one thread and in parts; and empty
 * tensors and arrays touch nothing at all. */
#include "support.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "taper/onnx.h"

enum { CANARY = 0xa5, LINES = 131, SAMPLES = 997 };

/* ---- Memory: lines of a page or two, each followed by a page without access ---- */

struct comb {
    unsigned char *begin;
    size_t line, pitch; /* bytes of a line, and from one to the next */
};

static struct comb comb_new(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t line = (bytes + page - 1) / page * page, pitch = line + page;
    unsigned char *const map =
        mmap(NULL, page + LINES * pitch, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    for (size_t i = 0; i < LINES; i++) {
        unsigned char *const at = map + page + i * pitch;
        assert_int_equal(mprotect(at, line, PROT_READ | PROT_WRITE), 0);
        memset(at, CANARY, line);
    }
    return (struct comb){map + page, line, pitch};
}

static struct comb dst_comb, src_comb;
static struct guarded packed_memory; /* packed elements are contiguous, at its end */

static int make_combs(void **state)
{
    (void)state;
    dst_comb = comb_new(2 * 4096);
    src_comb = comb_new(2 * 4096);
    packed_memory = guarded_new(3 * 4096 + 128);
    return 0;
}

/* ---- Layouts ---- */

/* How the elements of a matrix lie: one index counts lines, the other one places in a
 * line, some bytes from its beginning or its end. */
struct layout {
    bool turned;    /* columns are lines */
    bool backwards; /* in the line */
    bool upwards;   /* from line to line */
    bool at_end;
    int step; /* of places; 0: all the same */
};

static const struct layout layouts[] = {
    {false, false, false, false, 1}, {false, false, false, true, 1},
    {true, false, false, true, 1},   {true, false, false, false, 1},
    {false, true, true, true, 1},    {true, true, false, true, 2},
    {false, false, true, false, 3},  {true, false, true, true, 1},
    {false, false, false, true, 0},  {true, false, false, true, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, WITH_PLACES = LAYOUTS - 2 };

struct view {
    taper_tensor tensor;
    int64_t shape[2], strides[2];
};

/* False if it has more lines or places than there are. */
static bool place(struct view *v, const struct comb *comb, const struct layout *layout,
                  taper_dtype type, int64_t rows, int64_t columns, size_t offset)
{
    const int64_t size = (int64_t)taper_dtype_bits(type) / 8;
    const int64_t lines = layout->turned ? columns : rows;
    const int64_t places = layout->turned ? rows : columns;
    const int64_t reach = ((places - 1) * layout->step + 1) * size;
    const int64_t step = layout->backwards ? -layout->step : layout->step;
    int64_t pitch = (int64_t)comb->pitch / size;
    unsigned char *data = comb->begin;
    if (lines > LINES || reach + (int64_t)offset > (int64_t)comb->line)
        return false;
    data += layout->at_end ? (int64_t)comb->line - (int64_t)offset - reach
                           : (int64_t)offset;
    if (layout->backwards)
        data += reach - size;
    if (layout->upwards) {
        data += (lines - 1) * (int64_t)comb->pitch;
        pitch = -pitch;
    }
    v->shape[0] = rows;
    v->shape[1] = columns;
    v->strides[0] = layout->turned ? step : pitch;
    v->strides[1] = layout->turned ? pitch : step;
    v->tensor = (taper_tensor){data, type, 2, v->shape, v->strides};
    return true;
}

static unsigned char *element(const struct view *v, int64_t i, int64_t j)
{
    const int64_t size = (int64_t)taper_dtype_bits(v->tensor.type) / 8;
    return (unsigned char *)v->tensor.data +
           (i * v->strides[0] + j * v->strides[1]) * size;
}

/* ---- Calls ---- */

static void place_packed(struct view *v, taper_dtype type, int64_t rows,
                         int64_t columns)
{
    const size_t bits = taper_dtype_bits(type);
    v->shape[0] = rows;
    v->shape[1] = columns;
    v->tensor = (taper_tensor){
        packed_memory.end - array_bytes((unsigned)bits, (size_t)(rows * columns)), type,
        2, v->shape, NULL};
}

struct call {
    enum { FILL, COPY, CAST } op;
    taper_dtype to, from;
    struct view dst, src;
};

static unsigned char in[SAMPLES][16], out[SAMPLES][16];
static unsigned long calls;

static void make_samples(const struct call *c)
{
    const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
    uint64_t seed = 7;
    for (size_t i = 0; i < SAMPLES; i++) {
        for (size_t k = 0; k < 16; k++)
            in[i][k] = out[i][k] = (unsigned char)next_random(&seed);
        if (c->op == CAST) {
            const uint64_t x = random_element(c->from, &seed);
            set_element(in[i], oracle_bits(c->from), 0, x);
            set_element(out[i], oracle_bits(c->to), 0,
                        oracle_cast(c->to, c->from, x, options));
        }
    }
}

/* Which sample element (i, j) of the source is. */
static size_t sample(const struct call *c, int64_t i, int64_t j)
{
    const bool strided = c->src.tensor.strides != NULL;
    if (c->op == FILL)
        return 0;
    if (strided && c->src.strides[0] == 0)
        return (size_t)j;
    if (strided && c->src.strides[1] == 0)
        return (size_t)i;
    return (size_t)(i * c->dst.shape[1] + j) % SAMPLES;
}

/* Puts the samples into the source, or compares the destination with them. */
static bool visit(const struct call *c, const struct view *v, bool compare)
{
    const unsigned bits = (unsigned)taper_dtype_bits(v->tensor.type);
    const size_t size = bits / 8;
    for (int64_t i = 0; i < v->shape[0]; i++)
        for (int64_t j = 0; j < v->shape[1]; j++) {
            const size_t k = sample(c, i, j);
            if (bits < 8) {
                const size_t at = (size_t)(i * v->shape[1] + j);
                if (!compare)
                    set_element(v->tensor.data, bits, at, get_element(in[k], bits, 0));
                else if (get_element(v->tensor.data, bits, at) !=
                         get_element(out[k], bits, 0))
                    return false;
                continue;
            }
            if (!compare)
                memcpy(element(v, i, j), in[k], size);
            else if (memcmp(element(v, i, j), out[k], size) != 0)
                return false;
            else
                memset(element(v, i, j), CANARY, size); /* for what is beside them */
        }
    return true;
}

/* That nothing is left but canaries in the first `lines` lines, and before packed
 * elements. */
static bool all_canaries(const struct view *v, size_t lines)
{
    static unsigned char canaries[2 * 4096];
    memset(canaries, CANARY, sizeof canaries);
    for (size_t i = 0; i < lines; i++)
        if (memcmp(dst_comb.begin + i * dst_comb.pitch, canaries, dst_comb.line) != 0)
            return false;
    return v->tensor.strides != NULL ||
           memcmp((unsigned char *)v->tensor.data - 128, canaries, 128) == 0;
}

static taper_status run(const struct call *c)
{
    switch (c->op) {
    case FILL:
        return taper_tensor_fill(&c->dst.tensor, in[0]);
    case COPY:
        return taper_tensor_copy(&c->dst.tensor, &c->src.tensor);
    default:
        return taper_tensor_cast(&c->dst.tensor, &c->src.tensor, NULL);
    }
}

static void run_backwards(void *context, size_t count, taper_task *task, void *data)
{
    (void)context;
    while (count-- > 0)
        task(data, count);
}

/* As it comes; with streaming stores; in three parts. */
enum { PLAIN, STREAMED, PARTS, WAYS };

static void set_way(int way)
{
    assert_int_equal(taper_set_max_threads(way == PARTS ? 3 : 1), TAPER_OK);
    taper_set_parallel_for(way == PARTS ? run_backwards : NULL, NULL);
    for (int i = TAPER_PARALLEL_BYTES; i <= TAPER_STREAM_FILL_BYTES; i++) {
        const bool lowered = i == TAPER_PARALLEL_BYTES ? way == PARTS : way == STREAMED;
        assert_int_equal(
            taper_set_threshold_bytes((taper_threshold)i, lowered ? 1 : SIZE_MAX),
            TAPER_OK);
    }
}

static void check_call(const struct call *c)
{
    const char *isa;
    if (c->op != FILL)
        visit(c, &c->src, false);
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        for (int way = 0; way < WAYS; way++) {
            set_way(way);
            if (c->dst.tensor.strides == NULL)
                memset((unsigned char *)c->dst.tensor.data - 128, CANARY, 128);
            const taper_status status = run(c);
            calls++;
            const bool right = status == TAPER_OK && visit(c, &c->dst, true);
            if (!right || !all_canaries(&c->dst, 16))
                fail_msg("%s, way %d: op %d, %s to %s, %d x %d, strides %d %d from %d "
                         "%d: status %d, %s",
                         isa, way, (int)c->op, taper_dtype_name(c->from),
                         taper_dtype_name(c->to), (int)c->dst.shape[0],
                         (int)c->dst.shape[1], (int)c->dst.strides[0],
                         (int)c->dst.strides[1], (int)c->src.strides[0],
                         (int)c->src.strides[1], (int)status,
                         right ? "bytes beside the elements have changed"
                               : "an element is wrong");
        }
    }
}

/* Sizes around those of vectors, tiles, lines and pieces. */
static int64_t next_size(uint64_t *seed)
{
    static const int64_t sizes[] = {1,  2,  3,  4,   5,   7,   8,   9,
                                    15, 16, 17, 31,  32,  33,  47,  63,
                                    64, 65, 66, 127, 128, 129, 130, 131};
    static const int64_t long_sizes[] = {255,  256,  257,  511,  513, 1023,
                                         1024, 1025, 2047, 2048, 2049};
    const uint64_t r = next_random(seed);
    if (r % 8 == 0)
        return long_sizes[r / 8 % (sizeof long_sizes / sizeof *long_sizes)];
    return sizes[r / 8 % (sizeof sizes / sizeof *sizes)];
}

static int rounds = 6; /* sizes and offsets of each pair of layouts */

static void check_type(struct call *c)
{
    uint64_t seed = (uint64_t)c->to * 100 + (uint64_t)c->from;
    make_samples(c);
    for (int to = 0; to < WITH_PLACES; to++)
        for (int from = 0; from < LAYOUTS; from++)
            for (int round = 0; round < rounds;) {
                const int64_t rows = next_size(&seed), columns = next_size(&seed);
                const size_t a = round % 2 ? (size_t)(next_random(&seed) % 64) : 0;
                const size_t b = round % 3 ? (size_t)(next_random(&seed) % 64) : 0;
                bool fits = true;
                if (taper_dtype_bits(c->to) < 8)
                    place_packed(&c->dst, c->to, rows, columns);
                else
                    fits = place(&c->dst, &dst_comb, &layouts[to], c->to, rows, columns,
                                 a);
                if (taper_dtype_bits(c->from) < 8)
                    place_packed(&c->src, c->from, rows, columns);
                else
                    fits = fits && place(&c->src, &src_comb, &layouts[from], c->from,
                                         rows, columns, b);
                if (!fits || rows * columns > (1 << 14) + 4096)
                    continue;
                check_call(c);
                round++;
            }
    if (!all_canaries(&c->dst, LINES))
        fail_msg("%s to %s: lines beside those of the tensors have changed",
                 taper_dtype_name(c->from), taper_dtype_name(c->to));
}

static void test_moves(void **state)
{
    static const taper_dtype types[] = {TAPER_U8, TAPER_F16, TAPER_F32, TAPER_I64,
                                        TAPER_C128};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct call c = {.op = COPY, .to = types[i], .from = types[i]};
        check_type(&c);
        c.op = FILL;
        check_type(&c);
    }
    set_way(PLAIN);
    print_message("%lu calls\n", calls);
}

static void test_casts(void **state)
{
    static const taper_dtype types[][2] = {
        {TAPER_BF16, TAPER_F32},       {TAPER_F32, TAPER_BF16},
        {TAPER_F32, TAPER_F64},        {TAPER_F8E5M2, TAPER_F64},
        {TAPER_F64, TAPER_F16},        {TAPER_F16, TAPER_F8E4M3FN},
        {TAPER_F8E4M3FNUZ, TAPER_F32}, {TAPER_F4E2M1, TAPER_F32},
        {TAPER_F64, TAPER_F4E2M1},     {TAPER_F4E2M1, TAPER_F8E8M0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct call c = {.op = CAST, .to = types[i][0], .from = types[i][1]};
        check_type(&c);
    }
    set_way(PLAIN);
    print_message("%lu calls\n", calls);
}

/* ---- Nothing at all ---- */

/* No element, and pointers that lead nowhere: nothing is read or written. */
static void test_empty(void **state)
{
    void *const wild[] = {NULL, (void *)1, wild_pointer(), (void *)(UINTPTR_MAX - 63)};
    enum { WILD = sizeof wild / sizeof *wild };
    static const int64_t shape[2] = {INT64_MAX, 0};
    const char *isa;
    (void)state;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++)
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < WILD * WILD; i++) {
                void *const d = wild[i / WILD], *const s = wild[i % WILD];
                assert_int_equal(taper_use_isa(isa), TAPER_OK);
                set_way(way);
                for (int type = TAPER_F32; type <= TAPER_I2; type++) {
                    const taper_dtype moved = (taper_dtype)type;
                    const taper_tensor dst = {d, moved, 2, shape, s};
                    const taper_tensor src = {s, moved, 2, shape, d};
                    const taper_value output = taper_value_of(&dst);
                    const taper_value input = taper_value_of(&src);
                    assert_int_equal(taper_onnx_identity(26, &output, &input),
                                     TAPER_OK);
                    if (type == TAPER_STRING)
                        continue;
                    assert_int_equal(taper_fill(moved, d, 0, s), TAPER_OK);
                    assert_int_equal(taper_copy(moved, d, s, 0), TAPER_OK);
                    assert_int_equal(taper_tensor_fill(&dst, s), TAPER_OK);
                    assert_int_equal(taper_tensor_copy(&dst, &src), TAPER_OK);
                }
                for (int to = 0; to < CAST_TYPES; to++)
                    for (int from = 0; from < CAST_TYPES; from++) {
                        const taper_dtype a = cast_types[to], b = cast_types[from];
                        const taper_tensor dst = {d, a, 2, shape, s};
                        const taper_tensor src = {s, b, 2, shape, d};
                        assert_int_equal(taper_cast(a, d, b, s, 0, NULL), TAPER_OK);
                        assert_int_equal(taper_tensor_cast(&dst, &src, NULL), TAPER_OK);
                        assert_int_equal(taper_onnx_cast(26, &dst, &src, NULL),
                                         TAPER_OK);
                        if (to >= FIRST_NARROW_TYPE) {
                            assert_int_equal(taper_narrow(a, d, s, 0, NULL), TAPER_OK);
                            assert_int_equal(taper_widen(a, d, s, 0), TAPER_OK);
                        }
                    }
                const int64_t two = 2;
                const taper_tensor length = {(void *)(uintptr_t)shape, TAPER_I64, 1,
                                             &two, s};
                const taper_tensor output = {d, TAPER_F32, 2, shape, s};
                const taper_tensor value = {s, TAPER_F32, 0, d, s};
                if (s == NULL) /* strides are looked at: there are two dimensions */
                    assert_int_equal(
                        taper_onnx_constant_of_shape(26, &output, &length, &value),
                        TAPER_OK);
            }
    set_way(PLAIN);
}

/* ---- What operators read and write beside elements ---- */

/* `bytes` bytes that end where a page without access begins. */
static void *at_end(size_t bytes)
{
    return guarded_new(bytes).end - bytes;
}

static void *copy_at_end(const void *from, size_t bytes)
{
    return memcpy(at_end(bytes), from, bytes);
}

/* Shapes, strides, dimensions, offsets, structures and results, each at its own page.
 */
static void test_operators(void **state)
{
    static const int64_t dims[2] = {3, 5}, turned[2] = {1, 3};
    const int64_t two = 2;
    (void)state;
    int64_t *const shape = copy_at_end(dims, sizeof dims);
    int64_t *const strides = copy_at_end(turned, sizeof turned);
    int64_t *const length = copy_at_end(&two, sizeof two);
    size_t *const bytes = at_end(sizeof *bytes);
    int64_t *const made_dims = at_end(2 * sizeof *made_dims);

    const uint16_t element = 0x7c01;
    const taper_tensor value = {copy_at_end(&element, 2), TAPER_F16, 0, NULL, NULL};
    const taper_tensor input = {shape, TAPER_I64, 1, length, NULL};
    uint16_t *const filled = at_end(30);
    taper_tensor *const output = at_end(sizeof *output);
    assert_int_equal(taper_onnx_constant_of_shape_infer(26, output, bytes, made_dims, 2,
                                                        &input, &value),
                     TAPER_OK);
    assert_true(*bytes == 30 && made_dims[0] == 3 && made_dims[1] == 5);
    output->data = filled;
    assert_int_equal(taper_onnx_constant_of_shape(26, output, &input, &value),
                     TAPER_OK);
    for (int i = 0; i < 15; i++)
        assert_int_equal(filled[i], element);

    taper_tensor *const src = at_end(sizeof *src), *const dst = at_end(sizeof *dst);
    *src = (taper_tensor){filled, TAPER_F16, 2, shape, strides};
    taper_value *const from = at_end(sizeof *from), *const to = at_end(sizeof *to);
    *from = taper_value_of(src);
    assert_int_equal(taper_onnx_identity_infer(26, to, dst, bytes, from), TAPER_OK);
    assert_int_equal(*bytes, 30);
    dst->data = at_end(30);
    assert_int_equal(taper_onnx_identity(26, to, from), TAPER_OK);
    assert_memory_equal(dst->data, filled, 30);

    assert_int_equal(taper_onnx_cast_infer(26, dst, bytes, TAPER_F4E2M1, src, NULL),
                     TAPER_OK);
    assert_int_equal(*bytes, 8);
    dst->data = at_end(8);
    taper_cast_options *const options = at_end(sizeof *options);
    memset(options, 0, sizeof *options);
    assert_int_equal(taper_onnx_cast(26, dst, src, options), TAPER_OK);
    assert_memory_equal(dst->data, "\x77\x77\x77\x77\x77\x77\x77\x07", 8);

    static const int64_t offsets[3] = {1, 1, 4};
    taper_strings *const text = at_end(sizeof *text), *const made =
                                                          at_end(sizeof *made);
    *text = (taper_strings){copy_at_end(offsets, 24), copy_at_end("?abc", 4), 4};
    *made = (taper_strings){at_end(24), at_end(4), 4};
    *src = (taper_tensor){text, TAPER_STRING, 1, length, NULL};
    *from = taper_value_of(src);
    assert_int_equal(taper_onnx_identity_infer(26, to, dst, bytes, from), TAPER_OK);
    dst->data = made;
    assert_int_equal(taper_onnx_identity(26, to, from), TAPER_OK);
    assert_memory_equal(made->offsets, offsets, 24);
    assert_memory_equal((char *)made->bytes + 1, "abc", 3);
}

/*     test_tensor_bounds [rounds] */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_operators),
    };
    if (argc > 1)
        rounds = atoi(argv[1]);
    return cmocka_run_group_tests(tests, make_combs, NULL);
}
