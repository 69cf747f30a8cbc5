/* test_vectors.c - inputs that other software of this kind has got wrong, by class of
 * fault. Each row is one class: A rounding, B NaN and infinity, C range and saturation,
 * D zeros of the FNUZ types, E subnormals, F subnormals that a CPU may flush, G
 * packing, M byte order, N toolchain.
 *
 * Every row goes through the public function on every instruction set, as one element
 * and as every element of arrays that have a vector body and a tail.
 *
 * Built twice: vectors_fast_math is a host that starts with subnormals flushed to zero.
 */
#include "support.h"

enum which { BOTH, ON, OFF }; /* saturate */

static const struct {
    const char *name;
    taper_dtype from, to;
    enum which saturate;
    uint64_t in, out;
} rows[] = {
    /* ---- A: the nearest, in one rounding, ties to even */
    {"A1 two roundings", TAPER_F64, TAPER_F16, BOTH, 0x3ff0020000001000, 0x3c01},
    {"A2 two roundings", TAPER_F64, TAPER_BF16, BOTH, 0x3ff0100000001000, 0x3f81},
    {"A3 under 65520", TAPER_F64, TAPER_F16, BOTH, 0x40effdfffffe0000, 0x7bff},
    {"A3 65520", TAPER_F64, TAPER_F16, BOTH, 0x40effe0000000000, 0x7c00},
    {"A4 up", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3fe815a5, 0x3f},
    {"A4 tie", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3fe80000, 0x3e},
    {"A5 tie", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x40880000, 0x48},
    {"A6 not cut", TAPER_F32, TAPER_BF16, BOTH, 0x3e89ccd5, 0x3e8a},
    {"A7 tie down", TAPER_F32, TAPER_F16, BOTH, 0x3f801000, 0x3c00},
    {"A7 tie up", TAPER_F32, TAPER_F16, BOTH, 0x3f803000, 0x3c02},
    {"A7 tie to 2", TAPER_F32, TAPER_F16, BOTH, 0x3ffff000, 0x4000},
    {"A8 not to zero", TAPER_F32, TAPER_F16, BOTH, 0x3f801001, 0x3c01},
    /* ---- B */
    {"B1 low payload", TAPER_F32, TAPER_BF16, BOTH, 0x7f800001, 0x7fc0},
    {"B1 low payload", TAPER_F32, TAPER_BF16, BOTH, 0xff800001, 0xffc0},
    {"B2 no carry", TAPER_F32, TAPER_BF16, BOTH, 0x7fffffff, 0x7fff},
    {"B2 no carry", TAPER_F32, TAPER_BF16, BOTH, 0xffffffff, 0xffff},
    {"B2 rounds to infinity", TAPER_F32, TAPER_BF16, BOTH, 0x7f7fffff, 0x7f80},
    {"B3 low payload", TAPER_F64, TAPER_F16, BOTH, 0x7ff0000000000001, 0x7e00},
    {"B3 low payload", TAPER_F64, TAPER_F16, BOTH, 0xfff0000000000001, 0xfe00},
    {"B3 low payload", TAPER_F64, TAPER_BF16, BOTH, 0xfff0000000000001, 0xffc0},
    {"B3 low payload", TAPER_F64, TAPER_F8E4M3FN, BOTH, 0xfff0000000000001, 0xff},
    {"B3 low payload", TAPER_F64, TAPER_F8E5M2, BOTH, 0x7ff0000000000001, 0x7e},
    {"B5 sign kept", TAPER_F16, TAPER_F32, BOTH, 0xfc01, 0xffc02000},
    {"B5 sign kept", TAPER_F16, TAPER_F32, BOTH, 0xfe00, 0xffc00000},
    {"B6 full payload", TAPER_F32, TAPER_F16, BOTH, 0x7fffffff, 0x7fff},
    {"B6 made quiet", TAPER_F32, TAPER_F16, BOTH, 0x7fa00000, 0x7f00},
    {"B7 no payload", TAPER_F8E4M3FN, TAPER_F32, BOTH, 0x7f, 0x7fc00000},
    {"B7 no payload", TAPER_F8E4M3FN, TAPER_F16, BOTH, 0xff, 0xfe00},
    {"B7 no payload", TAPER_F8E4M3FN, TAPER_BF16, BOTH, 0x7f, 0x7fc0},
    {"B7 all of e5m2", TAPER_F8E5M2, TAPER_F32, BOTH, 0x7d, 0x7fc00000},
    {"B7 all of e5m2", TAPER_F8E5M2, TAPER_F16, BOTH, 0x7e, 0x7e00},
    {"B7 all of e5m2", TAPER_F8E5M2, TAPER_BF16, BOTH, 0xfd, 0xffc0},
    {"B7 all of e5m2", TAPER_F8E5M2, TAPER_F16, BOTH, 0xff, 0xfe00},
    {"B8 no infinity", TAPER_F8E4M3FN, TAPER_F32, BOTH, 0x78, 0x43800000},
    {"B8 no infinity", TAPER_F8E4M3FN, TAPER_F32, BOTH, 0x7e, 0x43e00000},
    /* ---- C */
    {"C1 464", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x43e80000, 0x7e},
    {"C1 after 464", TAPER_F32, TAPER_F8E4M3FN, ON, 0x43e80001, 0x7e},
    {"C1 after 464", TAPER_F32, TAPER_F8E4M3FN, OFF, 0x43e80001, 0x7f},
    {"C1 before 248", TAPER_F32, TAPER_F8E4M3FNUZ, BOTH, 0x4377ffff, 0x7f},
    {"C1 248", TAPER_F32, TAPER_F8E4M3FNUZ, OFF, 0x43780000, 0x80},
    {"C1 248", TAPER_F32, TAPER_F8E4M3FNUZ, ON, 0x43780000, 0x7f},
    {"C1 before 61440", TAPER_F32, TAPER_F8E5M2, BOTH, 0x476fffff, 0x7b},
    {"C1 61440", TAPER_F32, TAPER_F8E5M2, OFF, 0x47700000, 0x7c},
    {"C1 61440", TAPER_F32, TAPER_F8E5M2, ON, 0x47700000, 0x7b},
    {"C1 before 61440", TAPER_F32, TAPER_F8E5M2FNUZ, BOTH, 0x476fffff, 0x7f},
    {"C1 61440", TAPER_F32, TAPER_F8E5M2FNUZ, OFF, 0x47700000, 0x80},
    {"C1 61440", TAPER_F32, TAPER_F8E5M2FNUZ, ON, 0x47700000, 0x7f},
    {"C1 480 to 496", TAPER_F32, TAPER_F8E4M3FN, OFF, 0x43f00000, 0x7f},
    {"C1 to 65536", TAPER_F32, TAPER_F8E5M2, OFF, 0x477fffff, 0x7c},
    {"C2 infinity", TAPER_F32, TAPER_F8E4M3FNUZ, ON, 0x7f800000, 0x7f},
    {"C2 infinity", TAPER_F32, TAPER_F8E4M3FNUZ, ON, 0xff800000, 0xff},
    {"C2 largest", TAPER_F32, TAPER_F8E4M3FNUZ, ON, 0x7f7fffff, 0x7f},
    {"C2 infinity", TAPER_F32, TAPER_F8E4M3FNUZ, OFF, 0x7f800000, 0x80},
    {"C2 infinity", TAPER_F32, TAPER_F8E4M3FNUZ, OFF, 0xff800000, 0x80},
    {"C2 largest", TAPER_F32, TAPER_F8E4M3FNUZ, OFF, 0x7f7fffff, 0x80},
    {"C2 infinity", TAPER_F32, TAPER_F8E5M2FNUZ, ON, 0x7f800000, 0x7f},
    {"C2 infinity", TAPER_F32, TAPER_F8E5M2FNUZ, ON, 0xff800000, 0xff},
    {"C2 largest", TAPER_F32, TAPER_F8E5M2FNUZ, ON, 0x7f7fffff, 0x7f},
    {"C2 infinity", TAPER_F32, TAPER_F8E5M2FNUZ, OFF, 0x7f800000, 0x80},
    {"C2 infinity", TAPER_F32, TAPER_F8E5M2FNUZ, OFF, 0xff800000, 0x80},
    {"C2 largest", TAPER_F32, TAPER_F8E5M2FNUZ, OFF, 0x7f7fffff, 0x80},
    {"C3 infinity", TAPER_F32, TAPER_F8E4M3FN, ON, 0x7f800000, 0x7e},
    {"C3 infinity", TAPER_F32, TAPER_F8E4M3FN, ON, 0xff800000, 0xfe},
    {"C3 infinity", TAPER_F32, TAPER_F8E4M3FN, OFF, 0x7f800000, 0x7f},
    {"C3 infinity", TAPER_F32, TAPER_F8E4M3FN, OFF, 0xff800000, 0xff},
    {"C3 infinity", TAPER_F32, TAPER_F8E5M2, ON, 0x7f800000, 0x7b},
    {"C3 infinity", TAPER_F32, TAPER_F8E5M2, ON, 0xff800000, 0xfb},
    {"C3 infinity", TAPER_F32, TAPER_F8E5M2, OFF, 0x7f800000, 0x7c},
    {"C3 infinity", TAPER_F32, TAPER_F8E5M2, OFF, 0xff800000, 0xfc},
    {"C4 no saturation", TAPER_F32, TAPER_F8E5M2, OFF, 0x47e80000, 0x7c},
    {"C4 saturation", TAPER_F32, TAPER_F8E5M2, ON, 0x47e80000, 0x7b},
    {"C6 10000", TAPER_F32, TAPER_F8E4M3FN, ON, 0x461c4000, 0x7e},
    {"C7 far beyond", TAPER_F32, TAPER_F8E4M3FN, OFF, 0x5bf80000, 0x7f},
    {"C8 65504", TAPER_F32, TAPER_F16, BOTH, 0x477fe000, 0x7bff},
    {"C8 under 65520", TAPER_F32, TAPER_F16, BOTH, 0x477fefff, 0x7bff},
    {"C8 65520", TAPER_F32, TAPER_F16, BOTH, 0x477ff000, 0x7c00},
    {"C8 65536", TAPER_F32, TAPER_F16, BOTH, 0x47800000, 0x7c00},
    {"C8 bf16", TAPER_F32, TAPER_BF16, BOTH, 0x7f7f7fff, 0x7f7f},
    {"C8 bf16", TAPER_F32, TAPER_BF16, BOTH, 0x7f7f8000, 0x7f80},
    {"C9 not a number", TAPER_F32, TAPER_F4E2M1, BOTH, 0xffc00000, 0x7},
    {"C9 infinity", TAPER_F32, TAPER_F4E2M1, BOTH, 0xff800000, 0xf},
    /* ---- D: the code with only the sign is the NaN */
    {"D1 -1e-7", TAPER_F32, TAPER_F8E4M3FNUZ, BOTH, 0xb3d6bf95, 0x00},
    {"D1 tie", TAPER_F32, TAPER_F8E4M3FNUZ, BOTH, 0xba000000, 0x00},
    {"D1 -0", TAPER_F32, TAPER_F8E4M3FNUZ, BOTH, 0x80000000, 0x00},
    {"D1 least", TAPER_F32, TAPER_F8E5M2FNUZ, BOTH, 0x80000001, 0x00},
    {"D2 tie", TAPER_F32, TAPER_F8E5M2FNUZ, BOTH, 0xb6800000, 0x00},
    {"D2 after it", TAPER_F32, TAPER_F8E5M2FNUZ, BOTH, 0xb6800001, 0x81},
    {"D3 2^-24", TAPER_F16, TAPER_F8E5M2FNUZ, BOTH, 0x0001, 0x00},
    {"D3 2^-17", TAPER_F16, TAPER_F8E5M2FNUZ, BOTH, 0x0080, 0x01},
    {"D3 -0", TAPER_F16, TAPER_F8E5M2FNUZ, BOTH, 0x8000, 0x00},
    /* ---- E */
    {"E1 tie", TAPER_F32, TAPER_F16, BOTH, 0x34200000, 0x0002},
    {"E1 tie", TAPER_F32, TAPER_F16, BOTH, 0x34600000, 0x0004},
    {"E1 tie", TAPER_F32, TAPER_F16, BOTH, 0x33000000, 0x0000},
    {"E1 after a tie", TAPER_F32, TAPER_F16, BOTH, 0x33000001, 0x0001},
    {"E2 least", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3b000000, 0x01},
    {"E2 after a tie", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3a800001, 0x01},
    {"E2 tiny", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x2f800000, 0x00},
    {"E2 tiniest", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x00000001, 0x00},
    {"E3 half", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3a800000, 0x00},
    {"E3 three quarters", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3ac00000, 0x01},
    {"E3 one and a half", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3b400000, 0x02},
    {"E4 under normal", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3c7fffff, 0x08},
    {"E4 tie", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3c700000, 0x08},
    {"E4 before the tie", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3c6fffff, 0x07},
    {"E5", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x38d901ba, 0x00},
    {"E5", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3a0d448d, 0x00},
    {"E5", TAPER_F32, TAPER_F8E4M3FN, BOTH, 0x3a8775d2, 0x01},
    {"E6", TAPER_F8E5M2, TAPER_F32, BOTH, 0x00, 0x00000000},
    {"E6", TAPER_F8E5M2, TAPER_F32, BOTH, 0x01, 0x37800000},
    {"E6", TAPER_F8E5M2, TAPER_F32, BOTH, 0x02, 0x38000000},
    {"E6", TAPER_F8E5M2, TAPER_F32, BOTH, 0x83, 0xb8400000},
    {"E6 tie", TAPER_F32, TAPER_F8E5M2, BOTH, 0x37000000, 0x00},
    {"E6 after it", TAPER_F32, TAPER_F8E5M2, BOTH, 0x37000001, 0x01},
    {"E6 least", TAPER_F32, TAPER_F8E5M2, BOTH, 0x37800000, 0x01},
    {"E8 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x00010000, 0x0001},
    {"E8 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x00008000, 0x0000},
    {"E8 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x00008001, 0x0001},
    {"E8 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x00018000, 0x0002},
    /* ---- F */
    {"F1 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x00400000, 0x0040},
    {"F1 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x007fffff, 0x0080},
    {"F1 no flush", TAPER_F32, TAPER_BF16, BOTH, 0x80400000, 0x8040},
    {"F4 subnormal tie", TAPER_F32, TAPER_F16, BOTH, 0x387fe000, 0x0400},
    {"F3 from subnormal", TAPER_F32, TAPER_F8E8M0, BOTH, 0x00400000, 0x00},
    {"F3 from subnormal", TAPER_F32, TAPER_F64, BOTH, 0x00000001, 0x36a0000000000000},
    {"F3 from subnormal", TAPER_F32, TAPER_F64, BOTH, 0x807fffff, 0xb80fffffc0000000},
    {"F3 from subnormal", TAPER_BF16, TAPER_F64, BOTH, 0x0001, 0x37a0000000000000},
    {"F3 from subnormal", TAPER_F16, TAPER_F32, BOTH, 0x0001, 0x33800000},
    {"F3 from subnormal", TAPER_F16, TAPER_F32, BOTH, 0x83ff, 0xb87fc000},
    {"F3 from subnormal", TAPER_F16, TAPER_BF16, BOTH, 0x0001, 0x3380},
    {"F3 to subnormal", TAPER_F64, TAPER_F32, BOTH, 0x36a0000000000000, 0x00000001},
    {"F3 to subnormal", TAPER_F64, TAPER_F32, BOTH, 0x3690000000000001, 0x00000001},
    {"F3 to least normal", TAPER_F64, TAPER_F32, BOTH, 0x380fffffe0000000, 0x00800000},
    {"F3 to subnormal", TAPER_F64, TAPER_BF16, BOTH, 0x37a0000000000000, 0x0001},
    {"F3 to subnormal", TAPER_F8E8M0, TAPER_F32, BOTH, 0x00, 0x00400000},
    {"F3 both", TAPER_BF16, TAPER_F32, BOTH, 0x0001, 0x00010000},
    {"F3 itself", TAPER_F64, TAPER_F64, BOTH, 0x0000000000000001, 0x0000000000000001},
    /* ---- G: four bits */
    {"G1 6", TAPER_F32, TAPER_F4E2M1, BOTH, 0x40c00000, 0x7},
    {"G1 1", TAPER_F32, TAPER_F4E2M1, BOTH, 0x3f800000, 0x2},
    {"G1 -0.5", TAPER_F32, TAPER_F4E2M1, BOTH, 0xbf000000, 0x9},
    {"G1 3", TAPER_F32, TAPER_F4E2M1, BOTH, 0x40400000, 0x5},
    {"G1 1.25", TAPER_F32, TAPER_F4E2M1, BOTH, 0x3fa00000, 0x2},
    /* ---- M, N */
    {"M1 native word", TAPER_F32, TAPER_BF16, BOTH, 0x3f800000, 0x3f80},
    {"M2 native word", TAPER_F32, TAPER_F16, BOTH, 0x3f800000, 0x3c00},
    {"N2 4", TAPER_F64, TAPER_F16, BOTH, 0x4010000000000000, 0x4400},
    /* ---- NaN between types that have no rule of their own */
    {"D13 f64 to f32", TAPER_F64, TAPER_F32, BOTH, 0xfff0000020000000, 0xffc00001},
    {"D13 f32 to f64", TAPER_F32, TAPER_F64, BOTH, 0xff800001, 0xfff8000020000000},
    {"D13 bf16 to f64", TAPER_BF16, TAPER_F64, BOTH, 0x7f81, 0x7ff8200000000000},
    {"D13 f16 to bf16", TAPER_F16, TAPER_BF16, BOTH, 0xfc08, 0xffc1},
    {"D13 fnuz to f16", TAPER_F8E4M3FNUZ, TAPER_F16, BOTH, 0x80, 0xfe00},
    {"D13 fnuz to fn", TAPER_F8E5M2FNUZ, TAPER_F8E4M3FN, BOTH, 0x80, 0xff},
    {"D13 e8m0 to e4m3fn", TAPER_F8E8M0, TAPER_F8E4M3FN, BOTH, 0xff, 0x7f},
    {"D13 e5m2 to itself", TAPER_F8E5M2, TAPER_F8E5M2, BOTH, 0xfd, 0xfd},
    {"D13 f16 to itself", TAPER_F16, TAPER_F16, BOTH, 0xfc01, 0xfc01},
    {"D13 f32 to itself", TAPER_F32, TAPER_F32, BOTH, 0x7f800001, 0x7f800001},
    {"D13 f64 to itself", TAPER_F64, TAPER_F64, BOTH, 0xfff0000000000001,
     0xfff0000000000001},
};

static void check_row(size_t row, size_t n, taper_overflow overflow)
{
    enum { MOST = 150 };
    const unsigned from_bits = oracle_bits(rows[row].from);
    const unsigned to_bits = oracle_bits(rows[row].to);
    const taper_cast_options options = {overflow, TAPER_ROUND_UP};
    unsigned char src[8 * MOST], dst[8 * MOST] = {0};
    for (size_t i = 0; i < n; i++)
        set_element(src, from_bits, i, rows[row].in);
    assert_int_equal(taper_cast(rows[row].to, dst, rows[row].from, src, n, &options),
                     TAPER_OK);
    for (size_t i = 0; i < n; i++)
        if (get_element(dst, to_bits, i) != rows[row].out)
            fail_msg(
                "%s: %s: %s %llx to %s, overflow %d, element %zu of %zu: %llx, not "
                "%llx",
                taper_isa(), rows[row].name, taper_dtype_name(rows[row].from),
                (unsigned long long)rows[row].in, taper_dtype_name(rows[row].to),
                (int)overflow, i, n, (unsigned long long)get_element(dst, to_bits, i),
                (unsigned long long)rows[row].out);
}

static void test_vectors(void **state)
{
    static const size_t sizes[] = {1, 15, 33, 149};
    const char *isa;
    (void)state;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        print_message("%s\n", isa);
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                if (rows[row].saturate != OFF)
                    check_row(row, sizes[i], TAPER_SATURATE);
                if (rows[row].saturate != ON)
                    check_row(row, sizes[i], TAPER_NO_SATURATE);
            }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

/* The same rows against the oracle, so that it is not the library that vouches for it.
 */
static void test_oracle(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        for (int overflow = 0; overflow < 2; overflow++) {
            const taper_cast_options options = {(taper_overflow)overflow,
                                                TAPER_ROUND_UP};
            if (rows[row].saturate == (overflow == TAPER_SATURATE ? OFF : ON))
                continue;
            const uint64_t out =
                oracle_cast(rows[row].to, rows[row].from, rows[row].in, options);
            if (out != rows[row].out)
                fail_msg("%s: the oracle says %llx, not %llx", rows[row].name,
                         (unsigned long long)out, (unsigned long long)rows[row].out);
        }
}

/* B4: every NaN stays one, with its sign, in f16 and bf16. */
static void test_every_nan(void **state)
{
    enum { N = 4096 };
    static uint32_t src[N];
    static uint16_t dst[N];
    const char *isa;
    (void)state;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        for (uint32_t first = 0x7f800001; first < 0x80000000; first += N / 2)
            for (int type = 0; type < 2; type++) {
                const taper_dtype to = type == 0 ? TAPER_F16 : TAPER_BF16;
                const uint16_t infinity = type == 0 ? 0x7c00 : 0x7f80;
                for (uint32_t i = 0; i < N; i++) { /* both signs; the last NaN again */
                    const uint32_t nan = first + i / 2;
                    src[i] = (nan < 0x80000000 ? nan : 0x7fffffff) | i % 2 << 31;
                }
                assert_int_equal(taper_narrow(to, dst, src, N, NULL), TAPER_OK);
                for (uint32_t i = 0; i < N; i++)
                    if ((dst[i] & 0x7fff) <= infinity || dst[i] >> 15 != i % 2)
                        fail_msg("%s: %08x gives %04x", isa, (unsigned)src[i], dst[i]);
            }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

#if defined(__FAST_MATH__) && defined(__x86_64__) && !defined(__clang__)
/* GCC has it since it knows the CPU; and after all those calls it is still so. */
static void test_flushing(void **state)
{
    volatile float least = 0x1p-126f, half = 0.5f;
    (void)state;
    assert_true(least * half == 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_every_nan),
#if defined(__FAST_MATH__) && defined(__x86_64__) && !defined(__clang__)
        cmocka_unit_test(test_flushing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
