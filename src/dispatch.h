/* dispatch.h - the table of kernels in use. */
#ifndef TAPER_DISPATCH_H
#define TAPER_DISPATCH_H

#include <stdatomic.h>

#include "kernels.h"

/* NULL until the first call, which chooses. Relaxed order is enough: the tables are
 * constants, complete before the program starts, so no thread can see one half written.
 */
extern _Atomic(const struct taper_kernels *) taper_chosen;
const struct taper_kernels *taper_choose(void);

/* What taper_choose() chooses if TAPER_ISA is `limit`, or not set if that is NULL, on a
 * CPU with these TAPER_CPU_* bits. A pure function, so that tests can try any machine.
 */
const struct taper_kernels *taper_choice(const char *limit, unsigned cpu);

static inline const struct taper_kernels *taper_active(void)
{
    const struct taper_kernels *const k =
        atomic_load_explicit(&taper_chosen, memory_order_relaxed);
    return k != NULL ? k : taper_choose();
}

#endif
