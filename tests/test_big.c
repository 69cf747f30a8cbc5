/* test_big.c - 2^31 and 2^32 elements, more than 4 GiB, strides of 2^31 bytes and
 * more, with little memory: few of the pages are touched, or all are the same few. */
#define _GNU_SOURCE /* memfd_create */
#include "support.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "taper/tensor.h"

#define P(exponent) (INT64_C(1) << (exponent))

/* Addresses of `bytes` bytes that cost memory only where they are written. */
static unsigned char *map_sparse(size_t bytes)
{
    void *const map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        fail_msg("no %zu bytes of addresses: ctest -LE big leaves this test out",
                 bytes);
    return map;
}

/* ---- One file over and over ---- */

/* `bytes` bytes, of which all are the same PERIOD bytes again and again, but for a tail
 * of its own, which ends with a page of canaries. The period is no power of two: who
 * loses the high bits of an index comes to another byte. */
enum { PAGE = 4096, PERIOD = 1021 * PAGE, CANARY = 0xa5, CANARIES = PAGE };

struct repeated {
    unsigned char *data;
    size_t bytes, tail, mapped; /* the tail begins at data + tail */
};

static void map_repeated(struct repeated *r, size_t bytes, uint64_t seed)
{
    r->bytes = bytes;
    r->tail = (bytes - 1) / PERIOD * PERIOD;
    r->mapped = r->tail + PERIOD + CANARIES;
    r->data = map_sparse(r->mapped);
    const int file = memfd_create("taper", 0);
    assert_true(file >= 0 && ftruncate(file, PERIOD) == 0);
    for (size_t at = 0; at < r->tail; at += PERIOD)
        assert_true(mmap(r->data + at, PERIOD, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) != MAP_FAILED);
    close(file);
    for (size_t i = 0; i < PERIOD; i++)
        r->data[i] = (unsigned char)next_random(&seed);
    for (size_t i = r->tail; i < bytes; i++)
        r->data[i] = (unsigned char)next_random(&seed);
    memset(r->data + bytes, CANARY, r->mapped - bytes);
}

static void unmap(struct repeated *r)
{
    for (size_t i = r->bytes; i < r->mapped; i++)
        if (r->data[i] != CANARY)
            fail_msg("byte %zu past the end is written", i - r->bytes);
    munmap(r->data, r->mapped);
}

static taper_tensor tensor(void *data, taper_dtype type, int32_t rank,
                           const int64_t *shape, const int64_t *strides)
{
    return (taper_tensor){data, type, rank, shape, strides};
}

/* A dimension above 2^31; and more than 4 GiB. */
static void test_fill(void **state)
{
    static const struct {
        taper_dtype type;
        int32_t rank;
        int64_t shape[3];
    } rows[] = {
        {TAPER_U8, 1, {INT64_C(2660446024)}},
        {TAPER_F64, 3, {1, P(29) + 3, 1}},
        {TAPER_C128, 2, {5, P(26) - 1}},
        {TAPER_U2, 2, {P(17) + 1, P(16) + 1}},
    };
    static const unsigned char value[16] = {0xe5, 2,  3,  4,  5,  6,  7,  8,
                                            9,    10, 11, 12, 13, 14, 15, 16};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t bits = taper_dtype_bits(rows[i].type), size = bits / 8;
        struct repeated r;
        size_t bytes;
        taper_tensor t = tensor(NULL, rows[i].type, rows[i].rank, rows[i].shape, NULL);
        assert_int_equal(taper_tensor_bytes(&t, &bytes), TAPER_OK);
        map_repeated(&r, bytes, 1);
        t.data = r.data;
        assert_int_equal(taper_tensor_fill(&t, value), TAPER_OK);
        for (size_t at = 0; at < bytes; at = at == PERIOD - 1 ? r.tail : at + 1) {
            unsigned want = size != 0 ? value[at % size] : 0x55;
            if (size == 0 && at == bytes - 1) /* one element in the last byte */
                want = 1;
            if (r.data[at] != want)
                fail_msg("row %zu: byte %zu is %02x", i, at, r.data[at]);
        }
        unmap(&r);
    }
}

/* More elements than INT_MAX; rows of more than 2^30. */
static void test_copy(void **state)
{
    static const int64_t shape[] = {INT64_C(3118080001)};
    static const int64_t rows[] = {3, P(30) + 7}, strides[] = {P(30) + 4096, 1};
    struct repeated dst, src;
    (void)state;
    const size_t bytes = (size_t)shape[0];
    map_repeated(&dst, bytes, 2);
    map_repeated(&src, bytes, 3);
    const taper_tensor to = tensor(dst.data, TAPER_U8, 1, shape, NULL);
    const taper_tensor from = tensor(src.data, TAPER_U8, 1, shape, NULL);
    assert_int_equal(taper_tensor_copy(&to, &from), TAPER_OK);
    assert_memory_equal(dst.data, src.data, PERIOD);
    assert_memory_equal(dst.data + dst.tail, src.data + src.tail, bytes - src.tail);
    unmap(&dst);
    unmap(&src);

    const size_t span = (size_t)(2 * strides[0] + rows[1]);
    map_repeated(&dst, span, 4);
    map_repeated(&src, span, 5);
    const taper_tensor to_rows = tensor(dst.data, TAPER_U8, 2, rows, strides);
    const taper_tensor from_rows = tensor(src.data, TAPER_U8, 2, rows, strides);
    assert_int_equal(taper_tensor_copy(&to_rows, &from_rows), TAPER_OK);
    assert_memory_equal(dst.data, src.data, PERIOD);
    assert_memory_equal(dst.data + dst.tail, src.data + src.tail, span - src.tail);
    unmap(&dst);
    unmap(&src);
}

/* Counts on both sides of what 31 and 32 bits hold. */
static const int64_t counts[] = {P(31) - 1, P(31), P(31) + 1, P(32) + 1};
enum { COUNTS = sizeof counts / sizeof *counts };

/* Arrays of bytes: filled, and copied. */
static void test_counts(void **state)
{
    static const unsigned char value = 0xe5;
    struct repeated dst, src;
    (void)state;
    for (int c = 0; c < COUNTS; c++) {
        const size_t n = (size_t)counts[c];
        map_repeated(&dst, n, 10);
        map_repeated(&src, n, 11);
        assert_int_equal(taper_copy(TAPER_U8, dst.data, src.data, n), TAPER_OK);
        assert_memory_equal(dst.data, src.data, PERIOD);
        assert_memory_equal(dst.data + dst.tail, src.data + src.tail, n - src.tail);
        assert_int_equal(taper_fill(TAPER_U8, dst.data, n, &value), TAPER_OK);
        for (size_t at = 0; at < n; at = at == PERIOD - 1 ? dst.tail : at + 1)
            if (dst.data[at] != value)
                fail_msg("%zu elements: byte %zu is %02x", n, at, dst.data[at]);
        unmap(&dst);
        unmap(&src);
    }
}

/* Elements [first, first + count) of what is cast from `src`. */
static void expect_codes(unsigned char *want, const taper_tensor *to,
                         const taper_tensor *from, size_t first, size_t count)
{
    const unsigned to_bits = oracle_bits(to->type), bits = oracle_bits(from->type);
    memset(want, 0, array_bytes(to_bits, count));
    for (size_t i = 0; i < count; i++)
        set_element(want, to_bits, i,
                    oracle_cast(to->type, from->type,
                                get_element(from->data, bits, first + i),
                                (taper_cast_options){0}));
}

/* The period of one array is a whole number of times that of the other, in elements, so
 * each byte is written with one value only. */
static void test_cast(void **state)
{
    static const taper_dtype types[COUNTS][2] = {{TAPER_F4E2M1, TAPER_F8E5M2},
                                                 {TAPER_F8E4M3FN, TAPER_F16},
                                                 {TAPER_F8E4M3FN, TAPER_F32},
                                                 {TAPER_F4E2M1, TAPER_F8E4M3FN}};
    static unsigned char want[PERIOD];
    struct repeated dst, src;
    (void)state;
    for (int c = 0; c < COUNTS; c++) {
        const size_t n = (size_t)counts[c], per_byte = 8 / oracle_bits(types[c][0]);
        map_repeated(&dst, array_bytes(oracle_bits(types[c][0]), n), 6);
        map_repeated(&src, array_bytes(oracle_bits(types[c][1]), n), 7);
        const taper_tensor to = tensor(dst.data, types[c][0], 1, &counts[c], NULL);
        const taper_tensor from = tensor(src.data, types[c][1], 1, &counts[c], NULL);
        assert_int_equal(taper_tensor_cast(&to, &from, NULL), TAPER_OK);
        for (int part = 0; part < 2; part++) {
            const size_t first = part == 0 ? 0 : dst.tail * per_byte;
            const size_t room = PERIOD * per_byte, left = n - first;
            const size_t count = left < room ? left : room;
            expect_codes(want, &to, &from, first, count);
            assert_memory_equal(dst.data + first / per_byte, want,
                                array_bytes(oracle_bits(types[c][0]), count));
        }
        unmap(&dst);
        unmap(&src);
    }
}

/* ---- Few elements far apart ---- */

/* Checks that the `size` bytes at `at` are `want` and that the zeros around them are
 * still there, then makes them 0. */
static void take(unsigned char *at, const void *want, size_t size)
{
    static const unsigned char zeros[32];
    assert_memory_equal(at, want, size);
    assert_memory_equal(at - sizeof zeros, zeros, sizeof zeros);
    assert_memory_equal(at + size, zeros, sizeof zeros);
    memset(at, 0, size);
}

/* Three elements, in both directions, to and from an array. */
static void test_strides(void **state)
{
    static const int64_t distances[] = {P(31), P(32) + 64, P(31) + 16, 3 * P(32) + 48};
    static const taper_dtype types[] = {TAPER_U8, TAPER_F16, TAPER_F32, TAPER_I64,
                                        TAPER_C128};
    static const int64_t shape[] = {3};
    unsigned char array[48], back[48];
    uint64_t seed = 8;
    unsigned char *const map = map_sparse((size_t)P(36));
    (void)state;
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const size_t size = taper_dtype_bits(types[t]) / 8;
                const int64_t stride = sign * distances[i] / (int64_t)size;
                unsigned char *const data =
                    map + 101 + (sign < 0 ? 3 * distances[i] : 0);
                const int64_t step = sign * distances[i];
                const taper_tensor far = tensor(data, types[t], 1, shape, &stride);
                const taper_tensor near = tensor(array, types[t], 1, shape, NULL);
                const taper_tensor other = tensor(back, types[t], 1, shape, NULL);
                for (size_t k = 0; k < sizeof array; k++)
                    array[k] = (unsigned char)next_random(&seed);
                memset(back, 0, sizeof back);
                assert_int_equal(taper_tensor_copy(&far, &near), TAPER_OK);
                assert_int_equal(taper_tensor_copy(&other, &far), TAPER_OK);
                assert_memory_equal(back, array, 3 * size);
                for (int64_t k = 0; k < 3; k++)
                    take(data + k * step, array + (size_t)k * size, size);

                /* views between each other: beside, and one step on */
                taper_tensor beside = far, next = far;
                beside.data = data + size;
                next.data = data + step;
                assert_int_equal(taper_tensor_copy(&far, &next), TAPER_OVERLAP);
                next.data = data + step + 1;
                assert_int_equal(taper_tensor_copy(&far, &next),
                                 size == 1 ? TAPER_OK : TAPER_OVERLAP);
                assert_int_equal(taper_tensor_fill(&beside, array), TAPER_OK);
                assert_int_equal(taper_tensor_copy(&far, &beside), TAPER_OK);
                for (int64_t k = 0; k < 3; k++) {
                    memset(data + k * step, 0, size);
                    take(data + k * step + size, array, size);
                }
            }
    munmap(map, (size_t)P(36));
}

static void test_cast_strides(void **state)
{
    static const int64_t shape[] = {3}, wide[] = {P(30) + 16}, narrow[] = {-P(31) - 24};
    static const float values[] = {1, -2, 0.5f};
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x3800};
    unsigned char *const map = map_sparse((size_t)P(36));
    (void)state;
    unsigned char *const src = map + 77, *const dst = map + 2 * P(33) + 33;
    for (int64_t k = 0; k < 3; k++)
        memcpy(src + 4 * k * wide[0], &values[k], 4);
    const taper_tensor from = tensor(src, TAPER_F32, 1, shape, wide);
    const taper_tensor to = tensor(dst, TAPER_F16, 1, shape, narrow);
    assert_int_equal(taper_tensor_cast(&to, &from, NULL), TAPER_OK);
    for (int64_t k = 0; k < 3; k++) {
        take(dst + 2 * k * narrow[0], &halves[k], 2);
        take(src + 4 * k * wide[0], &values[k], 4);
    }
    munmap(map, (size_t)P(36));
}

/* A matrix whose rows are 2 GiB apart, turned to one whose rows are not, and back; the
 * odd columns from the even ones. */
static void test_matrix(void **state)
{
    enum { N = 24 };
    static const int64_t shape[] = {N, N}, turned[] = {1, N};
    static const int64_t far_strides[] = {P(30) + 8, 1}, even[] = {P(30) + 8, 2};
    static const int64_t half[] = {N, N / 2};
    uint16_t a[N * N], b[N * N];
    uint64_t seed = 9;
    const size_t bytes = (size_t)(2 * N * far_strides[0] + PAGE);
    unsigned char *const map = map_sparse(bytes);
    (void)state;
    unsigned char *const data = map + 33;
    for (size_t i = 0; i < (size_t)N * N; i++)
        a[i] = (uint16_t)next_random(&seed);
    const taper_tensor far = tensor(data, TAPER_F16, 2, shape, far_strides);
    const taper_tensor in = tensor(a, TAPER_F16, 2, shape, turned);
    const taper_tensor out = tensor(b, TAPER_F16, 2, shape, turned);
    const taper_tensor evens = tensor(data, TAPER_F16, 2, half, even);
    const taper_tensor odds = tensor(data + 2, TAPER_F16, 2, half, even);
    assert_int_equal(taper_tensor_copy(&far, &in), TAPER_OK);
    assert_int_equal(taper_tensor_copy(&out, &far), TAPER_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(taper_tensor_copy(&odds, &evens), TAPER_OK);
    for (int64_t i = 0; i < N; i++) {
        uint16_t row[N];
        for (int64_t j = 0; j < N; j++)
            row[j] = a[(j / 2 * 2) * N + i];
        take(data + 2 * i * far_strides[0], row, sizeof row);
    }
    munmap(map, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),    cmocka_unit_test(test_copy),
        cmocka_unit_test(test_counts),  cmocka_unit_test(test_cast),
        cmocka_unit_test(test_strides), cmocka_unit_test(test_cast_strides),
        cmocka_unit_test(test_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
