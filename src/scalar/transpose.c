/* scalar/transpose.c - matrices turned, one element after another. */
#include "scalar.h"

/* In tiles, so that the lines of both sides are used up while they are in the cache. */
TAPER_INLINE void transpose(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            size_t size)
{
    enum { TILE = 16 };
    for (size_t top = 0; top < rows; top += TILE)
        for (size_t left = 0; left < columns; left += TILE)
            for (size_t i = top; i < rows && i < top + TILE; i++)
                for (size_t j = left; j < columns && j < left + TILE; j++)
                    memcpy(dst + (ptrdiff_t)i * dst_stride + j * size,
                           src + (ptrdiff_t)j * src_stride + i * size, size);
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
    transpose(dst, dst_stride, src, src_stride, rows, columns, 16);
}
