/* test_sweep.c - every cast of every instruction set against the oracle.
 *
 *     test_sweep                  a sample of binary32, every code of the small types
 *     test_sweep all [TYPE [ISA]] all 2^32 binary32, and more of binary64, to TYPE or
 *                                 to each; binary32 with ISA or with each
 *
 * It needs no test framework, so that it runs wherever the library can be built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "kernels.h"
#include "sweep.h"

static bool all;
static const char *only_isa; /* of the sweeps of binary32; NULL for all */
static int failures;

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

/* ---- Narrowing binary32 ---- */

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
    const struct sweep sweep = {to,      TAPER_F32, options,    run_kernel,
                                &kernel, steps,     step_count, false};
    struct sweep_result result;
    for (size_t i = 0; (kernel.table = taper_usable(i)) != NULL; i++) {
        if (only_isa != NULL && strcmp(only_isa, kernel.table->name) != 0)
            continue;
        if (all)
            sweep_f32(&sweep, 0, UINT64_C(1) << 32, 1, NULL, NULL, &result);
        else
            sweep_sample(&sweep, &result);
        report(kernel.table->name, &sweep, &result);
    }
}

/* ---- All codes of the small types ---- */

/* Through the public function, which uses the table in use. */
static void run_cast(const void *context, void *dst, const void *src, size_t n)
{
    const struct sweep *const sweep = context;
    if (taper_cast(sweep->to, dst, sweep->from, src, n, &sweep->options) != TAPER_OK)
        abort();
}

static void sweep_small(taper_dtype to, taper_dtype from, taper_cast_options options)
{
    struct sweep sweep = {to, from, options, run_cast, &sweep, NULL, 0, false};
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

/* ---- binary64 ---- */

/* Inputs of one cast, checked with every instruction set when there are enough. */
struct batch {
    taper_dtype to, from;
    taper_cast_options options;
    uint64_t total;
    bool differs;
    size_t count; /* of those that wait in `in` */
    uint64_t in[SWEEP_BLOCK];
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

static bool check_batch(void *context, const uint64_t *in, size_t n)
{
    static uint64_t want[SWEEP_BLOCK], got[SWEEP_BLOCK];
    static uint32_t in32[SWEEP_BLOCK];
    struct batch *const b = context;
    const void *const src = b->from == TAPER_F32 ? (const void *)in32 : in;
    const unsigned bits = oracle_bits(b->to);
    const char *isa;
    for (size_t i = 0; i < n; i++) {
        in32[i] = (uint32_t)in[i];
        want[i] = oracle_cast(b->to, b->from, in[i], b->options);
    }
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL && !b->differs; t++) {
        if (taper_use_isa(isa) != TAPER_OK ||
            taper_cast(b->to, got, b->from, src, n, &b->options) != TAPER_OK)
            abort();
        for (size_t i = 0; i < n && !b->differs; i++)
            if (load(got, bits, i) != want[i]) {
                b->differs = true;
                print_cast(isa, b->to, b->from, b->options);
                print_difference(b->to, b->from, in[i], load(got, bits, i), want[i]);
            }
    }
    b->total += n;
    return !b->differs;
}

static void add(struct batch *b, uint64_t in)
{
    b->in[b->count++] = in;
    if (b->count < SWEEP_BLOCK)
        return;
    check_batch(b, b->in, b->count);
    b->count = 0;
}

static void check_f64(taper_dtype to, taper_cast_options options)
{
    static struct batch b;
    b = (struct batch){.to = to, .from = TAPER_F64, .options = options};
    sweep_f64_points(to, all, check_batch, &b);
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
    check_batch(&b, b.in, b.count);
}

/* ---- All of it ---- */

static void check_type(taper_dtype to)
{
    taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
    do {
        if (to != TAPER_F32)
            sweep_narrow(to, options);
        if (to != TAPER_F64)
            check_f64(to, options);
        for (int from = 0; from < CAST_TYPES; from++)
            if (oracle_bits(cast_types[from]) <= 16)
                sweep_small(to, cast_types[from], options);
    } while (next_options(to, &options));
}

int main(int argc, char **argv)
{
    const char *const only = argc > 2 ? argv[2] : NULL;
    bool found = false;
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    only_isa = argc > 3 ? argv[3] : NULL;
    if (argc > 4 || (argc > 1 && !all) ||
        (only_isa != NULL && taper_use_isa(only_isa) != TAPER_OK)) {
        fprintf(stderr, "usage: test_sweep [all [TYPE [ISA]]]\n");
        return 2;
    }
    check_f32_to_f64();
    for (int to = 0; to < CAST_TYPES; to++)
        if (only == NULL || strcmp(only, taper_dtype_name(cast_types[to])) == 0) {
            found = true;
            check_type(cast_types[to]);
        }
    if (!found) {
        fprintf(stderr, "test_sweep: no such type: %s\n", only);
        return 2;
    }
    printf("%d differences\n", failures);
    return failures != 0;
}
