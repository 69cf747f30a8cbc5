/* dispatch.c - picks one table of kernels for this CPU and remembers it. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "dispatch.h"

/* Best first. The scalar table needs nothing, so a choice is always found. What stands
 * behind it is another CPU's table, emulated for the tests: it can be named, but is
 * never chosen. */
static const struct taper_kernels *const tables[] = {
#if defined(TAPER_HAVE_AVX512)
    &taper_avx512,
#endif
#if defined(TAPER_HAVE_AVX2) && defined(__x86_64__)
    &taper_avx2,
#endif
#if defined(TAPER_HAVE_NEON) && defined(__aarch64__)
    &taper_neon,
#endif
    &taper_scalar,
#if defined(TAPER_HAVE_AVX2) && !defined(__x86_64__)
    &taper_avx2,
#endif
#if defined(TAPER_HAVE_NEON) && !defined(__aarch64__)
    &taper_neon,
#endif
    NULL,
};

_Atomic(const struct taper_kernels *) taper_chosen;

const struct taper_kernels *taper_built(size_t i)
{
    return i < sizeof tables / sizeof *tables ? tables[i] : NULL;
}

/* The first table from `t` on that `cpu` can run. */
static const struct taper_kernels *const *
usable_from(const struct taper_kernels *const *t, unsigned cpu)
{
    while (*t != NULL && ((*t)->needs & ~cpu) != 0)
        t++;
    return t;
}

const struct taper_kernels *taper_usable(size_t i)
{
    const unsigned cpu = taper_cpu();
    const struct taper_kernels *const *t = usable_from(tables, cpu);
    while (*t != NULL && i-- > 0)
        t = usable_from(t + 1, cpu);
    return *t;
}

/* The table called `name`, or the end of the list. */
static const struct taper_kernels *const *find(const char *name)
{
    const struct taper_kernels *const *t = tables;
    while (*t != NULL && strcmp((*t)->name, name) != 0)
        t++;
    return t;
}

const struct taper_kernels *taper_choice(const char *limit, unsigned cpu)
{
    const struct taper_kernels *const *t = limit == NULL ? tables : find(limit);
    if (*t == NULL) /* no such name here: as if it were not set */
        t = tables;
    return *usable_from(t, cpu);
}

const struct taper_kernels *taper_choose(void)
{
    const struct taper_kernels *const first =
        taper_choice(getenv("TAPER_ISA"), taper_cpu());
    const struct taper_kernels *now = NULL;
    /* Only if still unset, so that a concurrent taper_use_isa() is not undone. */
    return atomic_compare_exchange_strong(&taper_chosen, &now, first) ? first : now;
}

taper_status taper_use_isa(const char *name)
{
    const struct taper_kernels *const *t = name == NULL ? tables : find(name);
    const unsigned cpu = taper_cpu();
    if (name == NULL)
        t = usable_from(t, cpu);
    if (*t == NULL || ((*t)->needs & ~cpu) != 0)
        return TAPER_BAD_ISA;
    atomic_store_explicit(&taper_chosen, *t, memory_order_relaxed);
    return TAPER_OK;
}

const char *taper_isa(void)
{
    return taper_active()->name;
}

const char *taper_isa_name(size_t i)
{
    const struct taper_kernels *const k = taper_usable(i);
    return k == NULL ? NULL : k->name;
}
