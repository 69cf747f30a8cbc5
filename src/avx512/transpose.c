/* avx512/transpose.c - matrices turned in tiles of 64 bytes by 64 bytes of elements. */
#include <immintrin.h>

#include "../scalar/scalar.h"
#include "../x86_loop.h"
#include "avx512.h"

/* A tile is a cache line of elements wide, and as high. Bands of 64 rows are turned
 * from left to right, whatever the size of an element: each line of src is then read
 * while the page of memory that it lies in is open. */
enum { BAND = 64 };

TAPER_INLINE __m512i interleave_low(__m512i a, __m512i b, size_t size)
{
    return size == 1   ? _mm512_unpacklo_epi8(a, b)
           : size == 2 ? _mm512_unpacklo_epi16(a, b)
           : size == 4 ? _mm512_unpacklo_epi32(a, b)
                       : _mm512_unpacklo_epi64(a, b);
}

TAPER_INLINE __m512i interleave_high(__m512i a, __m512i b, size_t size)
{
    return size == 1   ? _mm512_unpackhi_epi8(a, b)
           : size == 2 ? _mm512_unpackhi_epi16(a, b)
           : size == 4 ? _mm512_unpackhi_epi32(a, b)
                       : _mm512_unpackhi_epi64(a, b);
}

/* Turns the squares of 16 bytes that `side` registers hold, side by side. Interleaving
 * row i with row i + half, again and again, turns a square of 2^k rows in k rounds:
 * each round moves one bit of the row number into the column number. */
TAPER_INLINE void turn_squares(__m512i *row, size_t side, size_t size)
{
    __m512i next[16];
    TAPER_UNROLL
    for (size_t round = 1; round < side; round *= 2) {
        TAPER_UNROLL
        for (size_t i = 0; i < side / 2; i++) {
            next[2 * i] = interleave_low(row[i], row[i + side / 2], size);
            next[2 * i + 1] = interleave_high(row[i], row[i + side / 2], size);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < side; i++)
            row[i] = next[i];
    }
}

/* Turns a square of 16-byte lanes: four registers of four. */
TAPER_INLINE void turn_lanes(__m512i out[4], __m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i ab = _mm512_shuffle_i32x4(a, b, 0x44); /* lanes 0 and 1 of each */
    const __m512i ab2 = _mm512_shuffle_i32x4(a, b, 0xee);
    const __m512i cd = _mm512_shuffle_i32x4(c, d, 0x44);
    const __m512i cd2 = _mm512_shuffle_i32x4(c, d, 0xee);
    out[0] = _mm512_shuffle_i32x4(ab, cd, 0x88); /* lanes 0 and 2 of each */
    out[1] = _mm512_shuffle_i32x4(ab, cd, 0xdd);
    out[2] = _mm512_shuffle_i32x4(ab2, cd2, 0x88);
    out[3] = _mm512_shuffle_i32x4(ab2, cd2, 0xdd);
}

/* Turns a tile. Elements of 1 and 2 bytes take more registers than there are: half-way,
 * their lines lie in the stack frame. */
TAPER_INLINE void turn_tile(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t size, bool stream)
{
    const size_t side = 16 / size;
    __m512i line[4 * 16];

    /* So that the compiler does not keep the addresses of all rows from tile to tile.
     */
    __asm__("" : "+r"(dst_stride), "+r"(src_stride));
    for (size_t j = 0; j < 4; j++) {
        __m512i row[16];
        TAPER_UNROLL
        for (size_t k = 0; k < side; k++)
            row[k] = _mm512_loadu_si512(src + (ptrdiff_t)(j * side + k) * src_stride);
        turn_squares(row, side, size);
        TAPER_UNROLL
        for (size_t k = 0; k < side; k++)
            line[j * side + k] = row[k];
    }
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++) {
        __m512i out[4];
        turn_lanes(out, line[i], line[side + i], line[2 * side + i],
                   line[3 * side + i]);
        TAPER_UNROLL
        for (size_t k = 0; k < 4; k++) {
            char *const d = dst + (ptrdiff_t)(k * side + i) * dst_stride;
            if (stream)
                _mm512_stream_si512((void *)d, out[k]);
            else
                _mm512_storeu_si512(d, out[k]);
        }
    }
}

/* Whole tiles. */
TAPER_INLINE void turn_tiles(char *dst, ptrdiff_t dst_stride, const char *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             size_t size, bool stream)
{
    const size_t width = LINE / size;
    for (size_t top = 0; top < rows; top += BAND)
        for (size_t j = 0; j < columns; j += width)
            for (size_t i = top; i < rows && i < top + BAND; i += width)
                turn_tile(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                          src + (ptrdiff_t)j * src_stride + i * size, src_stride, size,
                          stream);
}

/* The edges are left to `rest`. */
TAPER_INLINE void transpose(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            size_t size, bool stream, taper_transpose_fn *rest)
{
    const size_t width = LINE / size, whole_rows = rows / width * width;
    size_t left = 0; /* columns before a line begins */

    stream = stream && (uintptr_t)dst % size == 0 && (uintptr_t)dst_stride % LINE == 0;
    if (stream)
        left = -(uintptr_t)dst % LINE / size;
    if (left > columns)
        left = columns;
    const size_t whole_columns = (columns - left) / width * width;
    const size_t right = left + whole_columns;

    char *const d = dst + left * size;
    const char *const s = src + (ptrdiff_t)left * src_stride;
    if (stream)
        turn_tiles(d, dst_stride, s, src_stride, whole_rows, whole_columns, size, true);
    else
        turn_tiles(d, dst_stride, s, src_stride, whole_rows, whole_columns, size,
                   false);
    if (left != 0)
        rest(dst, dst_stride, src, src_stride, whole_rows, left, false);
    if (right != columns)
        rest(dst + right * size, dst_stride, src + (ptrdiff_t)right * src_stride,
             src_stride, whole_rows, columns - right, false);
    if (whole_rows != rows)
        rest(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
             src + whole_rows * size, src_stride, rows - whole_rows, columns, false);
}

void taper_avx512_transpose1(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 1, stream,
              taper_avx2_transpose1);
}

void taper_avx512_transpose2(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 2, stream,
              taper_avx2_transpose2);
}

void taper_avx512_transpose4(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 4, stream,
              taper_avx2_transpose4);
}

void taper_avx512_transpose8(void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t rows, size_t columns,
                             bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 8, stream,
              taper_avx2_transpose8);
}

void taper_avx512_transpose16(void *dst, ptrdiff_t dst_stride, const void *src,
                              ptrdiff_t src_stride, size_t rows, size_t columns,
                              bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 16, stream,
              taper_scalar_transpose16);
}
