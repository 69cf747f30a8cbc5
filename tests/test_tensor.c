/* test_tensor.c - tensors by hand: what is refused and in which order, shapes, strides,
 * overlap, layouts, packed types. test_tensor_property.c tries random ones. */
#include "support.h"

#include <stdlib.h>

#include "layout.h"
#include "taper/tensor.h"

/* A list of dimensions or strides, and how many they are. */
#define LIST(...)  ((const int64_t[]){__VA_ARGS__})
#define COUNT(...) ((int32_t)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)))
#define SHAPE(...) COUNT(__VA_ARGS__), LIST(__VA_ARGS__)

#define P(exponent) (INT64_C(1) << (exponent))

/* Every test works in `memory`; `before` is what it held at the last reset(). */
enum { BYTES = 4096, MIDDLE = BYTES / 2 };
static unsigned char memory[BYTES], before[BYTES];

static void reset(void)
{
    uint64_t seed = 11;
    for (size_t i = 0; i < BYTES; i++)
        before[i] = (unsigned char)next_random(&seed);
    memcpy(memory, before, BYTES);
}

static void assert_untouched(void)
{
    assert_memory_equal(memory, before, BYTES);
}

static taper_tensor tensor(void *data, taper_dtype type, int32_t rank,
                           const int64_t *shape, const int64_t *strides)
{
    return (taper_tensor){data, type, rank, shape, strides};
}

static taper_status fill(taper_tensor dst, const void *value)
{
    return taper_tensor_fill(&dst, value);
}

static taper_status copy(taper_tensor dst, taper_tensor src)
{
    return taper_tensor_copy(&dst, &src);
}

static taper_status cast(taper_tensor dst, taper_tensor src)
{
    return taper_tensor_cast(&dst, &src, NULL);
}

/* ---- Sizes ---- */

static void test_bytes(void **state)
{
    static const struct {
        taper_dtype type;
        int32_t rank;
        int64_t shape[4];
        taper_status status;
        size_t bytes;
    } rows[] = {
        {TAPER_F32, 0, {0}, TAPER_OK, 4},
        {TAPER_C128, 0, {0}, TAPER_OK, 16},
        {TAPER_F4E2M1, 0, {0}, TAPER_OK, 1},
        {TAPER_F32, 1, {0}, TAPER_OK, 0},
        {TAPER_F32, 1, {7}, TAPER_OK, 28},
        {TAPER_BOOL, 3, {2, 3, 4}, TAPER_OK, 24},
        {TAPER_F64, 4, {2, 1, 3, 1}, TAPER_OK, 48},
        {TAPER_U4, 1, {1}, TAPER_OK, 1},
        {TAPER_I4, 2, {3, 3}, TAPER_OK, 5},
        {TAPER_F4E2M1, 2, {3, 4}, TAPER_OK, 6},
        {TAPER_U2, 2, {3, 3}, TAPER_OK, 3},
        {TAPER_I2, 2, {2, 2}, TAPER_OK, 1},
        /* empty, whatever the others are */
        {TAPER_F32, 3, {0, INT64_MAX, INT64_MAX}, TAPER_OK, 0},
        {TAPER_F32, 3, {INT64_MAX, INT64_MAX, 0}, TAPER_OK, 0},
        {TAPER_F32, 4, {P(32), 0, P(32), P(32)}, TAPER_OK, 0},
        {TAPER_U4, 2, {INT64_MAX, 0}, TAPER_OK, 0},
        /* negative, also beside 0 and where the product would be too large */
        {TAPER_F32, 1, {-1}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, 1, {INT64_MIN}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, 2, {0, -1}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, 2, {-1, 0}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, 2, {-2, -3}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, 3, {INT64_MAX, INT64_MAX, -1}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, 3, {INT64_MIN, INT64_MIN, 0}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, -1, {1}, TAPER_BAD_SHAPE, 0},
        {TAPER_F32, INT32_MIN, {1}, TAPER_BAD_SHAPE, 0},
        /* products */
        {TAPER_U8, 1, {INT64_MAX}, TAPER_OK, INT64_MAX},
        {TAPER_U8, 2, {P(31), P(31)}, TAPER_OK, P(62)},
        {TAPER_U8, 2, {P(32), P(32)}, TAPER_TOO_LARGE, 0},
        {TAPER_U8, 3, {P(31), P(31), 2}, TAPER_TOO_LARGE, 0},
        {TAPER_U8, 3, {P(31), P(31), 4}, TAPER_TOO_LARGE, 0},
        {TAPER_U8, 4, {P(16), P(16), P(16), P(16)}, TAPER_TOO_LARGE, 0},
        {TAPER_U8, 3, {P(32), P(32), 3}, TAPER_TOO_LARGE, 0},
        {TAPER_U8, 2, {3, P(62) + 1}, TAPER_TOO_LARGE, 0},
        {TAPER_F16, 1, {INT64_MAX}, TAPER_TOO_LARGE, 0},
        {TAPER_F16, 1, {P(62)}, TAPER_TOO_LARGE, 0},
        {TAPER_F16, 1, {P(62) - 1}, TAPER_OK, (size_t)INT64_MAX - 1},
        {TAPER_I64, 1, {P(62)}, TAPER_TOO_LARGE, 0},
        {TAPER_F64, 2, {P(30), P(30)}, TAPER_TOO_LARGE, 0},
        {TAPER_F64, 2, {P(30), P(30) - 1}, TAPER_OK, (size_t)INT64_MAX - P(33) + 1},
        {TAPER_C128, 1, {P(60)}, TAPER_TOO_LARGE, 0},
        {TAPER_C128, 1, {P(59)}, TAPER_TOO_LARGE, 0},
        {TAPER_C128, 1, {P(59) - 1}, TAPER_OK, (size_t)INT64_MAX - 15},
        {TAPER_U4, 1, {INT64_MAX}, TAPER_OK, P(62)},
        {TAPER_U2, 1, {INT64_MAX}, TAPER_OK, P(61)},
        {TAPER_U4, 2, {P(32), P(31)}, TAPER_TOO_LARGE, 0},
        {TAPER_U2, 2, {P(32), P(32)}, TAPER_TOO_LARGE, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t bytes = 12345;
        const taper_tensor t = tensor(wild_pointer(), rows[i].type, rows[i].rank,
                                      rows[i].shape, wild_pointer());
        const taper_status status = taper_tensor_bytes(&t, &bytes);
        const size_t want = rows[i].status == TAPER_OK ? rows[i].bytes : 12345;
        if (status != rows[i].status || bytes != want)
            fail_msg("row %zu: status %d, %zu bytes", i, (int)status, bytes);
    }
    size_t bytes;
    const taper_tensor t = tensor(NULL, TAPER_U16, 0, NULL, NULL);
    assert_int_equal(taper_tensor_bytes(&t, &bytes), TAPER_OK);
    assert_int_equal(bytes, 2);
}

/* ---- The order of checks ----
 *
 * Every set of faults gives the first one's status, and writes nothing. */

/* The faults that every function looks for, in order. */
enum { NO_TENSOR, NO_SHAPE, UNKNOWN, STRING, NEGATIVE, LARGE, TENSOR_FAULTS };

static const taper_status tensor_faults[TENSOR_FAULTS] = {
    TAPER_NULL,        TAPER_NULL,      TAPER_BAD_DTYPE,
    TAPER_UNSUPPORTED, TAPER_BAD_SHAPE, TAPER_TOO_LARGE,
};

/* A tensor of the shape {2, 3, 2} with faults put in. */
struct faulty {
    taper_tensor tensor;
    const taper_tensor *at;
    int64_t shape[3], strides[3];
};

static void make_faulty(struct faulty *f, unsigned faults, taper_dtype type, void *data)
{
    static const int64_t shape[] = {2, 3, 2}, strides[] = {6, 2, 1};
    memcpy(f->shape, shape, sizeof shape);
    memcpy(f->strides, strides, sizeof strides);
    f->tensor = tensor(data, type, 3, f->shape, f->strides);
    f->at = &f->tensor;
    if (faults & 1u << STRING)
        f->tensor.type = TAPER_STRING;
    if (faults & 1u << UNKNOWN)
        f->tensor.type = (taper_dtype)(faults & 1u << STRING ? 27 : -1);
    if (faults & 1u << NEGATIVE)
        f->shape[0] = -1;
    if (faults & 1u << LARGE)
        f->shape[1] = INT64_MAX;
    if (faults & 1u << NO_SHAPE)
        f->tensor.shape = NULL;
    if (faults & 1u << NO_TENSOR)
        f->at = NULL;
}

/* The status of the first fault; TAPER_OK if there is none. */
static taper_status first_fault(unsigned faults, bool empty)
{
    for (unsigned i = 0; i < TENSOR_FAULTS; i++)
        if (faults & 1u << i && !(i == LARGE && empty))
            return tensor_faults[i];
    return TAPER_OK;
}

static void check_fault(const char *what, unsigned faults, taper_status status,
                        taper_status want, bool writes)
{
    if (status != want)
        fail_msg("%s, faults %x: status %d, not %d", what, faults, (int)status,
                 (int)want);
    if (memcmp(memory, before, 256) != 0) {
        if (!writes)
            fail_msg("%s, faults %x: has written", what, faults);
        reset();
    } else if (writes) {
        fail_msg("%s, faults %x: has not written", what, faults);
    }
}

static void test_faults_of_bytes(void **state)
{
    enum { EMPTY = TENSOR_FAULTS, NO_BYTES, ALL };
    (void)state;
    for (unsigned faults = 0; faults < 1u << ALL; faults++) {
        const bool empty = faults & 1u << EMPTY;
        size_t bytes = 777;
        struct faulty t;
        make_faulty(&t, faults, TAPER_F32, wild_pointer());
        if (empty)
            t.shape[2] = 0;
        taper_status want = first_fault(faults, empty);
        if (faults & 1u << NO_BYTES)
            want = TAPER_NULL;
        const taper_status status =
            taper_tensor_bytes(t.at, faults & 1u << NO_BYTES ? NULL : &bytes);
        const size_t want_bytes = want != TAPER_OK ? 777 : empty ? 0 : 48;
        if (status != want || bytes != want_bytes)
            fail_msg("faults %x: status %d, %zu bytes", faults, (int)status, bytes);
    }
}

static void test_faults_of_fill(void **state)
{
    enum { EMPTY = TENSOR_FAULTS, NO_DATA, NO_VALUE, STRIDE, ALL };
    const float value = 7;
    (void)state;
    reset();
    for (unsigned faults = 0; faults < 1u << ALL; faults++) {
        const bool empty = faults & 1u << EMPTY;
        struct faulty t;
        make_faulty(&t, faults, TAPER_F32, faults & 1u << NO_DATA ? NULL : memory);
        if (empty)
            t.shape[2] = 0;
        if (faults & 1u << STRIDE)
            t.strides[0] = 0;
        taper_status want = first_fault(faults, empty);
        if (want == TAPER_OK && !empty)
            want = faults >= 1u << STRIDE    ? TAPER_BAD_STRIDE
                   : faults >= 1u << NO_DATA ? TAPER_NULL
                                             : TAPER_OK;
        if (want == TAPER_BAD_STRIDE && faults & (1u << NO_DATA | 1u << NO_VALUE))
            want = TAPER_NULL;
        const taper_status status =
            taper_tensor_fill(t.at, faults & 1u << NO_VALUE ? NULL : &value);
        check_fault("fill", faults, status, want, faults == 0);
    }
}

/* Copy, or cast with the one fault more that it can have. */
static void check_faults_of_two(bool casts)
{
    enum {
        SRC = TENSOR_FAULTS, /* the faults of the source */
        TYPE = 2 * TENSOR_FAULTS,
        SHAPES,
        OPTION,
        EMPTY,
        DST_DATA,
        SRC_DATA,
        DST_STRIDE,
        SRC_STRIDE,
        OVERLAP,
        ALL
    };
    const taper_dtype type = casts ? TAPER_BF16 : TAPER_F32;
    reset();
    for (unsigned faults = 0; faults < 1u << ALL; faults++) {
        const unsigned dst_faults = faults & ((1u << SRC) - 1);
        const unsigned src_faults = faults >> SRC & ((1u << TENSOR_FAULTS) - 1);
        const bool empty = faults & 1u << EMPTY;
        taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
        struct faulty dst, src;
        if (!casts && faults & 1u << OPTION)
            continue;
        make_faulty(&dst, dst_faults, type, faults & 1u << DST_DATA ? NULL : memory);
        make_faulty(&src, src_faults, TAPER_F32,
                    faults & 1u << SRC_DATA  ? NULL
                    : faults & 1u << OVERLAP ? memory + 23
                                             : memory + 100);
        if (faults & 1u << TYPE && !(src_faults & (1u << UNKNOWN | 1u << STRING)))
            src.tensor.type = TAPER_I32;
        if (faults & 1u << SHAPES && !(src_faults & 1u << NEGATIVE))
            src.shape[0] = 3;
        if (faults & 1u << OPTION)
            options.rounding = (taper_rounding)3;
        if (empty)
            dst.shape[2] = src.shape[2] = 0;
        if (faults & 1u << DST_STRIDE)
            dst.strides[1] = 3; /* (0, 2, 0) and (1, 0, 0) meet */
        if (faults & 1u << SRC_STRIDE)
            src.strides[0] = INT64_MIN;

        taper_status want = first_fault(dst_faults, empty);
        if (want == TAPER_OK)
            want = first_fault(src_faults, empty);
        if (want == TAPER_OK && faults & 1u << TYPE)
            want = casts ? TAPER_UNSUPPORTED : TAPER_TYPE_MISMATCH;
        if (want == TAPER_OK &&
            (faults & 1u << SHAPES || ((dst_faults ^ src_faults) & 1u << LARGE)))
            want = TAPER_SHAPE_MISMATCH;
        if (want == TAPER_OK && faults & 1u << OPTION)
            want = TAPER_BAD_OPTION;
        if (want == TAPER_OK && !empty)
            want = faults & (1u << DST_DATA | 1u << SRC_DATA)       ? TAPER_NULL
                   : faults & (1u << DST_STRIDE | 1u << SRC_STRIDE) ? TAPER_BAD_STRIDE
                   : faults & 1u << OVERLAP                         ? TAPER_OVERLAP
                                                                    : TAPER_OK;
        const taper_status status = casts ? taper_tensor_cast(dst.at, src.at, &options)
                                          : taper_tensor_copy(dst.at, src.at);
        check_fault(casts ? "cast" : "copy", faults, status, want, faults == 0);
    }
}

static void test_faults_of_copy(void **state)
{
    (void)state;
    check_faults_of_two(false);
}

static void test_faults_of_cast(void **state)
{
    (void)state;
    check_faults_of_two(true);
}

/* ---- Types and shapes that are refused ---- */

static void test_types(void **state)
{
    static const int unknown[] = {-1, 0, 27, 1000, INT32_MIN, INT32_MAX};
    size_t bytes = 99;
    (void)state;
    reset();
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const taper_dtype type = (taper_dtype)unknown[i];
        const taper_tensor bad = tensor(memory, type, SHAPE(2), NULL);
        const taper_tensor good = tensor(memory + 64, TAPER_F32, SHAPE(2), NULL);
        assert_int_equal(taper_tensor_bytes(&bad, &bytes), TAPER_BAD_DTYPE);
        assert_int_equal(fill(bad, before), TAPER_BAD_DTYPE);
        assert_int_equal(copy(bad, bad), TAPER_BAD_DTYPE);
        assert_int_equal(copy(good, bad), TAPER_BAD_DTYPE);
        assert_int_equal(cast(bad, good), TAPER_BAD_DTYPE);
        assert_int_equal(cast(good, bad), TAPER_BAD_DTYPE);
    }
    assert_int_equal(bytes, 99);

    for (int to = TAPER_F32; to <= TAPER_I2; to++)
        for (int from = TAPER_F32; from <= TAPER_I2; from++) {
            const taper_tensor dst = tensor(memory, (taper_dtype)to, SHAPE(2), NULL);
            const taper_tensor src =
                tensor(memory + 64, (taper_dtype)from, SHAPE(2), NULL);
            const bool strings = to == TAPER_STRING || from == TAPER_STRING;
            assert_int_equal(taper_tensor_copy(&dst, &src), strings ? TAPER_UNSUPPORTED
                                                            : to != from
                                                                ? TAPER_TYPE_MISMATCH
                                                                : TAPER_OK);
            memcpy(memory, before, BYTES);
            /* as taper_cast() has it, also for equal types */
            const taper_status want =
                taper_cast(dst.type, dst.data, src.type, src.data, 2, NULL);
            memcpy(memory, before, BYTES);
            assert_int_equal(taper_tensor_cast(&dst, &src, NULL), want);
            if (want != TAPER_OK)
                assert_untouched();
            memcpy(memory, before, BYTES);
        }
    assert_untouched();
}

static void test_shapes(void **state)
{
    static const struct {
        taper_dtype type;
        int32_t rank;
        int64_t shape[3];
        taper_status status;
    } rows[] = {
        {TAPER_U8, 2, {P(32), P(32)}, TAPER_TOO_LARGE},
        {TAPER_U8, 3, {P(31), P(31), 2}, TAPER_TOO_LARGE},
        {TAPER_F16, 1, {INT64_MAX}, TAPER_TOO_LARGE},
        {TAPER_F64, 1, {P(62)}, TAPER_TOO_LARGE},
        {TAPER_C128, 1, {P(60)}, TAPER_TOO_LARGE},
        {TAPER_F4E2M1, 2, {P(32), P(32)}, TAPER_TOO_LARGE},
        {TAPER_F32, 2, {0, -1}, TAPER_BAD_SHAPE},
        {TAPER_F32, 2, {-1, 0}, TAPER_BAD_SHAPE},
        {TAPER_F32, 1, {-1}, TAPER_BAD_SHAPE},
        {TAPER_F32, -1, {1}, TAPER_BAD_SHAPE},
        {TAPER_F32, 1, {0}, TAPER_OK},
        {TAPER_F32, 3, {0, 3, 4}, TAPER_OK},
        {TAPER_F32, 3, {3, 4, 0}, TAPER_OK},
        {TAPER_F32, 3, {0, P(32), P(32)}, TAPER_OK},
        {TAPER_F32, 3, {P(32), P(32), 0}, TAPER_OK},
        {TAPER_F4E2M1, 2, {5, 0}, TAPER_OK},
    };
    static const int64_t odd[3] = {INT64_MIN, 0, INT64_MAX};
    (void)state;
    reset();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int how = 0; how < 3; how++) {
            /* an empty tensor's data and strides are not looked at */
            const int64_t *const strides = how == 0 ? NULL : odd;
            void *const data = how < 2                      ? memory
                               : rows[i].status == TAPER_OK ? wild_pointer()
                                                            : NULL;
            const taper_tensor t =
                tensor(data, rows[i].type, rows[i].rank, rows[i].shape, strides);
            const bool is_float = rows[i].type == TAPER_F32;
            assert_int_equal(taper_tensor_fill(&t, before), rows[i].status);
            assert_int_equal(taper_tensor_copy(&t, &t), rows[i].status);
            if (rows[i].status == TAPER_OK || is_float)
                assert_int_equal(taper_tensor_cast(&t, &t, NULL), rows[i].status);
            if (rows[i].status == TAPER_OK)
                assert_int_equal(taper_tensor_fill(&t, NULL), TAPER_OK);
        }
    assert_untouched();
}

static void test_shapes_differ(void **state)
{
    static const struct {
        int32_t dst_rank;
        int64_t dst[3];
        int32_t src_rank;
        int64_t src[3];
    } rows[] = {
        {1, {4}, 1, {5}},          {1, {4}, 2, {1, 4}},       {2, {4, 1}, 1, {4}},
        {2, {2, 3}, 2, {3, 2}},    {0, {0}, 1, {1}},          {1, {1}, 0, {0}},
        {3, {2, 1, 3}, 3, {2, 3}}, {2, {0, 3}, 2, {3, 0}},    {1, {0}, 2, {0, 0}},
        {2, {0, 3}, 2, {0, 4}},    {3, {2, 2, 2}, 2, {2, 4}}, {2, {2, 3}, 2, {2, 1}},
    };
    (void)state;
    reset();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taper_tensor dst =
            tensor(memory, TAPER_F32, rows[i].dst_rank, rows[i].dst, NULL);
        const taper_tensor src =
            tensor(memory + 64, TAPER_F32, rows[i].src_rank, rows[i].src, NULL);
        assert_int_equal(taper_tensor_copy(&dst, &src), TAPER_SHAPE_MISMATCH);
        assert_int_equal(taper_tensor_cast(&dst, &src, NULL), TAPER_SHAPE_MISMATCH);
        dst.type = TAPER_F16;
        assert_int_equal(taper_tensor_cast(&dst, &src, NULL), TAPER_SHAPE_MISMATCH);
    }
    assert_untouched();
}

static void test_options(void **state)
{
    static const int bad[] = {-1, 2, 3, 4, INT32_MIN, INT32_MAX};
    const taper_tensor dst = tensor(memory, TAPER_F8E4M3FN, SHAPE(2), NULL);
    const taper_tensor src = tensor(memory + 64, TAPER_F32, SHAPE(2), NULL);
    (void)state;
    reset();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const taper_cast_options overflow = {(taper_overflow)bad[i], TAPER_ROUND_UP};
        const taper_cast_options rounding = {TAPER_SATURATE, (taper_rounding)bad[i]};
        assert_int_equal(taper_tensor_cast(&dst, &src, &overflow), TAPER_BAD_OPTION);
        assert_int_equal(taper_tensor_cast(&src, &src, &overflow), TAPER_BAD_OPTION);
        if (bad[i] != 2)
            assert_int_equal(taper_tensor_cast(&dst, &src, &rounding),
                             TAPER_BAD_OPTION);
    }
    assert_untouched();
}

/* ---- Fill ---- */

/* Checks that the `bytes` bytes at `at` are the only ones that have changed. */
static void assert_only(size_t at, const void *want, size_t bytes)
{
    memcpy(before + at, want, bytes);
    assert_untouched();
}

static void test_rank_0(void **state)
{
    static const unsigned char value[16] = {0xf1, 2,  3,  4,  5,  6,  7,  8,
                                            9,    10, 11, 12, 13, 14, 15, 16};
    (void)state;
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type), bytes = (bits + 7) / 8;
        unsigned char want[16];
        if (bits == 0)
            continue;
        memcpy(want, value, sizeof want);
        if (bits < 8)
            want[0] &= (unsigned char)((1u << bits) - 1);
        for (int how = 0; how < 3; how++) {
            /* neither shape nor strides have a number that could be looked at */
            const int64_t *const shape = how == 0 ? NULL : wild_pointer();
            const int64_t *const strides = how < 2 ? NULL : wild_pointer();
            reset();
            assert_int_equal(fill(tensor(memory + 33, type, 0, shape, strides), value),
                             TAPER_OK);
            assert_only(33, want, bytes);

            reset();
            memcpy(memory + 65, value, sizeof value);
            memcpy(before + 65, value, sizeof value);
            assert_int_equal(copy(tensor(memory + 33, type, 0, NULL, strides),
                                  tensor(memory + 65, type, 0, shape, NULL)),
                             TAPER_OK);
            assert_only(33, want, bytes);
        }
    }
    reset();
    const float one = 1;
    const uint16_t want = 0x3c00;
    assert_int_equal(cast(tensor(memory + 33, TAPER_F16, 0, NULL, NULL),
                          tensor((void *)&one, TAPER_F32, 0, NULL, NULL)),
                     TAPER_OK);
    assert_only(33, &want, sizeof want);
}

/* All 16 bytes of a complex number, at every count, contiguous and with gaps. */
static void test_complex(void **state)
{
    static const uint64_t value[2] = {UINT64_C(0x8000000000000000),
                                      UINT64_C(0x7ff0000000000001)};
    (void)state;
    for (int64_t n = 0; n <= 67; n++)
        for (int64_t stride = -3; stride <= 3; stride++) {
            if (stride == 0)
                continue;
            reset();
            unsigned char *const data = memory + (stride < 0 ? BYTES - 16 - 5 : 5);
            assert_int_equal(
                fill(tensor(data, TAPER_C128, 1, &n, stride == 1 ? NULL : &stride),
                     value),
                TAPER_OK);
            for (int64_t i = 0; i < n; i++)
                memcpy(before + (data - memory) + 16 * stride * i, value, 16);
            assert_untouched();
        }
}

/* 8-byte elements at every address. */
static void test_alignment(void **state)
{
    const uint64_t value = UINT64_C(0x0123456789abcdef);
    (void)state;
    for (size_t offset = 0; offset < 64; offset++) {
        reset();
        assert_int_equal(
            fill(tensor(memory + offset, TAPER_F64, SHAPE(3, 2), LIST(7, 2)), &value),
            TAPER_OK);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 2; j++)
                memcpy(before + offset + 8 * (7 * i + 2 * j), &value, 8);
        assert_untouched();
    }
}

/* The value is read before the first write. */
static void test_value_inside(void **state)
{
    (void)state;
    for (size_t at = 0; at < 40; at++) {
        uint32_t value;
        reset();
        memcpy(&value, memory + 100 + at, sizeof value);
        assert_int_equal(fill(tensor(memory + 100, TAPER_F32, SHAPE(3, 2), LIST(4, 2)),
                              memory + 100 + at),
                         TAPER_OK);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 2; j++)
                memcpy(before + 100 + 4 * (4 * i + 2 * j), &value, 4);
        assert_untouched();
    }
}

/* ---- Strides ---- */

static void test_strides(void **state)
{
    static const struct {
        taper_dtype type;
        int32_t rank;
        int64_t shape[4], strides[4];
        bool fine;
    } rows[] = {
        /* out of range */
        {TAPER_F32, 1, {2}, {INT64_MAX}, false},
        {TAPER_F32, 1, {2}, {INT64_MIN}, false},
        {TAPER_U8, 1, {2}, {INT64_MIN}, false},
        {TAPER_U8, 1, {3}, {INT64_MAX}, false},
        {TAPER_U8, 1, {3}, {P(62) + 1}, false},
        {TAPER_U8, 1, {3}, {-P(62) - 1}, false},
        {TAPER_F16, 1, {2}, {P(62)}, false},
        {TAPER_C128, 1, {2}, {P(60)}, false},
        {TAPER_C128, 1, {2}, {P(59)}, false},
        {TAPER_C128, 1, {P(30) + 1}, {P(30)}, false},
        {TAPER_U8, 2, {2, 2}, {INT64_MAX, INT64_MAX}, false},
        {TAPER_U8, 2, {2, 2}, {INT64_MIN, INT64_MIN}, false},
        {TAPER_U8, 2, {2, 2}, {INT64_MAX, INT64_MIN}, false},
        {TAPER_U8, 2, {2, 2}, {INT64_MAX, 1}, false},
        {TAPER_U8, 3, {2, 2, 2}, {P(62), P(61), P(62)}, false},
        {TAPER_U8, 1, {P(31) + 1}, {P(33)}, false},
        {TAPER_U8, 2, {1, 2}, {1, INT64_MIN}, false},
        /* ignored: dimensions of 1 */
        {TAPER_F32, 1, {1}, {INT64_MAX}, true},
        {TAPER_F32, 1, {1}, {INT64_MIN}, true},
        {TAPER_F32, 1, {1}, {0}, true},
        {TAPER_C128, 3, {1, 2, 1}, {INT64_MIN, 1, INT64_MAX}, true},
        {TAPER_U4, 3, {1, 3, 1}, {INT64_MIN, 1, INT64_MAX}, true},
        {TAPER_U4, 4, {2, 1, 3, 1}, {3, 0, 1, 0}, true},
        {TAPER_U2, 2, {1, 1}, {7, -5}, true},
        /* indices that mean the same element */
        {TAPER_F32, 1, {4}, {0}, false},
        {TAPER_F32, 2, {4, 2}, {2, 0}, false},
        {TAPER_F32, 2, {2, 4}, {0, 1}, false},
        {TAPER_F32, 2, {1, 4}, {0, 1}, true},
        {TAPER_F32, 2, {2, 3}, {2, 1}, false},
        {TAPER_F32, 2, {2, 3}, {3, 2}, true},
        {TAPER_F32, 2, {2, 3}, {3, 1}, true},
        {TAPER_F32, 2, {2, 3}, {1, 2}, true},
        {TAPER_F32, 2, {2, 2}, {1, 1}, false},
        {TAPER_F32, 2, {2, 2}, {1, -1}, false},
        {TAPER_F32, 2, {2, 2}, {3, -1}, true},
        {TAPER_F32, 2, {3, 3}, {2, 3}, true},
        {TAPER_F32, 2, {3, 3}, {-2, 3}, true},
        {TAPER_F32, 2, {4, 3}, {2, 3}, false},
        {TAPER_F32, 2, {4, 3}, {-2, 3}, false},
        {TAPER_F32, 2, {3, 3}, {1, 2}, false},
        {TAPER_F32, 2, {5, 7}, {7, 5}, true},
        {TAPER_F32, 2, {6, 7}, {7, 5}, true},
        {TAPER_F32, 2, {5, 8}, {7, 5}, true},
        {TAPER_F32, 2, {6, 8}, {7, 5}, false},
        {TAPER_F32, 2, {6, 8}, {7, -5}, false},
        {TAPER_F32, 3, {2, 2, 2}, {4, 2, 1}, true},
        {TAPER_F32, 3, {2, 2, 2}, {1, 4, 2}, true},
        {TAPER_F32, 3, {2, 2, 2}, {3, 2, 1}, false},
        {TAPER_F32, 3, {2, 2, 2}, {5, 3, 2}, false},
        {TAPER_F32, 3, {2, 2, 2}, {5, 4, 2}, true},
        {TAPER_F32, 3, {2, 2, 2}, {5, 5, 2}, false},
        {TAPER_U8, 4, {2, 2, 2, 2}, {11, 7, 5, 3}, true},
        {TAPER_U8, 4, {2, 2, 2, 2}, {15, 7, 5, 3}, false},
        {TAPER_U8, 4, {3, 2, 2, 2}, {20, 7, 5, 4}, true},
        /* packed types have to be contiguous */
        {TAPER_U4, 1, {4}, {1}, true},
        {TAPER_U4, 1, {4}, {2}, false},
        {TAPER_U4, 1, {4}, {-1}, false},
        {TAPER_I4, 1, {4}, {0}, false},
        {TAPER_I4, 2, {2, 4}, {4, 1}, true},
        {TAPER_I4, 2, {2, 4}, {5, 1}, false},
        {TAPER_U2, 2, {4, 4}, {8, 1}, false},
        {TAPER_U2, 2, {2, 2}, {1, 2}, false},
        {TAPER_I2, 2, {4, 1}, {1, 9}, true},
        {TAPER_F4E2M1, 2, {4, 2}, {1, 4}, false},
        {TAPER_F4E2M1, 2, {2, 2}, {-2, 1}, false},
        {TAPER_F4E2M1, 3, {2, 2, 2}, {2, 4, 1}, false},
    };
    static const unsigned char value[16] = {3, 1, 4, 1, 5, 9, 2, 6};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const taper_tensor t = tensor(memory + MIDDLE, rows[i].type, rows[i].rank,
                                      rows[i].shape, rows[i].strides);
        const taper_tensor other =
            tensor(memory + 64, rows[i].type, rows[i].rank, rows[i].shape, NULL);
        const taper_status want = rows[i].fine ? TAPER_OK : TAPER_BAD_STRIDE;
        reset();
        for (int op = 0; op < 3; op++) {
            const taper_status status = op == 0   ? taper_tensor_fill(&t, value)
                                        : op == 1 ? taper_tensor_copy(&t, &other)
                                                  : taper_tensor_copy(&t, &t);
            if (status != want)
                fail_msg("row %zu, op %d: status %d", i, op, (int)status);
            if (!rows[i].fine)
                assert_untouched();
        }
    }
}

/* What is wrong in a destination only is fine in a source, and the reverse. */
static void test_source_strides(void **state)
{
    static const struct {
        taper_dtype type;
        int32_t rank;
        int64_t shape[5], strides[5];
        bool fine;
    } rows[] = {
        {TAPER_F32, 1, {4}, {0}, true},
        {TAPER_F32, 2, {2, 3}, {0, 0}, true},
        {TAPER_F32, 2, {2, 3}, {2, 1}, true},
        {TAPER_F32, 2, {4, 4}, {1, 1}, true},
        {TAPER_F32, 2, {4, 4}, {1, -1}, true},
        {TAPER_F32, 1, {2}, {INT64_MAX}, false},
        {TAPER_F32, 1, {2}, {INT64_MIN}, false},
        {TAPER_U8, 1, {3}, {INT64_MAX}, false},
        {TAPER_U8, 2, {2, 2}, {INT64_MAX, INT64_MIN}, false},
        /* each in range, but not their sum */
        {TAPER_U8,
         5,
         {2, 2, 2, 2, 2},
         {P(61) - 9, P(61) - 9, P(61) - 9, P(61) - 9, P(61) - 9},
         false},
        {TAPER_F16, 1, {1}, {INT64_MIN}, true},
        {TAPER_U4, 1, {2}, {0}, false},
        {TAPER_U4, 1, {2}, {2}, false},
        {TAPER_U2, 1, {2}, {-1}, false},
        {TAPER_U2, 2, {1, 2}, {9, 1}, true},
        {TAPER_F4E2M1, 2, {2, 2}, {1, 2}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const taper_tensor src = tensor(memory + MIDDLE, rows[i].type, rows[i].rank,
                                        rows[i].shape, rows[i].strides);
        const taper_tensor dst =
            tensor(memory + 64, rows[i].type, rows[i].rank, rows[i].shape, NULL);
        reset();
        assert_int_equal(taper_tensor_copy(&dst, &src),
                         rows[i].fine ? TAPER_OK : TAPER_BAD_STRIDE);
        if (!rows[i].fine)
            assert_untouched();
    }
}

/* More dimensions than one could try: the answer comes soon, and it is no. */
static void test_contrived(void **state)
{
    enum { RANK = 60 };
    int64_t shape[RANK], strides[RANK], other[RANK];
    uint64_t seed = 5;
    (void)state;
    reset();
    for (int32_t rank = 20; rank <= RANK; rank++) {
        for (int k = 0; k < rank; k++) {
            shape[k] = 2;
            strides[k] = 1 + (int64_t)(next_random(&seed) >> (64 - 17));
            other[k] = P(rank - 1 - k);
        }
        assert_int_equal(fill(tensor(memory, TAPER_U8, rank, shape, strides), before),
                         TAPER_BAD_STRIDE);
        /* contiguous ones that meet, and the same with another order of strides */
        assert_int_equal(copy(tensor(memory, TAPER_U8, rank, shape, other),
                              tensor(memory + 1, TAPER_U8, rank, shape, NULL)),
                         TAPER_OVERLAP);
        assert_int_equal(copy(tensor(memory, TAPER_U8, rank, shape, NULL),
                              tensor(memory + 1, TAPER_U8, rank, shape, strides)),
                         TAPER_OVERLAP);
        other[0] = 1;
        other[rank - 1] = P(rank - 1);
        assert_int_equal(copy(tensor(memory, TAPER_U8, rank, shape, other),
                              tensor(memory, TAPER_U8, rank, shape, NULL)),
                         TAPER_OVERLAP);
    }
    assert_untouched();
}

/* No sum of these strides is 0, but to find that out takes more steps than there are
 * atoms here: what cannot be told is refused. */
static void test_too_hard(void **state)
{
    enum { RANK = 26 };
    int64_t shape[RANK], strides[RANK];
    uint64_t seed = 6;
    (void)state;
    for (int k = 0; k < RANK; k++) {
        shape[k] = 2;
        strides[k] = (int64_t)(next_random(&seed) >> (64 - 55)) | 1;
    }
    void *const wild = wild_pointer();
    assert_int_equal(fill(tensor(wild, TAPER_U8, RANK, shape, strides), before),
                     TAPER_BAD_STRIDE);
}

/* ---- Copies of one layout to another ---- */

static void test_layouts(void **state)
{
    static const struct {
        int32_t rank;
        int64_t shape[3];
        int dst;
        int64_t dst_strides[3];
        int src;
        int64_t src_strides[3];
        int n, want[8]; /* the elements at the front of dst, 99 where none is written */
    } rows[] = {
        /* reversed */
        {1, {8}, 0, {1}, 7, {-1}, 8, {7, 6, 5, 4, 3, 2, 1, 0}},
        {1, {8}, 7, {-1}, 0, {1}, 8, {7, 6, 5, 4, 3, 2, 1, 0}},
        {1, {8}, 7, {-1}, 7, {-1}, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
        {2, {2, 3}, 0, {3, 1}, 5, {-3, -1}, 7, {5, 4, 3, 2, 1, 0, 99}},
        {2, {2, 3}, 3, {-3, 1}, 2, {3, -1}, 7, {5, 4, 3, 2, 1, 0, 99}},
        /* transposed */
        {2, {3, 2}, 0, {2, 1}, 0, {1, 3}, 7, {0, 3, 1, 4, 2, 5, 99}},
        {2, {2, 3}, 0, {1, 2}, 0, {3, 1}, 7, {0, 3, 1, 4, 2, 5, 99}},
        {2, {2, 3}, 0, {1, 2}, 0, {1, 2}, 7, {0, 1, 2, 3, 4, 5, 99}},
        {3, {2, 2, 2}, 0, {4, 2, 1}, 0, {1, 2, 4}, 8, {0, 4, 2, 6, 1, 5, 3, 7}},
        {3, {2, 2, 2}, 0, {4, 2, 1}, 0, {2, 4, 1}, 8, {0, 1, 4, 5, 2, 3, 6, 7}},
        /* steps */
        {1, {4}, 0, {1}, 0, {2}, 5, {0, 2, 4, 6, 99}},
        {1, {4}, 0, {2}, 0, {1}, 8, {0, 99, 1, 99, 2, 99, 3, 99}},
        {1, {3}, 1, {3}, 5, {-2}, 8, {99, 5, 99, 99, 3, 99, 99, 1}},
        {2, {2, 2}, 0, {4, 1}, 1, {3, 2}, 7, {1, 3, 99, 99, 4, 6, 99}},
        /* broadcast */
        {1, {4}, 0, {1}, 3, {0}, 5, {3, 3, 3, 3, 99}},
        {2, {2, 3}, 0, {3, 1}, 0, {0, 1}, 7, {0, 1, 2, 0, 1, 2, 99}},
        {2, {2, 3}, 0, {3, 1}, 0, {1, 0}, 7, {0, 0, 0, 1, 1, 1, 99}},
        {2, {3, 2}, 0, {2, 1}, 6, {0, 0}, 7, {6, 6, 6, 6, 6, 6, 99}},
        /* windows of a source */
        {2, {3, 2}, 0, {2, 1}, 0, {1, 1}, 7, {0, 1, 1, 2, 2, 3, 99}},
    };
    static const taper_dtype types[] = {TAPER_U8, TAPER_F16, TAPER_F32, TAPER_I64,
                                        TAPER_C128};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            const size_t size = taper_dtype_bits(types[j]) / 8;
            unsigned char src[8 * 16], dst[8 * 16], want[8 * 16];
            memset(dst, 99, sizeof dst);
            memset(want, 99, sizeof want);
            for (size_t k = 0; k < 8; k++)
                memset(src + k * size, (int)k, size);
            for (size_t k = 0; k < (size_t)rows[i].n; k++)
                memset(want + k * size, rows[i].want[k], size);
            assert_int_equal(
                copy(tensor(dst + (size_t)rows[i].dst * size, types[j], rows[i].rank,
                            rows[i].shape, rows[i].dst_strides),
                     tensor(src + (size_t)rows[i].src * size, types[j], rows[i].rank,
                            rows[i].shape, rows[i].src_strides)),
                TAPER_OK);
            if (memcmp(dst, want, sizeof want) != 0)
                fail_msg("row %zu, %s", i, taper_dtype_name(types[j]));
        }
}

/* {4, 32} and {32, 4} with tight strides, in all four pairs of orders. */
static void test_tight(void **state)
{
    (void)state;
    for (int number = TAPER_F32; number <= TAPER_I2; number++)
        for (int way = 0; way < 8; way++) {
            const taper_dtype type = (taper_dtype)number;
            const size_t size = taper_dtype_bits(type) / 8;
            const int64_t rows = way & 1 ? 4 : 32, columns = 128 / rows;
            const int64_t dst_rows = way & 2 ? columns : 1;
            const int64_t dst_columns = way & 2 ? 1 : rows;
            const int64_t src_rows = way & 4 ? columns : 1;
            const int64_t src_columns = way & 4 ? 1 : rows;
            const size_t at = 16 + (size_t)way, from = MIDDLE + 8 - (size_t)way;
            if (size == 0 || 128 * size > MIDDLE - 64)
                continue;
            reset();
            assert_int_equal(copy(tensor(memory + at, type, SHAPE(rows, columns),
                                         LIST(dst_rows, dst_columns)),
                                  tensor(memory + from, type, SHAPE(rows, columns),
                                         LIST(src_rows, src_columns))),
                             TAPER_OK);
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < columns; j++)
                    memcpy(
                        before + at + (size_t)(i * dst_rows + j * dst_columns) * size,
                        memory + from + (size_t)(i * src_rows + j * src_columns) * size,
                        size);
            assert_untouched();
        }
}

/* Ranks far above what fits in a fixed array, most dimensions being 1. */
static void test_ranks(void **state)
{
    enum { MOST = 1000 };
    static const int32_t ranks[] = {3, 31, 32, 33, 34, 63, 64, 65, 100, 128, 257, MOST};
    static int64_t shape[MOST], dst_strides[MOST], src_strides[MOST];
    (void)state;
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        for (int where = 0; where < 3; where++) {
            const int32_t rank = ranks[r];
            const int32_t k[3] = {where == 1 ? rank - 3 : 0,
                                  where == 0   ? 1
                                  : where == 1 ? rank - 2
                                               : rank / 2,
                                  where == 0 ? 2 : rank - 1};
            for (int32_t i = 0; i < rank; i++) {
                shape[i] = 1;
                dst_strides[i] = i % 2 ? INT64_MIN : 0;
                src_strides[i] = i % 3 ? INT64_MAX : -7;
            }
            for (int i = 0; i < 3; i++) {
                static const int64_t dims[3] = {3, 4, 5};
                static const int64_t to[3] = {20, 5, 1}, from[3] = {1, -3, 12};
                shape[k[i]] = dims[i];
                dst_strides[k[i]] = to[i];
                src_strides[k[i]] = from[i];
            }
            for (int how = 0; how < 2; how++) {
                const int64_t *const strides = how == 0 ? dst_strides : NULL;
                uint16_t want[60];
                reset();
                for (int i = 0; i < 60; i++)
                    memcpy(&want[i],
                           memory + MIDDLE +
                               2 * (i / 20 - 3 * (i / 5 % 4) + 12 * (i % 5)),
                           2);
                assert_int_equal(
                    copy(tensor(memory + 7, TAPER_F16, rank, shape, strides),
                         tensor(memory + MIDDLE, TAPER_F16, rank, shape, src_strides)),
                    TAPER_OK);
                assert_only(7, want, sizeof want);

                assert_int_equal(
                    fill(tensor(memory + 7, TAPER_F16, rank, shape, strides), want),
                    TAPER_OK);
                for (int i = 1; i < 60; i++)
                    want[i] = want[0];
                assert_only(7, want, sizeof want);

                unsigned char packed[30], bytes[60];
                for (int i = 0; i < 60; i++)
                    bytes[i] = 0x38; /* 1 in float8e4m3fn, 2 in float4e2m1 */
                memset(packed, 0x22, sizeof packed);
                assert_int_equal(
                    cast(tensor(memory + 7, TAPER_F4E2M1, rank, shape, strides),
                         tensor(bytes, TAPER_F8E4M3FN, rank, shape, NULL)),
                    TAPER_OK);
                assert_only(7, packed, sizeof packed);
            }
        }
}

/* Every dimension is 2 and no two of them merge. */
static void test_bit_reversal(void **state)
{
    enum { RANK = 16, N = 1 << RANK };
    static const taper_dtype types[] = {TAPER_U8, TAPER_U16, TAPER_F32, TAPER_F64,
                                        TAPER_C128};
    static unsigned char src[16 * N], dst[16 * N];
    int64_t shape[RANK], strides[RANK];
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < RANK; k++) {
        shape[k] = 2;
        strides[k] = P(k);
    }
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (unsigned char)next_random(&seed);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const size_t size = taper_dtype_bits(types[t]) / 8;
        memset(dst, 0, sizeof dst);
        assert_int_equal(copy(tensor(dst, types[t], RANK, shape, NULL),
                              tensor(src, types[t], RANK, shape, strides)),
                         TAPER_OK);
        for (size_t i = 0; i < N; i++) {
            size_t reversed = 0;
            for (int k = 0; k < RANK; k++)
                reversed |= (i >> k & 1) << (RANK - 1 - k);
            if (memcmp(dst + i * size, src + reversed * size, size) != 0)
                fail_msg("%s: element %zu", taper_dtype_name(types[t]), i);
        }
    }
}

/* ---- Overlap ---- */

static void test_overlap(void **state)
{
    static const struct {
        taper_dtype type;
        int32_t rank;
        int64_t shape[3];
        int dst;
        int64_t dst_strides[3];
        int src; /* dst and src in bytes */
        int64_t src_strides[3];
        bool fine;
    } rows[] = {
        /* contiguous: shifted, adjacent, the same */
        {TAPER_F64, 1, {3}, 8, {1}, 0, {1}, false},
        {TAPER_F64, 1, {3}, 0, {1}, 8, {1}, false},
        {TAPER_F64, 1, {3}, 23, {1}, 0, {1}, false},
        {TAPER_F64, 1, {3}, 0, {1}, 23, {1}, false},
        {TAPER_F64, 1, {3}, 24, {1}, 0, {1}, true},
        {TAPER_F64, 1, {3}, 0, {1}, 24, {1}, true},
        {TAPER_F64, 1, {3}, 0, {1}, 0, {1}, true},
        {TAPER_F64, 1, {3}, 1, {1}, 0, {1}, false},
        /* even and odd columns, rows, halves of one matrix of 8 x 8 */
        {TAPER_F32, 2, {8, 4}, 0, {8, 2}, 4, {8, 2}, true},
        {TAPER_F32, 2, {8, 4}, 4, {8, 2}, 0, {8, 2}, true},
        {TAPER_F32, 2, {4, 8}, 0, {16, 1}, 32, {16, 1}, true},
        {TAPER_F32, 2, {8, 4}, 0, {8, 1}, 16, {8, 1}, true},
        {TAPER_F32, 2, {8, 5}, 0, {8, 1}, 12, {8, 1}, false},
        {TAPER_F32, 2, {8, 4}, 0, {8, 2}, 3, {8, 2}, false},
        {TAPER_F32, 2, {8, 4}, 0, {8, 2}, 8, {8, 2}, false},
        {TAPER_F32, 2, {4, 4}, 0, {16, 2}, 36, {16, 2}, true},
        {TAPER_F32, 2, {4, 4}, 0, {16, 2}, 28, {16, 2}, true},
        {TAPER_F32, 2, {4, 4}, 0, {16, 2}, 64, {16, 2}, false},
        /* rows to columns: they cross, or they do not */
        {TAPER_F32, 1, {4}, 0, {1}, 0, {8}, false},
        {TAPER_F32, 1, {4}, 0, {1}, 32, {8}, true},
        {TAPER_F32, 1, {4}, 32, {1}, 4, {8}, false},
        {TAPER_F32, 1, {4}, 32, {1}, 16, {8}, true},
        {TAPER_F32, 1, {4}, 4, {9}, 0, {9}, true},
        {TAPER_F32, 1, {4}, 4, {8}, 0, {9}, false},
        {TAPER_F32, 1, {4}, 8, {8}, 28, {7}, true},
        /* onto itself in another order */
        {TAPER_F32, 2, {3, 3}, 0, {3, 1}, 0, {1, 3}, false},
        {TAPER_F32, 2, {2, 2}, 0, {2, 1}, 0, {1, 2}, false},
        {TAPER_F32, 1, {4}, 0, {1}, 12, {-1}, false},
        {TAPER_F32, 1, {4}, 12, {-1}, 0, {1}, false},
        {TAPER_F32, 1, {4}, 12, {-1}, 12, {-1}, true},
        {TAPER_F32, 1, {4}, 12, {-1}, 8, {-1}, false},
        {TAPER_F32, 1, {4}, 12, {-1}, 28, {-1}, true},
        {TAPER_F32, 2, {3, 3}, 0, {1, 3}, 0, {1, 3}, true},
        {TAPER_F32, 2, {3, 3}, 0, {9, 2}, 0, {9, 2}, true},
        {TAPER_F32, 3, {3, 1, 3}, 0, {9, 1, 2}, 0, {9, 5, 2}, true},
        {TAPER_F32, 1, {1}, 0, {1}, 0, {7}, true},
        {TAPER_F32, 1, {1}, 0, {1}, 1, {1}, false},
        {TAPER_F32, 1, {1}, 0, {1}, 4, {1}, true},
        /* elements that lie across */
        {TAPER_U16, 1, {3}, 0, {2}, 1, {2}, false},
        {TAPER_U16, 1, {3}, 0, {2}, 2, {2}, true},
        {TAPER_U16, 1, {3}, 0, {2}, 3, {2}, false},
        {TAPER_C128, 1, {3}, 0, {2}, 15, {2}, false},
        {TAPER_C128, 1, {3}, 0, {2}, 16, {2}, true},
        {TAPER_C128, 1, {3}, 0, {2}, 17, {2}, false},
        /* a broadcast source in a gap of the destination, and not */
        {TAPER_F32, 2, {2, 3}, 0, {6, 2}, 4, {0, 0}, true},
        {TAPER_F32, 2, {2, 3}, 0, {6, 2}, 8, {0, 0}, false},
        {TAPER_F32, 2, {2, 3}, 0, {6, 2}, 5, {0, 0}, false},
        {TAPER_F32, 2, {2, 3}, 0, {6, 2}, 4, {0, 2}, true},
        {TAPER_F32, 2, {2, 3}, 0, {6, 2}, 4, {0, 1}, false},
        /* ranges that meet: 6 i + 10 j, and odd numbers, or 16 = 1 + 15 */
        {TAPER_U8, 2, {4, 3}, 0, {6, 10}, 1, {14, 0}, true},
        {TAPER_U8, 2, {4, 3}, 0, {6, 10}, 1, {15, 30}, false},
        {TAPER_U8, 2, {3, 3}, 0, {6, 10}, 3, {4, 2}, true},
        {TAPER_U8, 2, {3, 3}, 0, {6, 10}, 4, {4, 2}, false},
        /* an element below address 0 does not hide the others */
        {TAPER_U8, 2, {2, 3}, 0, {-PTRDIFF_MAX / 8, 1}, 2, {3, 1}, false},
        {TAPER_U8, 2, {2, 3}, 0, {3, 1}, 5, {-PTRDIFF_MAX / 8, 1}, false},
        {TAPER_U8,
         2,
         {2, 3},
         0,
         {-PTRDIFF_MAX / 8, 1},
         2,
         {-PTRDIFF_MAX / 8, 1},
         false},
        /* packed: whole bytes count */
        {TAPER_U4, 1, {3}, 0, {1}, 1, {1}, false},
        {TAPER_U4, 1, {3}, 0, {1}, 2, {1}, true},
        {TAPER_U4, 1, {3}, 0, {1}, 0, {1}, true},
        {TAPER_U2, 1, {9}, 2, {1}, 0, {1}, false},
        {TAPER_U2, 1, {9}, 3, {1}, 0, {1}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reset();
        const taper_status status =
            copy(tensor(memory + MIDDLE + rows[i].dst, rows[i].type, rows[i].rank,
                        rows[i].shape, rows[i].dst_strides),
                 tensor(memory + MIDDLE + rows[i].src, rows[i].type, rows[i].rank,
                        rows[i].shape, rows[i].src_strides));
        if (status != (rows[i].fine ? TAPER_OK : TAPER_OVERLAP))
            fail_msg("row %zu: status %d", i, (int)status);
        if (!rows[i].fine)
            assert_untouched();
    }
}

/* Onto itself nothing changes, but for the tail bits of a packed type. */
static void test_onto_itself(void **state)
{
    (void)state;
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0)
            continue;
        const taper_tensor whole = tensor(memory + 3, type, SHAPE(3, 1, 3), NULL);
        const taper_tensor same =
            tensor(memory + 3, type, SHAPE(3, 1, 3), LIST(3, -9, 1));
        const taper_tensor gaps =
            tensor(memory + MIDDLE, type, SHAPE(3, 1, 3), LIST(-9, 4, 2));
        reset();
        if (bits < 8) {
            const size_t last = 3 + 9 * bits / 8;
            before[last] &= (unsigned char)((1u << 9 * bits % 8) - 1);
        } else {
            assert_int_equal(copy(gaps, gaps), TAPER_OK);
        }
        assert_int_equal(copy(whole, same), TAPER_OK);
        assert_untouched();
        assert_int_equal(copy(same, whole), TAPER_OK);
        assert_untouched();
        if (oracle_bits(type) != 0) { /* between equal types a cast is a copy */
            assert_int_equal(cast(same, whole), TAPER_OK);
            if (bits >= 8)
                assert_int_equal(cast(gaps, gaps), TAPER_OK);
            assert_untouched();
        }
    }
}

/* Views of a large matrix, where trying each element would take long. */
static void test_large_views(void **state)
{
    enum { N = 1024 };
    uint16_t *const m = malloc(N * N * sizeof *m);
    (void)state;
    assert_non_null(m);
    for (size_t way = 0; way < 6; way++) {
        for (size_t i = 0; i < (size_t)N * N; i++)
            m[i] = (uint16_t)(i * 40503 >> 3);
        const int64_t half = N / 2, third = N / 3;
        const taper_tensor pairs[6][2] = {
            /* even and odd columns; halves; rows; thirds of columns */
            {tensor(m, TAPER_F16, SHAPE(N, half), LIST(N, 2)),
             tensor(m + 1, TAPER_F16, SHAPE(N, half), LIST(N, 2))},
            {tensor(m + half, TAPER_F16, SHAPE(N, half), LIST(N, 1)),
             tensor(m, TAPER_F16, SHAPE(N, half), LIST(N, 1))},
            {tensor(m + N, TAPER_F16, SHAPE(half, N), LIST(2 * N, 1)),
             tensor(m, TAPER_F16, SHAPE(half, N), LIST(2 * N, 1))},
            {tensor(m + 2, TAPER_F16, SHAPE(N, third), LIST(N, 3)),
             tensor(m, TAPER_F16, SHAPE(N, third), LIST(N, 3))},
            /* a quarter to another, transposed and reversed */
            {tensor(m + half, TAPER_F16, SHAPE(half, half), LIST(N, 1)),
             tensor(m + half * N, TAPER_F16, SHAPE(half, half), LIST(1, N))},
            {tensor(m + half * N + half - 1, TAPER_F16, SHAPE(half, half), LIST(N, -1)),
             tensor(m + half, TAPER_F16, SHAPE(half, half), LIST(N, 1))},
        };
        const taper_tensor dst = pairs[way][0], src = pairs[way][1];
        assert_int_equal(copy(dst, src), TAPER_OK);
        /* no source has changed, and each destination is its source */
        for (int64_t i = 0; i < dst.shape[0]; i++)
            for (int64_t j = 0; j < dst.shape[1]; j++) {
                const uint16_t *const from = (const uint16_t *)src.data +
                                             i * src.strides[0] + j * src.strides[1];
                const uint16_t *const to = (const uint16_t *)dst.data +
                                           i * dst.strides[0] + j * dst.strides[1];
                if (*from != (uint16_t)((size_t)(from - m) * 40503 >> 3) ||
                    *to != *from)
                    fail_msg("pair %zu, element %d, %d", way, (int)i, (int)j);
            }
        /* one element to the side they meet */
        taper_tensor moved = src;
        moved.data = (uint16_t *)dst.data + 1 - 2 * (way == 5);
        assert_int_equal(copy(dst, moved),
                         way == 0 || way == 3 ? TAPER_OK : TAPER_OVERLAP);
    }
    free(m);
}

/* Every kernel that turns matrices, about its tiles and with edges beside them. */
/* With rows of whole cache lines where streaming stores are asked for, which begin with
 * the first of them. */
static void test_turned(void **state)
{
    static const size_t sides[] = {1, 5, 32, 63, 64, 67, 130};
    enum { SIDES = sizeof sides / sizeof *sides, MOST = 130 * 137 * 16, PLACES = 5 };
    static unsigned char src[MOST];
    static _Alignas(64) unsigned char room[MOST + 64];
    const struct taper_kernels *table;
    uint64_t seed = 13;
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        src[i] = (unsigned char)next_random(&seed);
    for (size_t t = 0; (table = taper_usable(t)) != NULL; t++)
        for (size_t way = 0; way < (size_t)5 * SIDES * SIDES * 2 * PLACES; way++) {
            const size_t size = (size_t)1 << way % 5, rows = sides[way / 5 % SIDES];
            const size_t columns = sides[way / 5 / SIDES % SIDES];
            const bool stream = way / 5 / SIDES / SIDES % 2 != 0;
            const size_t place = way / 5 / SIDES / SIDES / 2;
            const size_t tight = (columns + 4) * size, from = (rows + 3) * size;
            /* whole lines to stream to; rows that are not; elements that are not */
            const size_t to =
                !stream ? tight : (tight + 63) / 64 * 64 + (place == 3 ? size : 0);
            unsigned char *const dst = room + (place == 4 ? 1 : place % 3 * size);
            memset(room, 0xa5, sizeof room);
            table->transpose[way % 5](dst, (ptrdiff_t)to, src, (ptrdiff_t)from, rows,
                                      columns, stream);
            for (size_t i = 0; i < rows; i++) {
                for (size_t j = 0; j < columns; j++)
                    if (memcmp(dst + i * to + j * size, src + j * from + i * size,
                               size) != 0)
                        fail_msg("%s: %zu by %zu of %zu bytes: row %zu, column %zu",
                                 table->name, rows, columns, size, i, j);
                for (size_t at = columns * size; at < to; at++)
                    assert_int_equal(dst[i * to + at], 0xa5);
            }
        }
}

/* Rows long enough for streaming stores, which are asked for, and gaps between them. */
static void test_streamed_rows(void **state)
{
    enum { ROWS = 3, COLUMNS = 5000, TO = COLUMNS + 75, FROM = COLUMNS + 130 };
    static uint32_t src[ROWS * FROM], copied[ROWS * TO];
    static uint16_t halves[ROWS * TO];
    static const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
    uint64_t seed = 12;
    (void)state;
    for (size_t i = 0; i < ROWS * FROM; i++)
        src[i] = (uint32_t)random_element(TAPER_F32, &seed);
    assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_BYTES, 1), TAPER_OK);
    for (size_t isa = 0; taper_isa_name(isa) != NULL; isa++) {
        assert_int_equal(taper_use_isa(taper_isa_name(isa)), TAPER_OK);
        memset(copied, 0xa5, sizeof copied);
        memset(halves, 0xa5, sizeof halves);
        const taper_tensor from =
            tensor(src, TAPER_F32, SHAPE(ROWS, COLUMNS), LIST(FROM, 1));
        assert_int_equal(
            copy(tensor(copied, TAPER_F32, SHAPE(ROWS, COLUMNS), LIST(TO, 1)), from),
            TAPER_OK);
        assert_int_equal(
            cast(tensor(halves, TAPER_F16, SHAPE(ROWS, COLUMNS), LIST(TO, 1)), from),
            TAPER_OK);
        for (size_t i = 0; i < ROWS * TO; i++) {
            const bool inside = i % TO < COLUMNS;
            const uint32_t x = src[i / TO * FROM + i % TO];
            const uint64_t half = oracle_cast(TAPER_F16, TAPER_F32, x, options);
            if (copied[i] != (inside ? x : 0xa5a5a5a5) ||
                halves[i] != (inside ? half : 0xa5a5))
                fail_msg("%s, element %zu", taper_isa(), i);
        }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_BYTES, 0), TAPER_OK);
}

/* How far apart elements may lie; onto itself a tensor is copied without a look at it.
 */
static void test_span(void **state)
{
    static const taper_dtype types[] = {TAPER_U8, TAPER_F16, TAPER_F32, TAPER_F64,
                                        TAPER_C128};
    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (int64_t sign = -1; sign <= 1; sign += 2) {
            /* elements, from the first to the last */
            const int64_t most =
                PTRDIFF_MAX / 4 / ((int64_t)taper_dtype_bits(types[k]) / 8);
            const int64_t shape[] = {2, 2}, three[] = {3};
            int64_t strides[] = {sign * (most - 2), 1},
                    middle = sign * ((most - 1) / 2);
            taper_tensor t = tensor(wild_pointer(), types[k], 2, shape, strides);
            assert_int_equal(copy(t, t), TAPER_OK);
            strides[0] += sign;
            assert_int_equal(copy(t, t), TAPER_BAD_STRIDE);
            strides[1] = 0;
            t = tensor(wild_pointer(), types[k], 1, three, &middle);
            assert_int_equal(copy(t, t), TAPER_OK);
            middle += sign;
            assert_int_equal(copy(t, t), TAPER_BAD_STRIDE);
        }
}

/* One dimension is enough to need a shape. */
static void test_no_shape(void **state)
{
    static const int64_t shape[] = {1};
    uint32_t data[2] = {0};
    size_t bytes;
    (void)state;
    for (int32_t rank = 1; rank < 3; rank++) {
        const taper_tensor lacks = tensor(data, TAPER_U32, rank, NULL, NULL);
        const taper_tensor has = tensor(data + 1, TAPER_U32, 1, shape, NULL);
        assert_int_equal(taper_tensor_bytes(&lacks, &bytes), TAPER_NULL);
        assert_int_equal(taper_tensor_fill(&lacks, data), TAPER_NULL);
        assert_int_equal(copy(lacks, has), TAPER_NULL);
        assert_int_equal(copy(has, lacks), TAPER_NULL);
        assert_int_equal(cast(lacks, has), TAPER_NULL);
        assert_int_equal(cast(has, lacks), TAPER_NULL);
    }
}

/* Dimensions that are one in memory, in whatever order, are walked as one. */
static void test_merged(void **state)
{
    static const struct {
        int64_t shape[4], dst[4], src[4];
        int rank;
        struct taper_dim dim[2];
    } rows[] = {
        {{2, 3, 1, 4}, {12, 4, 77, 1}, {12, 4, 0, 1}, 1, {{24, 2, 2}}},
        {{2, 3, 1, 4}, {1, 2, -5, 6}, {1, 2, 9, 6}, 1, {{24, 2, 2}}},
        {{2, 3, 1, 4}, {-12, -4, 0, -1}, {-12, -4, 0, -1}, 1, {{24, 2, 2}}},
        {{2, 3, 1, 4}, {12, 4, 0, 1}, {0, 0, 0, 0}, 1, {{24, 2, 0}}},
        {{2, 3, 1, 4}, {24, 8, 0, 2}, {12, 4, 0, 1}, 1, {{24, 4, 2}}},
        {{2, 3, 1, 4}, {30, 10, 0, 1}, {15, 5, 0, 1}, 2, {{6, 20, 10}, {4, 2, 2}}},
        {{2, 3, 1, 4}, {20, 4, 0, 1}, {50, 4, 0, 1}, 2, {{2, 40, 100}, {12, 2, 2}}},
        {{2, 3, 1, 4}, {12, 4, 0, 1}, {24, 4, 0, 1}, 2, {{2, 24, 48}, {12, 2, 2}}},
        {{1, 1, 1, 1}, {12, 4, 0, 1}, {24, 4, 0, 1}, 0, {{0, 0, 0}}},
    };
    uint16_t dst[100], src[200];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const taper_tensor to =
            tensor(dst + 50, TAPER_F16, 4, rows[i].shape, rows[i].dst);
        const taper_tensor from =
            tensor(src + 50, TAPER_F16, 4, rows[i].shape, rows[i].src);
        struct taper_layout layout;
        taper_lay_out(&layout, &to, &from);
        assert_int_equal(layout.rank, rows[i].rank);
        for (int k = 0; k < layout.rank; k++) {
            assert_int_equal(layout.dim[k].n, rows[i].dim[k].n);
            assert_int_equal(layout.dim[k].dst, rows[i].dim[k].dst);
            assert_int_equal(layout.dim[k].src, rows[i].dim[k].src);
        }
        const ptrdiff_t first = rows[i].dst[0] < 0 ? -23 : 0; /* in elements */
        assert_ptr_equal(layout.dst, (char *)(dst + 50 + first));
        assert_ptr_equal(layout.src, (const char *)(src + 50 + first));
    }
}

/* As many dimensions of 2 as an address space has room for. */
static void test_many_dimensions(void **state)
{
    enum { RANK = 60 };
    int64_t shape[RANK], rising[RANK], falling[RANK];
    (void)state;
    for (int k = 0; k < RANK; k++) {
        shape[k] = 2;
        rising[k] = INT64_C(1) << k;
        falling[k] = INT64_C(1) << (RANK - 1 - k);
    }
    unsigned char *const data = wild_pointer();
    taper_tensor dst = tensor(data, TAPER_U8, RANK, shape, rising);
    taper_tensor src = tensor(data + 5, TAPER_U8, RANK, shape, NULL);
    assert_int_equal(copy(dst, dst), TAPER_OK);
    assert_int_equal(copy(dst, src), TAPER_OVERLAP);
    src.strides = falling;
    assert_int_equal(copy(dst, src), TAPER_OVERLAP);
    rising[RANK - 1] = INT64_C(1) << (RANK - 2);
    assert_int_equal(copy(dst, dst), TAPER_BAD_STRIDE);
}

/* With the same data, but one element over and over: not the same tensor. */
static void test_broadcast_onto_itself(void **state)
{
    static const int64_t shape[] = {4}, none[] = {0};
    uint32_t data[4] = {1, 2, 3, 4};
    (void)state;
    assert_int_equal(copy(tensor(data, TAPER_U32, 1, shape, NULL),
                          tensor(data, TAPER_U32, 1, shape, none)),
                     TAPER_OVERLAP);
    assert_int_equal(data[3], 4);
}

/* ---- Casts ---- */

static void test_cast_overlap(void **state)
{
    static const struct {
        taper_dtype to, from;
        int dst;
        int64_t dst_strides[2];
        int src;
        int64_t src_strides[2];
        bool fine;
    } rows[] = {
        /* shape {2, 3} */
        /* in place as taper_cast() has it */
        {TAPER_F16, TAPER_F32, 0, {3, 1}, 0, {3, 1}, true},
        {TAPER_BF16, TAPER_F16, 0, {3, 1}, 0, {3, 1}, true},
        {TAPER_F8E4M3FN, TAPER_F64, 0, {3, 1}, 0, {3, 1}, true},
        {TAPER_F4E2M1, TAPER_F32, 0, {3, 1}, 0, {3, 1}, true},
        {TAPER_F32, TAPER_F16, 0, {3, 1}, 0, {3, 1}, false},
        {TAPER_F16, TAPER_F8E5M2, 0, {3, 1}, 0, {3, 1}, false},
        {TAPER_F8E5M2, TAPER_F4E2M1, 0, {3, 1}, 0, {3, 1}, false},
        {TAPER_F16, TAPER_F32, 1, {3, 1}, 0, {3, 1}, false},
        {TAPER_F16, TAPER_F32, 12, {3, 1}, 0, {3, 1}, false},
        {TAPER_F16, TAPER_F32, 23, {3, 1}, 0, {3, 1}, false},
        {TAPER_F16, TAPER_F32, 24, {3, 1}, 0, {3, 1}, true},
        {TAPER_F16, TAPER_F32, 0, {3, 1}, 12, {3, 1}, true},
        {TAPER_F16, TAPER_F32, 0, {3, 1}, 11, {3, 1}, false},
        {TAPER_F4E2M1, TAPER_F32, 0, {3, 1}, 2, {3, 1}, false},
        {TAPER_F4E2M1, TAPER_F32, 0, {3, 1}, 3, {3, 1}, true},
        /* with gaps, or in another order, the same data is too much */
        {TAPER_F16, TAPER_F32, 0, {6, 2}, 0, {3, 1}, false},
        {TAPER_F16, TAPER_F32, 0, {6, 2}, 0, {6, 2}, false},
        {TAPER_F16, TAPER_F32, 0, {3, 1}, 0, {6, 2}, false},
        {TAPER_F16, TAPER_F32, 0, {1, 2}, 0, {3, 1}, false},
        {TAPER_F32, TAPER_F32, 0, {1, 2}, 0, {3, 1}, false},
        {TAPER_F32, TAPER_F32, 0, {1, 2}, 0, {1, 2}, true},
        /* the halves and the gaps of wider elements */
        {TAPER_F32, TAPER_F64, 8, {12, 4}, 0, {6, 2}, true},
        {TAPER_F32, TAPER_F64, 12, {12, 4}, 0, {6, 2}, true},
        {TAPER_F32, TAPER_F64, 5, {12, 4}, 0, {6, 2}, false},
        {TAPER_F32, TAPER_F64, 13, {12, 4}, 0, {6, 2}, false},
        {TAPER_F64, TAPER_F16, 0, {6, 2}, 8, {24, 8}, true},
        {TAPER_F64, TAPER_F16, 0, {6, 2}, 14, {24, 8}, true},
        {TAPER_F64, TAPER_F16, 0, {6, 2}, 7, {24, 8}, false},
        {TAPER_F64, TAPER_F16, 0, {6, 2}, 15, {24, 8}, false},
        {TAPER_F64, TAPER_F16, 0, {6, 2}, 8, {0, 0}, true},
        {TAPER_F64, TAPER_F16, 0, {6, 2}, 6, {0, 0}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned to_bits = oracle_bits(rows[i].to);
        const unsigned from_bits = oracle_bits(rows[i].from);
        const taper_tensor dst = tensor(memory + 64 + rows[i].dst, rows[i].to,
                                        SHAPE(2, 3), rows[i].dst_strides);
        const taper_tensor src = tensor(memory + 64 + rows[i].src, rows[i].from,
                                        SHAPE(2, 3), rows[i].src_strides);
        uint64_t want[6];
        reset();
        for (size_t k = 0; k < 6; k++) {
            const int64_t at = (int64_t)(k / 3) * rows[i].src_strides[0] +
                               (int64_t)(k % 3) * rows[i].src_strides[1];
            want[k] = oracle_cast(rows[i].to, rows[i].from,
                                  get_element(src.data, from_bits, (size_t)at),
                                  (taper_cast_options){TAPER_SATURATE, TAPER_ROUND_UP});
        }
        const taper_status status = cast(dst, src);
        if (status != (rows[i].fine ? TAPER_OK : TAPER_OVERLAP))
            fail_msg("row %zu: status %d", i, (int)status);
        for (size_t k = 0; k < 6 && rows[i].fine; k++) {
            const int64_t at = (int64_t)(k / 3) * rows[i].dst_strides[0] +
                               (int64_t)(k % 3) * rows[i].dst_strides[1];
            if (get_element(dst.data, to_bits, (size_t)at) != want[k])
                fail_msg("row %zu: element %zu", i, k);
        }
        if (!rows[i].fine)
            assert_untouched();
    }
}

/* The low nibble is the first element; the last half byte is written, the next byte is
 * not; and the source may have any layout. */
static void test_cast_packed(void **state)
{
    static const float one[] = {6.0f};
    static const float three[] = {1.0f, -0.5f, 3.0f};
    static const float turned[] = {3.0f, -0.5f, 1.0f};
    static const float gaps[] = {1.0f, 9, -0.5f, 9, 3.0f};
    static const struct {
        const float *src;
        int64_t n, stride;
        unsigned char want[2];
    } rows[] = {
        {one, 1, 1, {0x07, 0xff}},   {one, 1, INT64_MIN, {0x07, 0xff}},
        {three, 3, 1, {0x92, 0x05}}, {turned + 2, 3, -1, {0x92, 0x05}},
        {gaps, 3, 2, {0x92, 0x05}},  {three + 2, 3, 0, {0x55, 0x05}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int how = 0; how < 2; how++) {
            const int64_t step = 1;
            unsigned char dst[3] = {0xff, 0xff, 0xff};
            float back[3];
            assert_int_equal(
                cast(tensor(dst, TAPER_F4E2M1, 1, &rows[i].n, how == 0 ? NULL : &step),
                     tensor((void *)rows[i].src, TAPER_F32, 1, &rows[i].n,
                            &rows[i].stride)),
                TAPER_OK);
            assert_memory_equal(dst, rows[i].want, 2);
            assert_int_equal(dst[2], 0xff);
            /* and out again, to reversed elements */
            dst[1] |= 0xf0;
            const int64_t minus = -1;
            assert_int_equal(
                cast(tensor(back + rows[i].n - 1, TAPER_F32, 1, &rows[i].n, &minus),
                     tensor(dst, TAPER_F4E2M1, 1, &rows[i].n, NULL)),
                TAPER_OK);
            for (int64_t k = 0; k < rows[i].n; k++) {
                const int64_t at = rows[i].n == 1 ? 0 : k * rows[i].stride;
                assert_memory_equal(&back[rows[i].n - 1 - k], rows[i].src + at,
                                    sizeof *back);
            }
        }

    /* 4 x 4 columns first into 8 bytes at a page that cannot be written */
    static const unsigned char want[8] = {0x10, 0x54, 0x21, 0x65,
                                          0x32, 0x76, 0x43, 0x77};
    static const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    float matrix[16];
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            static const unsigned codes[4] = {0, 1, 4, 5};
            const unsigned code = codes[j] + (unsigned)i;
            matrix[4 * j + i] = values[code < 7 ? code : 7];
        }
    unsigned char *const dst = guarded_new(8).end - 8;
    memset(dst, 0xff, 8);
    assert_int_equal(cast(tensor(dst, TAPER_F4E2M1, SHAPE(4, 4), NULL),
                          tensor(matrix, TAPER_F32, SHAPE(4, 4), LIST(1, 4))),
                     TAPER_OK);
    assert_memory_equal(dst, want, 8);
}

/* A shape, the order of its dimensions in memory, outermost first, of what is not
 * packed, and the dimensions, as bits, that are reversed or broadcast there. */
struct turned {
    int32_t rank;
    int64_t shape[4];
    int order[4];
    unsigned reversed, broadcast;
    int64_t gap; /* elements behind each run of the innermost dimension */
};

enum { TURNED_MOST = 160000, POOL = 251, EDGE = 64 };
static _Alignas(64) unsigned char whole[8 * TURNED_MOST + 3 * EDGE];
static _Alignas(64) unsigned char packed[TURNED_MOST / 2 + 2 * EDGE];
static unsigned char wanted[sizeof whole];
static int64_t place[TURNED_MOST]; /* of the elements, in what is not packed */

/* Sets `strides`, `place`, the number of elements and how many they span; returns where
 * the one of index 0 is. */
static int64_t lay_out(const struct turned *t, int64_t *strides, size_t *n,
                       size_t *span)
{
    int64_t next = 1, first = 0;
    *n = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        const int k = t->order[i];
        const bool reversed = t->reversed >> k & 1, broadcast = t->broadcast >> k & 1;
        strides[k] = broadcast ? 0 : reversed ? -next : next;
        first += reversed ? next * (t->shape[k] - 1) : 0;
        next = broadcast ? next : next * t->shape[k] + (i == t->rank - 1 ? t->gap : 0);
        *n *= (size_t)t->shape[k];
    }
    *span = (size_t)next;
    assert_true(*span <= TURNED_MOST && *n <= TURNED_MOST);
    for (size_t i = 0; i < *n; i++) {
        size_t index = i;
        place[i] = first;
        for (int k = t->rank - 1; k >= 0; k--) {
            place[i] += (int64_t)(index % (size_t)t->shape[k]) * strides[k];
            index /= (size_t)t->shape[k];
        }
    }
    return first;
}

/* The call with every instruction set, and threads and streaming stores or not. */
static void check_calls(taper_tensor dst, taper_tensor src, unsigned char *room,
                        size_t bytes)
{
    for (size_t isa = 0; taper_isa_name(isa) != NULL; isa++) {
        assert_int_equal(taper_use_isa(taper_isa_name(isa)), TAPER_OK);
        for (int way = 0; way < 4; way++) {
            assert_int_equal(taper_set_max_threads(way % 2 == 0 ? 1 : 3), TAPER_OK);
            assert_int_equal(
                taper_set_threshold_bytes(TAPER_STREAM_BYTES, way < 2 ? SIZE_MAX : 1),
                TAPER_OK);
            memset(room, 0xa5, bytes);
            assert_int_equal(cast(dst, src), TAPER_OK);
            for (size_t i = 0; memcmp(room, wanted, bytes) != 0; i++)
                if (room[i] != wanted[i])
                    fail_msg("%s, way %d, %s to %s, %d dimensions from %d x %d on: "
                             "byte %zu is %02x instead of %02x",
                             taper_isa(), way, taper_dtype_name(src.type),
                             taper_dtype_name(dst.type), (int)dst.rank,
                             (int)dst.shape[0], (int)dst.shape[1], i, room[i],
                             wanted[i]);
        }
    }
}

/* Between `type` with this layout, `shift` elements from a cache line on, and f4e2m1.
 */
static void check_turned(const struct turned *t, taper_dtype type, size_t shift)
{
    static const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
    const unsigned bits = oracle_bits(type);
    int64_t strides[4];
    size_t n, span;
    uint64_t seed = 14, pool[POOL], narrow[POOL], wide[16];
    const int64_t first = lay_out(t, strides, &n, &span);
    unsigned char *const base = whole + EDGE + shift * bits / 8;
    const taper_tensor other =
        tensor(base + first * bits / 8, type, t->rank, t->shape, strides);
    const taper_tensor four =
        tensor(packed + EDGE, TAPER_F4E2M1, t->rank, t->shape, NULL);

    for (size_t i = 0; i < POOL; i++) {
        pool[i] = random_element(type, &seed);
        narrow[i] = oracle_cast(TAPER_F4E2M1, type, pool[i], options);
    }
    for (size_t i = 0; i < 16; i++)
        wide[i] = oracle_cast(type, TAPER_F4E2M1, i, options);

    memset(wanted, 0xa5, sizeof wanted);
    wanted[EDGE + n / 2] = n % 2 == 0 ? 0xa5 : 0;
    for (size_t i = 0; i < n; i++) {
        set_element(base, bits, (size_t)place[i], pool[place[i] % POOL]);
        set_element(wanted + EDGE, 4, i, narrow[place[i] % POOL]);
    }
    check_calls(four, other, packed, (n + 1) / 2 + 2 * EDGE);
    if (t->broadcast != 0)
        return;

    memset(wanted, 0xa5, sizeof wanted);
    for (size_t i = 0; i < n; i++) {
        const size_t code = i % POOL % 16;
        set_element(packed + EDGE, 4, i, code);
        set_element(wanted + (base - whole), bits, (size_t)place[i], wide[code]);
    }
    check_calls(other, four, whole, (shift + span) * bits / 8 + 2 * EDGE);
}

/* Matrices of packed elements that are turned: rows that are whole bytes and others,
 * sizes around those of tiles, blocks and the buffer between. */
static void test_turned_packed(void **state)
{
    static const taper_dtype types[] = {TAPER_F32, TAPER_F16, TAPER_F8E5M2, TAPER_F64};
    static const int64_t rows[] = {3, 4, 5, 15, 16, 17, 64, 65, 130};
    static const int64_t columns[] = {2,   3,   4,   7,   8,   126,  127, 128,
                                      129, 130, 256, 258, 384, 1022, 1026};
    static const struct turned others[] = {
        {2, {70, 130}, {1, 0}, 0, 0, 3},
        {2, {64, 128}, {1, 0}, 0, 0, 64},
        {2, {66, 2048}, {1, 0}, 0, 0, 0},
        {2, {70, 130}, {1, 0}, 1, 0, 0},
        {2, {70, 130}, {1, 0}, 2, 0, 0},
        {2, {70, 131}, {1, 0}, 2, 0, 1},
        {2, {6, 20000}, {1, 0}, 0, 2, 0},
        {2, {20000, 6}, {1, 0}, 0, 1, 0},
        {2, {70, 130}, {0, 1}, 0, 0, 5},
        {3, {7, 65, 66}, {0, 2, 1}, 0, 0, 0},
        {3, {7, 65, 66}, {2, 1, 0}, 0, 0, 0},
        {3, {66, 7, 64}, {1, 2, 0}, 0, 0, 0},
        {3, {5, 67, 65}, {2, 0, 1}, 0, 0, 0},
        {3, {5, 66, 65}, {0, 2, 1}, 0, 0, 2},
        {3, {7, 65, 66}, {0, 2, 1}, 1, 0, 0},
        {3, {7, 65, 66}, {0, 2, 1}, 5, 0, 0},
        {3, {7, 65, 66}, {0, 2, 1}, 0, 1, 0},
        {3, {65, 7, 66}, {2, 1, 0}, 0, 2, 0},
        {4, {2, 3, 40, 34}, {0, 3, 2, 1}, 0, 0, 0},
        {4, {2, 16, 9, 64}, {1, 3, 0, 2}, 0, 0, 0},
        {4, {2, 16, 9, 63}, {1, 3, 0, 2}, 0, 0, 0},
        {4, {3, 17, 18, 8}, {0, 3, 1, 2}, 8, 0, 1},
        {4, {3, 17, 18, 8}, {3, 1, 2, 0}, 6, 0, 0},
        {4, {3, 17, 18, 8}, {0, 3, 1, 2}, 0, 2, 0},
    };
    enum { SIDES = sizeof rows / sizeof *rows * (sizeof columns / sizeof *columns) };
    (void)state;
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, 1), TAPER_OK);
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < SIDES; i++) {
            const struct turned matrix = {
                .rank = 2,
                .shape = {rows[i % (sizeof rows / sizeof *rows)],
                          columns[i / (sizeof rows / sizeof *rows)]},
                .order = {1, 0},
            };
            check_turned(&matrix, types[k], i % 2);
        }
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            check_turned(&others[i], types[k], 0);
            check_turned(&others[i], types[k], 1 + i % 2);
        }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
    assert_int_equal(taper_set_max_threads(0), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, 0), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_STREAM_BYTES, 0), TAPER_OK);
}

/* Packed elements are moved through whole bytes, whatever the rank is. */
static void test_packed(void **state)
{
    (void)state;
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0 || bits >= 8)
            continue;
        for (int64_t n = 1; n <= 70; n++)
            for (int rank = 1; rank <= 3; rank++) {
                const int64_t shape[3] = {rank == 1 ? n : 3, rank == 2 ? n : 1, n};
                const size_t elements = (size_t)(rank == 1 ? n : 3 * n);
                const size_t bytes = (elements * bits + 7) / 8;
                const unsigned char value = 0xa6;
                unsigned char want[128] = {0};
                reset();
                assert_int_equal(
                    copy(tensor(memory + 5, type, rank, shape, NULL),
                         tensor(memory + MIDDLE + 1, type, rank, shape, NULL)),
                    TAPER_OK);
                for (size_t i = 0; i < elements; i++)
                    set_element(want, (unsigned)bits, i,
                                get_element(memory + MIDDLE + 1, (unsigned)bits, i));
                assert_only(5, want, bytes);
                assert_int_equal(
                    fill(tensor(memory + 5, type, rank, shape, NULL), &value),
                    TAPER_OK);
                for (size_t i = 0; i < elements; i++)
                    set_element(want, (unsigned)bits, i, value & ((1u << bits) - 1));
                assert_only(5, want, bytes);
            }
    }
}

/* The options reach the kernels. */
static void test_cast_options(void **state)
{
    static const float src[2] = {1e9f, 1.25f};
    (void)state;
    for (int overflow = 0; overflow < 2; overflow++)
        for (int rounding = 0; rounding < 3; rounding++)
            for (size_t t = FIRST_NARROW_TYPE; t < CAST_TYPES; t++) {
                const taper_cast_options options = {(taper_overflow)overflow,
                                                    (taper_rounding)rounding};
                const unsigned bits = oracle_bits(cast_types[t]);
                unsigned char dst[8] = {0};
                uint32_t in[2];
                memcpy(in, src, sizeof in);
                const taper_tensor to = tensor(dst, cast_types[t], SHAPE(2), NULL);
                const taper_tensor from =
                    tensor((void *)(src + 1), TAPER_F32, SHAPE(2), LIST(-1));
                assert_int_equal(taper_tensor_cast(&to, &from, &options), TAPER_OK);
                for (size_t i = 0; i < 2; i++)
                    assert_int_equal(
                        get_element(dst, bits, i),
                        oracle_cast(cast_types[t], TAPER_F32, in[1 - i], options));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_faults_of_bytes),
        cmocka_unit_test(test_faults_of_fill),
        cmocka_unit_test(test_faults_of_copy),
        cmocka_unit_test(test_faults_of_cast),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shapes_differ),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_rank_0),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_value_inside),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_source_strides),
        cmocka_unit_test(test_contrived),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_bit_reversal),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_onto_itself),
        cmocka_unit_test(test_large_views),
        cmocka_unit_test(test_cast_overlap),
        cmocka_unit_test(test_cast_packed),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_cast_options),
        cmocka_unit_test(test_too_hard),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_streamed_rows),
        cmocka_unit_test(test_turned_packed),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_no_shape),
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_many_dimensions),
        cmocka_unit_test(test_broadcast_onto_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
