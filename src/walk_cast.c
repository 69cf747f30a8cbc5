/* walk_cast.c - casts between two layouts: see walk.h. */
#include <stdint.h>

#include "blocks.h"
#include "dispatch.h"
#include "walk.h"

enum { PIECE = 256 }; /* elements gathered or scattered at a time: a multiple of 8 */

/* Elements of a column: one, or as many packed ones as a byte holds. */
static size_t per_column(const struct taper_path *path)
{
    return 8 / least(8, least(path->dst_bits, path->src_bits));
}

/* Through copies of a piece of a row where it is not contiguous. Rows lie inside
 * pieces, so that the columns of a turned matrix are read while they are cached. */
static void cast_rows(const struct taper_walk *w, char *dst, const char *src,
                      size_t rows, size_t columns, bool stream)
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
                taper_copy_strided(in, (ptrdiff_t)w->src_size, s, w->column.src, n,
                                   w->src_size);
            taper_follow(w->path, to_row ? d : out, from_row ? s : in, n,
                         stream && to_row && n * w->dst_size >= STREAMED);
            if (!to_row)
                taper_copy_strided(d, w->column.dst, out, (ptrdiff_t)w->dst_size, n,
                                   w->dst_size);
        }
    }
}

/* A matrix to be turned: a line of src from each of its rows at a time, in a buffer;
 * back, it is turned after the cast. Rows of dst that are short and lie end to end are
 * joined to one. */
static void cast_turned(const struct taper_walk *w, char *dst, const char *src,
                        size_t rows, size_t columns, bool stream)
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
    struct taper_walk w = {
        .block = cast_rows,
        .dst_size = path->dst_bits / 8,
        .src_size = path->src_bits / 8,
        .kernels = taper_active(),
        .path = path,
    };
    taper_set_plane(&w, layout);
    const bool to_row = w.column.dst == (ptrdiff_t)w.dst_size;
    if (w.column.src != (ptrdiff_t)w.src_size && taper_find_turn(layout, w.src_size)) {
        if (to_row)
            w.block = cast_turned;
        taper_set_plane(&w, layout);
        taper_walk_blocks(&w, TURNED, TURNED_COLUMNS);
    } else {
        taper_walk_blocks(&w, rows_for(w.column.n * w.dst_size),
                          ROW_PIECE / w.dst_size);
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
            taper_copy_strided(p, (ptrdiff_t)size, w->other + at, column.src, n, size);
        else
            taper_copy_strided(w->other + at, column.src, p, (ptrdiff_t)size, n, size);
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
    struct taper_walk w = {
        .block = cast_turned,
        .dst_size = 1,
        .src_size = each * size,
        .kernels = taper_active(),
        .path = path,
        .back = path->src_bits < 8,
    };
    if (column->n % each != 0 || column->src == (ptrdiff_t)size ||
        !taper_find_turn(layout, size))
        return false;
    layout->dst = packed;
    for (int k = 0; k < layout->rank - 1; k++)
        layout->dim[k].dst /= (ptrdiff_t)each;
    column->n /= each;
    column->src *= (ptrdiff_t)each;
    taper_set_plane(&w, layout);
    taper_walk_blocks(&w, TURNED, TURNED_COLUMNS / each);
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
