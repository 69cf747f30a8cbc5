/* walk_copy.c - copies between two layouts: see walk.h. */
#include <stdint.h>
#include <string.h>

#include "blocks.h"
#include "dispatch.h"
#include "walk.h"

static void copy_rows(const struct taper_walk *w, char *dst, const char *src,
                      size_t rows, size_t columns, bool stream)
{
    const size_t bytes = columns * w->dst_size;
    for (size_t i = 0; i < rows; i++)
        w->kernels->copy(dst + (ptrdiff_t)i * w->row.dst,
                         src + (ptrdiff_t)i * w->row.src, bytes,
                         stream && bytes >= STREAMED);
}

/* Rows that are one element over and over. */
static void fill_rows(const struct taper_walk *w, char *dst, const char *src,
                      size_t rows, size_t columns, bool stream)
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

/* Does rows that lie end to end, each no longer than `piece` bytes, in a buffer,
 * `piece` bytes at a time, which it streams from there. */
static void stage(const struct taper_walk *w, char *dst, const char *src, size_t rows,
                  size_t columns, size_t piece, taper_block_fn *block)
{
    const size_t row_bytes = columns * w->dst_size;
    _Alignas(LINE) char buffer[STAGE];

    for (size_t i = 0, n; i < rows; i += n) {
        n = least(piece / row_bytes, rows - i);
        block(w, buffer, src + (ptrdiff_t)i * w->row.src, n, columns, false);
        w->kernels->copy(dst + i * row_bytes, buffer, n * row_bytes, true);
    }
}

static void turn_block(const struct taper_walk *w, char *dst, const char *src,
                       size_t rows, size_t columns, bool stream)
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

/* Bytes of a piece of a row that is not contiguous: so few that rows share what they
 * read, and no more than are put together before they are streamed. */
enum { STRIDED = STREAMED };

static void strided_rows(const struct taper_walk *w, char *dst, const char *src,
                         size_t rows, size_t columns, bool stream)
{
    const size_t row_bytes = columns * w->dst_size;
    if (stream && w->column.dst == (ptrdiff_t)w->dst_size &&
        rows * row_bytes >= STREAMED && end_to_end(w, rows, columns)) {
        stage(w, dst, src, rows, columns, STREAMED, strided_rows);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        taper_copy_strided(dst + (ptrdiff_t)i * w->row.dst, w->column.dst,
                           src + (ptrdiff_t)i * w->row.src, w->column.src, columns,
                           w->dst_size);
}

void taper_walk_copy(struct taper_layout *layout, size_t size)
{
    struct taper_walk w = {
        .dst_size = size, .src_size = size, .kernels = taper_active()};

    taper_set_plane(&w, layout);
    const bool to_row = w.column.dst == (ptrdiff_t)size;
    const bool from_row = w.column.src == (ptrdiff_t)size;
    if (to_row && (from_row || w.column.src == 0)) {
        w.block = from_row ? copy_rows : fill_rows;
        taper_walk_blocks(&w, rows_for(w.column.n * size), ROW_PIECE / size);
    } else if (to_row && taper_find_turn(layout, size)) {
        w.block = turn_block;
        taper_set_plane(&w, layout);
        taper_walk_blocks(&w, TURNED, TURNED_COLUMNS);
    } else {
        w.block = strided_rows;
        taper_walk_blocks(&w, rows_for(least(w.column.n * size, STRIDED)),
                          STRIDED / size);
    }
}
