/* avx2/transpose.c - matrices turned in square blocks that registers hold. */
#include "../scalar/scalar.h"
#include "../x86_loop.h"
#include "avx2.h"
#include "intrin.h"

/* Turns one block; the sides are constants of each function. */
typedef void block_fn(char *dst, ptrdiff_t dst_stride, const char *src,
                      ptrdiff_t src_stride);

enum { TILE = 64 * LINE };

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
                            ptrdiff_t src_stride, bool stream, size_t size, size_t side,
                            block_fn *block)
{
    const size_t width = LINE / size, src_bytes = 64 * size;
    _Alignas(LINE) char in[TILE], out[TILE];

    for (size_t j = 0; j < width; j++)
        for (size_t at = 0; at < src_bytes; at += LINE) {
            const char *const s = src + (ptrdiff_t)j * src_stride + at;
            copy_line(in + j * src_bytes + at, s, false);
            _mm_prefetch(ahead(s, (ptrdiff_t)width * src_stride), _MM_HINT_T0);
        }
    for (size_t i = 0; i < 64; i += side)
        for (size_t j = 0; j < width; j += side)
            block(out + i * LINE + j * size, LINE, in + j * src_bytes + i * size,
                  (ptrdiff_t)src_bytes);
    for (size_t i = 0; i < 64; i++)
        copy_line(dst + (ptrdiff_t)i * dst_stride, out + i * LINE, stream);
}

/* What tiles leave over, in blocks; `rest` turns what is left at the edges of those. */
TAPER_INLINE void turn_blocks(char *dst, ptrdiff_t dst_stride, const char *src,
                              ptrdiff_t src_stride, size_t rows, size_t columns,
                              size_t size, size_t side, block_fn *block,
                              taper_transpose_fn *rest)
{
    const size_t whole_rows = rows / side * side, whole_columns = columns / side * side;

    for (size_t j = 0; j < whole_columns; j += side)
        for (size_t i = 0; i < whole_rows; i += side)
            block(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                  src + (ptrdiff_t)j * src_stride + i * size, src_stride);
    if (whole_columns != columns)
        rest(dst + whole_columns * size, dst_stride,
             src + (ptrdiff_t)whole_columns * src_stride, src_stride, whole_rows,
             columns - whole_columns, false);
    if (whole_rows != rows)
        rest(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
             src + whole_rows * size, src_stride, rows - whole_rows, columns, false);
}

TAPER_INLINE void transpose(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            bool stream, size_t size, size_t side, block_fn *block,
                            taper_transpose_fn *rest)
{
    const size_t width = LINE / size;
    const size_t whole_rows = rows / 64 * 64, whole_columns = columns / width * width;

    stream = stream && ((uintptr_t)dst | (uintptr_t)dst_stride) % 32 == 0;
    for (size_t i = 0; i < whole_rows; i += 64)
        for (size_t j = 0; j < whole_columns; j += width)
            turn_tile(dst + (ptrdiff_t)i * dst_stride + j * size, dst_stride,
                      src + (ptrdiff_t)j * src_stride + i * size, src_stride, stream,
                      size, side, block);
    if (stream)
        _mm_sfence();
    turn_blocks(dst + whole_columns * size, dst_stride,
                src + (ptrdiff_t)whole_columns * src_stride, src_stride, whole_rows,
                columns - whole_columns, size, side, block, rest);
    turn_blocks(dst + (ptrdiff_t)whole_rows * dst_stride, dst_stride,
                src + whole_rows * size, src_stride, rows - whole_rows, columns, size,
                side, block, rest);
}

TAPER_INLINE __m128i load(const char *src, ptrdiff_t stride, int row)
{
    return _mm_loadu_si128((const void *)(src + row * stride));
}

TAPER_INLINE void store(char *dst, ptrdiff_t stride, int row, __m128i v)
{
    _mm_storeu_si128((void *)(dst + row * stride), v);
}

/* Interleaving row i with row i + half, again and again, turns a square of 2^k rows in
 * k rounds: each round moves one bit of the row number into the column number. */

TAPER_INLINE void block1(char *dst, ptrdiff_t dst_stride, const char *src,
                         ptrdiff_t src_stride)
{
    __m128i a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = load(src, src_stride, i);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
        for (int i = 0; i < 8; i++) {
            a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
            a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
        }
    }
    for (int i = 0; i < 16; i++)
        store(dst, dst_stride, i, a[i]);
}

TAPER_INLINE void block2(char *dst, ptrdiff_t dst_stride, const char *src,
                         ptrdiff_t src_stride)
{
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = load(src, src_stride, i);
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
        a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        store(dst, dst_stride, 2 * i, _mm_unpacklo_epi16(a[i], a[i + 4]));
        store(dst, dst_stride, 2 * i + 1, _mm_unpackhi_epi16(a[i], a[i + 4]));
    }
}

/* The low halves of two rows, and then their high halves, as if of 16 bytes each: rows
 * i and i + 4 of a block of 8 by 8, of which the left or right four columns are taken.
 */
TAPER_INLINE __m256i halves(const char *src, ptrdiff_t stride, int row, int apart)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load(src, stride, row)),
                                   load(src, stride, row + apart), 1);
}

TAPER_INLINE void store256(char *dst, ptrdiff_t stride, int row, __m256i v)
{
    _mm256_storeu_si256((void *)(dst + row * stride), v);
}

/* Four columns of eight rows to four rows of eight columns. */
TAPER_INLINE void half_block4(char *dst, ptrdiff_t dst_stride, const char *src,
                              ptrdiff_t src_stride)
{
    const __m256i a = halves(src, src_stride, 0, 4), b = halves(src, src_stride, 1, 4);
    const __m256i c = halves(src, src_stride, 2, 4), d = halves(src, src_stride, 3, 4);
    const __m256i ac = _mm256_unpacklo_epi32(a, c), ac2 = _mm256_unpackhi_epi32(a, c);
    const __m256i bd = _mm256_unpacklo_epi32(b, d), bd2 = _mm256_unpackhi_epi32(b, d);
    store256(dst, dst_stride, 0, _mm256_unpacklo_epi32(ac, bd));
    store256(dst, dst_stride, 1, _mm256_unpackhi_epi32(ac, bd));
    store256(dst, dst_stride, 2, _mm256_unpacklo_epi32(ac2, bd2));
    store256(dst, dst_stride, 3, _mm256_unpackhi_epi32(ac2, bd2));
}

TAPER_INLINE void block4(char *dst, ptrdiff_t dst_stride, const char *src,
                         ptrdiff_t src_stride)
{
    half_block4(dst, dst_stride, src, src_stride);
    half_block4(dst + 4 * dst_stride, dst_stride, src + 16, src_stride);
}

/* Two columns of four rows to two rows of four columns. */
TAPER_INLINE void half_block8(char *dst, ptrdiff_t dst_stride, const char *src,
                              ptrdiff_t src_stride)
{
    const __m256i a = halves(src, src_stride, 0, 2), b = halves(src, src_stride, 1, 2);
    store256(dst, dst_stride, 0, _mm256_unpacklo_epi64(a, b));
    store256(dst, dst_stride, 1, _mm256_unpackhi_epi64(a, b));
}

TAPER_INLINE void block8(char *dst, ptrdiff_t dst_stride, const char *src,
                         ptrdiff_t src_stride)
{
    half_block8(dst, dst_stride, src, src_stride);
    half_block8(dst + 2 * dst_stride, dst_stride, src + 16, src_stride);
}

void taper_avx2_transpose1(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, stream, 1, 16, block1,
              taper_scalar_transpose1);
}

void taper_avx2_transpose2(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, stream, 2, 8, block2,
              taper_scalar_transpose2);
}

void taper_avx2_transpose4(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, stream, 4, 8, block4,
              taper_scalar_transpose4);
}

void taper_avx2_transpose8(void *dst, ptrdiff_t dst_stride, const void *src,
                           ptrdiff_t src_stride, size_t rows, size_t columns,
                           bool stream)
{
    transpose(dst, dst_stride, src, src_stride, rows, columns, stream, 8, 4, block8,
              taper_scalar_transpose8);
}
