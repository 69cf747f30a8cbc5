/* layout.c - strides: what they cover, whether it overlaps, and a good order to walk
 * it. */
#include "layout.h"

#include <stdint.h>

/* Stride of dimension `k` in elements; `below` is the product of the dimensions after
 * it, which is the stride where none are given. */
static int64_t stride_of(const taper_tensor *t, int k, int64_t below)
{
    return t->strides == NULL ? below : t->strides[k];
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

bool taper_is_contiguous(const taper_tensor *t)
{
    int64_t below = 1;
    if (t->strides == NULL)
        return true;
    for (int k = t->rank - 1; k >= 0; k--) {
        if (t->shape[k] > 1 && t->strides[k] != below)
            return false;
        below *= t->shape[k];
    }
    return true;
}

bool taper_span_fits(const taper_tensor *t)
{
    const uint64_t limit = PTRDIFF_MAX / 4 / (taper_dtype_bits(t->type) / 8);
    uint64_t span = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        const uint64_t steps = (uint64_t)t->shape[k] - 1;
        const uint64_t stride = magnitude(t->strides[k]);
        if (steps != 0 && stride > (limit - span) / steps)
            return false;
        span += stride * steps;
    }
    return true;
}

bool taper_same_layout(const taper_tensor *a, const taper_tensor *b)
{
    int64_t below = 1;
    if (a->data != b->data)
        return false;
    for (int k = a->rank - 1; k >= 0; k--) {
        if (a->shape[k] > 1 && stride_of(a, k, below) != stride_of(b, k, below))
            return false;
        below *= a->shape[k];
    }
    return true;
}

/* ---- A bounded linear equation ---- */

/* factor * x, with x from 0 to `most`. */
struct term {
    size_t factor, most;
};

/* sum of terms = target, in integers. */
struct equation {
    int count;
    int effort;                               /* left to spend */
    struct term term[2 * TAPER_MAX_DIMS + 1]; /* factors falling */
    size_t sum[2 * TAPER_MAX_DIMS + 2];       /* the most that terms from k on give */
    size_t
        divisor[2 * TAPER_MAX_DIMS + 2]; /* what divides all they give; 0: no terms */
};

enum { EFFORT = 1 << 16 };

static void add_term(struct equation *e, size_t factor, size_t most)
{
    int k = e->count;
    if (factor == 0 || most == 0)
        return;
    for (; k > 0 && e->term[k - 1].factor < factor; k--)
        e->term[k] = e->term[k - 1];
    e->term[k] = (struct term){factor, most};
    e->count++;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        const size_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Whether the terms from `k` on can give `target`, which is no more than their sum;
 * true, too, when out of effort. */
static bool reaches(struct equation *e, int k, size_t target)
{
    if (target == 0 || e->effort-- <= 0)
        return true;
    if (target % e->divisor[k] != 0)
        return false;
    const struct term t = e->term[k];
    const size_t rest = e->sum[k + 1];
    const size_t least = target > rest ? (target - rest - 1) / t.factor + 1 : 0;
    const size_t most = target / t.factor < t.most ? target / t.factor : t.most;
    for (size_t x = most + 1; x > least; x--)
        if (reaches(e, k + 1, target - (x - 1) * t.factor))
            return true;
    return false;
}

/* Terms of one factor are one term. */
static void merge_terms(struct equation *e)
{
    int count = 0;
    for (int k = 0; k < e->count; k++)
        if (count > 0 && e->term[count - 1].factor == e->term[k].factor)
            e->term[count - 1].most += e->term[k].most;
        else
            e->term[count++] = e->term[k];
    e->count = count;
}

static bool has_solution(struct equation *e, size_t target)
{
    merge_terms(e);
    e->effort = EFFORT;
    e->sum[e->count] = 0;
    e->divisor[e->count] = 0;
    for (int k = e->count - 1; k >= 0; k--) {
        e->sum[k] = e->sum[k + 1] + e->term[k].factor * e->term[k].most;
        e->divisor[k] = common_divisor(e->divisor[k + 1], e->term[k].factor);
    }
    return reaches(e, 0, target);
}

/* ---- Overlap ---- */

/* Adds the dimensions of `t` to `e`, in units of `unit` bytes for each element. Returns
 * the sum of what its negative strides can give: the lowest element lies that far below
 * `data`. */
static size_t add_dimensions(struct equation *e, const taper_tensor *t, size_t unit)
{
    size_t lowest = 0;
    int64_t below = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        const size_t steps = (size_t)t->shape[k] - 1;
        if (steps != 0) {
            const int64_t stride = stride_of(t, k, below);
            const size_t factor = (size_t)magnitude(stride) * unit;
            add_term(e, factor, steps);
            lowest += stride < 0 ? factor * steps : 0;
        }
        below *= t->shape[k];
    }
    return lowest;
}

static size_t reach(const struct equation *e)
{
    size_t sum = 0;
    for (int k = 0; k < e->count; k++)
        sum += e->term[k].factor * e->term[k].most;
    return sum;
}

/* Two indices that meet differ by some d, |d_k| < n_k, that is not 0 and whose strides
 * give 0. Say dimension k has the largest stride of those where d is not 0, and d_k > 0
 * there. With y = d + n - 1 for those below, which is never negative,
 *
 *     sum of stride * y, below k  +  stride_k * (d_k - 1)  =  span below k - stride_k
 */
bool taper_indices_meet(const taper_tensor *t)
{
    struct equation all;
    all.count = 0;
    add_dimensions(&all, t, 1);

    size_t below = 0; /* span, in elements, of the terms with smaller strides */
    for (int k = all.count - 1; k >= 0; k--) {
        const struct term top = all.term[k];
        if (top.factor <= below) { /* else the strides are nested, and all is well */
            struct equation e;
            e.count = 0;
            for (int i = k + 1; i < all.count; i++)
                add_term(&e, all.term[i].factor, 2 * all.term[i].most);
            add_term(&e, top.factor, top.most - 1);
            if (has_solution(&e, below - top.factor))
                return true;
        }
        below += top.factor * top.most;
    }
    /* A stride of 0 is no term. */
    for (int k = 0; k < t->rank; k++)
        if (t->strides[k] == 0 && t->shape[k] > 1)
            return true;
    return false;
}

/* a0 + sum of strides * i + byte of element = b0 + sum of strides * j + byte of
 * element, with a0 and b0 the lowest elements. Counting the right side down from its
 * highest byte brings all to one side with factors above 0. */
bool taper_elements_overlap(const taper_tensor *a, const taper_tensor *b)
{
    const size_t a_size = taper_dtype_bits(a->type) / 8;
    const size_t b_size = taper_dtype_bits(b->type) / 8;
    struct equation e;

    e.count = 0;
    const uintptr_t a0 = (uintptr_t)a->data - add_dimensions(&e, a, a_size);
    const size_t a_reach = reach(&e) + a_size - 1;
    const uintptr_t b0 = (uintptr_t)b->data - add_dimensions(&e, b, b_size);
    const size_t b_reach = reach(&e) - (a_reach - (a_size - 1)) + b_size - 1;
    /* Modulo 2^64: the lowest element that strides make up may lie below address 0. */
    if (b0 - a0 > a_reach && a0 - b0 > b_reach)
        return false; /* not even the ranges meet */
    add_term(&e, 1, a_size - 1 + b_size - 1);
    return has_solution(&e, b0 - a0 + b_reach);
}

/* ---- The walk ---- */

void taper_lay_out(struct taper_layout *layout, const taper_tensor *dst,
                   const taper_tensor *src)
{
    const int64_t dst_size = (int64_t)taper_dtype_bits(dst->type) / 8;
    const int64_t src_size = src == NULL ? 0 : (int64_t)taper_dtype_bits(src->type) / 8;
    int64_t below = 1;
    int rank = 0;

    layout->dst = dst->data;
    layout->src = src == NULL ? NULL : src->data;
    for (int k = dst->rank - 1; k >= 0; k--) {
        if (dst->shape[k] == 1)
            continue;
        struct taper_dim d = {
            (size_t)dst->shape[k],
            (ptrdiff_t)(stride_of(dst, k, below) * dst_size),
            src == NULL ? 0 : (ptrdiff_t)(stride_of(src, k, below) * src_size),
        };
        below *= dst->shape[k];
        if (d.dst < 0) {
            layout->dst += (ptrdiff_t)(d.n - 1) * d.dst;
            if (src != NULL)
                layout->src += (ptrdiff_t)(d.n - 1) * d.src;
            d.dst = -d.dst;
            d.src = -d.src;
        }
        int i = rank++;
        for (; i > 0 && layout->dim[i - 1].dst < d.dst; i--)
            layout->dim[i] = layout->dim[i - 1];
        layout->dim[i] = d;
    }

    layout->rank = 0;
    for (int k = 0; k < rank; k++) {
        const struct taper_dim d = layout->dim[k];
        struct taper_dim *const outer = &layout->dim[layout->rank - 1];
        const ptrdiff_t n = (ptrdiff_t)d.n;
        if (layout->rank > 0 && outer->dst == d.dst * n && outer->src == d.src * n)
            *outer = (struct taper_dim){outer->n * d.n, d.dst, d.src};
        else
            layout->dim[layout->rank++] = d;
    }
}
