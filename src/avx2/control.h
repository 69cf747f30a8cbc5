/* control.h - keeps the host's MXCSR away from the float instructions of this folder,
 * and their flags away from the host. AVX2 has no {sae}, so a kernel that uses any is
 * wrapped:
 *
 *     const unsigned host = use_default_control();
 *     ...
 *     restore_control(host);
 *
 * Reading MXCSR is cheap and writing it is not, so it is written only where that
 * changes something. The barriers keep the compiler, which does not know that float
 * instructions depend on MXCSR, from moving loads before the first write or stores
 * behind the second. */
#ifndef TAPER_AVX2_CONTROL_H
#define TAPER_AVX2_CONTROL_H

#include "../kernels.h"
#include "intrin.h"

enum { CONTROL_DEFAULT = 0x1f80, CONTROL_FLAGS = 0x3f }; /* all masked, to nearest */

TAPER_INLINE unsigned use_default_control(void)
{
    const unsigned host = _mm_getcsr();
    if ((host & ~(unsigned)CONTROL_FLAGS) != CONTROL_DEFAULT)
        _mm_setcsr(CONTROL_DEFAULT | (host & CONTROL_FLAGS));
    __asm__ volatile("" ::: "memory");
    return host;
}

TAPER_INLINE void restore_control(unsigned host)
{
    __asm__ volatile("" ::: "memory");
    if (_mm_getcsr() != host)
        _mm_setcsr(host);
}

#endif
