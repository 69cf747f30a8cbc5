/* scalar/transpose.c - matrices turned, one element at a time. */
#include "scalar.h"

TAPER_INLINE void transpose(char *dst, ptrdiff_t dst_stride, const char *src,
                            ptrdiff_t src_stride, size_t rows, size_t columns,
                            size_t size)
{
    for (size_t i = 0; i < rows; i++) {
        char *const d = dst + (ptrdiff_t)i * dst_stride;
        for (size_t j = 0; j < columns; j++)
            memcpy(d + j * size, src + (ptrdiff_t)j * src_stride + i * size, size);
    }
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
