/* neon/transpose.c - matrices turned in blocks that registers hold. */
#include "../scalar/scalar.h"
#include "intrin.h"
#include "neon.h"

enum { VECTOR = 16, LINE = 64, TILE_ROWS = 64 };

TAPER_INLINE uint8x16_t trn1(uint8x16_t a, uint8x16_t b, size_t size)
{
    const uint16x8_t a2 = vreinterpretq_u16_u8(a), b2 = vreinterpretq_u16_u8(b);
    const uint32x4_t a4 = vreinterpretq_u32_u8(a), b4 = vreinterpretq_u32_u8(b);
    const uint64x2_t a8 = vreinterpretq_u64_u8(a), b8 = vreinterpretq_u64_u8(b);
    return size == 1   ? vtrn1q_u8(a, b)
           : size == 2 ? vreinterpretq_u8_u16(vtrn1q_u16(a2, b2))
           : size == 4 ? vreinterpretq_u8_u32(vtrn1q_u32(a4, b4))
                       : vreinterpretq_u8_u64(vtrn1q_u64(a8, b8));
}

TAPER_INLINE uint8x16_t trn2(uint8x16_t a, uint8x16_t b, size_t size)
{
    const uint16x8_t a2 = vreinterpretq_u16_u8(a), b2 = vreinterpretq_u16_u8(b);
    const uint32x4_t a4 = vreinterpretq_u32_u8(a), b4 = vreinterpretq_u32_u8(b);
    const uint64x2_t a8 = vreinterpretq_u64_u8(a), b8 = vreinterpretq_u64_u8(b);
    return size == 1   ? vtrn2q_u8(a, b)
           : size == 2 ? vreinterpretq_u8_u16(vtrn2q_u16(a2, b2))
           : size == 4 ? vreinterpretq_u8_u32(vtrn2q_u32(a4, b4))
                       : vreinterpretq_u8_u64(vtrn2q_u64(a8, b8));
}

/* Swaps one bit of the row number with the same bit of the column number, and moves it
 * to the top, so that the next bit is the lowest. */
TAPER_INLINE void swap_bit(uint8x16_t *row, size_t side, size_t size, size_t bit)
{
    uint8x16_t next[VECTOR];
    TAPER_UNROLL
    for (size_t i = 0; i < side / 2; i++) {
        next[i] = trn1(row[2 * i], row[2 * i + 1], size * bit);
        next[i + side / 2] = trn2(row[2 * i], row[2 * i + 1], size * bit);
    }
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++)
        row[i] = next[i];
}

/* Turns the square that `side` vectors hold. ZIP would do as well, but takes three
 * times as long as TRN on Cortex-A57. */
TAPER_INLINE void turn_square(uint8x16_t *row, size_t side, size_t size)
{
    swap_bit(row, side, size, 1);
    if (side > 2)
        swap_bit(row, side, size, 2);
    if (side > 4)
        swap_bit(row, side, size, 4);
    if (side > 8)
        swap_bit(row, side, size, 8);
}

/* A block is a vector of elements high in `dst`, and as wide; of 8 bytes it is two,
 * which are stored as a pair. It comes from as many rows of `src` as it is wide. */
TAPER_INLINE size_t block_width(size_t size)
{
    return (size < 8 ? VECTOR : 2 * VECTOR) / size;
}

TAPER_INLINE void turn_block(unsigned char *dst, ptrdiff_t dst_stride,
                             const unsigned char *src, ptrdiff_t src_stride,
                             size_t size)
{
    const size_t side = VECTOR / size, width = block_width(size);
    uint8x16_t row[VECTOR];

    TAPER_UNROLL
    for (size_t j = 0; j < width; j++)
        row[j] = vld1q_u8(src + (ptrdiff_t)j * src_stride);
    TAPER_UNROLL
    for (size_t j = 0; j < width; j += side)
        turn_square(row + j, side, size);
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++)
        TAPER_UNROLL
    for (size_t j = 0; j < width; j += side)
        vst1q_u8(dst + (ptrdiff_t)i * dst_stride + j * size, row[j + i]);
}

/* What tiles leave over, in blocks; `rest` turns what is left at the edges of those. */
TAPER_INLINE void turn_blocks(unsigned char *dst, ptrdiff_t dst_stride,
                              const unsigned char *src, ptrdiff_t src_stride,
                              size_t rows, size_t columns, size_t size,
                              taper_transpose_fn *rest)
{
    const size_t height = VECTOR / size, width = block_width(size);
    const size_t whole_rows = rows / height * height;
    const size_t whole_columns = columns / width * width;

    for (size_t j = 0; j < whole_columns; j += width)
        for (size_t i = 0; i < whole_rows; i += height)
            turn_block(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                       src + (ptrdiff_t)j * src_stride + i * size, src_stride, size);
    if (whole_columns != columns)
        rest(dst + whole_columns * size, dst_stride,
             src + (ptrdiff_t)whole_columns * src_stride, src_stride, whole_rows,
             columns - whole_columns, false);
    if (whole_rows != rows)
        rest(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
             src + whole_rows * size, src_stride, rows - whole_rows, columns, false);
}

/* Into the L2 cache: where rows are a power of two apart, the L1 cache would lose it
 * before it is read. It may lie past the array, where prefetching does no harm but a
 * pointer must not go. */
TAPER_INLINE void prefetch(const unsigned char *src, ptrdiff_t bytes)
{
    __builtin_prefetch((const void *)((uintptr_t)src + (uintptr_t)bytes), 0, 2);
}

/* A tile is TILE_ROWS rows of a cache line in `dst`. Blocks go along the rows of `src`,
 * so that few lines of it are in use at a time, and build the tile in a buffer, so that
 * each line of `dst` is written at once: caches of four ways have no room for many
 * lines that are a power of two apart. */
TAPER_INLINE void turn_tile(unsigned char *dst, ptrdiff_t dst_stride,
                            const unsigned char *src, ptrdiff_t src_stride, size_t size)
{
    const size_t width = LINE / size;
    _Alignas(LINE) unsigned char tile[TILE_ROWS * LINE];

    for (size_t j = 0; j < width; j += block_width(size))
        for (size_t i = 0; i < TILE_ROWS; i += VECTOR / size) {
            const unsigned char *const s = src + (ptrdiff_t)j * src_stride + i * size;
            if (i * size % LINE == 0) /* a line of each row of the next tile */
                for (size_t k = 0; k < block_width(size); k++)
                    prefetch(s, (ptrdiff_t)(width + k) * src_stride);
            turn_block(tile + i * LINE + j * size, LINE, s, src_stride, size);
        }
    for (size_t i = 0; i < TILE_ROWS; i++)
        memcpy(dst + (ptrdiff_t)i * dst_stride, tile + i * LINE, LINE);
}

TAPER_INLINE void transpose(unsigned char *dst, ptrdiff_t dst_stride,
                            const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                            size_t columns, size_t size, taper_transpose_fn *rest)
{
    const size_t width = LINE / size;
    const size_t whole_rows = rows / TILE_ROWS * TILE_ROWS;
    const size_t whole_columns = columns / width * width;

    for (size_t i = 0; i < whole_rows; i += TILE_ROWS)
        for (size_t j = 0; j < whole_columns; j += width)
            turn_tile(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                      src + (ptrdiff_t)j * src_stride + i * size, src_stride, size);
    turn_blocks(dst + whole_columns * size, dst_stride,
                src + (ptrdiff_t)whole_columns * src_stride, src_stride, whole_rows,
                columns - whole_columns, size, rest);
    turn_blocks(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
                src + whole_rows * size, src_stride, rows - whole_rows, columns, size,
                rest);
}

void taper_neon_transpose1(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 1,
              taper_scalar_transpose1);
}

void taper_neon_transpose2(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 2,
              taper_scalar_transpose2);
}

void taper_neon_transpose4(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 4,
              taper_scalar_transpose4);
}

void taper_neon_transpose8(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    (void)stream;
    transpose(dst, dst_stride, src, src_stride, rows, columns, 8,
              taper_scalar_transpose8);
}
