/* test_float_state.c - the same bits in every state of the floating-point unit, which
 * is as it was after every call: control bits, flags, and no trap, which cmocka would
 * report as a failure. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "taper/onnx.h"

/* ---- The control register of this machine ---- */

#if defined(__x86_64__)
#include <xmmintrin.h>

/* MXCSR: flush to zero, rounding, trap masks, denormals are zero, sticky flags; and the
 * two words of x87, which is in a state alike. */
typedef struct {
    unsigned mxcsr;
    uint16_t control, status;
} float_state;
enum { FTZ = 1 << 15, RC = 3 << 13, MASKS = 0x3f << 7, DAZ = 1 << 6, FLAGS = 0x3f };

static float_state get_state(void)
{
    float_state state;
    state.mxcsr = _mm_getcsr();
    __asm__ volatile("fnstcw %0" : "=m"(state.control));
    __asm__ volatile("fnstsw %0" : "=m"(state.status));
    return state;
}

static uint64_t state_bits(float_state state)
{
    return (uint64_t)state.status << 48 | (uint64_t)state.control << 32 | state.mxcsr;
}

static void set_state(float_state state)
{
    _mm_setcsr(state.mxcsr);
    __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(state.control));
}

/* The i-th of all 32, without flags and, if masked, with all of them. Sets *end last.
 */
static float_state nth_state(unsigned i, bool *end)
{
    const unsigned masks = i & 16 ? 0 : MASKS, flags = i & 32 && masks ? FLAGS : 0;
    const unsigned rounding = i / 4 & 3, precision = i & 1 ? 0 : 3; /* 24 or 64 bits */
    *end = i == 63;
    return (float_state){
        (i & 1 ? FTZ : 0) | (i & 2 ? DAZ : 0) | rounding << 13 | masks | flags,
        (uint16_t)(rounding << 10 | precision << 8 | 0x40 | masks >> 7), 0};
}

#elif defined(__aarch64__)

/* FPCR: alternative half, default NaN, flush to zero, rounding, flush half to zero; the
 * trap enables and alternate handling, which most machines do not have. FPSR: sticky
 * flags. */
typedef struct {
    uint64_t fpcr, fpsr;
} float_state;

static float_state get_state(void)
{
    float_state state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state.fpcr));
    __asm__ volatile("mrs %0, fpsr" : "=r"(state.fpsr));
    return state;
}

static uint64_t state_bits(float_state state)
{
    return state.fpsr << 32 | state.fpcr;
}

static void set_state(float_state state)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(state.fpcr));
    __asm__ volatile("msr fpsr, %0" : : "r"(state.fpsr));
}

static float_state nth_state(unsigned i, bool *end)
{
    enum { AHP = 1 << 26, DN = 1 << 25, FZ = 1 << 24, FZ16 = 1 << 19, TRAPS = 0x9f00 };
    enum { NEP = 1 << 2, AH = 1 << 1, FIZ = 1 << 0 };
    *end = i == 511;
    return (float_state){(i & 1 ? AHP : 0) | (i & 2 ? DN : 0) | (i & 4 ? FZ : 0) |
                             (i & 8 ? FZ16 : 0) | (uint64_t)(i / 16 & 3) << 22 |
                             (i & 64 ? TRAPS : 0) | (i & 256 ? NEP | AH | FIZ : 0),
                         i & 128 ? 0x9f : 0};
}

#else /* what C can say: rounding, and flags */
#include <fenv.h>

typedef struct {
    int rounding, flags;
} float_state;

static float_state get_state(void)
{
    return (float_state){fegetround(), fetestexcept(FE_ALL_EXCEPT)};
}

static uint64_t state_bits(float_state state)
{
    return (uint64_t)(unsigned)state.flags << 32 | (unsigned)state.rounding;
}

static void set_state(float_state state)
{
    fesetround(state.rounding);
    feclearexcept(FE_ALL_EXCEPT);
    const fexcept_t all = (fexcept_t)-1;
    fesetexceptflag(&all, state.flags);
}

static float_state nth_state(unsigned i, bool *end)
{
    static const int roundings[] = {
        FE_TONEAREST,
#ifdef FE_UPWARD
        FE_UPWARD,
        FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
        FE_TOWARDZERO,
#endif
    };
    enum { ROUNDINGS = sizeof roundings / sizeof *roundings };
    *end = i == 2 * ROUNDINGS - 1;
    return (float_state){roundings[i / 2], i % 2 ? FE_ALL_EXCEPT : 0};
}

#endif

/* ---- What is called ---- */

/* How a cast is asked for. */
enum how {
    ARRAY,
    TENSOR, /* from a matrix turned, if its elements can be */
    ONNX,
    THREADS, /* OpenMP's, with streaming stores */
    LENT,    /* threads of ours, which are in the state, too */
};

/* A call of a public function. `n` and the results do not depend on the state. */
struct call {
    enum how how;
    taper_dtype to, from;
    taper_cast_options options;
    void *want, *src;
    size_t n;
};

enum { MAX_CALLS = 500, SAMPLES = 3000, FEW = 300, MANY = 3 * 4096 + 77 };
static struct call calls[MAX_CALLS];
static size_t call_count;
static unsigned char *got;

static bool is_turned(const struct call *c)
{
    return (c->how == TENSOR || c->how == ONNX) && oracle_bits(c->from) >= 8;
}

/* Steps of a narrowing with their neighbours, both signs; then random inputs. */
static void add_call(enum how how, taper_dtype to, taper_dtype from,
                     taper_cast_options options)
{
    static struct oracle_step steps[ORACLE_MAX_STEPS];
    uint64_t seed = 9;
    size_t step_count = 0, n = how == ARRAY ? SAMPLES : how >= THREADS ? MANY : FEW;
    if (from == TAPER_F32 && oracle_bits(to) <= 16 && how == ARRAY) {
        step_count = oracle_steps(to, options, steps);
        n += 6 * step_count;
    }
    const unsigned from_bits = oracle_bits(from), to_bits = oracle_bits(to);
    struct call c = {how, to, from, options, calloc(n + 1, 8), calloc(n + 1, 8), n};
    if (c.want == NULL || c.src == NULL || call_count == MAX_CALLS)
        abort();
    for (size_t i = 0; i < n; i++) {
        uint64_t in = random_element(from, &seed);
        if (i < 6 * step_count)
            in = ((steps[i / 6].first - 1 + i % 3) & 0x7fffffff) |
                 (i % 6 < 3 ? 0 : UINT32_C(0x80000000));
        const size_t at = is_turned(&c) ? i % (n / 6) * 6 + i / (n / 6) : i;
        set_element(c.src, from_bits, at, in);
        set_element(c.want, to_bits, i, oracle_cast(to, from, in, options));
    }
    calls[call_count++] = c;
}

static int make_calls(void **state)
{
    (void)state;
    for (int to = 0; to < CAST_TYPES; to++)
        for (int from = 0; from < CAST_TYPES; from++) {
            taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
            do
                add_call(ARRAY, cast_types[to], cast_types[from], options);
            while (next_options(cast_types[to], &options));
            add_call(TENSOR, cast_types[to], cast_types[from], options);
            add_call(ONNX, cast_types[to], cast_types[from], options);
        }
    static const taper_dtype large[][2] = {
        {TAPER_F16, TAPER_F32},        {TAPER_F32, TAPER_F64},
        {TAPER_F16, TAPER_F64},        {TAPER_F32, TAPER_F16},
        {TAPER_F64, TAPER_F8E4M3FNUZ}, {TAPER_F4E2M1, TAPER_F64},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
        add_call(THREADS, large[i][0], large[i][1], options);
        add_call(LENT, large[i][0], large[i][1], options);
    }
    got = malloc(8 * (6 * ORACLE_MAX_STEPS + MANY));
    return got == NULL ? -1 : 0;
}

static int free_calls(void **state)
{
    (void)state;
    while (call_count > 0) {
        free(calls[--call_count].want);
        free(calls[call_count].src);
    }
    free(got);
    return 0;
}

static taper_status run_call(const struct call *c)
{
    const int64_t shape[2] = {6, (int64_t)c->n / 6}, turned[2] = {1, 6};
    const taper_tensor dst = {got, c->to, 2, shape, NULL};
    const taper_tensor src = {c->src, c->from, 2, shape, is_turned(c) ? turned : NULL};
    switch (c->how) {
    case TENSOR:
        return taper_tensor_cast(&dst, &src, &c->options);
    case ONNX:
        return taper_onnx_cast(26, &dst, &src, &c->options);
    default:
        return taper_cast(c->to, got, c->from, c->src, c->n, &c->options);
    }
}

/* Threads of a host that are in the state `wanted`, as they are afterwards. */
struct lent {
    float_state wanted;
    taper_task *task;
    void *data;
    size_t index;
    bool changed;
};

static void *run_lent(void *data)
{
    struct lent *const lent = data;
    const float_state own = get_state();
    set_state(lent->wanted);
    const float_state before = get_state();
    lent->task(lent->data, lent->index);
    const float_state after = get_state();
    set_state(own);
    lent->changed = state_bits(before) != state_bits(after);
    return NULL;
}

static void lend_threads(void *context, size_t count, taper_task *task, void *data)
{
    const float_state host = get_state(), *const wanted = context;
    enum { MOST = 3 };
    struct lent lent[MOST];
    pthread_t threads[MOST];
    static const float_state none;
    set_state(nth_state(0, &(bool){false}));
    if (count < 2 || count > MOST)
        abort();
    for (size_t i = 0; i < count; i++) {
        lent[i] = (struct lent){none, task, data, i, false};
        lent[i].wanted = *wanted;
        if (pthread_create(&threads[i], NULL, run_lent, &lent[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < count; i++)
        if (pthread_join(threads[i], NULL) != 0 || lent[i].changed)
            abort();
    set_state(host);
}

/* Every array is large from now on, or none that is not. */
static void set_large(bool large)
{
    for (int which = 0; which < 3; which++)
        assert_int_equal(
            taper_set_threshold_bytes((taper_threshold)which, large ? 1 : 0), TAPER_OK);
}

/* Nothing between the two changes of state may touch the floating-point unit but taper.
 */
static taper_status call_in_state(const struct call *c, float_state wanted,
                                  float_state *before, float_state *after)
{
    if (c->how >= THREADS)
        set_large(true);
    if (c->how == LENT) {
        assert_int_equal(taper_set_max_threads(3), TAPER_OK);
        taper_set_parallel_for(lend_threads, &wanted);
    }
    const float_state own = get_state();
    taper_status status;
    set_state(wanted);
    *before = get_state();
    status = run_call(c);
    *after = get_state();
    set_state(own);
    taper_set_parallel_for(NULL, NULL);
    if (c->how >= THREADS)
        set_large(false);
    assert_int_equal(taper_set_max_threads(0), TAPER_OK);
    return status;
}

static void check_state(const char *what, float_state before, float_state after)
{
    if (state_bits(before) != state_bits(after))
        fail_msg("%s: %s: the state was %llx before and is %llx after", taper_isa(),
                 what, (unsigned long long)state_bits(before),
                 (unsigned long long)state_bits(after));
}

static void check_call(const struct call *c, float_state wanted)
{
    static const char *const ways[] = {"array", "tensor", "onnx", "threads", "lent"};
    const unsigned bits = oracle_bits(c->to);
    float_state before, after;
    char what[64];
    snprintf(what, sizeof what, "%s to %s, %s", taper_dtype_name(c->from),
             taper_dtype_name(c->to), ways[c->how]);
    assert_int_equal(call_in_state(c, wanted, &before, &after), TAPER_OK);
    check_state(what, before, after);
    if (memcmp(got, c->want, array_bytes(bits, c->n)) == 0)
        return;
    size_t i = 0;
    while (get_element(got, bits, i) == get_element(c->want, bits, i))
        i++;
    fail_msg("%s: state %llx: %llx, %s to %s, overflow %d, rounding %d: %llx, not %llx",
             taper_isa(), (unsigned long long)state_bits(wanted),
             (unsigned long long)get_element(c->src, oracle_bits(c->from), i),
             taper_dtype_name(c->from), taper_dtype_name(c->to),
             (int)c->options.overflow, (int)c->options.rounding,
             (unsigned long long)get_element(got, bits, i),
             (unsigned long long)get_element(c->want, bits, i));
}

/* Whether this machine has such a state; most have no traps on AArch64. */
static bool can_set(float_state wanted)
{
    const float_state own = get_state();
    set_state(wanted);
    const float_state now = get_state();
    set_state(own);
    return state_bits(now) == state_bits(wanted);
}

static void for_each_state(void (*check)(float_state state))
{
    const char *isa;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        unsigned i = 0, states = 0;
        bool end;
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        do {
            const float_state state = nth_state(i++, &end);
            if (!can_set(state))
                continue;
            check(state);
            states++;
        } while (!end);
        assert_true(states > 3);
        print_message("%s: %u states\n", isa, states);
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
}

static void check_casts(float_state state)
{
    for (size_t i = 0; i < call_count; i++)
        check_call(&calls[i], state);
}

static void test_casts(void **state)
{
    (void)state;
    for_each_state(check_casts);
}

/* taper_narrow() and taper_widen() on few elements, where a tail is all there is; fill
 * and copy of subnormals and signalling NaNs. */
static void check_small(float_state wanted)
{
    enum { N = 19 };
    static const uint32_t in[N] = {0x00000001, 0x00400000, 0x007fffff, 0x80400000,
                                   0x33000001, 0x477fefff, 0x387fe000, 0x7f800001,
                                   0xffbfffff, 0x7f800000, 0x7f7fffff, 0x5bf80000,
                                   0x80000000, 0x3f801001, 0xb6800001, 0x43e80001,
                                   0xffc00000, 0x7fffffff, 0x00800001};
    uint16_t f16[N];
    uint32_t back[N], filled[N], copied[N];
    for (size_t n = 1; n <= N; n++) {
        const float_state own = get_state();
        set_state(wanted);
        const float_state before = get_state();
        const taper_status narrow = taper_narrow(TAPER_F16, f16, in, n, NULL);
        const taper_status widen = taper_widen(TAPER_F16, back, f16, n);
        const taper_status fill = taper_fill(TAPER_F32, filled, n, &in[n - 1]);
        const taper_status copy = taper_copy(TAPER_F32, copied, in, n);
        const float_state after = get_state();
        set_state(own);
        assert_true(narrow == TAPER_OK && widen == TAPER_OK && fill == TAPER_OK &&
                    copy == TAPER_OK);
        check_state("small arrays", before, after);
        const taper_cast_options options = {TAPER_SATURATE, TAPER_ROUND_UP};
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(f16[i], oracle_cast(TAPER_F16, TAPER_F32, in[i], options));
            assert_int_equal(back[i],
                             oracle_cast(TAPER_F32, TAPER_F16, f16[i], options));
            assert_int_equal(filled[i], in[n - 1]);
            assert_int_equal(copied[i], in[i]);
        }
    }
}

/* What moves elements, tells sizes or is asked; also with threads and streaming stores,
 * for which the OpenMP runtime is called. */
static void check_moves(float_state wanted)
{
    enum { N = 6 * 700 };
    static const int64_t shape[2] = {6, 700}, turned[2] = {1, 6}, dims[2] = {6, 700};
    static const int64_t two = 2;
    static uint64_t in[N], turn[N], copied[N], filled[N], large_fill[N], large[N];
    static uint64_t made[N], same[N];
    static const uint64_t value = UINT64_C(0x7ff0000000000001); /* a signalling NaN */
    uint64_t seed = 4;
    for (size_t i = 0; i < N; i++) {
        in[i] = random_element(TAPER_F64, &seed);
        turn[i % 700 * 6 + i / 700] = in[i];
    }
    const taper_tensor src = {turn, TAPER_F64, 2, shape, turned};
    const taper_tensor dst = {copied, TAPER_F64, 2, shape, NULL};
    const taper_tensor gaps = {filled, TAPER_F64, 2, shape, turned};
    const taper_tensor shape_input = {(void *)(uintptr_t)dims, TAPER_I64, 1, &two,
                                      NULL};
    const taper_tensor one = {(void *)(uintptr_t)&value, TAPER_F64, 0, NULL, NULL};
    const taper_tensor output = {made, TAPER_F64, 2, shape, NULL};
    const taper_tensor twin = {same, TAPER_F64, 2, shape, NULL};
    const taper_value from = taper_value_of(&src), to = taper_value_of(&twin);
    taper_tensor inferred[3];
    taper_value inferred_value;
    size_t bytes[4] = {0};
    int64_t inferred_dims[2];
    taper_status status[12];
    int n = 0;

    set_large(true);
    const float_state own = get_state();
    set_state(wanted);
    const float_state before = get_state();
    const int threads = taper_max_threads();
    const char *const isa = taper_isa();
    status[n++] = taper_use_isa(isa);
    status[n++] = taper_fill(TAPER_F64, large_fill, N, &value);
    status[n++] = taper_copy(TAPER_F64, large, in, N);
    status[n++] = taper_tensor_copy(&dst, &src);
    status[n++] = taper_tensor_fill(&gaps, &value);
    status[n++] = taper_tensor_bytes(&src, &bytes[0]);
    status[n++] = taper_onnx_constant_of_shape(26, &output, &shape_input, &one);
    status[n++] = taper_onnx_constant_of_shape_infer(
        26, &inferred[0], &bytes[1], inferred_dims, 2, &shape_input, &one);
    status[n++] = taper_onnx_identity(26, &to, &from);
    status[n++] =
        taper_onnx_identity_infer(26, &inferred_value, &inferred[1], &bytes[2], &from);
    status[n++] =
        taper_onnx_cast_infer(26, &inferred[2], &bytes[3], TAPER_F4E2M1, &src, NULL);
    const size_t bits = taper_dtype_bits(TAPER_F64);
    const float_state after = get_state();
    set_state(own);
    set_large(false);

    check_state("moves", before, after);
    for (int i = 0; i < n; i++)
        assert_int_equal(status[i], TAPER_OK);
    assert_true(threads > 0 && bits == 64);
    assert_memory_equal(large, in, sizeof in);
    assert_memory_equal(copied, in, sizeof in);
    assert_memory_equal(same, in, sizeof in);
    for (size_t i = 0; i < N; i++)
        assert_true(filled[i] == value && large_fill[i] == value && made[i] == value);
    assert_true(bytes[0] == sizeof in && bytes[1] == sizeof in &&
                bytes[2] == sizeof in && bytes[3] == N / 2);
}

static void test_moves(void **state)
{
    (void)state;
    for_each_state(check_moves);
}

/* The first call of all that may start threads: the OpenMP runtime starts in the most
 * hostile state that this machine has. */
static void test_first_threads(void **state)
{
    bool end = false;
    float_state hostile = nth_state(0, &end);
    (void)state;
    for (unsigned i = 1; !end; i++) {
        const float_state wanted = nth_state(i, &end);
        if (can_set(wanted) && i % 64 < 32)
            hostile = wanted; /* the last: traps, if there are any */
    }
    for (size_t i = 0; i < call_count; i++)
        if (calls[i].how == THREADS)
            check_call(&calls[i], hostile);
}

static void test_small(void **state)
{
    (void)state;
    for_each_state(check_small);
}

/* The states are those that they are meant to be: they change what this file computes.
 */
static void test_states_bite(void **state)
{
    const float_state own = get_state();
    volatile float one = 1, tiny = 0x1p-60f;
    unsigned changed = 0, i = 0;
    bool end;
    (void)state;
    do {
        const float_state wanted = nth_state(i++, &end);
#if defined(__x86_64__)
        if ((wanted.mxcsr & MASKS) == 0)
            continue; /* would trap */
#elif defined(__aarch64__)
        if (wanted.fpcr & 0x9f00)
            continue;
#endif
        set_state(wanted);
        const volatile float sum = one + tiny, difference = one - tiny;
        set_state(own);
        changed += sum != 1 || difference != 1;
    } while (!end);
    assert_true(changed > 0);
}

/*     test_float_state          the tests, but
 *     test_float_state first    that of the first threads alone */
int main(int argc, char **argv)
{
    const struct CMUnitTest first[] = {
        cmocka_unit_test(test_first_threads),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_bite),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_moves),
    };
    return argc > 1 && strcmp(argv[1], "first") == 0
               ? cmocka_run_group_tests(first, make_calls, free_calls)
               : cmocka_run_group_tests(tests, make_calls, free_calls);
}
