/* blocks.h - a plane, which is the last two dimensions of a layout, as a matrix that is
 * cut into blocks; those of all planes are dealt to threads. The last dimension are
 * columns, the one before it rows. */
#ifndef TAPER_BLOCKS_H
#define TAPER_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "cast.h"
#include "kernels.h"
#include "layout.h"
#include "parallel.h"

struct taper_walk;

/* Does `rows` by `columns` elements, from `src` to `dst`, or if w->back from `dst` to
 * `src`. Columns of a packed type are its bytes. */
typedef void taper_block_fn(const struct taper_walk *w, char *dst, const char *src,
                            size_t rows, size_t columns, bool stream);

struct taper_walk {
    struct taper_work work;
    taper_block_fn *block;
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

/* Sets the plane of `w` from the last two dimensions of `layout`. */
void taper_set_plane(struct taper_walk *w, const struct taper_layout *layout);

/* Walks in blocks of `rows` by `columns`, w->block and what it needs being set. */
void taper_walk_blocks(struct taper_walk *w, size_t rows, size_t columns);

/* If another dimension than the last is contiguous in src, moves it before the last:
 * the plane is then a matrix to be turned. */
bool taper_find_turn(struct taper_layout *layout, size_t src_size);

/* Copies `n` elements of `size` bytes, a power of two up to 16, from one stride to
 * another. */
void taper_copy_strided(char *dst, ptrdiff_t dst_stride, const char *src,
                        ptrdiff_t src_stride, size_t n, size_t size);

enum {
    BLOCK_BYTES = 16 << 10, /* of a block of short rows */
    ROW_PIECE = 1 << 20,    /* bytes of a piece of a long row */
    TURNED = 64,            /* rows of a block of a matrix to be turned */
    TURNED_COLUMNS = 1024,
    STREAMED = 4 << 10, /* bytes that are worth streaming stores */
    STAGE = 8 << 10,    /* bytes put together before they are streamed, at most */
    LINE = 64,
};

TAPER_INLINE size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows of a block, so that it is worth dealing out. */
TAPER_INLINE size_t rows_for(size_t row_bytes)
{
    return row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1;
}

/* Rows that lie end to end in dst are one array, which streaming stores fill line by
 * line wherever it begins, and however short its rows are. */
TAPER_INLINE bool end_to_end(const struct taper_walk *w, size_t rows, size_t columns)
{
    return rows == 1 ||
           (columns == w->column.n && w->row.dst == (ptrdiff_t)(columns * w->dst_size));
}

TAPER_INLINE size_t log2_of(size_t size)
{
    size_t k = 0;
    while (size >> k > 1)
        k++;
    return k;
}

#endif
