/* signals.c - calls in signal handlers: on small alternate stacks, and while the
 * interrupted thread is inside a call itself. Each call stays on its thread.
 *
 *     signals [INTERRUPTIONS] */
#include "process.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "taper/tensor.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* What a handler has beside the frame of its signal: for functions of arrays, and what
 * tensor.h promises for tensors. Sanitizers, and a build without optimisation, use
 * more. */
#if defined(__OPTIMIZE__) && !defined(TAPER_SANITIZED)
enum { ARRAYS_STACK = 8 << 10, STACK = 32 << 10 };
#else
enum { ARRAYS_STACK = 256 << 10, STACK = 256 << 10 };
#endif

enum { INTERVAL = 150 /* microseconds */, PAINT = 0x5a };

static struct room handlers, interrupted;
static use_taper_fn *volatile use;
static volatile sig_atomic_t handled;
static volatile sig_atomic_t most = 5000; /* handlers of the timer */
static const char *volatile wrong;

static void set_timer(int microseconds)
{
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void handle(int number)
{
    const char *const w = use(&handlers, SMALL_ROWS, (size_t)handled);
    if (w != NULL)
        wrong = w;
    /* Here, for on a slow machine it may be due again before anything else is done. */
    if (++handled >= most && number == SIGALRM)
        set_timer(0);
}

/* ---- Tensors that are hard to check: their strides are many and not nested ---- */

enum { RANK = 60 };

static int64_t twos[RANK], nested[RANK], crowded[RANK];

static void make_hard_strides(void)
{
    for (int k = 0; k < RANK; k++) {
        twos[k] = 2;
        nested[k] = (int64_t)1 << (RANK - 1 - k);
        crowded[k] = 1 + 2 * k;
    }
}

/* More elements than addresses; and a destination that is everywhere. */
static const char *use_hard_tensors(const struct room *r, size_t rows, size_t first)
{
    const taper_tensor everywhere = {r->dst, TAPER_U8, RANK, twos, nested};
    const taper_tensor crowd = {r->src, TAPER_U8, RANK, twos, crowded};
    const taper_tensor inside = {r->dst + 1, TAPER_U8, RANK, twos, crowded};
    (void)rows;
    (void)first;
    if (taper_tensor_fill(&crowd, r->src) != TAPER_BAD_STRIDE ||
        taper_tensor_copy(&everywhere, &inside) != TAPER_OVERLAP)
        return "a tensor that is hard to check";
    return NULL;
}

/* ---- Stacks ---- */

/* Sets one with `bytes` for calls; below it is a page that cannot be touched. */
static stack_t set_stack(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t frame = getauxval(AT_MINSIGSTKSZ);
    bytes += frame != 0 ? frame : MINSIGSTKSZ;
    unsigned char *const memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        give_up("no stack");
    const stack_t stack = {.ss_sp = memory + page, .ss_size = bytes};
    memset(stack.ss_sp, PAINT, bytes);
    if (sigaltstack(&stack, NULL) != 0)
        give_up("no alternate stack of %zu bytes", bytes);
    return stack;
}

static size_t unused(stack_t stack)
{
    size_t bytes = 0;
    while (((unsigned char *)stack.ss_sp)[bytes] == PAINT)
        bytes++;
    return bytes;
}

static void check_on_stack(use_taper_fn *what, size_t bytes, const char *name)
{
    const stack_t stack = set_stack(bytes);
    use = what;
    for (int i = 0; i < 20; i++)
        raise(SIGUSR1);
    if (wrong != NULL)
        give_up("%s: %s is wrong in a handler", taper_isa(), wrong);
    printf("%s, %s: at most %zu of %zu bytes\n", taper_isa(), name,
           bytes - unused(stack), bytes);
    fflush(stdout); /* the next one may be too much */
}

/* ---- By a timer, at any instruction ---- */

static void check_interrupted(void)
{
    size_t calls = 0;
    use = use_taper;
    handled = 0;
    set_timer(INTERVAL);
    for (; handled < most; calls++)
        check_taper(&interrupted, calls % 8 == 0 ? LARGE_ROWS : SMALL_ROWS, calls,
                    "interrupted");
    if (wrong != NULL)
        give_up("%s: %s is wrong in a handler", taper_isa(), wrong);
    printf("%s: %d handlers beside %zu rounds of calls\n", taper_isa(), (int)handled,
           calls);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_flags = SA_ONSTACK | SA_RESTART};
    const char *isa;
    if (argc > 1)
        most = atoi(argv[1]);
    action.sa_handler = handle;
    if (taper_set_max_threads(1) != TAPER_OK ||
        sigaction(SIGALRM, &action, NULL) != 0 ||
        sigaction(SIGUSR1, &action, NULL) != 0)
        give_up("no set-up");
    make_hard_strides();
    handlers = room_new(SMALL_ROWS);
    interrupted = room_new(LARGE_ROWS);
    for (size_t t = 0; (isa = taper_isa_name(t)) != NULL; t++) {
        if (taper_use_isa(isa) != TAPER_OK)
            give_up("cannot use %s", isa);
        check_on_stack(use_arrays, ARRAYS_STACK, "arrays");
        check_on_stack(use_taper, STACK, "everything");
        check_on_stack(use_hard_tensors, STACK, "hard tensors");
        check_interrupted();
    }
    return 0;
}
