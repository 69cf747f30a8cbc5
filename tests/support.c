/* support.c - see support.h. */
#include "support.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Inputs ---- */

/* Zero, subnormals, the ends of every target's range and what lies beside them, NaNs.
 */
static const uint32_t famous_f32[] = {
    0x00000000, 0x00000001, 0x00008000, 0x00008001, 0x00018000, 0x00200001, 0x00300000,
    0x00400000, 0x00400001, 0x00600000, 0x007f8000, 0x007fffff, 0x00800000, 0x33000000,
    0x33000001, 0x34200000, 0x36800000, 0x36800001, 0x37000000, 0x37000001, 0x387fe000,
    0x38800000, 0x3a000000, 0x3a000001, 0x3a800000, 0x3a800001, 0x3bf00000, 0x3c700000,
    0x3e800000, 0x3e800001, 0x3f808000, 0x3f818000, 0x3fa00000, 0x40a00000, 0x40a00001,
    0x40e00000, 0x43780000, 0x43e80000, 0x43e80001, 0x43f00000, 0x43f80000, 0x476fffff,
    0x47700000, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000, 0x7f000000, 0x7f000001,
    0x7f400000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f801fff,
    0x7f80ffff, 0x7fbfffff, 0x7fc00000, 0x7fd55555, 0x7fffffff,
};

static const uint64_t famous_f64[] = {
    0x0000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x3680000000000000, 0x3690000000000000, 0x3690000000000001, 0x36a0000000000000,
    0x380fffffe0000000, 0x380ffffff0000000, 0x3810000000000000, 0x3ff0020000001000,
    0x3ff0100000001000, 0x3ff0000010000000, 0x3ff0000030000000, 0x40effdfffffe0000,
    0x40effe0000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000,
    0x47efffffffffffff, 0x47f0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
    0x7ff0000000000001, 0x7ff0000020000000, 0x7ff7ffffffffffff, 0x7ff8000000000000,
    0x7fffffffffffffff,
};

uint64_t random_element(taper_dtype type, uint64_t *seed)
{
    const uint64_t random = next_random(seed), choice = next_random(seed);
    const unsigned bits = oracle_bits(type);
    const uint64_t all = UINT64_MAX >> (64 - bits), sign = all ^ all >> 1;
    const size_t pick = (size_t)(choice >> 32);
    switch (choice % 4) {
    case 0:
        if (type == TAPER_F32)
            return famous_f32[pick % (sizeof famous_f32 / sizeof *famous_f32)] |
                   (random & sign);
        if (type == TAPER_F64)
            return famous_f64[pick % (sizeof famous_f64 / sizeof *famous_f64)] |
                   (random & sign);
        return random & all;
    case 1:
        return ((random & UINT64_MAX << pick % bits) + choice / 4 % 3 - 1) & all;
    default:
        return random & all;
    }
}

/* ---- Guarded memory ---- */

struct guarded guarded_new(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inside = (bytes + page - 1) / page * page;
    unsigned char *const map =
        mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, inside, PROT_READ | PROT_WRITE) != 0)
        abort();
    return (struct guarded){map + page, map + page + inside};
}

void *wild_pointer(void)
{
    static unsigned char *wild;
    if (wild == NULL)
        wild = guarded_new(1).end;
    return wild;
}

/* ---- Casts ---- */

enum { CANARY = 0xa5, CANARIES = 128, MAX_OFFSET = 64 };

/* Inputs, and what the oracle makes of them. */
struct sample {
    uint64_t in[MAX_N], out[MAX_N];
};

static void make_sample(struct sample *sample, const struct cast *c, size_t n,
                        uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        sample->in[i] = random_element(c->from, &seed);
        sample->out[i] = oracle_cast(c->to, c->from, sample->in[i], c->options);
    }
}

static void write_elements(void *array, unsigned bits, const uint64_t *elements,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        set_element(array, bits, i, elements[i]);
}

static void fail_cast(const struct cast *c, const char *what, size_t n, ptrdiff_t at)
{
    fail_msg("%s: %s to %s, overflow %d, rounding %d, n %zu: %s at %td", c->isa,
             taper_dtype_name(c->from), taper_dtype_name(c->to),
             (int)c->options.overflow, (int)c->options.rounding, n, what, at);
}

/* Compares the `n` elements at `dst` and the guard bytes around them. */
static void check_result(const struct cast *c, const unsigned char *dst,
                         const struct guarded *memory, const uint64_t *want, size_t n)
{
    const unsigned bits = oracle_bits(c->to);
    const unsigned char *const end = dst + array_bytes(bits, n);
    for (size_t i = 0; i < n; i++)
        if (get_element(dst, bits, i) != want[i])
            fail_cast(c, "wrong element", n, (ptrdiff_t)i);
    if (n * bits % 8 != 0 && end[-1] >> n * bits % 8 != 0)
        fail_cast(c, "tail bits", n, (ptrdiff_t)n);
    for (int i = 1; i <= CANARIES && dst - i >= memory->begin; i++)
        if (dst[-i] != CANARY)
            fail_cast(c, "write before the array", n, -i);
    for (int i = 0; i < CANARIES && end + i < memory->end; i++)
        if (end[i] != CANARY)
            fail_cast(c, "write after the array", n, end - dst + i);
}

/* The place of an array in `memory`: `offset` bytes from one of the ends. */
static unsigned char *place(const struct guarded *memory, size_t bytes, bool at_end,
                            size_t offset)
{
    return at_end ? memory->end - offset - bytes : memory->begin + offset;
}

struct memories {
    struct guarded dst, src;
};

static const struct memories *memories(void)
{
    static struct memories m;
    if (m.dst.begin == NULL)
        m = (struct memories){guarded_new(8 * MAX_N + CANARIES + MAX_OFFSET),
                              guarded_new(8 * MAX_N + CANARIES + MAX_OFFSET)};
    return &m;
}

static void check_at(const struct cast *c, const struct sample *sample, size_t n,
                     unsigned char *dst, unsigned char *src)
{
    const struct guarded *const memory = &memories()->dst;
    const unsigned from_bits = oracle_bits(c->from);
    const size_t src_bytes = array_bytes(from_bits, n);
    if (src_bytes > 0)
        src[src_bytes - 1] = 0xff; /* tail bits, to be ignored */
    write_elements(src, from_bits, sample->in, n);
    for (int stream = 0; stream < 2; stream++) {
        const size_t dst_bytes = array_bytes(oracle_bits(c->to), n);
        const size_t before = (size_t)(dst - memory->begin);
        const size_t after = (size_t)(memory->end - dst) - dst_bytes;
        const size_t pre = before < CANARIES ? before : CANARIES;
        const size_t post = after < CANARIES ? after : CANARIES;
        memset(dst - pre, CANARY, pre + dst_bytes + post);
        c->run(c, dst, src, n, stream != 0);
        check_result(c, dst, memory, sample->out, n);
    }
}

void check_sizes(const struct cast *c, size_t most, uint64_t seed)
{
    const struct memories *const m = memories();
    const unsigned to_bits = oracle_bits(c->to), from_bits = oracle_bits(c->from);
    struct sample sample;
    make_sample(&sample, c, most, seed);
    for (size_t n = 0; n <= most; n++)
        for (int ends = 0; ends < 4; ends++)
            check_at(c, &sample, n,
                     place(&m->dst, array_bytes(to_bits, n), ends & 1, 0),
                     place(&m->src, array_bytes(from_bits, n), ends & 2, 0));
}

void check_offsets(const struct cast *c, size_t n, uint64_t seed)
{
    const struct memories *const m = memories();
    const size_t to_bytes = array_bytes(oracle_bits(c->to), n);
    const size_t from_bytes = array_bytes(oracle_bits(c->from), n);
    struct sample sample;
    make_sample(&sample, c, n, seed);
    for (size_t offset = 0; offset < MAX_OFFSET; offset++) {
        const size_t other = offset * 5 % 32; /* takes every alignment of its own */
        for (int ends = 0; ends < 4; ends++) {
            check_at(c, &sample, n, place(&m->dst, to_bytes, ends & 1, offset),
                     place(&m->src, from_bytes, ends & 2, other));
            check_at(c, &sample, n, place(&m->dst, to_bytes, ends & 1, other),
                     place(&m->src, from_bytes, ends & 2, offset));
        }
    }
}

void check_in_place(const struct cast *c, size_t n, uint64_t seed)
{
    const struct guarded *const memory = &memories()->dst;
    const unsigned from_bits = oracle_bits(c->from);
    const size_t src_bytes = array_bytes(from_bits, n);
    struct sample sample;
    make_sample(&sample, c, n, seed);
    for (size_t offset = 0; offset < 3; offset++) {
        unsigned char *const array = place(memory, src_bytes, true, offset);
        memset(array - CANARIES, CANARY, CANARIES + src_bytes + offset);
        write_elements(array, from_bits, sample.in, n);
        c->run(c, array, array, n, false);
        /* The rest of the source is what an in-place cast may have left: not guarded.
         */
        const size_t dst_bytes = array_bytes(oracle_bits(c->to), n);
        memset(array + dst_bytes, CANARY, src_bytes - dst_bytes);
        check_result(c, array, memory, sample.out, n);
    }
}
