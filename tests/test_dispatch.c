/* test_dispatch.c - which instruction sets are chosen, by mocked CPUs, by name and by
 * environment; and names, sizes and texts. TAPER_TEST_REQUIRE="avx512 avx2" makes it a
 * failure if one of these cannot run here. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "dispatch.h"

/* ---- CPUs ---- */

enum {
    OSXSAVE = 1 << 27,
    AVX = 1 << 28,
    F16C = 1 << 29, /* leaf 1 ecx */
    AVX2 = 1 << 5,
    AVX512F = 1 << 16,
    AVX512DQ = 1 << 17,
    AVX512BW = 1 << 30, /* leaf 7 ebx */
    XMM_YMM = 0x07,
    ZMM = 0xe7, /* xcr0 */
};
#define AVX512VL (UINT32_C(1) << 31)
#define AVX512   (AVX512F | AVX512DQ | AVX512BW | AVX512VL)

static void test_cpuid(void **state)
{
    static const unsigned both = TAPER_CPU_F16C | TAPER_CPU_AVX2;
    static const struct {
        const char *machine;
        struct taper_cpuid words;
        unsigned features;
    } rows[] = {
        {"nothing", {0, 0, 0}, 0},
        {"Nehalem: before AVX", {0, 0, 0}, 0},
        {"AVX2 without OSXSAVE (L1)", {AVX | F16C, AVX2, 0}, 0},
        {"everything without OSXSAVE (L3)", {AVX | F16C, AVX2 | AVX512, ZMM}, 0},
        {"Sandy Bridge: AVX alone", {OSXSAVE | AVX, 0, XMM_YMM}, 0},
        {"Ivy Bridge: F16C, no AVX2",
         {OSXSAVE | AVX | F16C, 0, XMM_YMM},
         TAPER_CPU_F16C},
        {"F16C without AVX", {OSXSAVE | F16C, 0, XMM_YMM}, 0},
        {"everything without AVX", {OSXSAVE | F16C, AVX2 | AVX512, ZMM}, 0},
        {"no leaf 7: CPUID limited by the firmware",
         {OSXSAVE | AVX | F16C, 0, ZMM},
         TAPER_CPU_F16C},
        {"Haswell", {OSXSAVE | AVX | F16C, AVX2, XMM_YMM}, both},
        {"Haswell without F16C (L4)", {OSXSAVE | AVX, AVX2, XMM_YMM}, TAPER_CPU_AVX2},
        {"AVX2, YMM not saved", {OSXSAVE | AVX | F16C, AVX2, 0x03}, 0},
        {"AVX2, XMM not saved", {OSXSAVE | AVX | F16C, AVX2, 0x05}, 0},
        {"AVX2, XCR0 is 0", {OSXSAVE | AVX | F16C, AVX2, 0}, 0},
        {"AVX-512",
         {OSXSAVE | AVX | F16C, AVX2 | AVX512, ZMM},
         both | TAPER_CPU_AVX512},
        {"AVX-512 with all of XCR0",
         {OSXSAVE | AVX | F16C, AVX2 | AVX512, 0xffffffff},
         both | TAPER_CPU_AVX512},
        {"AVX-512, ZMM not saved (L2)",
         {OSXSAVE | AVX | F16C, AVX2 | AVX512, XMM_YMM},
         both},
        {"masks not saved", {OSXSAVE | AVX | F16C, AVX2 | AVX512, 0xc7}, both},
        {"low ZMM not saved", {OSXSAVE | AVX | F16C, AVX2 | AVX512, 0xa7}, both},
        {"high ZMM not saved", {OSXSAVE | AVX | F16C, AVX2 | AVX512, 0x67}, both},
        {"YMM not saved", {OSXSAVE | AVX | F16C, AVX2 | AVX512, 0xe3}, 0},
        {"Xeon Phi: F alone", {OSXSAVE | AVX | F16C, AVX2 | AVX512F, ZMM}, both},
        {"AVX-512 without AVX2",
         {OSXSAVE | AVX | F16C, AVX512, ZMM},
         TAPER_CPU_F16C | TAPER_CPU_AVX512},
        {"AVX-512 without F16C",
         {OSXSAVE | AVX, AVX2 | AVX512, ZMM},
         TAPER_CPU_AVX2 | TAPER_CPU_AVX512},
        {"no F", {OSXSAVE | AVX | F16C, AVX2 | (AVX512 & ~AVX512F), ZMM}, both},
        {"no BW", {OSXSAVE | AVX | F16C, AVX2 | (AVX512 & ~AVX512BW), ZMM}, both},
        {"no DQ", {OSXSAVE | AVX | F16C, AVX2 | (AVX512 & ~AVX512DQ), ZMM}, both},
        {"no VL", {OSXSAVE | AVX | F16C, AVX2 | (AVX512 & ~AVX512VL), ZMM}, both},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned features = taper_cpu_from_cpuid(rows[i].words);
        if (features != rows[i].features)
            fail_msg("%s: %x, not %x", rows[i].machine, features, rows[i].features);
    }
}

#if defined(__x86_64__)
static bool is_built(const char *name)
{
    const struct taper_kernels *k;
    for (size_t i = 0; (k = taper_built(i)) != NULL; i++)
        if (strcmp(k->name, name) == 0)
            return true;
    return false;
}

static const char *choice(struct taper_cpuid words)
{
    return taper_choice(NULL, taper_cpu_from_cpuid(words))->name;
}

/* `words` with bit 0 to 95 of them set or cleared. */
static struct taper_cpuid with(struct taper_cpuid words, int bit, bool on)
{
    uint32_t *const all[] = {&words.leaf1_ecx, &words.leaf7_ebx, &words.xcr0};
    const uint32_t mask = UINT32_C(1) << bit % 32;
    *all[bit / 32] = on ? *all[bit / 32] | mask : *all[bit / 32] & ~mask;
    return words;
}

/* Each bit that a table needs takes the choice to the next table that can do without
 * it, and no other bit matters. */
static void test_single_bits(void **state)
{
    static const struct taper_cpuid nothing = {0, 0, 0},
                                    everything = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                    avx2 = {OSXSAVE | AVX | F16C, AVX2, 0x06},
                                    avx512 = {0, AVX512, 0xe0}; /* beyond avx2 */
    (void)state;
    if (!is_built("avx512"))
        skip();
    assert_string_equal(choice(nothing), "scalar");
    assert_string_equal(choice(everything), "avx512");
    assert_string_equal(choice(avx2), "avx2");
    for (int bit = 0; bit < 96; bit++) {
        const struct taper_cpuid off = with(avx2, bit, false);
        const bool for_both = memcmp(&off, &avx2, sizeof off) != 0;
        const struct taper_cpuid off_512 = with(avx512, bit, false);
        const bool for_512 = memcmp(&off_512, &avx512, sizeof off_512) != 0;
        assert_string_equal(choice(with(everything, bit, false)), for_both  ? "scalar"
                                                                  : for_512 ? "avx2"
                                                                            : "avx512");
        assert_string_equal(choice(off), for_both ? "scalar" : "avx2");
        assert_string_equal(choice(with(avx2, bit, true)), "avx2");
        assert_string_equal(choice(with(nothing, bit, true)), "scalar");
    }
}

/* TAPER_ISA is a limit on any machine: it never makes the choice a better table. */
static void test_limits(void **state)
{
    enum { HASWELL = TAPER_CPU_AVX2 | TAPER_CPU_F16C };
    static const struct {
        unsigned cpu;
        const char *limit, *choice;
    } rows[] = {
        {HASWELL | TAPER_CPU_AVX512, "avx512", "avx512"},
        {HASWELL | TAPER_CPU_AVX512, "avx2", "avx2"},
        {HASWELL | TAPER_CPU_AVX512, "scalar", "scalar"},
        {HASWELL | TAPER_CPU_AVX512, "sse9", "avx512"},
        {HASWELL | TAPER_CPU_AVX512, "", "avx512"},
        {HASWELL, "avx512", "avx2"},
        {HASWELL, "avx2", "avx2"},
        {HASWELL, "scalar", "scalar"},
        {HASWELL, "sse9", "avx2"},
        {TAPER_CPU_F16C, "avx512", "scalar"},
        {TAPER_CPU_F16C, "avx2", "scalar"},
        {TAPER_CPU_AVX2 | TAPER_CPU_AVX512, "avx512", "scalar"},
        {TAPER_CPU_F16C | TAPER_CPU_AVX512, "avx2", "scalar"},
        {0, "avx512", "scalar"},
        {0, "sse9", "scalar"},
    };
    (void)state;
    if (!is_built("avx512"))
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(taper_choice(rows[i].limit, rows[i].cpu)->name,
                            rows[i].choice);
}
#endif

/* ---- Tables ---- */

/* Each is complete, has a name of its own, and is usable exactly if the CPU has what it
 * needs. */
static void test_tables(void **state)
{
    const struct taper_kernels *k, *other;
    enum { TRANSPOSES = sizeof k->transpose / sizeof *k->transpose };
    size_t usable = 0;
    (void)state;
    for (size_t i = 0; (k = taper_built(i)) != NULL; i++) {
        assert_non_null(k->fill);
        assert_non_null(k->copy);
        assert_non_null(k->f32_from_f64);
        for (size_t width = 0; width < TRANSPOSES; width++)
            assert_non_null(k->transpose[width]);
        for (int type = 0; type < TAPER_DTYPE_COUNT; type++) {
            const bool casts = oracle_bits((taper_dtype)type) != 0 && type != TAPER_F32;
            assert_int_equal(k->narrow[type] != NULL, casts);
            assert_int_equal(k->widen[type] != NULL, casts);
        }
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(k->name, taper_built(j)->name);
        other = taper_usable(usable);
        if ((k->needs & ~taper_cpu()) == 0) {
            assert_ptr_equal(other, k);
            assert_string_equal(taper_isa_name(usable), k->name);
            usable++;
        } else {
            assert_ptr_not_equal(other, k);
        }
        print_message("%s: %s\n", k->name,
                      other == k ? "used by the tests" : "not here");
    }
    assert_null(taper_usable(usable));
    assert_null(taper_usable(SIZE_MAX));
    size_t built = 0;
    while (taper_built(built) != NULL)
        built++;
    assert_null(taper_built(built + 1)); /* behind the end of the list */
    assert_null(taper_built(SIZE_MAX));
    assert_null(taper_isa_name(usable));
    assert_null(taper_isa_name(SIZE_MAX));
}

static void test_required(void **state)
{
    const char *const required = getenv("TAPER_TEST_REQUIRE");
    char names[200] = {0};
    (void)state;
    if (required == NULL)
        return;
    assert_true(strlen(required) < sizeof names);
    memcpy(names, required, strlen(required));
    for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " "))
        if (taper_use_isa(name) != TAPER_OK)
            fail_msg("TAPER_TEST_REQUIRE: %s cannot run here", name);
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

static void test_use_isa(void **state)
{
    static const char *const unknown[] = {"",      "AVX2",        "avx",
                                          "avx2 ", "scalar,avx2", "sse9"};
    const struct taper_kernels *k;
    (void)state;
    for (size_t i = 0; (k = taper_built(i)) != NULL; i++) {
        const bool usable = (k->needs & ~taper_cpu()) == 0;
        assert_int_equal(taper_use_isa("scalar"), TAPER_OK);
        assert_int_equal(taper_use_isa(k->name), usable ? TAPER_OK : TAPER_BAD_ISA);
        assert_string_equal(taper_isa(), usable ? k->name : "scalar");
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(taper_use_isa("scalar"), TAPER_OK);
        assert_int_equal(taper_use_isa(unknown[i]), TAPER_BAD_ISA);
        assert_string_equal(taper_isa(), "scalar");
    }
    /* A thread that found no choice yet, and comes too late, does not undo this one. */
    assert_string_equal(taper_choose()->name, "scalar");
    assert_string_equal(taper_isa(), "scalar");
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
    assert_string_equal(taper_isa(), taper_isa_name(0));
}

/* ---- TAPER_ISA ---- */

/* What taper_isa() says in a process with TAPER_ISA set to `limit`. A fork is a new
 * process in this, for main() runs the test before anything here has made the choice.
 */
static void first_choice(const char *limit, char answer[32])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (limit == NULL)
            unsetenv("TAPER_ISA");
        else
            setenv("TAPER_ISA", limit, 1);
        const char *const isa = taper_isa();
        const ssize_t length = (ssize_t)strlen(isa);
        _exit(write(ends[1], isa, (size_t)length) == length ? 0 : 1);
    }
    int status;
    close(ends[1]);
    const ssize_t length = read(ends[0], answer, 31);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(length > 0);
    answer[length] = '\0';
}

/* The best usable table from the one called `limit` on in the list of all built. */
static const char *best_from(const char *limit)
{
    size_t i = 0;
    while (strcmp(taper_built(i)->name, limit) != 0)
        i++;
    while ((taper_built(i)->needs & ~taper_cpu()) != 0)
        i++;
    return taper_built(i)->name;
}

static void test_environment(void **state)
{
    static const char *const ignored[] = {"", "AVX2", "sse9", "avx512 avx2"};
    const struct taper_kernels *k;
    char answer[32];
    (void)state;
    first_choice(NULL, answer);
    assert_string_equal(answer, taper_isa_name(0));
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        first_choice(ignored[i], answer);
        assert_string_equal(answer, taper_isa_name(0));
    }
    for (size_t i = 0; (k = taper_built(i)) != NULL; i++) {
        first_choice(k->name, answer);
        assert_string_equal(answer, best_from(k->name));
    }
    first_choice("scalar", answer);
    assert_string_equal(answer, "scalar");
}

/* ---- Names, sizes, texts ---- */

static void test_dtypes(void **state)
{
    static const struct {
        taper_dtype type;
        int number;
        const char *name;
        size_t bits;
    } rows[] = {
        {TAPER_F32, 1, "float", 32},
        {TAPER_U8, 2, "uint8", 8},
        {TAPER_I8, 3, "int8", 8},
        {TAPER_U16, 4, "uint16", 16},
        {TAPER_I16, 5, "int16", 16},
        {TAPER_I32, 6, "int32", 32},
        {TAPER_I64, 7, "int64", 64},
        {TAPER_STRING, 8, "string", 0},
        {TAPER_BOOL, 9, "bool", 8},
        {TAPER_F16, 10, "float16", 16},
        {TAPER_F64, 11, "double", 64},
        {TAPER_U32, 12, "uint32", 32},
        {TAPER_U64, 13, "uint64", 64},
        {TAPER_C64, 14, "complex64", 64},
        {TAPER_C128, 15, "complex128", 128},
        {TAPER_BF16, 16, "bfloat16", 16},
        {TAPER_F8E4M3FN, 17, "float8e4m3fn", 8},
        {TAPER_F8E4M3FNUZ, 18, "float8e4m3fnuz", 8},
        {TAPER_F8E5M2, 19, "float8e5m2", 8},
        {TAPER_F8E5M2FNUZ, 20, "float8e5m2fnuz", 8},
        {TAPER_U4, 21, "uint4", 4},
        {TAPER_I4, 22, "int4", 4},
        {TAPER_F4E2M1, 23, "float4e2m1", 4},
        {TAPER_F8E8M0, 24, "float8e8m0", 8},
        {TAPER_U2, 25, "uint2", 2},
        {TAPER_I2, 26, "int2", 2},
    };
    static const char *const words[] = {"", "Float", "float32", "float ", "undefined"};
    static const int numbers[] = {-1, 0, 27, 1000, INT32_MIN, INT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(rows[i].type, rows[i].number);
        assert_string_equal(taper_dtype_name(rows[i].type), rows[i].name);
        assert_int_equal(taper_dtype_from_name(rows[i].name), rows[i].type);
        assert_int_equal(taper_dtype_bits(rows[i].type), rows[i].bits);
        if (oracle_bits(rows[i].type) != 0)
            assert_int_equal(oracle_bits(rows[i].type), rows[i].bits);
    }
    assert_int_equal(taper_dtype_from_name(NULL), 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(taper_dtype_from_name(words[i]), 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_null(taper_dtype_name((taper_dtype)numbers[i]));
        assert_int_equal(taper_dtype_bits((taper_dtype)numbers[i]), 0);
    }
}

static void test_texts(void **state)
{
    static const taper_status all[] = {
        TAPER_OK,        TAPER_BAD_DTYPE, TAPER_UNSUPPORTED, TAPER_BAD_OPTION,
        TAPER_TOO_LARGE, TAPER_NULL,      TAPER_OVERLAP,     TAPER_BAD_ISA};
    const char *const unknown = taper_status_text((taper_status)-1000);
    (void)state;
    assert_non_null(unknown);
    assert_string_equal(taper_status_text((taper_status)1), unknown);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(all[i], -i); /* ABI */
        assert_string_not_equal(taper_status_text(all[i]), unknown);
        assert_null(strchr(taper_status_text(all[i]), '\n'));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(taper_status_text(all[i]),
                                    taper_status_text(all[j]));
    }
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", TAPER_VERSION_MAJOR,
             TAPER_VERSION_MINOR, TAPER_VERSION_PATCH);
    assert_string_equal(taper_version(), version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment), /* first: see first_choice() */
        cmocka_unit_test(test_cpuid),
#if defined(__x86_64__)
        cmocka_unit_test(test_single_bits),
        cmocka_unit_test(test_limits),
#endif
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_required),
        cmocka_unit_test(test_use_isa),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
