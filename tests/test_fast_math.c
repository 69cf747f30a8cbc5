/* test_fast_math.c - a host that is compiled and linked with -ffast-math, which starts
 * with subnormals flushed to zero where the compiler has that: the same bits, and the
 * host's setting as it was. Values are written by hand. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "taper/taper.h"

static int failures;

static void check(const char *what, uint64_t got, uint64_t want)
{
    if (got != want) {
        printf("%s by %s: %llx, not %llx\n", what, taper_isa(), (unsigned long long)got,
               (unsigned long long)want);
        failures++;
    }
}

static int flushes(void)
{
    volatile float tiny = 0x1p-126f, half = 0.5f;
    return tiny * half == 0;
}

/* What is subnormal on one side or both, and what rounds. */
static void check_values(void)
{
    static const struct {
        taper_dtype to, from;
        uint64_t in, out;
    } rows[] = {
        {TAPER_BF16, TAPER_F32, 0x00400000, 0x0040},
        {TAPER_BF16, TAPER_F32, 0x007fffff, 0x0080},
        {TAPER_BF16, TAPER_F32, 0x80400000, 0x8040},
        {TAPER_F16, TAPER_F32, 0x33000001, 0x0001},
        {TAPER_F16, TAPER_F32, 0x387fe000, 0x0400},
        {TAPER_F16, TAPER_F32, 0x7fa00000, 0x7f00},
        {TAPER_F8E4M3FN, TAPER_F32, 0x3c7fffff, 0x08},
        {TAPER_F8E5M2, TAPER_F32, 0x37000001, 0x01},
        {TAPER_F8E8M0, TAPER_F32, 0x00400000, 0x00},
        {TAPER_F32, TAPER_BF16, 0x0001, 0x00010000},
        {TAPER_F32, TAPER_F16, 0x0001, 0x33800000},
        {TAPER_F32, TAPER_F16, 0x83ff, 0xb87fc000},
        {TAPER_F32, TAPER_F8E8M0, 0x00, 0x00400000},
        {TAPER_F64, TAPER_F32, 0x00000001, UINT64_C(0x36a0000000000000)},
        {TAPER_F64, TAPER_F32, 0x807fffff, UINT64_C(0xb80fffffc0000000)},
        {TAPER_F32, TAPER_F64, UINT64_C(0x36a0000000000000), 0x00000001},
        {TAPER_F32, TAPER_F64, UINT64_C(0x3690000000000001), 0x00000001},
        {TAPER_F32, TAPER_F64, UINT64_C(0x380fffffe0000000), 0x00800000},
        {TAPER_BF16, TAPER_F64, UINT64_C(0x37a0000000000000), 0x0001},
        {TAPER_F16, TAPER_F64, UINT64_C(0x3ff0020000001000), 0x3c01},
        {TAPER_BF16, TAPER_F16, 0x0001, 0x3380},
        {TAPER_F64, TAPER_BF16, 0x0001, UINT64_C(0x37a0000000000000)},
        {TAPER_F64, TAPER_F64, UINT64_C(0x0000000000000001), 1},
    };
    enum { N = 70 };
    static unsigned char src[8 * N], dst[8 * N];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t from = taper_dtype_bits(rows[i].from) / 8;
        const size_t to = taper_dtype_bits(rows[i].to) / 8;
        for (size_t k = 0; k < N; k++) {
            const uint8_t in8 = (uint8_t)rows[i].in;
            const uint16_t in16 = (uint16_t)rows[i].in;
            const uint32_t in32 = (uint32_t)rows[i].in;
            const void *const in = from == 1   ? &in8
                                   : from == 2 ? (const void *)&in16
                                   : from == 4 ? (const void *)&in32
                                               : (const void *)&rows[i].in;
            memcpy(src + k * from, in, from);
        }
        if (taper_cast(rows[i].to, dst, rows[i].from, src, N, NULL) != TAPER_OK)
            failures++;
        for (size_t k = 0; k < N; k++) {
            uint8_t out8;
            uint16_t out16;
            uint32_t out32;
            uint64_t out;
            memcpy(&out8, dst + k * to, 1);
            memcpy(&out16, dst + (to >= 2 ? k * to : 0), 2);
            memcpy(&out32, dst + (to >= 4 ? k * to : 0), 4);
            memcpy(&out, dst + (to == 8 ? k * to : 0), 8);
            check(taper_dtype_name(rows[i].from),
                  to == 1   ? out8
                  : to == 2 ? out16
                  : to == 4 ? out32
                            : out,
                  rows[i].out);
        }
    }
    const uint32_t value = 1; /* the least subnormal */
    uint32_t filled[N], copied[N];
    if (taper_fill(TAPER_F32, filled, N, &value) != TAPER_OK ||
        taper_copy(TAPER_F32, copied, filled, N) != TAPER_OK)
        failures++;
    for (size_t k = 0; k < N; k++) {
        check("fill", filled[k], value);
        check("copy", copied[k], value);
    }
}

int main(void)
{
    const int flushed = flushes();
    for (size_t i = 0; taper_isa_name(i) != NULL; i++) {
        if (taper_use_isa(taper_isa_name(i)) != TAPER_OK)
            failures++;
        check_values();
    }
    check("flushing", (uint64_t)flushes(), (uint64_t)flushed);
    printf("subnormals are %s here; %d failures\n", flushed ? "flushed" : "kept",
           failures);
#if defined(__x86_64__) && !defined(__clang__)
    if (!flushed)
        return 1; /* GCC has it since it knows the CPU */
#endif
    return failures != 0;
}
