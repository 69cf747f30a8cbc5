/* openmp.c - see openmp.h. */
#include "openmp.h"

#ifdef _OPENMP

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

/* ---- The floating-point environment ----
 *
 * The runtime computes with floats. It must not trap where the host has exceptions
 * unmasked, nor leave flags behind: it is called in the default environment, which the
 * threads that it starts inherit. */

struct environment {
    uint64_t control, flags; /* both in `control` where one register holds them */
};

static struct environment environment(void)
{
    struct environment e = {0, 0};
#if defined(__x86_64__)
    e.control = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(e.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(e.flags));
#endif
    return e;
}

static void set_environment(struct environment e)
{
    const struct environment now = environment(); /* much cheaper than writing */
    if (now.control == e.control && now.flags == e.flags)
        return;
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((unsigned)e.control);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(e.control));
    __asm__ volatile("msr fpsr, %0" : : "r"(e.flags));
#endif
}

static struct environment use_default_environment(void)
{
    const struct environment host = environment();
    struct environment own = host;
#if defined(__x86_64__)
    own.control = 0x1f80 | (host.control & 0x3f); /* all masked, to nearest; flags */
#else
    own.control = 0;
#endif
    set_environment(own);
    return host;
}

/* ---- Children ---- */

/* The threads of an OpenMP team do not survive fork(), and libgomp waits for them in
 * the child, so a child does without. */
static atomic_bool forked;
static atomic_int first_process; /* that OpenMP was asked in; 0: none yet */

static void note_fork(void)
{
    atomic_store_explicit(&forked, true, memory_order_relaxed);
}

/* At load, for the program may have used OpenMP itself before it calls here. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

/* Handlers are not called for forks in constructors that run before the one above and
 * in destructors that run after exit() has taken them away. So the process that OpenMP
 * was first asked in is remembered, too. */
static bool is_child(void)
{
    const int self = getpid();
    int was = 0;
    return atomic_load_explicit(&forked, memory_order_relaxed) ||
           (!atomic_compare_exchange_strong_explicit(&first_process, &was, self,
                                                     memory_order_relaxed,
                                                     memory_order_relaxed) &&
            was != self);
}

/* ---- Regions ---- */

int taper_openmp_max_threads(void)
{
    const struct environment host = use_default_environment();
    const int threads = omp_get_max_threads();
    set_environment(host);
    return threads;
}

bool taper_openmp_has_threads(void)
{
    if (is_child())
        return false;
    const struct environment host = use_default_environment();
    const bool inside = omp_in_parallel();
    set_environment(host);
    return !inside;
}

void taper_openmp_run(size_t count, taper_task *task, void *data)
{
    const struct environment host = use_default_environment();
#pragma omp parallel for num_threads((int)count) schedule(static, 1)
    for (size_t i = 0; i < count; i++)
        task(data, i);
    set_environment(host);
}

#else

int taper_openmp_max_threads(void)
{
    return 1;
}

bool taper_openmp_has_threads(void)
{
    return false;
}

void taper_openmp_run(size_t count, taper_task *task, void *data)
{
    for (size_t i = 0; i < count; i++)
        task(data, i);
}

#endif
