/* test_cast.c - the public casts: every pair of types with every instruction set
 * against the oracle, in place, and what they refuse. */
#include "support.h"

/* ---- Every pair ---- */

static void run_cast(const struct cast *c, void *dst, const void *src, size_t n,
                     bool stream)
{
    (void)stream;
    assert_int_equal(taper_cast(c->to, dst, c->from, src, n, &c->options), TAPER_OK);
}

static void run_narrow(const struct cast *c, void *dst, const void *src, size_t n,
                       bool stream)
{
    const taper_cast_options zero = {TAPER_SATURATE, TAPER_ROUND_UP};
    const bool defaults = memcmp(&c->options, &zero, sizeof zero) == 0;
    const taper_cast_options *const options = defaults && stream ? NULL : &c->options;
    assert_int_equal(taper_narrow(c->to, dst, src, n, options), TAPER_OK);
}

static void run_widen(const struct cast *c, void *dst, const void *src, size_t n,
                      bool stream)
{
    (void)stream;
    assert_int_equal(taper_widen(c->from, dst, src, n), TAPER_OK);
}

/* Calls `check` for every pair and option, with every instruction set. */
static void for_each_cast(void (*check)(const struct cast *cast))
{
    const char *isa;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        print_message("%s\n", isa);
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        for (int to = 0; to < CAST_TYPES; to++)
            for (int from = 0; from < CAST_TYPES; from++) {
                struct cast c = {isa, cast_types[to], cast_types[from],
                                 {0}, NULL,           run_cast};
                do {
                    c.run = run_cast;
                    check(&c);
                    c.run = c.from == TAPER_F32 && to >= FIRST_NARROW_TYPE ? run_narrow
                            : c.to == TAPER_F32 && from >= FIRST_NARROW_TYPE ? run_widen
                                                                             : NULL;
                    if (c.run != NULL)
                        check(&c);
                } while (next_options(c.to, &c.options));
            }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

static void check_all_sizes(const struct cast *c)
{
    check_sizes(c, 70, 5);
    for (size_t n = 511; n <= 514;
         n++) /* around the block on the way through binary32 */
        check_offsets(c, n, n);
    check_offsets(c, 1025, 1025);
}

static void test_sizes(void **state)
{
    (void)state;
    for_each_cast(check_all_sizes);
}

static void check_all_in_place(const struct cast *c)
{
    if (oracle_bits(c->to) > oracle_bits(c->from))
        return;
    for (size_t n = 1; n <= 257; n += n < 70 ? 1 : 17)
        check_in_place(c, n, n);
    for (size_t n = 511; n <= 514; n++)
        check_in_place(c, n, n);
    check_in_place(c, 1025, 1025);
}

static void test_in_place(void **state)
{
    (void)state;
    for_each_cast(check_all_in_place);
}

/* Narrowing undoes widening. */
static void test_round_trip(void **state)
{
    static const uint32_t infinity[] = {
        [TAPER_F16] = 0x7c00,      [TAPER_BF16] = 0x7f80, [TAPER_F8E4M3FN] = 0x7e,
        [TAPER_F8E4M3FNUZ] = 0x7f, [TAPER_F8E5M2] = 0x7c, [TAPER_F8E5M2FNUZ] = 0x7f,
        [TAPER_F4E2M1] = 7,        [TAPER_F8E8M0] = 0xfe,
    }; /* or the largest magnitude: what is above is no number */
    const taper_cast_options options = {TAPER_NO_SATURATE, TAPER_ROUND_NEAREST};
    (void)state;
    for (int t = FIRST_NARROW_TYPE; t < CAST_TYPES; t++) {
        const taper_dtype type = cast_types[t];
        const unsigned bits = oracle_bits(type);
        const uint32_t sign = type == TAPER_F8E8M0 ? 0 : 1u << (bits - 1);
        for (uint32_t code = 0; code < 1u << bits; code++) {
            unsigned char in[2] = {0}, out[2];
            uint32_t wide;
            set_element(in, bits, 0, code);
            assert_int_equal(taper_widen(type, &wide, in, 1), TAPER_OK);
            assert_int_equal(taper_narrow(type, out, &wide, 1, &options), TAPER_OK);
            const bool fnuz_nan =
                (type == TAPER_F8E4M3FNUZ || type == TAPER_F8E5M2FNUZ) && code == 0x80;
            if ((code & ~sign) <= infinity[type] && !fnuz_nan)
                assert_int_equal(get_element(out, bits, 0), code);
            else
                assert_true((wide & 0x7fffffff) > 0x7f800000);
        }
    }
}

/* ---- What is refused ---- */

static const taper_cast_options good = {TAPER_SATURATE, TAPER_ROUND_UP};

/* Faults of an argument in the order in which they are reported. */
enum {
    BAD_DTYPE = 1 << 0,
    UNSUPPORTED = 1 << 1,
    BAD_OPTION = 1 << 2,
    TOO_LARGE = 1 << 3,
    NULL_DST = 1 << 4,
    NULL_SRC = 1 << 5,
    OVERLAP = 1 << 6,
    ALL_FAULTS = (1 << 7) - 1,
};

static taper_status status_of(unsigned faults)
{
    return faults & BAD_DTYPE               ? TAPER_BAD_DTYPE
           : faults & UNSUPPORTED           ? TAPER_UNSUPPORTED
           : faults & BAD_OPTION            ? TAPER_BAD_OPTION
           : faults & TOO_LARGE             ? TAPER_TOO_LARGE
           : faults & (NULL_DST | NULL_SRC) ? TAPER_NULL
           : faults & OVERLAP               ? TAPER_OVERLAP
                                            : TAPER_OK;
}

/* Every set of faults, in a call on `memory`, of which not a byte may change. */
static void check_faults(taper_status (*call)(taper_dtype type, void *dst,
                                              const void *src, size_t n,
                                              const taper_cast_options *options),
                         unsigned possible)
{
    unsigned char memory[64], before[64];
    memset(memory, 0x5a, sizeof memory);
    memcpy(before, memory, sizeof memory);
    for (unsigned faults = 1; faults <= ALL_FAULTS; faults++) {
        if ((faults & ~possible) != 0)
            continue;
        const taper_dtype type = faults & BAD_DTYPE     ? (taper_dtype)27
                                 : faults & UNSUPPORTED ? TAPER_I32
                                                        : TAPER_BF16;
        taper_cast_options options = good;
        if (faults & BAD_OPTION)
            options.overflow = (taper_overflow)2;
        unsigned char *const src = memory + 8;
        unsigned char *const dst = faults & OVERLAP ? src + 3 : src + 32;
        const taper_status got =
            call(type, faults & NULL_DST ? NULL : dst, faults & NULL_SRC ? NULL : src,
                 faults & TOO_LARGE ? SIZE_MAX : 4, &options);
        if (got != status_of(faults))
            fail_msg("faults %x: %d, not %d", faults, (int)got, (int)status_of(faults));
        assert_memory_equal(memory, before, sizeof memory);
    }
    assert_int_equal(call(TAPER_BF16, memory + 40, memory, 4, &good), TAPER_OK);
}

static taper_status call_widen(taper_dtype type, void *dst, const void *src, size_t n,
                               const taper_cast_options *options)
{
    (void)options;
    return taper_widen(type, dst, src, n);
}

static taper_status call_cast_to(taper_dtype type, void *dst, const void *src, size_t n,
                                 const taper_cast_options *options)
{
    return taper_cast(type, dst, TAPER_F32, src, n, options);
}

static taper_status call_cast_from(taper_dtype type, void *dst, const void *src,
                                   size_t n, const taper_cast_options *options)
{
    return taper_cast(TAPER_F16, dst, type, src, n, options);
}

static void test_order_of_checks(void **state)
{
    (void)state;
    check_faults(taper_narrow, ALL_FAULTS);
    check_faults(call_widen, ALL_FAULTS & ~BAD_OPTION);
    check_faults(call_cast_to, ALL_FAULTS);
    check_faults(call_cast_from, ALL_FAULTS);
}

/* All numbers around the enum: known or not, and taken or not. */
static void test_dtypes(void **state)
{
    static const int far[] = {INT32_MIN, -1000, 1000, 1 << 16, INT32_MAX};
    uint64_t src = 0, dst = 0;
    (void)state;
    for (int i = -5; i < 40; i++) {
        const int number = i < 35 ? i : far[i - 35];
        const taper_dtype type = (taper_dtype)number;
        const bool known = number >= TAPER_F32 && number <= TAPER_I2;
        const bool casts = oracle_bits(type) != 0;
        const bool narrow = casts && type != TAPER_F32 && type != TAPER_F64;
        const taper_status refused = known ? TAPER_UNSUPPORTED : TAPER_BAD_DTYPE;
        assert_int_equal(taper_narrow(type, &dst, &src, 1, NULL),
                         narrow ? TAPER_OK : refused);
        assert_int_equal(taper_widen(type, &dst, &src, 1), narrow ? TAPER_OK : refused);
        assert_int_equal(taper_cast(type, &dst, TAPER_F32, &src, 1, NULL),
                         casts ? TAPER_OK : refused);
        assert_int_equal(taper_cast(TAPER_F32, &dst, type, &src, 1, NULL),
                         casts ? TAPER_OK : refused);
        /* one unknown type is worse than one that is not taken */
        assert_int_equal(taper_cast(TAPER_STRING, &dst, type, &src, 1, NULL),
                         known ? TAPER_UNSUPPORTED : TAPER_BAD_DTYPE);
        assert_int_equal(taper_cast(type, &dst, TAPER_STRING, &src, 1, NULL),
                         known ? TAPER_UNSUPPORTED : TAPER_BAD_DTYPE);
    }
}

static void test_options(void **state)
{
    static const int wrong[] = {-1, 3, 100, INT32_MIN, INT32_MAX};
    uint32_t src = 0x3f800000, dst = 0;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const taper_cast_options overflow = {(taper_overflow)wrong[i], TAPER_ROUND_UP};
        const taper_cast_options rounding = {TAPER_SATURATE, (taper_rounding)wrong[i]};
        assert_int_equal(taper_narrow(TAPER_F16, &dst, &src, 1, &overflow),
                         TAPER_BAD_OPTION);
        assert_int_equal(taper_narrow(TAPER_F16, &dst, &src, 1, &rounding),
                         TAPER_BAD_OPTION);
        assert_int_equal(taper_cast(TAPER_F64, &dst, TAPER_F32, &src, 1, &overflow),
                         TAPER_BAD_OPTION);
        assert_int_equal(taper_cast(TAPER_F32, &dst, TAPER_F32, &src, 1, &rounding),
                         TAPER_BAD_OPTION);
    }
    assert_int_equal(dst, 0);
}

static void test_too_large(void **state)
{
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 4 + 2,
                                    (size_t)PTRDIFF_MAX + 1,
                                    (size_t)PTRDIFF_MAX / 4 + 1};
    void *const wild = wild_pointer();
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int t = 0; t < CAST_TYPES; t++) {
            const taper_dtype type = cast_types[t];
            if (t >= FIRST_NARROW_TYPE) {
                assert_int_equal(taper_narrow(type, wild, wild, counts[i], NULL),
                                 TAPER_TOO_LARGE);
                assert_int_equal(taper_widen(type, wild, wild, counts[i]),
                                 TAPER_TOO_LARGE);
            }
            assert_int_equal(taper_cast(TAPER_F32, wild, type, wild, counts[i], NULL),
                             TAPER_TOO_LARGE);
            assert_int_equal(taper_cast(type, wild, TAPER_F32, wild, counts[i], NULL),
                             TAPER_TOO_LARGE);
        }
    /* elements fit, bytes do not; with one less the null pointer is what is wrong */
    const size_t f64_count = (size_t)PTRDIFF_MAX / 8, f4_count = (size_t)PTRDIFF_MAX;
    assert_int_equal(
        taper_cast(TAPER_F64, wild, TAPER_F4E2M1, wild, f64_count + 1, NULL),
        TAPER_TOO_LARGE);
    assert_int_equal(
        taper_cast(TAPER_F4E2M1, wild, TAPER_F64, wild, f64_count + 1, NULL),
        TAPER_TOO_LARGE);
    assert_int_equal(taper_cast(TAPER_F64, NULL, TAPER_F4E2M1, wild, f64_count, NULL),
                     TAPER_NULL);
    assert_int_equal(
        taper_cast(TAPER_F4E2M1, NULL, TAPER_F8E4M3FN, wild, f4_count, NULL),
        TAPER_NULL);
    assert_int_equal(
        taper_cast(TAPER_F4E2M1, NULL, TAPER_F8E4M3FN, wild, f4_count + 1, NULL),
        TAPER_TOO_LARGE);
}

static void test_nothing(void **state)
{
    void *const wild = wild_pointer();
    const char *isa;
    (void)state;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        for (int to = 0; to < CAST_TYPES; to++)
            for (int from = 0; from < CAST_TYPES; from++) {
                const taper_dtype dst = cast_types[to], src = cast_types[from];
                assert_int_equal(taper_cast(dst, wild, src, wild, 0, NULL), TAPER_OK);
                assert_int_equal(taper_cast(dst, NULL, src, NULL, 0, NULL), TAPER_OK);
            }
        for (int type = FIRST_NARROW_TYPE; type < CAST_TYPES; type++) {
            assert_int_equal(taper_narrow(cast_types[type], wild, wild, 0, NULL),
                             TAPER_OK);
            assert_int_equal(taper_narrow(cast_types[type], NULL, NULL, 0, NULL),
                             TAPER_OK);
            assert_int_equal(taper_widen(cast_types[type], wild, wild, 0), TAPER_OK);
            assert_int_equal(taper_widen(cast_types[type], NULL, NULL, 0), TAPER_OK);
        }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

/* dst is put at every distance from src: only equal, adjacent or apart are allowed. */
static void test_overlap(void **state)
{
    enum { N = 5, MIDDLE = 64 };
    static unsigned char memory[3 * MIDDLE], before[3 * MIDDLE];
    (void)state;
    for (int to = 0; to < CAST_TYPES; to++)
        for (int from = 0; from < CAST_TYPES; from++) {
            const unsigned to_bits = oracle_bits(cast_types[to]);
            const unsigned from_bits = oracle_bits(cast_types[from]);
            const int to_bytes = (int)array_bytes(to_bits, N);
            const int from_bytes = (int)array_bytes(from_bits, N);
            for (int distance = -to_bytes; distance <= from_bytes; distance++) {
                const bool apart = distance == -to_bytes || distance == from_bytes;
                const bool in_place = distance == 0 && to_bits <= from_bits;
                unsigned char *const src = memory + MIDDLE, *const dst = src + distance;
                memset(memory, 0x35, sizeof memory);
                memcpy(before, memory, sizeof memory);
                const taper_status got =
                    taper_cast(cast_types[to], dst, cast_types[from], src, N, NULL);
                assert_int_equal(got, apart || in_place ? TAPER_OK : TAPER_OVERLAP);
                if (got != TAPER_OK)
                    assert_memory_equal(memory, before, sizeof memory);
                if (from == 0 && to >= FIRST_NARROW_TYPE)
                    assert_int_equal(taper_narrow(cast_types[to], dst, src, N, NULL),
                                     got);
                if (to == 0 && from >= FIRST_NARROW_TYPE)
                    assert_int_equal(taper_widen(cast_types[from], dst, src, N), got);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_order_of_checks),
        cmocka_unit_test(test_dtypes),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_too_large),  cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
