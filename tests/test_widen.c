/* test_widen.c - widening to binary32, and the two ways from binary64: the tables of
 * the specification, and every kernel at every size and place. All codes are in
 * test_sweep.c. */
#include "support.h"

#include <fenv.h>

static void test_known_values(void **state)
{
    static const struct {
        taper_dtype from;
        uint32_t code, bits;
    } rows[] = {
        {TAPER_BF16, 0x0000, 0x00000000},     {TAPER_BF16, 0x8000, 0x80000000},
        {TAPER_BF16, 0x0001, 0x00010000},     {TAPER_BF16, 0x3f80, 0x3f800000},
        {TAPER_BF16, 0x7f80, 0x7f800000},     {TAPER_BF16, 0xff80, 0xff800000},
        {TAPER_BF16, 0x7f81, 0x7f810000},     {TAPER_BF16, 0xffbf, 0xffbf0000},
        {TAPER_BF16, 0x7fc0, 0x7fc00000},     {TAPER_BF16, 0xffff, 0xffff0000},
        {TAPER_F16, 0x0000, 0x00000000},      {TAPER_F16, 0x8000, 0x80000000},
        {TAPER_F16, 0x0001, 0x33800000},      {TAPER_F16, 0x8001, 0xb3800000},
        {TAPER_F16, 0x0003, 0x34400000},      {TAPER_F16, 0x03ff, 0x387fc000},
        {TAPER_F16, 0x0400, 0x38800000},      {TAPER_F16, 0x3c00, 0x3f800000},
        {TAPER_F16, 0x7bff, 0x477fe000},      {TAPER_F16, 0x7c00, 0x7f800000},
        {TAPER_F16, 0xfc00, 0xff800000},      {TAPER_F16, 0xfc01, 0xffc02000},
        {TAPER_F16, 0xfe00, 0xffc00000},      {TAPER_F16, 0x7dff, 0x7fffe000},
        {TAPER_F16, 0x7fff, 0x7fffe000},      {TAPER_F8E4M3FN, 0x00, 0x00000000},
        {TAPER_F8E4M3FN, 0x80, 0x80000000},   {TAPER_F8E4M3FN, 0x01, 0x3b000000},
        {TAPER_F8E4M3FN, 0x07, 0x3c600000},   {TAPER_F8E4M3FN, 0x08, 0x3c800000},
        {TAPER_F8E4M3FN, 0x38, 0x3f800000},   {TAPER_F8E4M3FN, 0x78, 0x43800000},
        {TAPER_F8E4M3FN, 0x79, 0x43900000},   {TAPER_F8E4M3FN, 0x7a, 0x43a00000},
        {TAPER_F8E4M3FN, 0x7b, 0x43b00000},   {TAPER_F8E4M3FN, 0x7c, 0x43c00000},
        {TAPER_F8E4M3FN, 0x7d, 0x43d00000},   {TAPER_F8E4M3FN, 0x7e, 0x43e00000},
        {TAPER_F8E4M3FN, 0xfe, 0xc3e00000},   {TAPER_F8E4M3FN, 0x7f, 0x7fc00000},
        {TAPER_F8E4M3FN, 0xff, 0xffc00000},   {TAPER_F8E4M3FNUZ, 0x00, 0x00000000},
        {TAPER_F8E4M3FNUZ, 0x01, 0x3a800000}, {TAPER_F8E4M3FNUZ, 0x81, 0xba800000},
        {TAPER_F8E4M3FNUZ, 0x08, 0x3c000000}, {TAPER_F8E4M3FNUZ, 0x7f, 0x43700000},
        {TAPER_F8E4M3FNUZ, 0xff, 0xc3700000}, {TAPER_F8E4M3FNUZ, 0x80, 0xffc00000},
        {TAPER_F8E5M2, 0x00, 0x00000000},     {TAPER_F8E5M2, 0x01, 0x37800000},
        {TAPER_F8E5M2, 0x02, 0x38000000},     {TAPER_F8E5M2, 0x03, 0x38400000},
        {TAPER_F8E5M2, 0x80, 0x80000000},     {TAPER_F8E5M2, 0x81, 0xb7800000},
        {TAPER_F8E5M2, 0x82, 0xb8000000},     {TAPER_F8E5M2, 0x83, 0xb8400000},
        {TAPER_F8E5M2, 0x04, 0x38800000},     {TAPER_F8E5M2, 0x7b, 0x47600000},
        {TAPER_F8E5M2, 0x7c, 0x7f800000},     {TAPER_F8E5M2, 0xfc, 0xff800000},
        {TAPER_F8E5M2, 0x7d, 0x7fc00000},     {TAPER_F8E5M2, 0x7e, 0x7fc00000},
        {TAPER_F8E5M2, 0x7f, 0x7fc00000},     {TAPER_F8E5M2, 0xfd, 0xffc00000},
        {TAPER_F8E5M2, 0xfe, 0xffc00000},     {TAPER_F8E5M2, 0xff, 0xffc00000},
        {TAPER_F8E5M2FNUZ, 0x00, 0x00000000}, {TAPER_F8E5M2FNUZ, 0x01, 0x37000000},
        {TAPER_F8E5M2FNUZ, 0x81, 0xb7000000}, {TAPER_F8E5M2FNUZ, 0x04, 0x38000000},
        {TAPER_F8E5M2FNUZ, 0x7f, 0x47600000}, {TAPER_F8E5M2FNUZ, 0xff, 0xc7600000},
        {TAPER_F8E5M2FNUZ, 0x80, 0xffc00000}, {TAPER_F4E2M1, 0x0, 0x00000000},
        {TAPER_F4E2M1, 0x1, 0x3f000000},      {TAPER_F4E2M1, 0x2, 0x3f800000},
        {TAPER_F4E2M1, 0x3, 0x3fc00000},      {TAPER_F4E2M1, 0x4, 0x40000000},
        {TAPER_F4E2M1, 0x5, 0x40400000},      {TAPER_F4E2M1, 0x6, 0x40800000},
        {TAPER_F4E2M1, 0x7, 0x40c00000},      {TAPER_F4E2M1, 0x8, 0x80000000},
        {TAPER_F4E2M1, 0x9, 0xbf000000},      {TAPER_F4E2M1, 0xf, 0xc0c00000},
        {TAPER_F8E8M0, 0x00, 0x00400000},     {TAPER_F8E8M0, 0x01, 0x00800000},
        {TAPER_F8E8M0, 0x7f, 0x3f800000},     {TAPER_F8E8M0, 0xfe, 0x7f000000},
        {TAPER_F8E8M0, 0xff, 0x7fc00000},
    };
    const struct taper_kernels *k;
    (void)state;
    for (size_t t = 0; (k = taper_usable(t)) != NULL; t++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            unsigned char code[2] = {0};
            uint32_t bits;
            set_element(code, oracle_bits(rows[i].from), 0, rows[i].code);
            k->widen[rows[i].from](&bits, code, 1, false);
            if (bits != rows[i].bits)
                fail_msg("%s: %s %x is %08x, not %08x", k->name,
                         taper_dtype_name(rows[i].from), (unsigned)rows[i].code,
                         (unsigned)bits, (unsigned)rows[i].bits);
        }
}

/* Both ways from binary64: to odd, which keeps what a second rounding needs to know,
 * and to nearest. */
static void test_known_f64(void **state)
{
    static const struct {
        uint64_t bits;
        uint32_t odd, nearest;
    } rows[] = {
        {0x0000000000000000, 0x00000000, 0x00000000},
        {0x8000000000000000, 0x80000000, 0x80000000},
        {0x0000000000000001, 0x00000001, 0x00000000},
        {0x000fffffffffffff, 0x00000001, 0x00000000},
        {0x8010000000000000, 0x80000001, 0x80000000},
        {0x3680000000000000, 0x00000001, 0x00000000}, /* 2^-151 */
        {0x3690000000000000, 0x00000001, 0x00000000}, /* 2^-150, a tie */
        {0x3690000000000001, 0x00000001, 0x00000001},
        {0x36a0000000000000, 0x00000001, 0x00000001}, /* 2^-149 */
        {0x36a8000000000000, 0x00000001, 0x00000002}, /* a tie */
        {0x36b0000000000000, 0x00000002, 0x00000002},
        {0x36b0000000000001, 0x00000003, 0x00000002},
        {0x380fffffc0000000, 0x007fffff, 0x007fffff},
        {0x380fffffdfffffff, 0x007fffff, 0x007fffff},
        {0x380fffffe0000000, 0x007fffff, 0x00800000}, /* a tie */
        {0x3810000000000000, 0x00800000, 0x00800000},
        {0x3ff0000000000000, 0x3f800000, 0x3f800000},
        {0x3ff0000000000001, 0x3f800001, 0x3f800000},
        {0x3ff0000010000000, 0x3f800001, 0x3f800000}, /* a tie */
        {0xbff0000010000001, 0xbf800001, 0xbf800001},
        {0x3ff0000030000000, 0x3f800001, 0x3f800002}, /* a tie */
        {0x3ff0000020000000, 0x3f800001, 0x3f800001},
        {0x3ff0000040000001, 0x3f800003, 0x3f800002},
        {0x47efffffe0000000, 0x7f7fffff, 0x7f7fffff},
        {0x47efffffefffffff, 0x7f7fffff, 0x7f7fffff},
        {0x47effffff0000000, 0x7f7fffff, 0x7f800000}, /* a tie */
        {0x47f0000000000000, 0x7f800000, 0x7f800000}, /* 2^128 */
        {0xffefffffffffffff, 0xff800000, 0xff800000},
        {0x7ff0000000000000, 0x7f800000, 0x7f800000},
        {0xfff0000000000000, 0xff800000, 0xff800000},
        {0x7ff0000000000001, 0x7fc00000, 0x7fc00000},
        {0xfff0000020000000, 0xffc00001, 0xffc00001},
        {0x7ff8000000000000, 0x7fc00000, 0x7fc00000},
        {0xffffffffffffffff, 0xffffffff, 0xffffffff},
    };
    const struct taper_kernels *k;
    (void)state;
    for (size_t t = 0; (k = taper_usable(t)) != NULL; t++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            uint32_t odd, nearest;
            k->widen[TAPER_F64](&odd, &rows[i].bits, 1, false);
            k->f32_from_f64(&nearest, &rows[i].bits, 1, false);
            if (odd != rows[i].odd || nearest != rows[i].nearest)
                fail_msg("%s: %016llx is %08x and %08x, not %08x and %08x", k->name,
                         (unsigned long long)rows[i].bits, (unsigned)odd,
                         (unsigned)nearest, (unsigned)rows[i].odd,
                         (unsigned)rows[i].nearest);
        }
}

/* The binary32 with these bits is `x`; or it is odd, and `x` is between its neighbours.
 */
static bool is_odd_rounding(uint32_t bits, double x)
{
    const uint32_t neighbours[] = {bits - 1, bits, bits + 1};
    float at[3];
    memcpy(at, neighbours, sizeof at);
    return (double)at[1] == x ||
           (bits % 2 == 1 && (double)at[0] < x && x < (double)at[2]);
}

/* Finite magnitudes below 2^128; the largest binary32 takes all from itself on. */
static void test_rounding_to_odd(void **state)
{
    enum { N = 4096 };
    static double x[N];
    static uint32_t bits[N];
    const struct taper_kernels *k;
    uint64_t seed = 3;
    (void)state;
    fesetenv(
        FE_DFL_ENV); /* linked with -ffast-math, is_odd_rounding() has no subnormals */
    for (size_t t = 0; (k = taper_usable(t)) != NULL; t++)
        for (int round = 0; round < 50; round++) {
            for (size_t i = 0; i < N; i++) {
                do {
                    uint64_t random = next_random(&seed) >> 1;
                    if (i % 4 != 0) /* near the range of binary32 */
                        random = random % (UINT64_C(300) << 52) + (UINT64_C(870) << 52);
                    if (i % 8 == 1)
                        random &= UINT64_MAX << 29;
                    memcpy(&x[i], &random, sizeof random);
                } while (!(x[i] < 0x1p128));
            }
            k->widen[TAPER_F64](bits, x, N, false);
            for (size_t i = 0; i < N; i++)
                if (bits[i] == 0x7f7fffff ? x[i] <= 0x1.fffffcp127
                                          : !is_odd_rounding(bits[i], x[i]))
                    fail_msg("%s: %a is %08x", k->name, x[i], (unsigned)bits[i]);
        }
}

/* ---- Every kernel, at every size and place ---- */

static void run_widen(const struct cast *c, void *dst, const void *src, size_t n,
                      bool stream)
{
    if (c->from == TAPER_F64)
        c->kernels->f32_from_f64(dst, src, n, stream);
    else
        c->kernels->widen[c->from](dst, src, n, stream);
}

static void for_each_kernel(void (*check)(const struct cast *cast))
{
    const struct taper_kernels *k;
    for (size_t i = 0; (k = taper_usable(i)) != NULL; i++) {
        print_message("%s\n", k->name);
        for (int t = 0; t < CAST_TYPES; t++)
            if (cast_types[t] != TAPER_F32)
                check(&(struct cast){
                    k->name, TAPER_F32, cast_types[t], {0}, k, run_widen});
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

/* The only ones whose results are no wider: both ways from binary64. */
static void check_all_in_place(const struct cast *c)
{
    if (c->from == TAPER_F64)
        for (size_t n = 1; n <= 257; n++)
            check_in_place(c, n, n);
}

static void test_in_place(void **state)
{
    (void)state;
    for_each_kernel(check_all_in_place);
}

/* Rounding to odd is not what the oracle speaks of: it is compared with the reference,
 * which the tests above and test_sweep.c have compared with the oracle. */
static void test_odd_agrees(void **state)
{
    enum { N = 300 };
    static const struct guarded none;
    struct guarded src = none, dst = none;
    const struct taper_kernels *k;
    uint64_t seed = 4;
    (void)state;
    src = guarded_new(8 * N);
    dst = guarded_new(4 * N);
    for (size_t t = 0; (k = taper_usable(t)) != NULL; t++)
        for (size_t n = 0; n <= N; n++) {
            uint64_t *const in = (uint64_t *)(void *)src.end - n;
            uint32_t *const out = (uint32_t *)(void *)dst.end - n, want[N];
            for (size_t i = 0; i < n; i++)
                in[i] = random_element(TAPER_F64, &seed);
            memset(dst.begin, 0xa5, (size_t)(dst.end - dst.begin));
            taper_scalar.widen[TAPER_F64](want, in, n, false);
            k->widen[TAPER_F64](out, in, n, false);
            assert_memory_equal(out, want, 4 * n);
            for (unsigned char *byte = dst.begin; byte < (unsigned char *)out; byte++)
                assert_int_equal(*byte, 0xa5);
            k->widen[TAPER_F64](in, in, n, false);
            assert_memory_equal(in, want, 4 * n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),    cmocka_unit_test(test_known_f64),
        cmocka_unit_test(test_rounding_to_odd), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_offsets),         cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_odd_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
