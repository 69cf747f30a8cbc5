/* fuzz.c - see fuzz.h. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int report = STDERR_FILENO; /* which libFuzzer can be asked to close */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const int own = dup(STDERR_FILENO);
    report = own < 0 ? report : own;
    return 0;
}

void finding(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    dprintf(report, "finding: ");
    vdprintf(report, format, values);
    dprintf(report, " (by %s, %d threads, thresholds %zu %zu %zu)\n", taper_isa(),
            taper_max_threads(), taper_threshold_bytes(TAPER_PARALLEL_BYTES),
            taper_threshold_bytes(TAPER_STREAM_BYTES),
            taper_threshold_bytes(TAPER_STREAM_FILL_BYTES));
    va_end(values);
    abort();
}

/* ---- The input ---- */

uint64_t take(struct input *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && in->size > 0; i++, in->data++, in->size--)
        value |= (uint64_t)*in->data << 8 * i;
    return value;
}

unsigned take_below(struct input *in, unsigned n)
{
    return (unsigned)take(in, 1) % n;
}

int64_t take_number(struct input *in)
{
    static const int64_t famous[] = {
        INT64_MIN,         INT64_MAX,           INT64_MAX / 2,    INT64_MAX / 4,
        INT64_C(1) << 31,  INT64_C(1) << 32,    INT64_C(1) << 60, INT64_C(1) << 62,
        INT64_MAX / 8,     INT64_MAX / 16,      INT64_MAX / 64,   -(INT64_C(1) << 31),
        -(INT64_MAX / 32), -(INT64_C(1) << 60), UINT32_MAX,       INT32_MAX,
    };
    enum { FAMOUS = sizeof famous / sizeof *famous };
    const unsigned way = take_below(in, 8);
    if (way < 4)
        return (int64_t)take(in, 1) - 32;
    if (way == 4)
        return (int16_t)take(in, 2);
    if (way == 5)
        return (int64_t)take(in, 8);
    const uint64_t near = way == 6 ? 0 : take(in, 1) - 128;
    return (int64_t)((uint64_t)famous[take_below(in, FAMOUS)] + near);
}

taper_dtype take_dtype(struct input *in)
{
    const unsigned way = take_below(in, 256);
    return (taper_dtype)(way < 250 ? 1 + (int32_t)way % TAPER_I2
                                   : (int32_t)take(in, 4));
}

taper_dtype take_cast_dtype(struct input *in)
{
    const unsigned way = take_below(in, 256);
    return way < 240 ? cast_types[way % CAST_TYPES] : take_dtype(in);
}

bool take_options(struct input *in, taper_cast_options *options)
{
    const unsigned way = take_below(in, 64);
    *options =
        (taper_cast_options){(taper_overflow)(way & 1), (taper_rounding)(way / 2 % 3)};
    if (way == 62)
        options->overflow = (taper_overflow)(int32_t)take(in, 4);
    if (way == 63)
        options->rounding = (taper_rounding)(int32_t)take(in, 4);
    return way >= 4; /* NULL stands for the defaults */
}

/* Does the tasks of a call one by one, so that a finding comes again: forward,
 * backward, or from the middle on. */
static void run_tasks(void *context, size_t n, taper_task *task, void *data)
{
    const unsigned order = *(const unsigned *)context;
    for (size_t i = 0; i < n; i++)
        task(data, order == 1 ? n - 1 - i : order == 2 ? (i + n / 2) % n : i);
}

void take_settings(struct input *in)
{
    static const char *isas[8];
    static size_t isa_count;
    static unsigned order;
    static const size_t thresholds[] = {SIZE_MAX, 1, 0, 5000};
    while (isa_count < 8 && (isas[isa_count] = taper_isa_name(isa_count)) != NULL)
        isa_count++;

    const char *const isa = isas[take_below(in, (unsigned)isa_count)];
    if (strcmp(isa, taper_isa()) != 0 && taper_use_isa(isa) != TAPER_OK)
        finding("%s cannot be used", isa);
    const unsigned sizes = take_below(in, 64);
    for (int which = TAPER_PARALLEL_BYTES; which <= TAPER_STREAM_FILL_BYTES; which++)
        if (taper_set_threshold_bytes((taper_threshold)which,
                                      thresholds[sizes >> 2 * which & 3]) != TAPER_OK)
            finding("a threshold is refused");
    if (taper_set_max_threads(1 + (int)take_below(in, 8)) != TAPER_OK)
        finding("threads are refused");
    order = take_below(in, 3);
    taper_set_parallel_for(run_tasks, &order);
}

bool is_dtype(taper_dtype type)
{
    return (int)type >= 1 && (int)type <= TAPER_I2;
}

size_t bytes_of(taper_dtype type, size_t n)
{
    const size_t bits = taper_dtype_bits(type);
    if (bits >= 8)
        return n * (bits / 8);
    return bits == 0 ? 0 : n / (8 / bits) + (n % (8 / bits) != 0);
}

void fill_random(unsigned char *at, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t random = next_random(&seed);
        memcpy(at + i, &random, bytes - i < 8 ? bytes - i : 8);
    }
}

/* ---- Memory ---- */

void memory_make(struct memory *m)
{
    if (m->image != NULL)
        return;
    m->real = guarded_new(MEMORY);
    m->image = malloc(MEMORY);
    if (m->image == NULL)
        abort();
    memory_forget(m);
}

void memory_forget(struct memory *m)
{
    m->begin = MEMORY;
    m->end = 0;
}

void memory_watch(struct memory *m, const unsigned char *at, size_t bytes)
{
    const size_t first = (size_t)(at - m->real.begin);
    const size_t begin = first < MARGIN ? 0 : first - MARGIN;
    const size_t end =
        MEMORY - first < bytes + MARGIN ? MEMORY : first + bytes + MARGIN;
    m->begin = begin < m->begin ? begin : m->begin;
    m->end = end > m->end ? end : m->end;
}

void memory_fill(struct memory *m, uint64_t seed)
{
    if (m->begin < m->end)
        fill_random(m->real.begin + m->begin, m->end - m->begin, seed);
}

void memory_take(struct memory *m)
{
    if (m->begin < m->end)
        memcpy(m->image + m->begin, m->real.begin + m->begin, m->end - m->begin);
}

unsigned char *memory_image(const struct memory *m, const void *at)
{
    return m->image + ((const unsigned char *)at - m->real.begin);
}

bool memory_holds(const struct memory *m, const void *at, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)m->real.begin, place = (uintptr_t)at;
    return place >= begin && bytes <= MEMORY && place - begin <= MEMORY - bytes;
}

unsigned char *memory_place(const struct memory *m, size_t bytes, struct input *in)
{
    const unsigned where = take_below(in, 128);
    return where < 64 ? m->real.end - bytes - where : m->real.begin + (where - 64);
}

void memory_check(const struct memory *m, const char *what, const void *origin)
{
    if (m->begin >= m->end ||
        memcmp(m->real.begin + m->begin, m->image + m->begin, m->end - m->begin) == 0)
        return;
    for (size_t i = m->begin;; i++)
        if (m->real.begin[i] != m->image[i])
            finding("%s: byte %td is %02x, not %02x", what,
                    m->real.begin + i - (const unsigned char *)origin, m->real.begin[i],
                    m->image[i]);
}
