/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int caught; /* number of the signal, 0 for none */

static void note(int number)
{
    atomic_store(&caught, number);
}

void interrupt_catch(void)
{
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        sigaction(numbers[i], NULL, &action);
        if (action.sa_handler == SIG_IGN) /* nohup: stays so */
            continue;
        action = (struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART};
        sigaction(numbers[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}

bool interrupt_came(void)
{
    return atomic_load_explicit(&caught, memory_order_relaxed) != 0;
}

void interrupt_die(void)
{
    const int number = atomic_load(&caught);
    signal(number, SIG_DFL);
    raise(number);
}
