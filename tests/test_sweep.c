/* test_sweep.c - every cast of every instruction set against the oracle.
 *
 *     test_sweep             a sample of binary32 and of binary64, and every code of
 * the small types, in seconds test_sweep all [TYPE]  all 2^32 binary32, and more of
 * binary64, to TYPE or to each
 *
 * It needs no test framework, so that it runs wherever the library can be built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "sweep.h"

static bool all;
static int failures;

static const taper_dtype types[] = {
    TAPER_F32,        TAPER_F64,    TAPER_F16,        TAPER_BF16,   TAPER_F8E4M3FN,
    TAPER_F8E4M3FNUZ, TAPER_F8E5M2, TAPER_F8E5M2FNUZ, TAPER_F4E2M1, TAPER_F8E8M0,
};
enum { TYPES = sizeof types / sizeof *types };

/* Steps through the options that matter for `to`, from all zero on. */
static bool next_options(taper_dtype to, taper_cast_options *options)
{
    if (oracle_bits(to) == 8 && options->overflow == TAPER_SATURATE) {
        options->overflow = TAPER_NO_SATURATE;
        return true;
    }
    options->overflow = TAPER_SATURATE;
    if (to == TAPER_F8E8M0 && options->rounding != TAPER_ROUND_NEAREST) {
        options->rounding = (taper_rounding)(options->rounding + 1);
        return true;
    }
    return false;
}

static void print_cast(const char *isa, taper_dtype to, taper_dtype from,
                       taper_cast_options options)
{
    static const char *const roundings[] = {"up", "down", "nearest"};
    printf("%-7s %s to %s", isa, taper_dtype_name(from), taper_dtype_name(to));
    if (options.overflow == TAPER_NO_SATURATE)
        printf(", no saturate");
    if (to == TAPER_F8E8M0)
        printf(", %s", roundings[options.rounding]);
}

static void print_difference(taper_dtype to, taper_dtype from, uint64_t input,
                             uint64_t got, uint64_t want)
{
    const int in_digits = (int)oracle_bits(from) / 4,
              out_digits = (int)oracle_bits(to) / 4;
    failures++;
    printf(": %0*llx gives %0*llx, not %0*llx\n", in_digits, (unsigned long long)input,
           out_digits, (unsigned long long)got, out_digits, (unsigned long long)want);
}

static void report(const char *isa, const struct sweep *sweep,
                   const struct sweep_result *r)
{
    print_cast(isa, sweep->to, sweep->from, sweep->options);
    if (r->differs)
        print_difference(sweep->to, sweep->from, r->input, r->got, r->want);
    else if (r->hash != 0)
        printf(": %llu inputs, hash %016llx\n", (unsigned long long)r->inputs,
               (unsigned long long)r->hash);
    else
        printf(": %llu inputs\n", (unsigned long long)r->inputs);
    fflush(stdout);
}

/* ---- Narrowing binary32
 * ---------------------------------------------------------------- */

struct kernel {
    const struct taper_kernels *table;
    taper_dtype to;
    taper_cast_options options;
};

static void run_kernel(const void *context, void *dst, const void *src, size_t n)
{
    const struct kernel *const k = context;
    k->table->narrow[k->to](dst, src, n, k->options, false);
}

static void sweep_part(const struct sweep *sweep, uint64_t first, uint64_t count,
                       struct sweep_result *sum)
{
    struct sweep_result part;
    sweep_f32(sweep, first, count, 1, NULL, NULL, &part);
    part.inputs += sum->inputs;
    part.hash = 0; /* a sample has none */
    *sum = part;
}

/* Blocks a large odd stride apart, and inputs around each step, both with an end within
 * a vector, for both signs. */
static void sweep_sample(const struct sweep *sweep, struct sweep_result *sum)
{
    enum { BLOCK = 1003, STRIDE = 1999993, AROUND = 35 };
    const uint64_t end = UINT64_C(1) << 32;
    *sum = (struct sweep_result){0};
    for (uint64_t first = 0; first < end && !sum->differs; first += STRIDE)
        sweep_part(sweep, first, end - first < BLOCK ? end - first : BLOCK, sum);
    for (size_t i = 0; i < 2 * sweep->step_count && !sum->differs; i++) {
        const uint32_t step = sweep->steps[i / 2].first;
        const uint32_t first = step < AROUND ? 0 : step - AROUND;
        sweep_part(sweep, i % 2 * UINT64_C(0x80000000) + first, 2 * AROUND, sum);
    }
}

static void sweep_narrow(taper_dtype to, taper_cast_options options)
{
    static struct oracle_step steps[ORACLE_MAX_STEPS];
    const size_t step_count = to == TAPER_F64 ? 0 : oracle_steps(to, options, steps);
    struct kernel kernel = {NULL, to, options};
    const struct sweep sweep = {to,      TAPER_F32, options,   run_kernel,
                                &kernel, steps,     step_count};
    struct sweep_result result;
    for (size_t i = 0; (kernel.table = taper_usable(i)) != NULL; i++) {
        if (all)
            sweep_f32(&sweep, 0, UINT64_C(1) << 32, 1, NULL, NULL, &result);
        else
            sweep_sample(&sweep, &result);
        report(kernel.table->name, &sweep, &result);
    }
}

/* ---- All codes of the small types
 * ------------------------------------------------------- */

/* Through the public function, which uses the table in use. */
static void run_cast(const void *context, void *dst, const void *src, size_t n)
{
    const struct sweep *const sweep = context;
    if (taper_cast(sweep->to, dst, sweep->from, src, n, &sweep->options) != TAPER_OK)
        abort();
}

static void sweep_small(taper_dtype to, taper_dtype from, taper_cast_options options)
{
    struct sweep sweep = {to, from, options, run_cast, &sweep, NULL, 0};
    struct sweep_result result;
    const char *isa;
    for (size_t i = 0; (isa = taper_isa_name(i)) != NULL; i++) {
        if (taper_use_isa(isa) != TAPER_OK)
            abort();
        sweep_codes(&sweep, &result);
        if (all || result.differs)
            report(isa, &sweep, &result);
    }
}

/* ---- binary64
 * --------------------------------------------------------------------------- */

enum { BATCH = 4096 };

/* Inputs of one cast, checked with every instruction set when there are enough. */
struct batch {
    taper_dtype to, from;
    taper_cast_options options;
    size_t count;
    uint64_t total;
    uint64_t in[BATCH];
    bool differs;
};

static uint64_t load(const void *array, unsigned bits, size_t i)
{
    uint64_t x64;
    uint32_t x32;
    uint16_t x16;
    switch (bits) {
    case 64:
        memcpy(&x64, (const char *)array + 8 * i, 8);
        return x64;
    case 32:
        memcpy(&x32, (const char *)array + 4 * i, 4);
        return x32;
    case 16:
        memcpy(&x16, (const char *)array + 2 * i, 2);
        return x16;
    case 4:
        return ((const unsigned char *)array)[i / 2] >> i % 2 * 4 & 15;
    default:
        return ((const unsigned char *)array)[i];
    }
}

static void check_batch(struct batch *b)
{
    static uint64_t want[BATCH], got[BATCH];
    static uint32_t in32[BATCH];
    const void *const src = b->from == TAPER_F32 ? (const void *)in32 : b->in;
    const unsigned bits = oracle_bits(b->to);
    const char *isa;
    for (size_t i = 0; i < b->count; i++) {
        in32[i] = (uint32_t)b->in[i];
        want[i] = oracle_cast(b->to, b->from, b->in[i], b->options);
    }
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL && !b->differs; t++) {
        if (taper_use_isa(isa) != TAPER_OK ||
            taper_cast(b->to, got, b->from, src, b->count, &b->options) != TAPER_OK)
            abort();
        for (size_t i = 0; i < b->count && !b->differs; i++)
            if (load(got, bits, i) != want[i]) {
                b->differs = true;
                print_cast(isa, b->to, b->from, b->options);
                print_difference(b->to, b->from, b->in[i], load(got, bits, i), want[i]);
            }
    }
    b->total += b->count;
    b->count = 0;
}

static void add(struct batch *b, uint64_t in)
{
    if (b->count == BATCH)
        check_batch(b);
    b->in[b->count++] = in;
}

static uint64_t next_random(uint64_t *seed) /* splitmix64 */
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A positive number, its neighbours, and what differs from it in one bit, up or down;
 * as both signs. Of the far bits a few are picked if there are many numbers to come. */
static void add_around(struct batch *b, double x, bool many, uint64_t *seed)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t random = next_random(seed);
    add(b, bits);
    add(b, bits | sign);
    for (int i = 0; i < (many ? 5 : 52); i++) {
        const int bit = !many || i < 2 ? i : (int)(random >> i * 8 & 0xff) % 52;
        const uint64_t nudge = UINT64_C(1) << bit;
        add(b, (bits + nudge) | (i % 2 == 0 ? 0 : sign));
        if (bits >= nudge)
            add(b, (bits - nudge) | (i % 2 == 0 ? sign : 0));
    }
}

static double number(taper_dtype type, uint64_t code)
{
    const uint64_t bits = oracle_cast(TAPER_F64, type, code, (taper_cast_options){0});
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The largest finite code, signs aside. */
static uint32_t largest_code(taper_dtype type)
{
    const unsigned bits = oracle_bits(type);
    uint32_t code = type == TAPER_F8E8M0 ? 0xff : (UINT32_C(1) << (bits - 1)) - 1;
    while (!(number(type, code) <= 0x1.fffffep127)) /* infinite or not a number */
        code--;
    return code;
}

/* Every code of the target and the midpoints beside it; of binary32, some. */
static void check_f64(taper_dtype to, taper_cast_options options)
{
    static struct batch b;
    const uint32_t largest = to == TAPER_F32 ? 0x7f7fffff : largest_code(to);
    const uint32_t stride = to == TAPER_F32 ? (all ? 9973 : 199933) : 1;
    const bool many = largest > 0xff && !all;
    uint64_t seed = 10;
    b = (struct batch){.to = to, .from = TAPER_F64, .options = options};
    for (uint32_t code = 0; code <= largest; code += stride) {
        if (code > largest - stride) /* the last ones are all taken */
            code = largest;
        const double x = number(to, code);
        const double next = code < largest       ? number(to, code + 1)
                            : to == TAPER_F8E8M0 ? 2 * x
                                                 : x + (x - number(to, code - 1));
        add_around(&b, x, many, &seed);
        add_around(&b, (x + next) / 2, many, &seed);
        if (code == largest || to == TAPER_F8E8M0)
            add_around(&b, next, many, &seed);
        if (code == 0 && to == TAPER_F8E8M0) { /* powers that have no code */
            add_around(&b, x / 2, many, &seed);
            add_around(&b, x * 0.75, many, &seed);
        }
    }
    for (int i = 0; i < (all ? 10000000 : 100000); i++) {
        uint64_t bits = next_random(&seed);
        if (i % 2 == 0) /* in the range of binary32 or just outside */
            bits = (bits & (UINT64_MAX >> 4 | UINT64_C(1) << 63)) +
                   (UINT64_C(0x38000000) << 32);
        if (i % 8 == 0)
            bits &= UINT64_MAX << 28;
        add(&b, bits);
    }
    static const uint64_t ends[] = {0,
                                    1,
                                    0x000fffffffffffff,
                                    0x0010000000000000,
                                    0x47efffffffffffff,
                                    0x47f0000000000000,
                                    0x7fefffffffffffff,
                                    0x7ff0000000000000,
                                    0x7ff0000000000001,
                                    0x7ff4000000000000,
                                    0x7ff8000000000000,
                                    0x7fffffffffffffff};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (uint64_t sign = 0; sign <= 1; sign++)
            add(&b, ends[i] | sign << 63);
    check_batch(&b);
    if (b.differs)
        return;
    print_cast("every", to, TAPER_F64, options);
    printf(": %llu inputs\n", (unsigned long long)b.total);
    fflush(stdout);
}

/* The sweep to binary64 expects what the compiler makes of a float; that is compared
 * with the oracle here. */
static void check_f32_to_f64(void)
{
    static struct batch b;
    uint64_t seed = 11;
    b = (struct batch){.to = TAPER_F64, .from = TAPER_F32};
    for (uint32_t shift = 0; shift < 32; shift++)
        for (int i = 0; i < 2000; i++)
            add(&b, (uint32_t)next_random(&seed) & UINT32_MAX << shift);
    for (uint32_t i = 0; i < 1000; i++) {
        add(&b, i);
        add(&b, 0x007ffe00 + i);
        add(&b, 0x7f7ffe00 + i);
        add(&b, 0xff7ffe00 + i);
    }
    check_batch(&b);
}

/* ----
 * --------------------------------------------------------------------------------- */

static void check_type(taper_dtype to)
{
    taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
    do {
        if (to != TAPER_F32)
            sweep_narrow(to, options);
        if (to != TAPER_F64)
            check_f64(to, options);
        for (int from = 0; from < TYPES; from++)
            if (oracle_bits(types[from]) <= 16)
                sweep_small(to, types[from], options);
    } while (next_options(to, &options));
}

int main(int argc, char **argv)
{
    const char *const only = argc > 2 ? argv[2] : NULL;
    bool found = false;
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    if (argc > 3 || (argc > 1 && !all)) {
        fprintf(stderr, "usage: test_sweep [all [TYPE]]\n");
        return 2;
    }
    check_f32_to_f64();
    for (int to = 0; to < TYPES; to++)
        if (only == NULL || strcmp(only, taper_dtype_name(types[to])) == 0) {
            found = true;
            check_type(types[to]);
        }
    if (!found) {
        fprintf(stderr, "test_sweep: no such type: %s\n", only);
        return 2;
    }
    printf("%d differences\n", failures);
    return failures != 0;
}
