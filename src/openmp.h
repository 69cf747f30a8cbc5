/* openmp.h - threads of OpenMP; built without it, there is one.
 *
 * No function here changes the floating-point environment of its caller, traps in it or
 * needs it to be in any state. */
#ifndef TAPER_OPENMP_H
#define TAPER_OPENMP_H

#include <stdbool.h>
#include <stddef.h>

#include "taper/taper.h"

/* How many threads a region would have here by OpenMP's own settings. */
int taper_openmp_max_threads(void);

/* Whether a region may have more than one: not in a child of fork(), whose parent may
 * have had threads, nor within another region. */
bool taper_openmp_has_threads(void);

/* Calls task(data, i) for each i below `count`, from `count` threads if there are as
 * many. */
void taper_openmp_run(size_t count, taper_task *task, void *data);

#endif
