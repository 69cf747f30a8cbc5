/* scalar/transpose.c - matrices turned, one element after another. */
#include "scalar.h"

enum { LINE = 64, TILE_ROWS = 64 };

/* A tile is TILE_ROWS rows of a cache line in `dst`. What it has in `src` is copied
 * first, and each line of `dst` put together before it is written: where rows are a
 * power of two apart, the cache has no room for many lines of either. */
TAPER_INLINE void turn_tile(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t size)
{
    const size_t width = LINE / size;
    char tile[TILE_ROWS * LINE], line[LINE];

    for (size_t j = 0; j < width; j++)
        memcpy(tile + j * TILE_ROWS * size, src + (ptrdiff_t)j * src_stride,
               TILE_ROWS * size);
    for (size_t i = 0; i < TILE_ROWS; i++) {
        for (size_t j = 0; j < width; j++)
            memcpy(line + j * size, tile + (j * TILE_ROWS + i) * size, size);
        memcpy(dst + (ptrdiff_t)i * dst_stride, line, LINE);
    }
}

/* What tiles leave over, in squares small enough that both sides may stay cached. */
TAPER_INLINE void turn_rest(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            size_t size)
{
    enum { SIDE = 16 };
    for (size_t top = 0; top < rows; top += SIDE)
        for (size_t left = 0; left < columns; left += SIDE)
            for (size_t i = top; i < rows && i < top + SIDE; i++)
                for (size_t j = left; j < columns && j < left + SIDE; j++)
                    memcpy(dst + (ptrdiff_t)i * dst_stride + j * size,
                           src + (ptrdiff_t)j * src_stride + i * size, size);
}

TAPER_INLINE void transpose(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            size_t size)
{
    const size_t width = LINE / size;
    const size_t whole_rows = rows / TILE_ROWS * TILE_ROWS;
    const size_t whole_columns = columns / width * width;

    for (size_t i = 0; i < whole_rows; i += TILE_ROWS)
        for (size_t j = 0; j < whole_columns; j += width)
            turn_tile(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                      src + (ptrdiff_t)j * src_stride + i * size, src_stride, size);
    turn_rest(dst + whole_columns * size, dst_stride,
              src + (ptrdiff_t)whole_columns * src_stride, src_stride, whole_rows,
              columns - whole_columns, size);
    turn_rest(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
              src + whole_rows * size, src_stride, rows - whole_rows, columns, size);
}

void taper_scalar_transpose1(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 1);
}

void taper_scalar_transpose2(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 2);
}

void taper_scalar_transpose4(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 4);
}

void taper_scalar_transpose8(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 8);
}

void taper_scalar_transpose16(void *dst, ptrdiff_t dst_stride, const void *src,
                              ptrdiff_t src_stride, size_t rows, size_t columns,
                              bool stream)
{
    (void)stream;
    turn_rest(dst, dst_stride, src, src_stride, rows, columns, 16);
}
