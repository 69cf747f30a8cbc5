/* test_threads.c - large arrays cut over threads give the bytes that one thread gives,
 * with OpenMP and with the caller's threads; forks; first use; settings. */
#include "parallel.h"
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Enough for eight threads even where an element is half a byte; odd, so that the last
 * byte of packed types is half full. Unless asked for less, each part of a call is
 * worth 512 KiB. */
enum { N = (3 << 20) + 12345, MAX_THREADS = 8, TIME_LIMIT = 100 };

static unsigned char *src, *want,
    *got; /* room for N elements of 64 bits, and a guard */
enum { BYTES = 8 * N + 128 };

static int make_arrays(void **state)
{
    uint64_t seed = 8;
    (void)state;
    src = malloc(BYTES);
    want = malloc(BYTES);
    got = malloc(BYTES);
    if (src == NULL || want == NULL || got == NULL)
        return -1;
    for (size_t i = 0; i + 8 <= BYTES; i += 8) {
        const uint64_t random = next_random(&seed);
        memcpy(src + i, &random, 8);
    }
    return 0;
}

static int free_arrays(void **state)
{
    (void)state;
    free(src);
    free(want);
    free(got);
    return 0;
}

static void set_defaults(void)
{
    assert_int_equal(taper_set_max_threads(0), TAPER_OK);
    for (int which = TAPER_PARALLEL_BYTES; which <= TAPER_STREAM_FILL_BYTES; which++)
        assert_int_equal(taper_set_threshold_bytes((taper_threshold)which, 0),
                         TAPER_OK);
    taper_set_parallel_for(NULL, NULL);
}

/* Every call of more than a byte is cut, and streams if `stream`. */
static void set_all_large(int threads, bool stream)
{
    assert_int_equal(taper_set_max_threads(threads), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, 1), TAPER_OK);
    assert_int_equal(
        taper_set_threshold_bytes(TAPER_STREAM_BYTES, stream ? 1 : SIZE_MAX), TAPER_OK);
    assert_int_equal(
        taper_set_threshold_bytes(TAPER_STREAM_FILL_BYTES, stream ? 1 : SIZE_MAX),
        TAPER_OK);
}

/* ---- The caller's threads ---- */

struct lent {
    size_t calls, most; /* of tasks in one call */
    bool backwards;     /* no threads: the tasks one by one, last one first */
};

struct lent_task {
    taper_task *task;
    void *data;
    size_t index;
};

static void *run_lent_task(void *data)
{
    const struct lent_task *const t = data;
    t->task(t->data, t->index);
    return NULL;
}

static void run_lent(void *context, size_t count, taper_task *task, void *data)
{
    struct lent *const lent = context;
    lent->calls++;
    lent->most = count > lent->most ? count : lent->most;
    if (count > MAX_THREADS)
        return; /* the result will show it */
    pthread_t threads[MAX_THREADS];
    struct lent_task tasks[MAX_THREADS];
    for (size_t i = count; i-- > 0;) {
        tasks[i] = (struct lent_task){task, data, i};
        if (lent->backwards)
            run_lent_task(&tasks[i]);
        else if (pthread_create(&threads[i], NULL, run_lent_task, &tasks[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < count && !lent->backwards; i++)
        pthread_join(threads[i], NULL);
}

/* ---- The same bytes ---- */

struct call {
    const char *name;
    taper_dtype to, from;
    size_t offset; /* of both arrays */
};

/* Every kernel that a fast path could be in, all widths, packed and not. */
static const struct call calls[] = {
    {"cast", TAPER_BF16, TAPER_F32, 0},     {"cast", TAPER_F16, TAPER_F32, 1},
    {"cast", TAPER_F8E4M3FN, TAPER_F32, 0}, {"cast", TAPER_F8E5M2FNUZ, TAPER_F32, 3},
    {"cast", TAPER_F8E8M0, TAPER_F32, 0},   {"cast", TAPER_F4E2M1, TAPER_F32, 0},
    {"cast", TAPER_F4E2M1, TAPER_F32, 5},   {"cast", TAPER_F32, TAPER_BF16, 0},
    {"cast", TAPER_F32, TAPER_F16, 2},      {"cast", TAPER_F32, TAPER_F8E5M2, 0},
    {"cast", TAPER_F32, TAPER_F4E2M1, 1},   {"cast", TAPER_F64, TAPER_F32, 0},
    {"cast", TAPER_F32, TAPER_F64, 0},      {"cast", TAPER_F8E4M3FNUZ, TAPER_F64, 7},
    {"cast", TAPER_F16, TAPER_BF16, 0},     {"cast", TAPER_F4E2M1, TAPER_F8E4M3FN, 1},
    {"cast", TAPER_F16, TAPER_F4E2M1, 0},   {"narrow", TAPER_BF16, TAPER_F32, 0},
    {"narrow", TAPER_F4E2M1, TAPER_F32, 1}, {"widen", TAPER_F32, TAPER_F16, 2},
    {"widen", TAPER_F32, TAPER_F4E2M1, 0},  {"copy", TAPER_F32, TAPER_F32, 0},
    {"copy", TAPER_U8, TAPER_U8, 1},        {"copy", TAPER_I4, TAPER_I4, 0},
    {"copy", TAPER_U2, TAPER_U2, 3},        {"fill", TAPER_F64, TAPER_F64, 0},
    {"fill", TAPER_U16, TAPER_U16, 1},      {"fill", TAPER_I4, TAPER_I4, 0},
    {"fill", TAPER_U2, TAPER_U2, 2},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* What a call may touch, and guard bytes. */
static size_t guarded_bytes(const struct call *c, size_t n)
{
    return c->offset + (n * taper_dtype_bits(c->to) + 7) / 8 + 64;
}

static void do_call(const struct call *c, unsigned char *dst, size_t n)
{
    unsigned char *const to = dst + c->offset;
    const unsigned char *const from = src + c->offset;
    memset(dst, 0xa5, guarded_bytes(c, n));
    const taper_status status =
        strcmp(c->name, "cast") == 0     ? taper_cast(c->to, to, c->from, from, n, NULL)
        : strcmp(c->name, "narrow") == 0 ? taper_narrow(c->to, to, from, n, NULL)
        : strcmp(c->name, "widen") == 0  ? taper_widen(c->from, to, from, n)
        : strcmp(c->name, "copy") == 0   ? taper_copy(c->to, to, from, n)
                                         : taper_fill(c->to, to, n, src);
    assert_int_equal(status, TAPER_OK);
}

static void do_call_in_one(const struct call *c, unsigned char *dst, size_t n)
{
    taper_set_parallel_for(NULL, NULL);
    set_all_large(1, false);
    do_call(c, dst, n);
}

static void compare(const struct call *c, const char *how, int threads, size_t n)
{
    const size_t bytes = guarded_bytes(c, n);
    if (memcmp(want, got, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes; i++)
        if (want[i] != got[i])
            fail_msg("%s: %s %s to %s, %s, %d threads: byte %zu is %02x, not %02x",
                     taper_isa(), c->name, taper_dtype_name(c->from),
                     taper_dtype_name(c->to), how, threads, i, got[i], want[i]);
}

/* Elements for `threads` threads, a little fewer each time so that parts come out
 * uneven; where only small elements are moved, four times as many as else. */
static size_t count_for(const struct call *c, int threads)
{
    const size_t most = c->to == c->from && taper_dtype_bits(c->to) < 8 ? 4 * N - 3 : N;
    return most - (size_t)threads * 4098 + 4098;
}

static void test_openmp(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++)
        for (int threads = 1; threads <= MAX_THREADS; threads += 1 + (int)i % 2) {
            const size_t n = count_for(&calls[i], threads);
            do_call_in_one(&calls[i], want, n);
            set_all_large(threads, threads % 2 == 0);
            do_call(&calls[i], got, n);
            compare(&calls[i], "OpenMP", threads, n);
        }
    set_defaults();
}

static void test_lent(void **state)
{
    (void)state;
    for (int backwards = 0; backwards < 2; backwards++)
        for (size_t i = 0; i < CALLS; i++) {
            const int threads = 2 + (int)i % (MAX_THREADS - 1);
            const size_t n = count_for(&calls[i], threads);
            struct lent lent = {.backwards = backwards};
            do_call_in_one(&calls[i], want, n);
            set_all_large(threads, threads % 2 == 0);
            taper_set_parallel_for(run_lent, &lent);
            do_call(&calls[i], got, n);
            compare(&calls[i], "lent", threads, n);
            assert_int_equal(lent.calls, 1);
            assert_true(lent.most > 1 && lent.most <= (size_t)threads);
        }
    set_defaults();
}

/* With one thread or below the threshold the lent threads are left alone. */
static void test_not_lent(void **state)
{
    struct lent lent = {0};
    (void)state;
    taper_set_parallel_for(run_lent, &lent);
    assert_int_equal(taper_set_max_threads(1), TAPER_OK);
    do_call(&calls[0], got, N);
    assert_int_equal(taper_set_max_threads(4), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, SIZE_MAX),
                     TAPER_OK);
    do_call(&calls[0], got, N);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, 0), TAPER_OK);
    do_call(&calls[0], got, 100);
    assert_int_equal(lent.calls, 0);
    do_call(&calls[0], got, N);
    assert_int_equal(lent.calls, 1);
    taper_set_parallel_for(NULL, NULL);
    do_call(&calls[0], got, N);
    assert_int_equal(lent.calls, 1);
    set_defaults();
}

/* A threshold below the default is where threads begin, too, and two share the work. */
static void test_low_threshold(void **state)
{
    enum { SMALL = 32 << 10 }; /* elements: 192 KiB read and written */
    struct lent lent = {0};
    (void)state;
    taper_set_parallel_for(run_lent, &lent);
    assert_int_equal(taper_set_max_threads(MAX_THREADS), TAPER_OK);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, 6 * SMALL + 1),
                     TAPER_OK);
    assert_int_equal(taper_narrow(TAPER_BF16, got, src, SMALL, NULL), TAPER_OK);
    assert_int_equal(lent.calls, 0);
    assert_int_equal(taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, 6 * SMALL),
                     TAPER_OK);
    assert_int_equal(taper_narrow(TAPER_BF16, got, src, SMALL, NULL), TAPER_OK);
    assert_int_equal(lent.calls, 1);
    assert_int_equal(lent.most, 2);
    set_defaults();
}

/* ---- Parts ---- */

struct recorded {
    struct taper_work work;
    size_t count, begin[16], end[16];
    bool stream;
};

static void record(const struct taper_work *work, size_t begin, size_t end, bool stream)
{
    struct recorded *const r = (struct recorded *)(uintptr_t)work;
    assert_true(r->count < 16);
    r->begin[r->count] = begin;
    r->end[r->count++] = end;
    r->stream = stream;
}

/* As even as whole grains allow, and no more parts than they are worth. */
static void test_parts(void **state)
{
    enum { MIB = 1 << 20 };
    static const struct {
        int threads;
        size_t n, grain, read, written;
        bool in_place;
        size_t parts, size; /* of all but the last */
        bool stream;
    } rows[] = {
        {4, 80, 8, MIB, MIB, false, 4, 24, false},
        {4, 81, 8, MIB, MIB, false, 4, 24, false},
        {4, 96, 8, MIB, MIB, false, 4, 24, false},
        {4, 97, 8, MIB, MIB, false, 4, 32, false},
        {4, 72, 8, MIB, MIB, false, 3, 24, false},
        {8, 80, 8, MIB, MIB, false, 4, 24, false}, /* 512 KiB are worth a part */
        {8, 80, 8, MIB, MIB + MIB / 2, false, 5, 16, false},
        {8, 5, 1, MIB, 9 * MIB, false, 5, 1, false},
        {8, 8, 8, MIB, 9 * MIB, false, 1, 8, false},
        {8, 9, 8, MIB, 9 * MIB, false, 2, 8, false},
        {1, 80, 8, MIB, 9 * MIB, false, 1, 80, false},
        {8, 80, 8, MIB / 2, MIB / 2 - 1, false, 1, 80, false}, /* the threshold */
        {8, 80, 8, MIB / 2, MIB / 2, false, 2, 40, false},
        {8, 0, 8, 12 * MIB, MIB, false, 1, 0, false},
        {8, 80, 8, 12 * MIB, MIB, true, 1, 80, false},
        {1, 1, 8, 12 * MIB, MIB, false, 1, 1, true},
        {1, 80, 8, 12 * MIB, 1, false, 1, 80, true},
        {1, 80, 8, 12 * MIB - 1, 64 * MIB, false, 1, 80, false},
        {1, 80, 8, 1, 64 * MIB, false, 1, 80, false},
        {1, 80, 8, 0, 32 * MIB, false, 1, 80, true}, /* a fill */
        {1, 80, 8, 0, 32 * MIB - 1, false, 1, 80, false},
    };
    struct lent lent = {.backwards = true};
    (void)state;
    taper_set_parallel_for(run_lent, &lent);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recorded r = {{record, rows[i].n, rows[i].grain, rows[i].read,
                              rows[i].written, rows[i].in_place},
                             .stream = !rows[i].stream};
        assert_int_equal(taper_set_max_threads(rows[i].threads), TAPER_OK);
        taper_run(&r.work);
        assert_int_equal(r.count, rows[i].parts);
        assert_int_equal(r.stream, rows[i].stream);
        for (size_t k = 0; k < r.count; k++) { /* the last one was done first */
            assert_int_equal(r.begin[k], (r.count - 1 - k) * rows[i].size);
            assert_int_equal(r.end[k], k == 0 ? rows[i].n : r.begin[k] + rows[i].size);
        }
    }
    set_defaults();
}

/* Each forced instruction set, large and in place: it runs on one thread. */
static void test_in_place(void **state)
{
    const char *isa;
    (void)state;
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        assert_int_equal(taper_use_isa(isa), TAPER_OK);
        for (size_t i = 0; i < CALLS; i++) {
            const size_t to_bits = taper_dtype_bits(calls[i].to);
            const size_t from_bits = taper_dtype_bits(calls[i].from);
            const size_t bytes = (N * to_bits + 7) / 8;
            if (calls[i].name[1] != 'a' || to_bits > from_bits)
                continue;
            do_call_in_one(&calls[i], want, N);
            set_all_large(MAX_THREADS, true);
            unsigned char *const array = got + calls[i].offset;
            memcpy(array, src + calls[i].offset, (N * from_bits + 7) / 8);
            assert_int_equal(
                taper_cast(calls[i].to, array, calls[i].from, array, N, NULL),
                TAPER_OK);
            assert_memory_equal(array, want + calls[i].offset, bytes);
        }
    }
    assert_int_equal(taper_use_isa(NULL), TAPER_OK);
    set_defaults();
}

/* Small arrays with every threshold at one byte: no part is empty or lost. */
static void test_small(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++)
        for (size_t n = 0; n < 40; n++) {
            static unsigned char small_want[600], small_got[600];
            const struct call *const c = &calls[i];
            for (int large = 0; large < 2; large++) {
                unsigned char *const dst = large ? small_got : small_want;
                set_all_large(large ? MAX_THREADS : 1, large);
                memset(dst, 0xa5, sizeof small_got);
                const taper_status status =
                    c->name[1] == 'a'   ? taper_cast(c->to, dst, c->from, src, n, NULL)
                    : c->name[0] == 'c' ? taper_copy(c->to, dst, src, n)
                                        : taper_fill(c->to, dst, n, src);
                assert_int_equal(status, TAPER_OK);
            }
            assert_memory_equal(small_got, small_want, sizeof small_got);
        }
    set_defaults();
}

/* ---- Processes ---- */

/* A child gets as long as the slowest machine may need, and is killed then. */
static pid_t fork_child(void)
{
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        alarm(TIME_LIMIT);
    return child;
}

static void join_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("a child ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Threads of the parent are not there in a child; four children at once. */
static void test_fork(void **state)
{
    enum { CHILDREN = 4 };
    pid_t children[CHILDREN];
    (void)state;
    do_call_in_one(&calls[0], want, N);
    for (int threads = 2; threads <= MAX_THREADS; threads += 3) {
        set_all_large(threads, false);
        do_call(&calls[0], got, N);
        for (int i = 0; i < CHILDREN; i++) {
            children[i] = fork_child();
            if (children[i] == 0) {
                const size_t bytes = N * sizeof(uint16_t);
                memset(got, 0xa5, bytes);
                if (taper_cast(TAPER_BF16, got, TAPER_F32, src, N, NULL) != TAPER_OK)
                    _exit(1);
                if (memcmp(got, want, bytes) != 0)
                    _exit(2);
                /* What the program lends is for children, too. */
                struct lent lent = {.backwards = true};
                taper_set_parallel_for(run_lent, &lent);
                do_call(&calls[0], got, N);
                _exit(lent.most > 1 && memcmp(got, want, bytes) == 0 ? 0 : 3);
            }
        }
        for (int i = 0; i < CHILDREN; i++)
            join_child(children[i]);
        do_call(&calls[0], got, N); /* the parent's threads are still there */
        compare(&calls[0], "after a fork", threads, N);
    }
    set_defaults();
}

enum { FIRST_USERS = 64 };

struct first_use {
    pthread_barrier_t barrier;
    _Atomic int right;
};

static void *use_first(void *data)
{
    struct first_use *const use = data;
    const float in[3] = {1, -2, 65520};
    uint16_t out[3];
    pthread_barrier_wait(&use->barrier);
    const bool done = taper_narrow(TAPER_F16, out, in, 3, NULL) == TAPER_OK;
    if (done && out[0] == 0x3c00 && out[1] == 0xc000 && out[2] == 0x7c00 &&
        strcmp(taper_isa(), taper_isa_name(0)) == 0)
        atomic_fetch_add(&use->right, 1);
    return NULL;
}

/* The first call of all, from many threads at once. A fork has the choice of tables
 * before it, for main() runs this first. */
static void test_first_use(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        const pid_t child = fork_child();
        if (child == 0) {
            struct first_use use = {.right = 0};
            pthread_t threads[FIRST_USERS];
            pthread_barrier_init(&use.barrier, NULL, FIRST_USERS);
            for (int i = 0; i < FIRST_USERS; i++)
                if (pthread_create(&threads[i], NULL, use_first, &use) != 0)
                    _exit(2);
            for (int i = 0; i < FIRST_USERS; i++)
                pthread_join(threads[i], NULL);
            _exit(use.right == FIRST_USERS ? 0 : 1);
        }
        join_child(child);
    }
}

/* Calls from several threads at once, each of which is itself cut. */
static void *call_in_parallel(void *data)
{
    const struct call *const c = &calls[0];
    uint16_t *const dst = data;
    return taper_cast(c->to, dst, c->from, src, N / 4, NULL) == TAPER_OK ? dst : NULL;
}

static void test_concurrent_calls(void **state)
{
    enum { CALLERS = 4 };
    pthread_t threads[CALLERS];
    const size_t bytes = 2 * (size_t)(N / 4);
    (void)state;
    do_call_in_one(&calls[0], want, N);
    set_all_large(2, false);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_in_parallel,
                                        got + (size_t)i * bytes),
                         0);
    for (int i = 0; i < CALLERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, got + (size_t)i * bytes);
        assert_memory_equal(result, want, bytes);
    }
    set_defaults();
}

/* ---- Settings ---- */

static void test_settings(void **state)
{
    static const int unknown[] = {-1, 3, 100, INT32_MIN, INT32_MAX};
    static const size_t defaults[3] = {1 << 20, 12 << 20, 32 << 20};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const taper_threshold which = (taper_threshold)i;
        assert_int_equal(taper_threshold_bytes(which), defaults[i]);
        assert_int_equal(taper_set_threshold_bytes(which, 12345), TAPER_OK);
        assert_int_equal(taper_threshold_bytes(which), 12345);
        assert_int_equal(taper_set_threshold_bytes(which, SIZE_MAX), TAPER_OK);
        assert_true(taper_threshold_bytes(which) == SIZE_MAX);
        for (int other = 0; other < i; other++)
            assert_int_equal(taper_threshold_bytes((taper_threshold)other),
                             defaults[other]);
        assert_int_equal(taper_set_threshold_bytes(which, 0), TAPER_OK);
        assert_int_equal(taper_threshold_bytes(which), defaults[i]);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const taper_threshold which = (taper_threshold)unknown[i];
        assert_int_equal(taper_threshold_bytes(which), 0);
        assert_int_equal(taper_set_threshold_bytes(which, 1), TAPER_BAD_OPTION);
    }

    const int most = taper_max_threads();
    assert_true(most >= 1);
    assert_int_equal(taper_set_max_threads(3), TAPER_OK);
    assert_int_equal(taper_max_threads(), 3);
    assert_int_equal(taper_set_max_threads(-1), TAPER_BAD_OPTION);
    assert_int_equal(taper_set_max_threads(INT32_MIN), TAPER_BAD_OPTION);
    assert_int_equal(taper_max_threads(), 3);
    assert_int_equal(taper_set_max_threads(0), TAPER_OK);
    assert_int_equal(taper_max_threads(), most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_use), /* first: see there */
        cmocka_unit_test(test_settings),  cmocka_unit_test(test_small),
        cmocka_unit_test(test_openmp),    cmocka_unit_test(test_lent),
        cmocka_unit_test(test_not_lent),  cmocka_unit_test(test_low_threshold),
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_fork),      cmocka_unit_test(test_concurrent_calls),
    };
    return cmocka_run_group_tests(tests, make_arrays, free_arrays);
}
