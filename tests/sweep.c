/* sweep.c - expected codes are written run by run, as the steps have it, so that a
 * sweep costs little more than the kernel under it. */
#include "sweep.h"

#include <pthread.h>
#include <string.h>

#define XXH_INLINE_ALL /* the header is enough: nothing to link on a cross build */
#include <xxhash.h>

#include "elements.h"

enum {
    PIECE_SHIFT = 24, /* of one hash, and of what a thread takes at a time */
    MAX_PIECES = 1 << (32 - PIECE_SHIFT),
    MAX_BYTES = 8, /* of an element */
};

/* Memory of one thread. */
struct block {
    _Alignas(64) unsigned char src[SWEEP_BLOCK * MAX_BYTES];
    _Alignas(64) unsigned char got[SWEEP_BLOCK * MAX_BYTES];
    _Alignas(64) unsigned char want[SWEEP_BLOCK * MAX_BYTES];
};

/* Sets elements [begin, end) to `code`. In 4-bit arrays they are set in rising order,
 * so that a low half may clear the one above it. */
static void store(unsigned char *array, unsigned bits, size_t begin, size_t end,
                  uint64_t code)
{
    const uint16_t code16 = (uint16_t)code;
    const uint32_t code32 = (uint32_t)code;
    switch (bits) {
    case 64:
        for (size_t i = begin; i < end; i++)
            memcpy(array + 8 * i, &code, 8);
        break;
    case 32:
        for (size_t i = begin; i < end; i++)
            memcpy(array + 4 * i, &code32, 4);
        break;
    case 16:
        for (size_t i = begin; i < end; i++)
            memcpy(array + 2 * i, &code16, 2);
        break;
    case 4:
        if (begin % 2 != 0 && begin < end)
            array[begin++ / 2] |= (unsigned char)(code << 4);
        if (begin < end) /* the last byte is set even if only its low half is ours */
            memset(array + begin / 2, (int)(code << 4 | code), (end - begin + 1) / 2);
        if (end % 2 != 0 && begin < end)
            array[end / 2] &= 15;
        break;
    default:
        memset(array + begin, (int)code, end - begin);
    }
}

/* Casts the `n` elements of `src` and compares, if that is wanted. */
static bool run_block(const struct sweep *sweep, struct block *block, size_t n,
                      struct sweep_result *result)
{
    const unsigned bits = oracle_bits(sweep->to);
    memset(block->got, 0xa5, array_bytes(bits, n)); /* no result of an earlier block */
    sweep->run(sweep->context, block->got, block->src, n);
    result->inputs += n;
    if (sweep->hash_only || memcmp(block->got, block->want, array_bytes(bits, n)) == 0)
        return true;
    size_t i = 0; /* all are equal if the fault is in the half byte after the last */
    while (i < n &&
           get_element(block->got, bits, i) == get_element(block->want, bits, i))
        i++;
    result->differs = true;
    result->input =
        get_element(block->src, oracle_bits(sweep->from), i < n ? i : n - 1);
    result->got = get_element(block->got, bits, i);
    result->want = get_element(block->want, bits, i);
    return false;
}

/* Adds `n` elements of `array`, little-endian. */
static void hash_elements(XXH3_state_t *hash, unsigned char *array, unsigned bits,
                          size_t n)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const size_t size = bits / 8;
    for (size_t i = 0; size > 1 && i < n * size; i += size)
        for (size_t low = i, high = i + size - 1; low < high; low++, high--) {
            const unsigned char byte = array[low];
            array[low] = array[high];
            array[high] = byte;
        }
#endif
    XXH3_64bits_update(hash, array, array_bytes(bits, n));
}

/* ---- All of binary32 ---- */

static void expect_f64(unsigned char *want, const unsigned char *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, src + 4 * i, sizeof bits);
        const uint32_t magnitude = bits & 0x7fffffff;
        float x;
        memcpy(&x, &magnitude, sizeof x);
        /* A subnormal by its integer: a program linked with -ffast-math takes it for 0.
         */
        const double exact = magnitude < 0x00800000 ? magnitude * 0x1p-149 : (double)x;
        uint64_t result;
        memcpy(&result, &exact, sizeof result);
        if (magnitude > 0x7f800000)
            result = UINT64_C(0x7ff8000000000000) | (uint64_t)(magnitude & 0x7fffff)
                                                        << 29;
        result |= (uint64_t)(bits >> 31) << 63;
        memcpy(want + 8 * i, &result, sizeof result);
    }
}

/* Writes the codes of the `n` patterns from `first` on, which have one sign. `step` is
 * the one that `first` is in, and is left at the one of the last pattern. */
static const struct oracle_step *expect_steps(const struct sweep *sweep,
                                              const struct oracle_step *step,
                                              unsigned char *want, uint32_t first,
                                              size_t n)
{
    const struct oracle_step *const end = sweep->steps + sweep->step_count;
    const uint32_t magnitude = first & 0x7fffffff;
    const unsigned bits = oracle_bits(sweep->to);
    size_t i = 0;
    while (i < n) {
        while (step + 1 < end && step[1].first <= magnitude + i)
            step++;
        const size_t left = step + 1 < end ? step[1].first - magnitude : n;
        const size_t until = left < n ? left : n;
        store(want, bits, i, until, first >> 31 ? step->negative : step->code);
        i = until;
    }
    return step;
}

/* Sweeps a part of one piece. */
static bool sweep_piece(const struct sweep *sweep, struct block *block, uint64_t first,
                        uint64_t count, struct sweep_result *result)
{
    const unsigned bits = oracle_bits(sweep->to);
    const struct oracle_step *step = sweep->steps;
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    *result = (struct sweep_result){0};
    while (result->inputs < count) {
        const uint64_t left = count - result->inputs;
        const size_t n = left < SWEEP_BLOCK ? (size_t)left : SWEEP_BLOCK;
        const uint32_t begin = (uint32_t)(first + result->inputs);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t pattern = begin + i;
            memcpy(block->src + 4 * i, &pattern, sizeof pattern);
        }
        if (sweep->to == TAPER_F64)
            expect_f64(block->want, block->src, n);
        else if (!sweep->hash_only)
            step = expect_steps(sweep, step, block->want, begin, n);
        if (!run_block(sweep, block, n, result))
            return false;
        hash_elements(&hash, block->got, bits, n);
    }
    result->hash = XXH3_64bits_digest(&hash);
    return true;
}

/* A sweep under way. Pieces are handed out in order, and none any more after a
 * difference, so the first difference is among those handed out. */
struct job {
    const struct sweep *sweep;
    uint64_t next, end;
    uint64_t first_piece;
    sweep_progress *progress;
    void *progress_context;
    struct sweep_result *result;
    uint64_t hashes[MAX_PIECES];
    pthread_mutex_t lock;
};

static void *work(void *data)
{
    static const uint64_t piece = UINT64_C(1) << PIECE_SHIFT;
    struct job *const job = data;
    struct sweep_result *const all = job->result;
    struct block block;
    struct sweep_result part;

    pthread_mutex_lock(&job->lock);
    while (!all->differs && job->next < job->end) {
        const uint64_t first = job->next;
        const uint64_t after = (first / piece + 1) * piece;
        job->next = after < job->end ? after : job->end;
        const uint64_t count = job->next - first;
        pthread_mutex_unlock(&job->lock);

        sweep_piece(job->sweep, &block, first, count, &part);

        pthread_mutex_lock(&job->lock);
        all->inputs += part.inputs;
        job->hashes[first / piece - job->first_piece] = part.hash;
        if (part.differs && (!all->differs || part.input < all->input)) {
            all->differs = true;
            all->input = part.input;
            all->got = part.got;
            all->want = part.want;
        }
        if (job->progress != NULL)
            job->progress(job->progress_context, all->inputs);
    }
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

bool sweep_f32(const struct sweep *sweep, uint64_t first, uint64_t count, int threads,
               sweep_progress *progress, void *context, struct sweep_result *result)
{
    enum { MAX_THREADS = 256 };
    struct job job = {.sweep = sweep,
                      .next = first,
                      .end = first + count,
                      .first_piece = first >> PIECE_SHIFT,
                      .progress = progress,
                      .progress_context = context,
                      .result = result,
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t others[MAX_THREADS];
    int started = 0;
    *result = (struct sweep_result){0};

    while (started < threads - 1 && started < MAX_THREADS &&
           pthread_create(&others[started], NULL, work, &job) == 0)
        started++;
    work(&job);
    while (started > 0)
        pthread_join(others[--started], NULL);
    pthread_mutex_destroy(&job.lock);
    if (result->differs || count == 0)
        return !result->differs;

    const size_t pieces = (size_t)((job.end - 1) >> PIECE_SHIFT) - job.first_piece + 1;
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    hash_elements(&hash, (unsigned char *)job.hashes, 64, pieces);
    result->hash = XXH3_64bits_digest(&hash);
    return true;
}

/* ---- All codes of a small type ---- */

/* Asks the oracle about the `n` elements of `src`. */
static void expect(const struct sweep *sweep, struct block *block, size_t n)
{
    const unsigned from_bits = oracle_bits(sweep->from),
                   to_bits = oracle_bits(sweep->to);
    for (size_t i = 0; i < n && !sweep->hash_only; i++)
        store(block->want, to_bits, i, i + 1,
              oracle_cast(sweep->to, sweep->from, get_element(block->src, from_bits, i),
                          sweep->options));
}

bool sweep_codes(const struct sweep *sweep, struct sweep_result *result)
{
    const unsigned from_bits = oracle_bits(sweep->from),
                   to_bits = oracle_bits(sweep->to);
    const uint32_t codes = UINT32_C(1) << from_bits;
    struct block block;
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    *result = (struct sweep_result){0};
    for (uint32_t first = 0; first < codes; first += SWEEP_BLOCK) {
        const size_t n = codes - first < SWEEP_BLOCK ? codes - first : SWEEP_BLOCK;
        for (size_t i = 0; i < n; i++) {
            const uint64_t code = first + i;
            store(block.src, from_bits, i, i + 1, code);
        }
        expect(sweep, &block, n);
        if (!run_block(sweep, &block, n, result))
            return false;
        hash_elements(&hash, block.got, to_bits, n);
    }
    result->hash = XXH3_64bits_digest(&hash);
    return true;
}

/* ---- binary64 ---- */

/* Points on their way to who takes them. */
struct points {
    sweep_take *take;
    void *context;
    bool stopped;
    size_t count;
    uint64_t in[SWEEP_BLOCK];
    uint64_t seed;
};

static void flush(struct points *p)
{
    p->stopped = p->stopped || !p->take(p->context, p->in, p->count);
    p->count = 0;
}

static void add(struct points *p, uint64_t in)
{
    if (p->count == SWEEP_BLOCK)
        flush(p);
    p->in[p->count++] = in;
}

/* A positive number, its neighbours, and what differs from it in one bit, up or down;
 * as both signs. Of the far bits a few are picked if there are many numbers to come. */
static void add_around(struct points *p, double x, bool many)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t random = next_random(&p->seed);
    add(p, bits);
    add(p, bits | sign);
    for (int i = 0; i < (many ? 5 : 52); i++) {
        const int bit = !many || i < 2 ? i : (int)(random >> i * 8 & 0xff) % 52;
        const uint64_t nudge = UINT64_C(1) << bit;
        add(p, (bits + nudge) | (i % 2 == 0 ? 0 : sign));
        if (bits >= nudge)
            add(p, (bits - nudge) | (i % 2 == 0 ? sign : 0));
    }
}

static double number(taper_dtype type, uint64_t code)
{
    const uint64_t bits = oracle_cast(TAPER_F64, type, code, (taper_cast_options){0});
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The largest finite code, signs aside. */
static uint32_t largest_code(taper_dtype type)
{
    const unsigned bits = oracle_bits(type);
    uint32_t code = type == TAPER_F8E8M0 ? 0xff : (UINT32_C(1) << (bits - 1)) - 1;
    while (!(number(type, code) <= 0x1.fffffep127)) /* infinite or not a number */
        code--;
    return code;
}

/* Every code of the target and the midpoints beside it; of binary32, some. */
static void add_codes(struct points *p, taper_dtype to, bool more)
{
    const uint32_t largest = to == TAPER_F32 ? 0x7f7fffff : largest_code(to);
    const uint32_t stride = to == TAPER_F32 ? (more ? 9973 : 199933) : 1;
    const bool many = largest > 0xff && !more;
    for (uint32_t code = 0; code <= largest && !p->stopped; code += stride) {
        if (code > largest - stride) /* the last ones are all taken */
            code = largest;
        const double x = number(to, code);
        const double next = code < largest       ? number(to, code + 1)
                            : to == TAPER_F8E8M0 ? 2 * x
                                                 : x + (x - number(to, code - 1));
        add_around(p, x, many);
        add_around(p, (x + next) / 2, many);
        if (code == largest || to == TAPER_F8E8M0)
            add_around(p, next, many);
        if (code == 0 && to == TAPER_F8E8M0) { /* powers that have no code */
            add_around(p, x / 2, many);
            add_around(p, x * 0.75, many);
        }
    }
}

void sweep_f64_points(taper_dtype to, bool more, sweep_take *take, void *context)
{
    static const uint64_t ends[] = {0,
                                    1,
                                    0x000fffffffffffff,
                                    0x0010000000000000,
                                    0x47efffffffffffff,
                                    0x47f0000000000000,
                                    0x7fefffffffffffff,
                                    0x7ff0000000000000,
                                    0x7ff0000000000001,
                                    0x7ff4000000000000,
                                    0x7ff8000000000000,
                                    0x7fffffffffffffff};
    struct points p = {.take = take, .context = context, .seed = 10};
    add_codes(&p, to, more);
    for (int i = 0; i < (more ? 60000000 : 100000) && !p.stopped; i++) {
        uint64_t bits = next_random(&p.seed);
        if (i % 2 == 0) /* in the range of binary32 or just outside */
            bits = (bits & (UINT64_MAX >> 4 | UINT64_C(1) << 63)) +
                   (UINT64_C(0x38000000) << 32);
        if (i % 8 == 0)
            bits &= UINT64_MAX << 28;
        add(&p, bits);
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (uint64_t sign = 0; sign <= 1; sign++)
            add(&p, ends[i] | sign << 63);
    flush(&p);
}

struct f64_sweep {
    const struct sweep *sweep;
    struct sweep_result *result;
    XXH3_state_t hash;
    struct block block;
};

static bool take_points(void *context, const uint64_t *in, size_t n)
{
    struct f64_sweep *const s = context;
    memcpy(s->block.src, in, n * sizeof *in);
    expect(s->sweep, &s->block, n);
    if (!run_block(s->sweep, &s->block, n, s->result))
        return false;
    hash_elements(&s->hash, s->block.got, oracle_bits(s->sweep->to), n);
    return true;
}

bool sweep_f64(const struct sweep *sweep, struct sweep_result *result)
{
    struct f64_sweep s = {.sweep = sweep, .result = result};
    XXH3_64bits_reset(&s.hash);
    *result = (struct sweep_result){0};
    sweep_f64_points(sweep->to, false, take_points, &s);
    if (!result->differs)
        result->hash = XXH3_64bits_digest(&s.hash);
    return !result->differs;
}
