/* tensor.c - taper_tensor_*(): checks, and the walk over two layouts. */
#include "taper/tensor.h"

#include <string.h>

#include "cast.h"
#include "dispatch.h"
#include "dtype.h"
#include "layout.h"
#include "parallel.h"

/* ---- Checks ---- */

/* All that can be told without looking at data and strides. */
static taper_status check(const taper_tensor *t, size_t *count, size_t *bytes)
{
    size_t n = 1;
    bool empty = false;

    if (t == NULL || (t->rank > 0 && t->shape == NULL))
        return TAPER_NULL;
    if (!taper_dtype_known(t->type))
        return TAPER_BAD_DTYPE;
    if (taper_dtypes[t->type].bits == 0)
        return TAPER_UNSUPPORTED;
    if (t->rank < 0)
        return TAPER_BAD_SHAPE;
    for (int k = 0; k < t->rank; k++) {
        if (t->shape[k] < 0)
            return TAPER_BAD_SHAPE;
        empty = empty || t->shape[k] == 0;
    }
    for (int k = 0; k < t->rank && !empty; k++) {
        if ((uint64_t)t->shape[k] > PTRDIFF_MAX / n)
            return TAPER_TOO_LARGE;
        n *= (size_t)t->shape[k];
    }
    *count = empty ? 0 : n;
    return taper_array_bytes(t->type, *count, bytes) ? TAPER_OK : TAPER_TOO_LARGE;
}

static bool same_shape(const taper_tensor *a, const taper_tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (int k = 0; k < a->rank; k++)
        if (a->shape[k] != b->shape[k])
            return false;
    return true;
}

/* Of a tensor that is not empty. */
static bool strides_ok(const taper_tensor *t, bool destination)
{
    if (taper_is_contiguous(t))
        return true;
    return taper_dtype_bits(t->type) >= 8 && taper_span_fits(t) &&
           !(destination && taper_indices_meet(t));
}

/* ---- The walk: blocks of rows ---- */

/* The last dimension of a layout are columns, the one before it rows. A block is some
 * rows; blocks are what is dealt to threads. */
struct walk {
    struct taper_work work;
    void (*block)(const struct walk *w, char *dst, const char *src, size_t rows,
                  bool stream);
    const struct taper_layout *layout;
    struct taper_dim row, column;
    size_t rows;   /* in all blocks but the last of a plane */
    size_t blocks; /* of a plane */
    int outer;     /* dimensions outside the plane */
    size_t dst_size, src_size;
    const struct taper_kernels *kernels;
    const struct taper_path *path; /* of a cast */
};

static void walk_blocks(const struct taper_work *work, size_t begin, size_t end,
                        bool stream)
{
    const struct walk *const w = (const struct walk *)work;
    const struct taper_dim *const dim = w->layout->dim;
    char *dst = w->layout->dst;
    const char *src = w->layout->src;
    size_t index[TAPER_MAX_DIMS];

    size_t block = begin % w->blocks, plane = begin / w->blocks;
    for (int k = w->outer - 1; k >= 0; k--) {
        index[k] = plane % dim[k].n;
        plane /= dim[k].n;
        dst += (ptrdiff_t)index[k] * dim[k].dst;
        src += (ptrdiff_t)index[k] * dim[k].src;
    }
    for (size_t i = begin; i < end; i++) {
        const ptrdiff_t first = (ptrdiff_t)(block * w->rows);
        const size_t left = w->row.n - (size_t)first;
        w->block(w, dst + first * w->row.dst, src + first * w->row.src,
                 left < w->rows ? left : w->rows, stream);
        if (++block < w->blocks)
            continue;
        block = 0;
        for (int k = w->outer - 1; k >= 0; k--) {
            if (++index[k] < dim[k].n) {
                dst += dim[k].dst;
                src += dim[k].src;
                break;
            }
            index[k] = 0;
            dst -= (ptrdiff_t)(dim[k].n - 1) * dim[k].dst;
            src -= (ptrdiff_t)(dim[k].n - 1) * dim[k].src;
        }
    }
}

/* Rows of a block where they are cheap, so that blocks are worth dealing out. */
enum { BLOCK_BYTES = 16 << 10, TURNED_ROWS = 64 };

/* Walks `layout` with w->block, the rest of `w` being what that needs. */
static void walk(struct walk *w, const struct taper_layout *layout, size_t rows)
{
    size_t planes = 1;

    w->layout = layout;
    w->outer = layout->rank < 2 ? 0 : layout->rank - 2;
    for (int k = 0; k < w->outer; k++)
        planes *= layout->dim[k].n;
    w->rows = rows < w->row.n ? rows : w->row.n;
    w->blocks = (w->row.n - 1) / w->rows + 1;
    const size_t n = planes * w->row.n * w->column.n;
    w->work = (struct taper_work){
        .run = walk_blocks,
        .n = planes * w->blocks,
        .grain = 1,
        .read = n * w->src_size,
        .written = n * w->dst_size,
    };
    taper_run(&w->work);
}

/* Sets the plane of `w` from the last two dimensions of `layout`. */
static void set_plane(struct walk *w, const struct taper_layout *layout)
{
    const struct taper_dim one = {1, 0, 0};
    const int rank = layout->rank;
    w->column = rank > 0 ? layout->dim[rank - 1] : one;
    w->row = rank > 1 ? layout->dim[rank - 2] : one;
}

/* If another dimension than the last is contiguous in src, moves it before the last:
 * the plane is then a matrix to be turned. */
static bool find_turn(struct taper_layout *layout, size_t src_size)
{
    enum { LEAST = 4 }; /* with fewer rows, strided columns are as good */
    const int last = layout->rank - 1;
    for (int p = last - 1; p >= 0; p--) {
        const struct taper_dim d = layout->dim[p];
        if (d.src != (ptrdiff_t)src_size || d.n < LEAST)
            continue;
        for (int k = p; k < last - 1; k++)
            layout->dim[k] = layout->dim[k + 1];
        layout->dim[last - 1] = d;
        return true;
    }
    return false;
}

static size_t rows_for(size_t row_bytes)
{
    return row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1;
}

/* ---- Copies ---- */

enum { STREAM_ROW = 4 << 10 }; /* bytes of a row that is worth streaming stores */

static void copy_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                      bool stream)
{
    const size_t bytes = w->column.n * w->dst_size;
    for (size_t i = 0; i < rows; i++)
        w->kernels->copy(dst + (ptrdiff_t)i * w->row.dst,
                         src + (ptrdiff_t)i * w->row.src, bytes,
                         stream && bytes >= STREAM_ROW);
}

/* Rows that are one element over and over. */
static void fill_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                      bool stream)
{
    const size_t size = w->dst_size, bytes = w->column.n * size;
    unsigned char pattern[TAPER_PATTERN_BYTES];
    for (size_t i = 0; i < rows; i++) {
        for (size_t at = 0; at < sizeof pattern; at += size)
            memcpy(pattern + at, src + (ptrdiff_t)i * w->row.src, size);
        w->kernels->fill(dst + (ptrdiff_t)i * w->row.dst, pattern, bytes,
                         stream && bytes >= STREAM_ROW);
    }
}

static size_t log2_of(size_t size)
{
    size_t k = 0;
    while (size >> k > 1)
        k++;
    return k;
}

static void turn_block(const struct walk *w, char *dst, const char *src, size_t rows,
                       bool stream)
{
    w->kernels->transpose[log2_of(w->dst_size)](dst, w->row.dst, src, w->column.src,
                                                rows, w->column.n, stream);
}

/* Sizes and strides that are constants make loops that the compiler can unroll or turn
 * into vectors; the strides are where slices with a step of 2 and 3 come from. */
TAPER_INLINE void strided_loop(char *dst, ptrdiff_t dst_stride, const char *src,
                               ptrdiff_t src_stride, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(dst + (ptrdiff_t)i * dst_stride, src + (ptrdiff_t)i * src_stride, size);
}

TAPER_INLINE void strided_of(char *dst, ptrdiff_t dst_stride, const char *src,
                             ptrdiff_t src_stride, size_t n, size_t size)
{
    const ptrdiff_t one = (ptrdiff_t)size;
    if (dst_stride == one && src_stride == 2 * one)
        strided_loop(dst, one, src, 2 * one, n, size);
    else if (dst_stride == one && src_stride == -one)
        strided_loop(dst, one, src, -one, n, size);
    else if (dst_stride == one)
        strided_loop(dst, one, src, src_stride, n, size);
    else if (src_stride == one)
        strided_loop(dst, dst_stride, src, one, n, size);
    else
        strided_loop(dst, dst_stride, src, src_stride, n, size);
}

/* `n` elements of `size` bytes from one stride to another. */
static void copy_strided(char *dst, ptrdiff_t dst_stride, const char *src,
                         ptrdiff_t src_stride, size_t n, size_t size)
{
    switch (size) {
    case 1:
        strided_of(dst, dst_stride, src, src_stride, n, 1);
        break;
    case 2:
        strided_of(dst, dst_stride, src, src_stride, n, 2);
        break;
    case 4:
        strided_of(dst, dst_stride, src, src_stride, n, 4);
        break;
    case 8:
        strided_of(dst, dst_stride, src, src_stride, n, 8);
        break;
    default:
        strided_of(dst, dst_stride, src, src_stride, n, 16);
    }
}

static void strided_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                         bool stream)
{
    (void)stream;
    for (size_t i = 0; i < rows; i++)
        copy_strided(dst + (ptrdiff_t)i * w->row.dst, w->column.dst,
                     src + (ptrdiff_t)i * w->row.src, w->column.src, w->column.n,
                     w->dst_size);
}

/* Copies elements of `size` bytes, or fills with one: then all src strides are 0. */
static void copy_layout(struct taper_layout *layout, size_t size, bool fill)
{
    struct walk w = {
        .dst_size = size,
        .src_size = fill ? 0 : size,
        .kernels = taper_active(),
    };
    size_t rows = TURNED_ROWS;

    set_plane(&w, layout);
    const bool to_row = w.column.n == 1 || w.column.dst == (ptrdiff_t)size;
    if (to_row && (w.column.n == 1 || w.column.src == (ptrdiff_t)size)) {
        w.block = copy_rows;
        rows = rows_for(w.column.n * size);
    } else if (to_row && w.column.src == 0) {
        w.block = fill_rows;
        rows = rows_for(w.column.n * size);
    } else if (to_row && find_turn(layout, size)) {
        w.block = turn_block;
        set_plane(&w, layout);
    } else {
        w.block = strided_rows;
        rows = rows_for(w.column.n * size);
    }
    walk(&w, layout, rows);
}

/* ---- Casts ---- */

enum { PIECE = 256 }; /* elements gathered or scattered at a time: a multiple of 8 */

/* Through copies of a piece of a row where it is not contiguous. Rows lie inside
 * pieces, so that the columns of a turned matrix are read while they are cached. */
static void cast_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                      bool stream)
{
    const bool to_row = w->column.dst == (ptrdiff_t)w->dst_size;
    const bool from_row = w->column.src == (ptrdiff_t)w->src_size;
    const size_t piece = to_row && from_row ? w->column.n : PIECE;
    _Alignas(64) char in[PIECE * sizeof(double)], out[PIECE * sizeof(double)];

    for (size_t j = 0; j < w->column.n; j += piece) {
        const size_t n = w->column.n - j < piece ? w->column.n - j : piece;
        for (size_t i = 0; i < rows; i++) {
            char *const d =
                dst + (ptrdiff_t)i * w->row.dst + (ptrdiff_t)j * w->column.dst;
            const char *const s =
                src + (ptrdiff_t)i * w->row.src + (ptrdiff_t)j * w->column.src;
            if (!from_row)
                copy_strided(in, (ptrdiff_t)w->src_size, s, w->column.src, n,
                             w->src_size);
            taper_follow(w->path, to_row ? d : out, from_row ? s : in, n,
                         stream && to_row && n * w->dst_size >= STREAM_ROW);
            if (!to_row)
                copy_strided(d, w->column.dst, out, (ptrdiff_t)w->dst_size, n,
                             w->dst_size);
        }
    }
}

static void cast_layout(struct taper_layout *layout, const struct taper_path *path)
{
    struct walk w = {
        .block = cast_rows,
        .dst_size = path->dst_bits / 8,
        .src_size = path->src_bits / 8,
        .path = path,
    };
    set_plane(&w, layout);
    size_t rows = rows_for(w.column.n * w.dst_size);
    if (w.column.src != (ptrdiff_t)w.src_size && find_turn(layout, w.src_size)) {
        set_plane(&w, layout);
        rows = TURNED_ROWS;
    }
    walk(&w, layout, rows);
}

/* A cast between a packed tensor, which is contiguous, and one that is not: in the
 * order of the packed one, whose elements have no addresses. */
struct packed_cast {
    struct taper_work work;
    const struct taper_path *path;
    char *packed;
    bool to_packed;
    /* The other tensor as `src`, and as `dst` the index in the packed one. */
    const struct taper_layout *layout;
};

/* Calls copy_strided() for each row's part of elements `begin` to `end` of `layout`,
 * between there and `piece`. */
static void copy_piece(const struct packed_cast *c, char *piece, size_t begin,
                       size_t end)
{
    const struct taper_layout *const layout = c->layout;
    const struct taper_dim column = layout->dim[layout->rank - 1];
    const size_t size = (c->to_packed ? c->path->src_bits : c->path->dst_bits) / 8;

    for (size_t i = begin; i < end;) {
        const size_t j = i % column.n;
        const size_t n = column.n - j < end - i ? column.n - j : end - i;
        ptrdiff_t at = (ptrdiff_t)j * column.src;
        size_t row = i / column.n;
        for (int k = layout->rank - 2; k >= 0; k--) {
            at += (ptrdiff_t)(row % layout->dim[k].n) * layout->dim[k].src;
            row /= layout->dim[k].n;
        }
        char *const p = piece + (i - begin) * size;
        if (c->to_packed)
            copy_strided(p, (ptrdiff_t)size, layout->src + at, column.src, n, size);
        else /* `src` is the destination here */
            copy_strided((char *)(uintptr_t)layout->src + at, column.src, p,
                         (ptrdiff_t)size, n, size);
        i += n;
    }
}

static void run_packed(const struct taper_work *work, size_t begin, size_t end,
                       bool stream)
{
    const struct packed_cast *const c = (const struct packed_cast *)work;
    _Alignas(64) char piece[PIECE * sizeof(double)];
    (void)stream;
    for (size_t i = begin; i < end; i += PIECE) {
        const size_t n = end - i < PIECE ? end - i : PIECE;
        if (c->to_packed) {
            copy_piece(c, piece, i, i + n);
            taper_follow(c->path, c->packed + i / 8 * c->path->dst_bits, piece, n,
                         false);
        } else {
            taper_follow(c->path, piece, c->packed + i / 8 * c->path->src_bits, n,
                         false);
            copy_piece(c, piece, i, i + n);
        }
    }
}

static taper_status cast_packed(const taper_tensor *dst, const taper_tensor *src,
                                size_t count, const struct taper_path *path)
{
    const bool to_packed = path->dst_bits < 8;
    const taper_tensor *const packed = to_packed ? dst : src;
    const taper_tensor *const other = to_packed ? src : dst;
    const int64_t packed_bytes = (int64_t)(count - 1) / 2 + 1;
    const taper_tensor bytes = {packed->data, TAPER_U8, 1, &packed_bytes, NULL};
    if (taper_elements_overlap(&bytes, other))
        return TAPER_OVERLAP;

    const taper_tensor index = {
        .type = TAPER_U8, .rank = dst->rank, .shape = dst->shape};
    struct taper_layout layout;
    taper_lay_out(&layout, &index, other);
    const struct packed_cast c = {
        .work = {run_packed, count, TAPER_ARRAY_GRAIN, count * path->src_bits / 8,
                 count * path->dst_bits / 8, false},
        .path = path,
        .packed = packed->data,
        .to_packed = to_packed,
        .layout = &layout,
    };
    taper_run(&c.work);
    return TAPER_OK;
}

/* ---- The public functions ---- */

taper_status taper_tensor_bytes(const taper_tensor *t, size_t *bytes)
{
    size_t count, size;
    if (bytes == NULL)
        return TAPER_NULL;
    const taper_status status = check(t, &count, &size);
    if (status == TAPER_OK)
        *bytes = size;
    return status;
}

taper_status taper_tensor_fill(const taper_tensor *dst, const void *value)
{
    size_t count, bytes;
    const taper_status status = check(dst, &count, &bytes);
    if (status != TAPER_OK || count == 0)
        return status;
    if (dst->data == NULL || value == NULL)
        return TAPER_NULL;
    if (taper_is_contiguous(dst))
        return taper_fill(dst->type, dst->data, count, value);
    if (!strides_ok(dst, true))
        return TAPER_BAD_STRIDE;

    struct taper_layout layout, rest;
    const size_t size = taper_dtype_bits(dst->type) / 8;
    char own[TAPER_PATTERN_BYTES]; /* `value` may lie inside dst */
    memcpy(own, value, size);
    taper_lay_out(&layout, dst, NULL);
    layout.src = own;
    if (layout.rank == 1 && layout.dim[0].dst == (ptrdiff_t)size)
        return taper_fill(dst->type, layout.dst, count, own);
    if (taper_split(&layout, &rest))
        copy_layout(&rest, size, true);
    copy_layout(&layout, size, true);
    return TAPER_OK;
}

taper_status taper_tensor_copy(const taper_tensor *dst, const taper_tensor *src)
{
    size_t count, bytes;
    taper_status status = check(dst, &count, &bytes);
    if (status == TAPER_OK)
        status = check(src, &count, &bytes);
    if (status != TAPER_OK)
        return status;
    if (dst->type != src->type)
        return TAPER_TYPE_MISMATCH;
    if (!same_shape(dst, src))
        return TAPER_SHAPE_MISMATCH;
    if (count == 0)
        return TAPER_OK;
    if (dst->data == NULL || src->data == NULL)
        return TAPER_NULL;
    if (taper_is_contiguous(dst) && taper_is_contiguous(src))
        return taper_copy(dst->type, dst->data, src->data, count);
    if (!strides_ok(dst, true) || !strides_ok(src, false))
        return TAPER_BAD_STRIDE;
    if (taper_same_layout(dst, src))
        return TAPER_OK;
    if (taper_elements_overlap(dst, src))
        return TAPER_OVERLAP;

    struct taper_layout layout, rest;
    const size_t size = taper_dtype_bits(dst->type) / 8;
    taper_lay_out(&layout, dst, src);
    if (layout.rank == 1 && layout.dim[0].dst == (ptrdiff_t)size &&
        layout.dim[0].src == (ptrdiff_t)size)
        return taper_copy(dst->type, layout.dst, layout.src, count);
    if (taper_split(&layout, &rest))
        copy_layout(&rest, size, false);
    copy_layout(&layout, size, false);
    return TAPER_OK;
}

taper_status taper_tensor_cast(const taper_tensor *dst, const taper_tensor *src,
                               const taper_cast_options *options)
{
    struct taper_path path;
    size_t count, bytes;
    taper_status status = check(dst, &count, &bytes);
    if (status == TAPER_OK)
        status = check(src, &count, &bytes);
    if (status != TAPER_OK)
        return status;
    status = taper_find_path(&path, dst->type, src->type, options);
    if (status == TAPER_UNSUPPORTED)
        return status;
    if (!same_shape(dst, src))
        return TAPER_SHAPE_MISMATCH;
    if (status != TAPER_OK || count == 0)
        return status;
    if (dst->type == src->type)
        return taper_tensor_copy(dst, src);
    if (dst->data == NULL || src->data == NULL)
        return TAPER_NULL;
    if (taper_is_contiguous(dst) && taper_is_contiguous(src))
        return taper_cast(dst->type, dst->data, src->type, src->data, count, options);
    if (!strides_ok(dst, true) || !strides_ok(src, false))
        return TAPER_BAD_STRIDE;
    if (path.dst_bits < 8 || path.src_bits < 8)
        return cast_packed(dst, src, count, &path);
    if (taper_elements_overlap(dst, src))
        return TAPER_OVERLAP;

    struct taper_layout layout, rest;
    taper_lay_out(&layout, dst, src);
    if (layout.rank == 1 && layout.dim[0].dst == (ptrdiff_t)path.dst_bits / 8 &&
        layout.dim[0].src == (ptrdiff_t)path.src_bits / 8)
        return taper_cast(dst->type, layout.dst, src->type, layout.src, count, options);
    if (taper_split(&layout, &rest))
        cast_layout(&rest, &path);
    cast_layout(&layout, &path);
    return TAPER_OK;
}
