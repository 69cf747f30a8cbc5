/* test_copy.c - copying: every type and kernel at every size and place, bit for bit,
 * and what is refused. */
#include "support.h"

enum { MOST = 300, CANARY = 0xa5 };

static struct guarded to, from;

static int make_memory(void **state)
{
    uint64_t seed = 6;
    (void)state;
    to = guarded_new(16 * MOST + 64);
    from = guarded_new(16 * MOST + 64);
    for (unsigned char *at = from.begin; at < from.end; at++)
        *at = (unsigned char)next_random(&seed);
    return 0;
}

/* `bytes` bytes of the array at `dst` are those at `src`, but for bits past the last
 * element; and nothing else has changed. */
static void check_result(const char *isa, taper_dtype type, const unsigned char *dst,
                         const unsigned char *src, size_t n)
{
    const size_t bits = taper_dtype_bits(type), bytes = (n * bits + 7) / 8;
    for (const unsigned char *at = to.begin; at < to.end; at++) {
        const bool inside = at >= dst && at < dst + bytes;
        unsigned want = inside ? src[at - dst] : (unsigned)CANARY;
        if (inside && at + 1 == dst + bytes && n * bits % 8 != 0)
            want &= (1u << n * bits % 8) - 1;
        if (*at != want)
            fail_msg("%s: %s, n %zu: byte %td is %02x, not %02x", isa,
                     taper_dtype_name(type), n, at - dst, *at, want);
    }
}

static void check_copy(taper_dtype type, unsigned char *dst, const unsigned char *src,
                       size_t n)
{
    memset(to.begin, CANARY, (size_t)(to.end - to.begin));
    assert_int_equal(taper_copy(type, dst, src, n), TAPER_OK);
    check_result(taper_isa(), type, dst, src, n);
}

static void check_places(void)
{
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0)
            continue;
        for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : 23) {
            const size_t bytes = (n * bits + 7) / 8;
            check_copy(type, to.end - bytes, from.end - bytes, n);
            check_copy(type, to.begin, from.begin, n);
            check_copy(type, to.begin + 1 + n % 63, from.end - bytes, n);
            check_copy(type, to.end - bytes, from.begin + 1 + n % 61, n);
        }
        for (size_t offset = 0; offset < 64; offset++) {
            check_copy(type, to.begin + offset, from.begin + offset * 5 % 64, 67);
            check_copy(type, to.begin + offset * 5 % 64, from.begin + offset, 67);
        }
    }
}

static void test_places(void **state)
{
    const char *isa;
    (void)state;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        print_message("%s\n", isa);
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        check_places();
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

/* The kernels with and without streaming stores. */
static void test_kernels(void **state)
{
    const struct taper_kernels *k;
    (void)state;
    for (size_t t = 0; (k = taper_usable(t)) != NULL; t++)
        for (size_t bytes = 0; bytes <= 600; bytes += bytes < 300 ? 1 : 37)
            for (int place = 0; place < 6; place++) {
                unsigned char *const dst =
                    place < 2 ? to.end - bytes : to.begin + place * 13 - 26;
                const unsigned char *const src =
                    place < 4 ? from.end - bytes : from.begin + place;
                memset(to.begin, CANARY, (size_t)(to.end - to.begin));
                k->copy(dst, src, bytes, place % 2 != 0);
                check_result(k->name, TAPER_U8, dst, src, bytes);
            }
}

/* Only the bits past the last element can change. */
static void test_in_place(void **state)
{
    (void)state;
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0)
            continue;
        for (size_t n = 0; n <= 70; n++) {
            const size_t bytes = (n * bits + 7) / 8;
            unsigned char *const dst = to.end - bytes;
            memset(to.begin, CANARY, (size_t)(to.end - to.begin));
            memcpy(dst, from.begin, bytes);
            assert_int_equal(taper_copy(type, dst, dst, n), TAPER_OK);
            check_result(taper_isa(), type, dst, from.begin, n);
        }
    }
}

static void test_packed(void **state)
{
    static const struct {
        taper_dtype type;
        size_t n;
        unsigned char src[2], dst[2]; /* a byte that stays 5a is not written */
    } rows[] = {
        {TAPER_F4E2M1, 1, {0xff, 0xff}, {0x0f, 0x5a}},
        {TAPER_U4, 2, {0xf1, 0xff}, {0xf1, 0x5a}},
        {TAPER_I4, 3, {0x12, 0xf8}, {0x12, 0x08}},
        {TAPER_U2, 1, {0xff, 0xff}, {0x03, 0x5a}},
        {TAPER_I2, 2, {0xfe, 0xff}, {0x0e, 0x5a}},
        {TAPER_U2, 3, {0xe4, 0xff}, {0x24, 0x5a}},
        {TAPER_I2, 4, {0xe4, 0xff}, {0xe4, 0x5a}},
        {TAPER_U2, 5, {0xe4, 0xff}, {0xe4, 0x03}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char dst[2] = {0x5a, 0x5a};
        assert_int_equal(taper_copy(rows[i].type, dst, rows[i].src, rows[i].n),
                         TAPER_OK);
        assert_memory_equal(dst, rows[i].dst, sizeof dst);
    }
}

/* ---- What is refused ---- */

/* dst at every distance from src: only equal, adjacent or apart are allowed. */
static void test_overlap(void **state)
{
    enum { N = 5, MIDDLE = 100 };
    static unsigned char memory[3 * MIDDLE], before[3 * MIDDLE];
    (void)state;
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)i;
    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const int bytes = (int)((N * taper_dtype_bits(type) + 7) / 8);
        if (bytes == 0)
            continue;
        for (int distance = -bytes; distance <= bytes; distance++) {
            unsigned char *const src = memory + MIDDLE;
            const bool fine = distance == 0 || distance == -bytes || distance == bytes;
            memcpy(memory, before, sizeof memory);
            assert_int_equal(taper_copy(type, src + distance, src, N),
                             fine ? TAPER_OK : TAPER_OVERLAP);
            if (!fine)
                assert_memory_equal(memory, before, sizeof memory);
        }
    }
}

static void test_refused(void **state)
{
    static const int unknown[] = {-1, 0, 27, 1000, INT32_MIN, INT32_MAX};
    void *const wild = wild_pointer();
    unsigned char memory[16] = {7}; /* dst and src overlap wherever neither is NULL */
    (void)state;
    /* each fault alone, and with all that come after it */
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const taper_dtype type = (taper_dtype)unknown[i];
        assert_int_equal(taper_copy(type, memory, memory + 8, 1), TAPER_BAD_DTYPE);
        assert_int_equal(taper_copy(type, NULL, NULL, SIZE_MAX), TAPER_BAD_DTYPE);
        assert_int_equal(taper_copy(type, NULL, NULL, 0), TAPER_BAD_DTYPE);
    }
    assert_int_equal(taper_copy(TAPER_STRING, memory, memory + 8, 1),
                     TAPER_UNSUPPORTED);
    assert_int_equal(taper_copy(TAPER_STRING, NULL, NULL, SIZE_MAX), TAPER_UNSUPPORTED);
    assert_int_equal(taper_copy(TAPER_STRING, NULL, NULL, 0), TAPER_UNSUPPORTED);
    assert_int_equal(taper_copy(TAPER_U8, memory, memory + 1, SIZE_MAX),
                     TAPER_TOO_LARGE);
    assert_int_equal(taper_copy(TAPER_U8, NULL, memory, SIZE_MAX), TAPER_TOO_LARGE);
    assert_int_equal(taper_copy(TAPER_U8, NULL, memory, 1), TAPER_NULL);
    assert_int_equal(taper_copy(TAPER_U8, memory, NULL, 1), TAPER_NULL);
    assert_int_equal(taper_copy(TAPER_U8, NULL, NULL, 1), TAPER_NULL);
    assert_int_equal(taper_copy(TAPER_U8, memory, memory + 1, 2), TAPER_OVERLAP);
    assert_int_equal(memory[0], 7);

    for (int number = TAPER_F32; number <= TAPER_I2; number++) {
        const taper_dtype type = (taper_dtype)number;
        const size_t bits = taper_dtype_bits(type);
        if (bits == 0)
            continue;
        assert_int_equal(taper_copy(type, wild, wild, 0), TAPER_OK);
        assert_int_equal(taper_copy(type, NULL, NULL, 0), TAPER_OK);
        assert_int_equal(taper_copy(type, wild, wild, SIZE_MAX), TAPER_TOO_LARGE);
        assert_int_equal(taper_copy(type, wild, wild, (size_t)PTRDIFF_MAX + 1),
                         TAPER_TOO_LARGE);
        const size_t most = (size_t)PTRDIFF_MAX / (bits < 8 ? 1 : bits / 8);
        assert_int_equal(taper_copy(type, wild, wild, most + 1), TAPER_TOO_LARGE);
        assert_int_equal(taper_copy(type, NULL, wild, most), TAPER_NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),   cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_packed),
        cmocka_unit_test(test_overlap),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_memory, NULL);
}
