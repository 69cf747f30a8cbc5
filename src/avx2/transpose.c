/* avx2/transpose.c - matrices turned in square blocks that registers hold. */
#include "../scalar/scalar.h"
#include "../x86_loop.h"
#include "avx2.h"
#include "intrin.h"

enum { TILE_ROWS = 64 };

TAPER_INLINE __m256i interleave_low(__m256i a, __m256i b, size_t size)
{
    return size == 1   ? _mm256_unpacklo_epi8(a, b)
           : size == 2 ? _mm256_unpacklo_epi16(a, b)
           : size == 4 ? _mm256_unpacklo_epi32(a, b)
                       : _mm256_unpacklo_epi64(a, b);
}

TAPER_INLINE __m256i interleave_high(__m256i a, __m256i b, size_t size)
{
    return size == 1   ? _mm256_unpackhi_epi8(a, b)
           : size == 2 ? _mm256_unpackhi_epi16(a, b)
           : size == 4 ? _mm256_unpackhi_epi32(a, b)
                       : _mm256_unpackhi_epi64(a, b);
}

/* Turns the two squares of 16 bytes that `side` registers hold, side by side.
 * Interleaving row i with row i + half, again and again, turns a square of 2^k rows in
 * k rounds: each round moves one bit of the row number into the column number. */
TAPER_INLINE void turn_squares(__m256i *row, size_t side, size_t size)
{
    __m256i next[16];
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

/* Turns a block: 16 bytes of elements high in `dst`, and 32 bytes wide. */
TAPER_INLINE void turn_block(char *dst, ptrdiff_t dst_stride, const char *src,
                             ptrdiff_t src_stride, size_t size)
{
    const size_t side = 16 / size;
    __m256i row[16];

    TAPER_UNROLL
    for (size_t i = 0; i < side; i++) {
        const char *const left = src + (ptrdiff_t)i * src_stride;
        const char *const right = src + (ptrdiff_t)(i + side) * src_stride;
        row[i] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const void *)left)),
            _mm_loadu_si128((const void *)right), 1);
    }
    turn_squares(row, side, size);
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++)
        _mm256_storeu_si256((void *)(dst + (ptrdiff_t)i * dst_stride), row[i]);
}

/* Turns in blocks, and the edges that they leave over by `rest`. */
TAPER_INLINE void turn_blocks(char *dst, ptrdiff_t dst_stride, const char *src,
                              ptrdiff_t src_stride, size_t rows, size_t columns,
                              size_t size, taper_transpose_fn *rest)
{
    const size_t height = 16 / size, width = 32 / size;
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

TAPER_INLINE void copy_line(void *dst, const void *src, bool stream)
{
    __m256i *const d = dst;
    const __m256i *const s = src;
    const __m256i a = _mm256_loadu_si256(s), b = _mm256_loadu_si256(s + 1);
    if (stream) {
        _mm256_stream_si256(d, a);
        _mm256_stream_si256(d + 1, b);
    } else {
        _mm256_storeu_si256(d, a);
        _mm256_storeu_si256(d + 1, b);
    }
}

/* A tile is 64 rows of a cache line in `dst`, and as many lines in `src`. It is read
 * into one buffer and put together in another, so that each line is touched once on
 * either side: where rows are a power of two apart, the cache has no room for many of
 * them. */
TAPER_INLINE void turn_tile(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t size, bool stream)
{
    const size_t width = LINE / size, src_bytes = TILE_ROWS * size;
    _Alignas(LINE) char in[TILE_ROWS * LINE], out[TILE_ROWS * LINE];

    for (size_t j = 0; j < width; j++)
        for (size_t at = 0; at < src_bytes; at += LINE) {
            const char *const s = src + (ptrdiff_t)j * src_stride + at;
            copy_line(in + j * src_bytes + at, s, false);
            _mm_prefetch(ahead(s, (ptrdiff_t)width * src_stride), _MM_HINT_T0);
        }
    for (size_t i = 0; i < TILE_ROWS; i += 16 / size)
        for (size_t j = 0; j < width; j += 32 / size)
            turn_block(out + i * LINE + j * size, LINE, in + j * src_bytes + i * size,
                       (ptrdiff_t)src_bytes, size);
    for (size_t i = 0; i < TILE_ROWS; i++)
        copy_line(dst + (ptrdiff_t)i * dst_stride, out + i * LINE, stream);
}

TAPER_INLINE void transpose(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            size_t size, bool stream, taper_transpose_fn *rest)
{
    const size_t width = LINE / size, whole_rows = rows / TILE_ROWS * TILE_ROWS;
    size_t left = 0, right;

    stream = stream && (uintptr_t)dst % size == 0 && (uintptr_t)dst_stride % LINE == 0;
    if (stream) /* whole lines */
        left = -(uintptr_t)dst % LINE / size;
    if (left > columns)
        left = columns;
    right = left + (columns - left) / width * width;

    for (size_t i = 0; i < whole_rows; i += TILE_ROWS)
        for (size_t j = left; j < right; j += width)
            turn_tile(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                      src + (ptrdiff_t)j * src_stride + i * size, src_stride, size,
                      stream);
    turn_blocks(dst, dst_stride, src, src_stride, whole_rows, left, size, rest);
    turn_blocks(dst + right * size, dst_stride, src + (ptrdiff_t)right * src_stride,
                src_stride, whole_rows, columns - right, size, rest);
    turn_blocks(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
                src + whole_rows * size, src_stride, rows - whole_rows, columns, size,
                rest);
}

void taper_avx2_transpose1(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 1, stream,
              taper_scalar_transpose1);
}

void taper_avx2_transpose2(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 2, stream,
              taper_scalar_transpose2);
}

void taper_avx2_transpose4(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 4, stream,
              taper_scalar_transpose4);
}

void taper_avx2_transpose8(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, 8, stream,
              taper_scalar_transpose8);
}
