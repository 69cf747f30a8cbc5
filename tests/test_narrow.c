/* test_narrow.c - narrowing from binary32: the tables of the specification, and every
 * kernel at every size and place. */
#include "support.h"

static const taper_dtype narrow_types[] = {
    TAPER_F16,    TAPER_BF16,       TAPER_F8E4M3FN, TAPER_F8E4M3FNUZ,
    TAPER_F8E5M2, TAPER_F8E5M2FNUZ, TAPER_F4E2M1,   TAPER_F8E8M0,
};
enum { NARROW_TYPES = sizeof narrow_types / sizeof *narrow_types };

static uint64_t narrow_one(const struct taper_kernels *k, taper_dtype to, uint32_t bits,
                           taper_cast_options options)
{
    unsigned char code[2] = {0};
    k->narrow[to](code, &bits, 1, options, false);
    return get_element(code, oracle_bits(to), 0);
}

static void expect(taper_dtype to, uint32_t bits, taper_cast_options options,
                   uint64_t want)
{
    const struct taper_kernels *k;
    for (size_t i = 0; (k = taper_usable(i)) != NULL; i++) {
        const uint64_t got = narrow_one(k, to, bits, options);
        if (got != want)
            fail_msg("%s: %08x to %s, overflow %d, rounding %d: %llx, not %llx",
                     k->name, (unsigned)bits, taper_dtype_name(to),
                     (int)options.overflow, (int)options.rounding,
                     (unsigned long long)got, (unsigned long long)want);
    }
}

/* ---- Written by hand ---- */

/* Magnitudes where the result changes, and the codes there: the ends of the subnormals
 * and of the range. One of each pair is a tie, or the two are on both sides of one. */
static void test_thresholds(void **state)
{
    static const struct {
        taper_dtype to;
        uint32_t bits;
        uint16_t code;
    } rows[] = {
        {TAPER_F16, 0x33000000, 0x0000},
        {TAPER_F16, 0x33000001, 0x0001},
        {TAPER_F16, 0x33800000, 0x0001},
        {TAPER_F16, 0x387fdfff, 0x03ff},
        {TAPER_F16, 0x387fe000, 0x0400},
        {TAPER_F16, 0x38800000, 0x0400},
        {TAPER_F16, 0x477fe000, 0x7bff},
        {TAPER_F16, 0x477fefff, 0x7bff},
        {TAPER_BF16, 0x00008000, 0x0000},
        {TAPER_BF16, 0x00008001, 0x0001},
        {TAPER_BF16, 0x00010000, 0x0001},
        {TAPER_BF16, 0x007f7fff, 0x007f},
        {TAPER_BF16, 0x007f8000, 0x0080},
        {TAPER_BF16, 0x00800000, 0x0080},
        {TAPER_BF16, 0x7f7f0000, 0x7f7f},
        {TAPER_BF16, 0x7f7f7fff, 0x7f7f},
        {TAPER_F8E4M3FN, 0x3a800000, 0x00},
        {TAPER_F8E4M3FN, 0x3a800001, 0x01},
        {TAPER_F8E4M3FN, 0x3b000000, 0x01},
        {TAPER_F8E4M3FN, 0x3c6fffff, 0x07},
        {TAPER_F8E4M3FN, 0x3c700000, 0x08},
        {TAPER_F8E4M3FN, 0x3c800000, 0x08},
        {TAPER_F8E4M3FN, 0x43e00000, 0x7e},
        {TAPER_F8E4M3FN, 0x43e80000, 0x7e},
        {TAPER_F8E4M3FNUZ, 0x3a000001, 0x01},
        {TAPER_F8E4M3FNUZ, 0x3a800000, 0x01},
        {TAPER_F8E4M3FNUZ, 0x3befffff, 0x07},
        {TAPER_F8E4M3FNUZ, 0x3bf00000, 0x08},
        {TAPER_F8E4M3FNUZ, 0x3c000000, 0x08},
        {TAPER_F8E4M3FNUZ, 0x43700000, 0x7f},
        {TAPER_F8E4M3FNUZ, 0x4377ffff, 0x7f},
        {TAPER_F8E5M2, 0x37000000, 0x00},
        {TAPER_F8E5M2, 0x37000001, 0x01},
        {TAPER_F8E5M2, 0x37800000, 0x01},
        {TAPER_F8E5M2, 0x385fffff, 0x03},
        {TAPER_F8E5M2, 0x38600000, 0x04},
        {TAPER_F8E5M2, 0x38800000, 0x04},
        {TAPER_F8E5M2, 0x47600000, 0x7b},
        {TAPER_F8E5M2, 0x476fffff, 0x7b},
        {TAPER_F8E5M2FNUZ, 0x36800001, 0x01},
        {TAPER_F8E5M2FNUZ, 0x37000000, 0x01},
        {TAPER_F8E5M2FNUZ, 0x37dfffff, 0x03},
        {TAPER_F8E5M2FNUZ, 0x37e00000, 0x04},
        {TAPER_F8E5M2FNUZ, 0x38000000, 0x04},
        {TAPER_F8E5M2FNUZ, 0x47600000, 0x7f},
        {TAPER_F8E5M2FNUZ, 0x476fffff, 0x7f},
        /* every change of f4e2m1 */
        {TAPER_F4E2M1, 0x3e800000, 0},
        {TAPER_F4E2M1, 0x3e800001, 1},
        {TAPER_F4E2M1, 0x3f3fffff, 1},
        {TAPER_F4E2M1, 0x3f400000, 2},
        {TAPER_F4E2M1, 0x3fa00000, 2},
        {TAPER_F4E2M1, 0x3fa00001, 3},
        {TAPER_F4E2M1, 0x3fdfffff, 3},
        {TAPER_F4E2M1, 0x3fe00000, 4},
        {TAPER_F4E2M1, 0x40200000, 4},
        {TAPER_F4E2M1, 0x40200001, 5},
        {TAPER_F4E2M1, 0x405fffff, 5},
        {TAPER_F4E2M1, 0x40600000, 6},
        {TAPER_F4E2M1, 0x40a00000, 6},
        {TAPER_F4E2M1, 0x40a00001, 7},
        {TAPER_F4E2M1, 0x40e00000, 7},
        {TAPER_F4E2M1, 0x7f7fffff, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t sign = 1u << (oracle_bits(rows[i].to) - 1);
        for (int overflow = 0; overflow < 2; overflow++) {
            const taper_cast_options options = {(taper_overflow)overflow,
                                                TAPER_ROUND_UP};
            expect(rows[i].to, rows[i].bits, options, rows[i].code);
            expect(rows[i].to, rows[i].bits | 0x80000000, options,
                   rows[i].code | sign); /* no row is a zero of a FNUZ type */
        }
    }
}

/* Zero, underflow, the first overflow, infinity and NaN; a column per type. */
static void test_special_values(void **state)
{
    enum { COLUMNS = 7 };
    static const taper_dtype to[COLUMNS] = {
        TAPER_F16,    TAPER_BF16,       TAPER_F8E4M3FN, TAPER_F8E4M3FNUZ,
        TAPER_F8E5M2, TAPER_F8E5M2FNUZ, TAPER_F4E2M1};
    static const uint32_t tie_to_zero[COLUMNS] = {0x33000000, 0x00008000, 0x3a800000,
                                                  0x3a000000, 0x37000000, 0x36800000,
                                                  0x3e800000};
    static const uint32_t first_overflow[COLUMNS] = {0x477ff000, 0x7f7f8000, 0x43e80001,
                                                     0x43780000, 0x47700000, 0x47700000,
                                                     0x40e00000};
    static const uint16_t zero[2][COLUMNS] = {{0, 0, 0, 0, 0, 0, 0},
                                              {0x8000, 0x8000, 0x80, 0, 0x80, 0, 8}};
    static const uint16_t beyond[2][2][COLUMNS] = {
        {{0x7c00, 0x7f80, 0x7e, 0x7f, 0x7b, 0x7f, 7},
         {0xfc00, 0xff80, 0xfe, 0xff, 0xfb, 0xff, 15}},
        {{0x7c00, 0x7f80, 0x7f, 0x80, 0x7c, 0x80, 7},
         {0xfc00, 0xff80, 0xff, 0x80, 0xfc, 0x80, 15}},
    };
    static const struct {
        uint32_t bits;
        uint16_t code[COLUMNS];
    } nan[] = {
        {0x7fc00000, {0x7e00, 0x7fc0, 0x7f, 0x80, 0x7e, 0x80, 7}},
        {0xffc00000, {0xfe00, 0xffc0, 0xff, 0x80, 0xfe, 0x80, 7}},
        {0x7f800001, {0x7e00, 0x7fc0, 0x7f, 0x80, 0x7e, 0x80, 7}},
        {0xff800001, {0xfe00, 0xffc0, 0xff, 0x80, 0xfe, 0x80, 7}},
        {0x7fffffff, {0x7fff, 0x7fff, 0x7f, 0x80, 0x7e, 0x80, 7}},
        {0xffffffff, {0xffff, 0xffff, 0xff, 0x80, 0xfe, 0x80, 7}},
        {0x7fbfffff, {0x7fff, 0x7fff, 0x7f, 0x80, 0x7e, 0x80, 7}},
        {0x7f812345, {0x7e09, 0x7fc1, 0x7f, 0x80, 0x7e, 0x80, 7}},
        {0xffd56789, {0xfeab, 0xffd5, 0xff, 0x80, 0xfe, 0x80, 7}},
    };
    (void)state;
    for (int column = 0; column < COLUMNS; column++)
        for (int overflow = 0; overflow < 2; overflow++) {
            const taper_cast_options options = {(taper_overflow)overflow,
                                                TAPER_ROUND_UP};
            const taper_dtype type = to[column];
            for (int negative = 0; negative < 2; negative++) {
                const uint32_t sign = negative ? 0x80000000 : 0;
                const uint16_t none = zero[negative][column];
                const uint16_t most = beyond[overflow][negative][column];
                expect(type, sign, options, none);
                expect(type, sign | 1, options, none);
                expect(type, sign | tie_to_zero[column], options, none);
                expect(type, sign | first_overflow[column], options, most);
                expect(type, sign | 0x7f7fffff, options, most);
                expect(type, sign | 0x7f800000, options, most);
            }
            for (size_t i = 0; i < sizeof nan / sizeof *nan; i++)
                expect(type, nan[i].bits, options, nan[i].code[column]);
        }
}

/* f8e8m0: magnitudes, and codes for up, down and nearest. */
static void test_powers_of_two(void **state)
{
    static const struct {
        uint32_t bits;
        uint8_t saturate[3], no_saturate[3];
    } rows[] = {
        {0x00000000, {0x00, 0x00, 0x00}, {0xff, 0xff, 0xff}},
        {0x00000001, {0x00, 0x00, 0x00}, {0xff, 0xff, 0xff}},
        {0x00200000, {0x00, 0x00, 0x00}, {0xff, 0xff, 0xff}}, /* 2^-128 */
        {0x00200001, {0x00, 0x00, 0x00}, {0x00, 0xff, 0xff}},
        {0x002fffff, {0x00, 0x00, 0x00}, {0x00, 0xff, 0xff}},
        {0x00300000, {0x00, 0x00, 0x00}, {0x00, 0xff, 0x00}},
        {0x003fffff, {0x00, 0x00, 0x00}, {0x00, 0xff, 0x00}},
        {0x00400000, {0x00, 0x00, 0x00}, {0x00, 0x00, 0x00}}, /* 2^-127 */
        {0x00400001, {0x01, 0x00, 0x00}, {0x01, 0x00, 0x00}},
        {0x005fffff, {0x01, 0x00, 0x00}, {0x01, 0x00, 0x00}},
        {0x00600000, {0x01, 0x00, 0x01}, {0x01, 0x00, 0x01}},
        {0x007fffff, {0x01, 0x00, 0x01}, {0x01, 0x00, 0x01}},
        {0x00800000, {0x01, 0x01, 0x01}, {0x01, 0x01, 0x01}}, /* 2^-126 */
        {0x00800001, {0x02, 0x01, 0x01}, {0x02, 0x01, 0x01}},
        {0x00bfffff, {0x02, 0x01, 0x01}, {0x02, 0x01, 0x01}},
        {0x00c00000, {0x02, 0x01, 0x02}, {0x02, 0x01, 0x02}},
        {0x3f800000, {0x7f, 0x7f, 0x7f}, {0x7f, 0x7f, 0x7f}}, /* 1 */
        {0x3f8ccccd, {0x80, 0x7f, 0x7f}, {0x80, 0x7f, 0x7f}}, /* 1.1 */
        {0x3fc00000, {0x80, 0x7f, 0x80}, {0x80, 0x7f, 0x80}}, /* 1.5 */
        {0x7f000000, {0xfe, 0xfe, 0xfe}, {0xfe, 0xfe, 0xfe}}, /* 2^127 */
        {0x7f000001, {0xfe, 0xfe, 0xfe}, {0xff, 0xfe, 0xfe}},
        {0x7f3fffff, {0xfe, 0xfe, 0xfe}, {0xff, 0xfe, 0xfe}},
        {0x7f400000, {0xfe, 0xfe, 0xfe}, {0xff, 0xfe, 0xff}},
        {0x7f7fffff, {0xfe, 0xfe, 0xfe}, {0xff, 0xfe, 0xff}},
        {0x7f800000, {0xfe, 0xfe, 0xfe}, {0xff, 0xff, 0xff}},
        {0x7f800001, {0xff, 0xff, 0xff}, {0xff, 0xff, 0xff}},
        {0x7fc00000, {0xff, 0xff, 0xff}, {0xff, 0xff, 0xff}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int rounding = 0; rounding < 3; rounding++)
            for (uint32_t sign = 0; sign <= 1; sign++) { /* it is ignored */
                const uint32_t bits = rows[i].bits | sign << 31;
                taper_cast_options options = {TAPER_SATURATE, (taper_rounding)rounding};
                expect(TAPER_F8E8M0, bits, options, rows[i].saturate[rounding]);
                options.overflow = TAPER_NO_SATURATE;
                expect(TAPER_F8E8M0, bits, options, rows[i].no_saturate[rounding]);
            }
}

/* The 1024 ties of one binade of f16 go to the even code. */
static void test_ties_of_a_binade(void **state)
{
    const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
    (void)state;
    for (uint32_t i = 0; i < 1024; i++)
        expect(TAPER_F16, 0x3f801000 + 0x2000 * i, options, 0x3c00 + i + i % 2);
}

/* The top binade of the two e4m3 types: values and the midpoints between them. */
static void test_top_binade(void **state)
{
    const taper_cast_options options = {TAPER_NO_SATURATE, TAPER_ROUND_UP};
    (void)state;
    for (int i = 0; i < 16; i++) { /* half steps */
        const float fn = 256 + 16 * (float)i, fnuz = 128 + 8 * (float)i;
        const unsigned code =
            0x78 + (unsigned)(i + (i / 2) % 2) / 2; /* odd ones are ties */
        uint32_t bits;
        memcpy(&bits, &fn, sizeof bits);
        if (i < 15) /* then it is past 480, which is the NaN already */
            expect(TAPER_F8E4M3FN, bits, options, code);
        memcpy(&bits, &fnuz, sizeof bits);
        expect(TAPER_F8E4M3FNUZ, bits, options, code);
    }
}

/* Two a byte, the first in the low half; a last half byte is zero. */
static void test_packing(void **state)
{
    static const float one[] = {6}, three[] = {1, -0.5f, 3};
    static const float many[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f};
    const struct taper_kernels *k;
    (void)state;
    for (size_t i = 0; (k = taper_usable(i)) != NULL; i++) {
        const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
        unsigned char dst[8];
        memset(dst, 0xff, sizeof dst);
        k->narrow[TAPER_F4E2M1](dst, one, 1, options, false);
        assert_memory_equal(dst, "\x07\xff", 2);
        memset(dst, 0xff, sizeof dst);
        k->narrow[TAPER_F4E2M1](dst, three, 3, options, false);
        assert_memory_equal(dst, "\x92\x05\xff", 3);
        memset(dst, 0xff, sizeof dst);
        k->narrow[TAPER_F4E2M1](dst, many, 12, options, false);
        assert_memory_equal(dst, "\x10\x32\x54\x76\x98\xba\xff", 7);
    }
}

/* ---- Every kernel, at every size and place ---- */

static void run_narrow(const struct cast *c, void *dst, const void *src, size_t n,
                       bool stream)
{
    c->kernels->narrow[c->to](dst, src, n, c->options, stream);
}

/* Calls `check` for every kernel, with every option. */
static void for_each_kernel(void (*check)(const struct cast *cast))
{
    const struct taper_kernels *k;
    for (size_t i = 0; (k = taper_usable(i)) != NULL; i++) {
        print_message("%s\n", k->name);
        for (int t = 0; t <= NARROW_TYPES; t++) {
            const taper_dtype to = t < NARROW_TYPES ? narrow_types[t] : TAPER_F64;
            struct cast c = {k->name, to, TAPER_F32, {0}, k, run_narrow};
            do
                check(&c);
            while (next_options(to, &c.options));
        }
    }
}

static void check_all_sizes(const struct cast *c)
{
    check_sizes(c, 300, 1);
    check_sizes(c, 300, 2);
}

static void test_sizes(void **state)
{
    (void)state;
    for_each_kernel(check_all_sizes);
}

static void check_all_offsets(const struct cast *c)
{
    for (size_t n = 1; n <= 130; n = n < 20 ? n + 1 : n + 11)
        check_offsets(c, n, n);
    check_offsets(c, 1024, 1024);
}

static void test_offsets(void **state)
{
    (void)state;
    for_each_kernel(check_all_offsets);
}

static void check_all_in_place(const struct cast *c)
{
    if (c->to == TAPER_F64)
        return; /* wider than the source */
    for (size_t n = 1; n <= 257; n++)
        check_in_place(c, n, n);
}

static void test_in_place(void **state)
{
    (void)state;
    for_each_kernel(check_all_in_place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thresholds),    cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_powers_of_two), cmocka_unit_test(test_ties_of_a_binade),
        cmocka_unit_test(test_top_binade),    cmocka_unit_test(test_packing),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
