/* test_fill.c - filling: every type and kernel at every size and place, bit for bit,
 * and what is refused. */
#include "support.h"

enum { MOST = 300, GUARD = 64, CANARY = 0xa5 };

static struct guarded memory;

static int make_memory(void **state)
{
    (void)state;
    memory = guarded_new(16 * MOST + 2 * GUARD + 64);
    return 0;
}

/* One bit of the array that a fill must make: the element again and again from the low
 * bits up, and zero after the last. */
static unsigned char expected_byte(const unsigned char *value, size_t bits, size_t n,
                                   size_t byte)
{
    if (bits >= 8)
        return value[byte % (bits / 8)];
    unsigned char result = 0;
    for (size_t i = 0; i < 8 / bits; i++)
        if (byte * (8 / bits) + i < n)
            result |= (unsigned char)((*value & ((1u << bits) - 1)) << i * bits);
    return result;
}

static void check_fill(taper_dtype type, unsigned char *dst, size_t n,
                       const unsigned char *value)
{
    const size_t bits = taper_dtype_bits(type), bytes = (n * bits + 7) / 8;
    memset(memory.begin, CANARY, (size_t)(memory.end - memory.begin));
    assert_int_equal(taper_fill(type, dst, n, value), TAPER_OK);
    for (unsigned char *at = memory.begin; at < memory.end; at++) {
        const bool inside = at >= dst && at < dst + bytes;
        const unsigned char want =
            inside ? expected_byte(value, bits, n, (size_t)(at - dst)) : CANARY;
        if (*at != want)
            fail_msg("%s: %s, n %zu: byte %td is %02x, not %02x", taper_isa(),
                     taper_dtype_name(type), n, at - dst, *at, want);
    }
}

/* A signalling NaN, -0 or odd bits in every position, for every width. */
static const unsigned char values[][16] = {
    {0x01, 0x00, 0x80, 0x7f, 0x00, 0x00, 0xf0, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0x80},
    {0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 1, 2, 3, 4, 5, 6, 7, 8},
    {0x00, 0x80},
};

static void for_each_isa(void (*check)(void))
{
    const char *isa;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        print_message("%s\n", isa);
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        check();
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

static void check_places(void)
{
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0)
            continue;
        for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 23) {
            const unsigned char *const value = values[n % 3];
            const size_t bytes = (n * bits + 7) / 8;
            check_fill(type, memory.end - bytes, n, value);
            check_fill(type, memory.begin, n, value);
            check_fill(type, memory.begin + 1 + n % 63, n, value);
        }
        for (size_t offset = 0; offset < 64; offset++)
            check_fill(type, memory.begin + offset, 67, values[0]);
    }
}

static void test_places(void **state)
{
    (void)state;
    for_each_isa(check_places);
}

/* The kernels with and without streaming stores, at every size and alignment. */
static void test_kernels(void **state)
{
    const struct taper_kernels *k;
    unsigned char pattern[TAPER_PATTERN_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (unsigned char)(i + 1);
    for (size_t t = 0; (k = taper_usable(t)) != NULL; t++)
        for (size_t bytes = 0; bytes <= 600; bytes += bytes < 300 ? 1 : 37)
            for (int place = 0; place < 6; place++) {
                unsigned char *const dst =
                    place < 2 ? memory.end - bytes : memory.begin + place * 13 - 26;
                memset(memory.begin, CANARY, (size_t)(memory.end - memory.begin));
                k->fill(dst, pattern, bytes, place % 2 != 0);
                for (unsigned char *at = memory.begin; at < memory.end; at++) {
                    const bool inside = at >= dst && at < dst + bytes;
                    const unsigned want =
                        inside ? (unsigned)(at - dst) % 16 + 1 : (unsigned)CANARY;
                    if (*at != want)
                        fail_msg("%s: %zu bytes: byte %td is %02x, not %02x", k->name,
                                 bytes, at - dst, *at, want);
                }
            }
}

/* Every way to have n elements of 4 and of 2 bits: the rest of the last byte is zero,
 * whatever else is in the byte at `value`. */
static void test_packed(void **state)
{
    static const struct {
        taper_dtype type;
        unsigned char value;
        size_t n;
        unsigned char dst[3]; /* a byte that stays 5a is not written */
    } rows[] = {
        {TAPER_F4E2M1, 0x07, 1, {0x07, 0x5a, 0x5a}},
        {TAPER_F4E2M1, 0x07, 2, {0x77, 0x5a, 0x5a}},
        {TAPER_U4, 0xf9, 3, {0x99, 0x09, 0x5a}},
        {TAPER_I4, 0x28, 4, {0x88, 0x88, 0x5a}},
        {TAPER_I4, 0xff, 1, {0x0f, 0x5a, 0x5a}},
        {TAPER_U2, 0x03, 1, {0x03, 0x5a, 0x5a}},
        {TAPER_U2, 0xfe, 2, {0x0a, 0x5a, 0x5a}},
        {TAPER_I2, 0x41, 3, {0x15, 0x5a, 0x5a}},
        {TAPER_I2, 0x02, 4, {0xaa, 0x5a, 0x5a}},
        {TAPER_U2, 0x03, 5, {0xff, 0x03, 0x5a}},
        {TAPER_U2, 0x01, 7, {0x55, 0x15, 0x5a}},
        {TAPER_I2, 0x03, 8, {0xff, 0xff, 0x5a}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char dst[3] = {0x5a, 0x5a, 0x5a};
        assert_int_equal(taper_fill(rows[i].type, dst, rows[i].n, &rows[i].value),
                         TAPER_OK);
        assert_memory_equal(dst, rows[i].dst, sizeof dst);
    }
}

/* -0 and a signalling NaN; 16 bytes kept for every count. */
static void test_complex(void **state)
{
    static const uint64_t value[2] = {0x8000000000000000, 0x7ff0000000000001};
    uint64_t dst[2 * 68 + 1];
    (void)state;
    for (size_t n = 0; n < 68; n++) {
        memset(dst, 0x5a, sizeof dst);
        assert_int_equal(taper_fill(TAPER_C128, dst, n, value), TAPER_OK);
        for (size_t i = 0; i < 2 * n; i++)
            assert_true(dst[i] == value[i % 2]);
        assert_true(dst[2 * n] == 0x5a5a5a5a5a5a5a5a);
    }
}

/* The value is an element of the array, or lies across two of them. */
static void test_value_inside(void **state)
{
    enum { N = 37 };
    (void)state;
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type), bytes = (N * bits + 7) / 8;
        const size_t size = bits < 8 ? 1 : bits / 8;
        if (bits == 0)
            continue;
        for (size_t at = 0; at + size <= bytes; at++) {
            unsigned char dst[16 * N], value[16];
            for (size_t i = 0; i < bytes; i++)
                dst[i] = (unsigned char)(i * 29 + 3);
            memcpy(value, dst + at, size);
            assert_int_equal(taper_fill(type, dst, N, dst + at), TAPER_OK);
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(dst[i], expected_byte(value, bits, N, i));
        }
    }
}

/* ---- What is refused ---- */

static void test_refused(void **state)
{
    static const int unknown[] = {-1, 0, 27, 1000, INT32_MIN, INT32_MAX};
    void *const wild = wild_pointer();
    uint64_t dst = 7;
    const uint64_t value = 1;
    (void)state;
    /* each fault alone, and with all that come after it */
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const taper_dtype type = (taper_dtype)unknown[i];
        assert_int_equal(taper_fill(type, &dst, 1, &value), TAPER_BAD_DTYPE);
        assert_int_equal(taper_fill(type, NULL, SIZE_MAX, NULL), TAPER_BAD_DTYPE);
        assert_int_equal(taper_fill(type, NULL, 0, NULL), TAPER_BAD_DTYPE);
    }
    assert_int_equal(taper_fill(TAPER_STRING, &dst, 1, &value), TAPER_UNSUPPORTED);
    assert_int_equal(taper_fill(TAPER_STRING, NULL, SIZE_MAX, NULL), TAPER_UNSUPPORTED);
    assert_int_equal(taper_fill(TAPER_STRING, NULL, 0, NULL), TAPER_UNSUPPORTED);
    assert_int_equal(taper_fill(TAPER_U8, NULL, SIZE_MAX, NULL), TAPER_TOO_LARGE);
    assert_int_equal(taper_fill(TAPER_U8, NULL, 1, &value), TAPER_NULL);
    assert_int_equal(taper_fill(TAPER_U8, &dst, 1, NULL), TAPER_NULL);
    assert_int_equal(taper_fill(TAPER_U8, NULL, 1, NULL), TAPER_NULL);
    assert_true(dst == 7);

    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0)
            continue;
        assert_int_equal(taper_fill(type, wild, 0, wild), TAPER_OK);
        assert_int_equal(taper_fill(type, NULL, 0, NULL), TAPER_OK);
        assert_int_equal(taper_fill(type, wild, SIZE_MAX, wild), TAPER_TOO_LARGE);
        assert_int_equal(taper_fill(type, wild, (size_t)PTRDIFF_MAX + 1, wild),
                         TAPER_TOO_LARGE);
        const size_t most = (size_t)PTRDIFF_MAX / (bits < 8 ? 1 : bits / 8);
        assert_int_equal(taper_fill(type, wild, most + 1, wild), TAPER_TOO_LARGE);
        assert_int_equal(taper_fill(type, NULL, most, wild), TAPER_NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),       cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_packed),       cmocka_unit_test(test_complex),
        cmocka_unit_test(test_value_inside), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
