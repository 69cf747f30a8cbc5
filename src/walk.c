/* walk.c - see walk.h. The last dimension of a layout are columns, the one before it
 * rows. A plane of them is cut into blocks; those of all planes are dealt to threads.
 */
#include "walk.h"

#include <stdint.h>
#include <string.h>

#include "dispatch.h"
#include "parallel.h"

struct walk;

/* Does `rows` by `columns` elements. */
typedef void block_fn(const struct walk *w, char *dst, const char *src, size_t rows,
                      size_t columns, bool stream);

struct walk {
    struct taper_work work;
    block_fn *block;
    const struct taper_layout *layout;
    struct taper_dim row, column;
    size_t rows, columns;             /* of a block, but the last ones of a plane */
    size_t row_blocks, column_blocks; /* of a plane */
    int outer;                        /* dimensions outside the plane */
    size_t dst_size, src_size;        /* of a column */
    const struct taper_kernels *kernels;
    const struct taper_path *path; /* of a cast */
    bool back; /* from dst to src: packed elements, always dst, are cast */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Steps to the next plane. */
static void next_plane(const struct walk *w, size_t *index, char **dst,
                       const char **src)
{
    const struct taper_dim *const dim = w->layout->dim;
    for (int k = w->outer - 1; k >= 0; k--) {
        if (++index[k] < dim[k].n) {
            *dst += dim[k].dst;
            *src += dim[k].src;
            return;
        }
        index[k] = 0;
        *dst -= (ptrdiff_t)(dim[k].n - 1) * dim[k].dst;
        *src -= (ptrdiff_t)(dim[k].n - 1) * dim[k].src;
    }
}

static void do_block(const struct walk *w, char *dst, const char *src, size_t block,
                     bool stream)
{
    const size_t i = block / w->column_blocks * w->rows;
    const size_t j = block % w->column_blocks * w->columns;
    dst += (ptrdiff_t)i * w->row.dst + (ptrdiff_t)j * w->column.dst;
    src += (ptrdiff_t)i * w->row.src + (ptrdiff_t)j * w->column.src;
    w->block(w, dst, src, least(w->rows, w->row.n - i),
             least(w->columns, w->column.n - j), stream);
}

static void do_blocks(const struct taper_work *work, size_t begin, size_t end,
                      bool stream)
{
    const struct walk *const w = (const struct walk *)work;
    const struct taper_dim *const dim = w->layout->dim;
    const size_t blocks = w->row_blocks * w->column_blocks;
    char *dst = w->layout->dst;
    const char *src = w->layout->src;
    size_t index[TAPER_MAX_DIMS];

    size_t block = begin % blocks, plane = begin / blocks;
    for (int k = w->outer - 1; k >= 0; k--) {
        index[k] = plane % dim[k].n;
        plane /= dim[k].n;
        dst += (ptrdiff_t)index[k] * dim[k].dst;
        src += (ptrdiff_t)index[k] * dim[k].src;
    }
    for (size_t i = begin; i < end; i++) {
        do_block(w, dst, src, block, stream);
        if (++block == blocks) {
            block = 0;
            next_plane(w, index, &dst, &src);
        }
    }
}

/* Sets the plane of `w` from the last two dimensions of `layout`. */
static void set_plane(struct walk *w, const struct taper_layout *layout)
{
    const struct taper_dim one = {1, 0, 0};
    const int rank = layout->rank;
    w->layout = layout;
    w->column = layout->dim[rank - 1];
    w->row = rank > 1 ? layout->dim[rank - 2] : one;
    w->outer = rank > 2 ? rank - 2 : 0;
}

/* Walks in blocks of `rows` by `columns`, w->block and what it needs being set. */
static void walk(struct walk *w, size_t rows, size_t columns)
{
    size_t planes = 1, read = w->row.src != 0 ? w->row.n : 1;

    read *= w->column.src != 0 ? w->column.n : 1;
    for (int k = 0; k < w->outer; k++) {
        planes *= w->layout->dim[k].n;
        read *= w->layout->dim[k].src != 0 ? w->layout->dim[k].n : 1;
    }
    read = read > 1 ? read * w->src_size : 0; /* one element over and over: a fill */
    const size_t written = planes * w->row.n * w->column.n * w->dst_size;
    w->rows = least(rows, w->row.n);
    w->columns = least(columns, w->column.n);
    w->row_blocks = (w->row.n - 1) / w->rows + 1;
    w->column_blocks = (w->column.n - 1) / w->columns + 1;
    w->work = (struct taper_work){
        .run = do_blocks,
        .n = planes * w->row_blocks * w->column_blocks,
        .grain = 1,
        .read = w->back ? written : read,
        .written = w->back ? read : written,
    };
    taper_run(&w->work);
}

enum {
    BLOCK_BYTES = 16 << 10, /* of a block of short rows, to be worth dealing out */
    ROW_PIECE = 1 << 20,    /* bytes of a piece of a long row */
    STRIDED = 4 << 10,      /* of a piece of a row that is not contiguous */
    TURNED = 64,            /* rows of a block of a matrix to be turned */
    TURNED_COLUMNS = 1024,
    STREAMED = 4 << 10, /* bytes that are worth streaming stores */
    STAGE = 8 << 10,    /* bytes put together before they are streamed, at most */
    LINE = 64,
};

static size_t rows_for(size_t row_bytes)
{
    return row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1;
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

/* ---- Copies ---- */

static void copy_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                      size_t columns, bool stream)
{
    const size_t bytes = columns * w->dst_size;
    for (size_t i = 0; i < rows; i++)
        w->kernels->copy(dst + (ptrdiff_t)i * w->row.dst,
                         src + (ptrdiff_t)i * w->row.src, bytes,
                         stream && bytes >= STREAMED);
}

/* Rows that are one element over and over. */
static void fill_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                      size_t columns, bool stream)
{
    const size_t size = w->dst_size, bytes = columns * size;
    unsigned char pattern[TAPER_PATTERN_BYTES];
    for (size_t i = 0; i < rows; i++) {
        for (size_t at = 0; at < sizeof pattern; at += size)
            memcpy(pattern + at, src + (ptrdiff_t)i * w->row.src, size);
        w->kernels->fill(dst + (ptrdiff_t)i * w->row.dst, pattern, bytes,
                         stream && bytes >= STREAMED);
    }
}

/* Rows that lie end to end in dst are one array, which streaming stores fill line by
 * line wherever it begins, and however short its rows are. */
static bool end_to_end(const struct walk *w, size_t rows, size_t columns)
{
    return rows == 1 ||
           (columns == w->column.n && w->row.dst == (ptrdiff_t)(columns * w->dst_size));
}

/* Does such rows, each no longer than `piece` bytes, in a buffer, `piece` bytes at a
 * time, which it streams from there. */
static void stage(const struct walk *w, char *dst, const char *src, size_t rows,
                  size_t columns, size_t piece, block_fn *block)
{
    const size_t row_bytes = columns * w->dst_size;
    _Alignas(LINE) char buffer[STAGE];

    for (size_t i = 0, n; i < rows; i += n) {
        n = least(piece / row_bytes, rows - i);
        block(w, buffer, src + (ptrdiff_t)i * w->row.src, n, columns, false);
        w->kernels->copy(dst + i * row_bytes, buffer, n * row_bytes, true);
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
                       size_t columns, bool stream)
{
    /* So narrow that a piece holds a whole line of src, which has one row an element.
     */
    const bool narrow = columns <= STAGE / LINE;
    const bool lines = ((uintptr_t)dst | (uintptr_t)w->row.dst) % LINE == 0;
    if (stream && narrow && !lines && end_to_end(w, rows, columns)) {
        stage(w, dst, src, rows, columns, STAGE, turn_block);
        return;
    }
    w->kernels->transpose[log2_of(w->dst_size)](dst, w->row.dst, src, w->column.src,
                                                rows, columns, stream);
}

/* Sizes and strides that are constants make loops that the compiler can unroll or turn
 * into vectors; the strides are those of a step of 2 and of a reversed dimension. */
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
                         size_t columns, bool stream)
{
    const size_t row_bytes = columns * w->dst_size;
    if (stream && w->column.dst == (ptrdiff_t)w->dst_size && row_bytes <= STREAMED &&
        rows * row_bytes >= STREAMED && end_to_end(w, rows, columns)) {
        stage(w, dst, src, rows, columns, STREAMED, strided_rows);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        copy_strided(dst + (ptrdiff_t)i * w->row.dst, w->column.dst,
                     src + (ptrdiff_t)i * w->row.src, w->column.src, columns,
                     w->dst_size);
}

void taper_walk_copy(struct taper_layout *layout, size_t size)
{
    struct walk w = {.dst_size = size, .src_size = size, .kernels = taper_active()};

    set_plane(&w, layout);
    const bool to_row = w.column.dst == (ptrdiff_t)size;
    const bool from_row = w.column.src == (ptrdiff_t)size;
    if (to_row && (from_row || w.column.src == 0)) {
        w.block = from_row ? copy_rows : fill_rows;
        walk(&w, rows_for(w.column.n * size), ROW_PIECE / size);
    } else if (to_row && find_turn(layout, size)) {
        w.block = turn_block;
        set_plane(&w, layout);
        walk(&w, TURNED, TURNED_COLUMNS);
    } else {
        w.block = strided_rows; /* of short pieces, so that rows share what they read */
        walk(&w, rows_for(least(w.column.n * size, STRIDED)), STRIDED / size);
    }
}

/* ---- Casts ---- */

enum { PIECE = 256 }; /* elements gathered or scattered at a time: a multiple of 8 */

/* Elements of a column: one, or as many packed ones as a byte holds. */
static size_t per_column(const struct taper_path *path)
{
    return 8 / least(8, least(path->dst_bits, path->src_bits));
}

/* Through copies of a piece of a row where it is not contiguous. Rows lie inside
 * pieces, so that the columns of a turned matrix are read while they are cached. */
static void cast_rows(const struct walk *w, char *dst, const char *src, size_t rows,
                      size_t columns, bool stream)
{
    const bool to_row = w->column.dst == (ptrdiff_t)w->dst_size;
    const bool from_row = w->column.src == (ptrdiff_t)w->src_size;
    const size_t piece = to_row && from_row ? columns : PIECE;
    _Alignas(64) char in[PIECE * sizeof(double)], out[PIECE * sizeof(double)];

    for (size_t j = 0; j < columns; j += piece) {
        const size_t n = least(piece, columns - j);
        for (size_t i = 0; i < rows; i++) {
            char *const d =
                dst + (ptrdiff_t)i * w->row.dst + (ptrdiff_t)j * w->column.dst;
            const char *const s =
                src + (ptrdiff_t)i * w->row.src + (ptrdiff_t)j * w->column.src;
            if (!from_row)
                copy_strided(in, (ptrdiff_t)w->src_size, s, w->column.src, n,
                             w->src_size);
            taper_follow(w->path, to_row ? d : out, from_row ? s : in, n,
                         stream && to_row && n * w->dst_size >= STREAMED);
            if (!to_row)
                copy_strided(d, w->column.dst, out, (ptrdiff_t)w->dst_size, n,
                             w->dst_size);
        }
    }
}

/* A matrix to be turned: a line of src from each of its rows at a time, in a buffer.
 * Rows of dst that are short and lie end to end are joined to one. */
static void cast_turned(const struct walk *w, char *dst, const char *src, size_t rows,
                        size_t columns, bool stream)
{
    const size_t each = per_column(w->path), size = w->src_size / each;
    const size_t elements = columns * each, high = LINE / size;
    const size_t wide = least(STAGE / LINE, elements);
    const ptrdiff_t step = w->column.src / (ptrdiff_t)each;
    const ptrdiff_t width = (ptrdiff_t)(wide * size);
    const bool joined = wide == elements && end_to_end(w, rows, columns);
    taper_transpose_fn *const transpose = w->kernels->transpose[log2_of(size)];
    _Alignas(LINE) char turned[STAGE];

    /* Rows of the buffer are short, but may be whole lines. */
    const uintptr_t ends = w->back ? (uintptr_t)src | (uintptr_t)step
                                   : (uintptr_t)dst | (uintptr_t)w->row.dst;
    stream = stream && ends % LINE == 0;
    for (size_t j = 0; j < elements; j += wide)
        for (size_t i = 0; i < rows; i += high) {
            const size_t m = least(high, rows - i), n = least(wide, elements - j);
            char *const s = (char *)src + i * size + (ptrdiff_t)j * step;
            char *const d =
                dst + (ptrdiff_t)i * w->row.dst + (ptrdiff_t)(j / each * w->dst_size);
            if (!w->back)
                transpose(turned, width, s, step, m, n, false);
            for (size_t k = 0; k < m; k += joined ? m : 1) {
                char *const row = d + (ptrdiff_t)k * w->row.dst;
                char *const whole = turned + (ptrdiff_t)k * width;
                taper_follow(w->path, w->back ? whole : row, w->back ? row : whole,
                             joined ? m * n : n, stream && !w->back);
            }
            if (w->back)
                transpose(s, step, turned, width, n, m, stream);
        }
}

void taper_walk_cast(struct taper_layout *layout, const struct taper_path *path)
{
    struct walk w = {
        .block = cast_rows,
        .dst_size = path->dst_bits / 8,
        .src_size = path->src_bits / 8,
        .kernels = taper_active(),
        .path = path,
    };
    set_plane(&w, layout);
    const bool to_row = w.column.dst == (ptrdiff_t)w.dst_size;
    if (w.column.src != (ptrdiff_t)w.src_size && find_turn(layout, w.src_size)) {
        if (to_row)
            w.block = cast_turned;
        set_plane(&w, layout);
        walk(&w, TURNED, TURNED_COLUMNS);
    } else {
        walk(&w, rows_for(w.column.n * w.dst_size), ROW_PIECE / w.dst_size);
    }
}

/* Bytes of the elements that are not packed. */
static size_t whole_size(const struct taper_path *path)
{
    return (path->dst_bits < 8 ? path->src_bits : path->dst_bits) / 8;
}

/* The packed array gives the order, since its elements have no addresses. */
struct packed_walk {
    struct taper_work work;
    const struct taper_layout *layout;
    char *packed, *other;
    const struct taper_path *path;
    bool to_packed;
};

/* Elements `begin` to `end`, between `piece` and the other tensor. */
static void copy_piece(const struct packed_walk *w, char *piece, size_t begin,
                       size_t end)
{
    const struct taper_layout *const layout = w->layout;
    const struct taper_dim column = layout->dim[layout->rank - 1];
    const size_t size = whole_size(w->path);

    for (size_t i = begin; i < end;) {
        const size_t j = i % column.n;
        const size_t n = least(column.n - j, end - i);
        ptrdiff_t at = (ptrdiff_t)j * column.src;
        size_t row = i / column.n;
        for (int k = layout->rank - 2; k >= 0; k--) {
            at += (ptrdiff_t)(row % layout->dim[k].n) * layout->dim[k].src;
            row /= layout->dim[k].n;
        }
        char *const p = piece + (i - begin) * size;
        if (w->to_packed)
            copy_strided(p, (ptrdiff_t)size, w->other + at, column.src, n, size);
        else
            copy_strided(w->other + at, column.src, p, (ptrdiff_t)size, n, size);
        i += n;
    }
}

static void do_packed(const struct taper_work *work, size_t begin, size_t end,
                      bool stream)
{
    const struct packed_walk *const w = (const struct packed_walk *)work;
    const struct taper_path *const path = w->path;
    _Alignas(64) char piece[PIECE * sizeof(double)];
    (void)stream;
    for (size_t i = begin; i < end; i += PIECE) {
        const size_t n = least(PIECE, end - i);
        if (w->to_packed) {
            copy_piece(w, piece, i, i + n);
            taper_follow(path, w->packed + i / 8 * path->dst_bits, piece, n, false);
        } else {
            taper_follow(path, piece, w->packed + i / 8 * path->src_bits, n, false);
            copy_piece(w, piece, i, i + n);
        }
    }
}

/* By tiles, if rows are whole bytes, which are the columns then. */
static bool turn_packed(struct taper_layout *layout, char *packed,
                        const struct taper_path *path)
{
    const size_t each = per_column(path), size = whole_size(path);
    struct taper_dim *const column = &layout->dim[layout->rank - 1];
    struct walk w = {
        .block = cast_turned,
        .dst_size = 1,
        .src_size = each * size,
        .kernels = taper_active(),
        .path = path,
        .back = path->src_bits < 8,
    };
    if (column->n % each != 0 || column->src == (ptrdiff_t)size ||
        !find_turn(layout, size))
        return false;
    layout->dst = packed;
    for (int k = 0; k < layout->rank - 1; k++)
        layout->dim[k].dst /= (ptrdiff_t)each;
    column->n /= each;
    column->src *= (ptrdiff_t)each;
    set_plane(&w, layout);
    walk(&w, TURNED, TURNED_COLUMNS / each);
    return true;
}

void taper_walk_packed(struct taper_layout *layout, size_t count, char *packed,
                       char *other, const struct taper_path *path)
{
    const struct packed_walk w = {
        .work = {do_packed, count, TAPER_ARRAY_GRAIN, count / 8 * path->src_bits,
                 count / 8 * path->dst_bits, false},
        .layout = layout,
        .packed = packed,
        .other = other,
        .path = path,
        .to_packed = path->dst_bits < 8,
    };
    if (!turn_packed(layout, packed, path))
        taper_run(&w.work);
}
