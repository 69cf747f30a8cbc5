/* sweep.c - expected codes are written run by run, as the steps have it, so that a
 * sweep costs little more than the kernel under it. */
#include "sweep.h"

#include <pthread.h>
#include <string.h>

#define XXH_INLINE_ALL /* the header is enough: nothing to link on a cross build */
#include <xxhash.h>

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

/* ---- Elements
 * ------------------------------------------------------------------------- */

static size_t bytes_of(unsigned bits, size_t n)
{
    return (n * bits + 7) / 8;
}

/* Element `i` of an array in native words. */
static uint64_t load(const unsigned char *array, unsigned bits, size_t i)
{
    union {
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;
    } x;
    switch (bits) {
    case 64:
        return memcpy(&x.u64, array + 8 * i, 8), x.u64;
    case 32:
        return memcpy(&x.u32, array + 4 * i, 4), x.u32;
    case 16:
        return memcpy(&x.u16, array + 2 * i, 2), x.u16;
    case 4:
        return array[i / 2] >> i % 2 * 4 & 15;
    default:
        return array[i];
    }
}

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

/* Compares `n` results, of which the first has input `first` and the next ones follow.
 */
static bool same(const struct sweep *sweep, const struct block *block, uint64_t first,
                 size_t n, struct sweep_result *result)
{
    const unsigned bits = oracle_bits(sweep->to);
    if (memcmp(block->got, block->want, bytes_of(bits, n)) == 0)
        return true;
    size_t i = 0; /* all are equal if the fault is in the half byte after the last */
    while (i < n && load(block->got, bits, i) == load(block->want, bits, i))
        i++;
    result->differs = true;
    result->input = first + i;
    result->got = load(block->got, bits, i);
    result->want = load(block->want, bits, i);
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
    XXH3_64bits_update(hash, array, bytes_of(bits, n));
}

/* ---- All of binary32
 * ------------------------------------------------------------------- */

static void expect_f64(unsigned char *want, const unsigned char *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)load(src, 32, i);
        float x;
        memcpy(&x, &bits, sizeof x);
        const double exact = x;
        uint64_t result;
        memcpy(&result, &exact, sizeof result);
        if ((bits & 0x7fffffff) > 0x7f800000)
            result = (uint64_t)(bits & 0x80000000) << 32 |
                     UINT64_C(0x7ff8000000000000) | (uint64_t)(bits & 0x7fffff) << 29;
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
        else
            step = expect_steps(sweep, step, block->want, begin, n);
        sweep->run(sweep->context, block->got, block->src, n);
        result->inputs += n;
        if (!same(sweep, block, begin, n, result))
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

/* ---- All codes of a small type
 * ---------------------------------------------------------- */

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
            store(block.want, to_bits, i, i + 1,
                  oracle_cast(sweep->to, sweep->from, code, sweep->options));
        }
        sweep->run(sweep->context, block.got, block.src, n);
        result->inputs += n;
        if (!same(sweep, &block, first, n, result))
            return false;
        hash_elements(&hash, block.got, to_bits, n);
    }
    result->hash = XXH3_64bits_digest(&hash);
    return true;
}
