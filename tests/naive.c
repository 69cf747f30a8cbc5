/* naive.c - see naive.h. */
#include "naive.h"

#include <stdlib.h>

size_t count(const taper_tensor *t)
{
    size_t n = 1;
    for (int k = 0; k < t->rank; k++)
        n *= (size_t)t->shape[k];
    return n;
}

int64_t place_of(const taper_tensor *t, size_t index)
{
    int64_t place = 0;
    if (t->strides == NULL)
        return (int64_t)index;
    for (int k = t->rank - 1; k >= 0; k--) {
        const size_t n = (size_t)t->shape[k];
        if (n > 1) /* other strides may be anything */
            place += (int64_t)(index % n) * t->strides[k];
        index /= n;
    }
    return place;
}

void bounds(const taper_tensor *t, int64_t *lowest, int64_t *highest)
{
    *lowest = *highest = 0;
    if (t->strides == NULL) {
        *highest = (int64_t)count(t) - 1;
        return;
    }
    for (int k = 0; k < t->rank; k++)
        if (t->shape[k] > 1) {
            const int64_t span = (t->shape[k] - 1) * t->strides[k];
            *(span < 0 ? lowest : highest) += span;
        }
}

bool is_row_major(const taper_tensor *t)
{
    int64_t next = 1;
    for (int k = t->rank - 1; k >= 0 && t->strides != NULL; k--) {
        if (t->shape[k] > 1 && t->strides[k] != next)
            return false;
        next *= t->shape[k];
    }
    return true;
}

bool span_fits(const taper_tensor *t)
{
    uint64_t span = 1, part, bytes;
    for (int k = 0; k < t->rank; k++) {
        const int64_t stride = t->strides[k];
        const uint64_t size = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
        if (t->shape[k] > 1 &&
            (__builtin_mul_overflow(size, (uint64_t)t->shape[k] - 1, &part) ||
             __builtin_add_overflow(span, part, &span)))
            return false;
    }
    return !__builtin_mul_overflow(span, taper_dtype_bits(t->type) / 8, &bytes) &&
           bytes <= PTRDIFF_MAX / 4;
}

/* ---- Where elements lie ---- */

/* The addresses of units of `size` bytes that a tensor is made of, rising. */
struct places {
    int64_t *at;
    size_t count;
    int64_t size;
};

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* For free(). The units of a packed tensor, which is row-major, are its bytes. */
static struct places places_of(const taper_tensor *t)
{
    const size_t bits = taper_dtype_bits(t->type), n = count(t);
    struct places p = {.count = bits < 8 ? array_bytes((unsigned)bits, n) : n,
                       .size = bits < 8 ? 1 : (int64_t)bits / 8};
    p.at = malloc(p.count * sizeof *p.at);
    if (p.at == NULL)
        abort();
    for (size_t i = 0; i < p.count; i++)
        p.at[i] = (int64_t)(intptr_t)t->data +
                  (bits < 8 ? (int64_t)i : place_of(t, i) * p.size);
    qsort(p.at, p.count, sizeof *p.at, by_value);
    return p;
}

static bool indices_meet(const taper_tensor *t)
{
    const struct places p = places_of(t);
    bool meet = false;
    for (size_t i = 1; i < p.count; i++)
        meet |= p.at[i] == p.at[i - 1];
    free(p.at);
    return meet;
}

static bool elements_overlap(const taper_tensor *a, const taper_tensor *b)
{
    const struct places p = places_of(a), q = places_of(b);
    size_t i = 0, j = 0;
    while (i < p.count && j < q.count)
        if (p.at[i] + p.size <= q.at[j])
            i++;
        else if (q.at[j] + q.size <= p.at[i])
            j++;
        else
            break;
    const bool overlap = i < p.count && j < q.count;
    free(p.at);
    free(q.at);
    return overlap;
}

static bool same_places(const taper_tensor *a, const taper_tensor *b)
{
    const size_t n = count(a);
    for (size_t i = 0; i < n; i++)
        if (place_of(a, i) != place_of(b, i))
            return false;
    return a->data == b->data;
}

static bool strides_ok(const taper_tensor *t)
{
    return is_row_major(t) || (taper_dtype_bits(t->type) >= 8 && span_fits(t));
}

taper_status naive_status(enum op op, const taper_tensor *dst, const taper_tensor *src)
{
    if (!strides_ok(dst) || (!is_row_major(dst) && indices_meet(dst)))
        return TAPER_BAD_STRIDE;
    if (op == FILL)
        return TAPER_OK;
    if (!strides_ok(src))
        return TAPER_BAD_STRIDE;
    if (dst->type == src->type && same_places(dst, src))
        return TAPER_OK;
    if (dst->type != src->type && dst->data == src->data && is_row_major(dst) &&
        is_row_major(src) && taper_dtype_bits(dst->type) <= taper_dtype_bits(src->type))
        return TAPER_OK;
    return elements_overlap(dst, src) ? TAPER_OVERLAP : TAPER_OK;
}

/* ---- The calls ---- */

void do_naively(enum op op, const taper_tensor *to, const taper_tensor *from,
                taper_cast_options options, unsigned char *dst,
                const unsigned char *src)
{
    const unsigned bits = (unsigned)taper_dtype_bits(to->type);
    const size_t n = count(to), size = bits / 8;
    const bool converts = op == CAST && to->type != from->type;
    const unsigned from_bits = converts ? oracle_bits(from->type) : 0;

    for (size_t i = 0; i < n; i++) {
        const int64_t at = place_of(to, i);
        const int64_t source = op == FILL ? 0 : place_of(from, i);
        if (converts) {
            const unsigned char *const s =
                from_bits < 8 ? src : src + source * (from_bits / 8);
            const uint64_t element =
                get_element(s, from_bits, from_bits < 8 ? (size_t)source : 0);
            const uint64_t want = oracle_cast(to->type, from->type, element, options);
            set_element(bits < 8 ? dst : dst + at * (int64_t)size, bits,
                        bits < 8 ? (size_t)at : 0, want);
        } else if (bits < 8) {
            const unsigned mask = (1u << bits) - 1;
            set_element(dst, bits, (size_t)at,
                        op == FILL ? src[0] & mask
                                   : get_element(src, bits, (size_t)source));
        } else {
            memcpy(dst + at * (int64_t)size, src + source * (int64_t)size, size);
        }
    }
    if (n * bits % 8 != 0)
        dst[n * bits / 8] &= (unsigned char)((1u << n * bits % 8) - 1);
}
