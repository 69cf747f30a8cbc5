/* blocks.c - see blocks.h. */
#include "blocks.h"

#include <string.h>

/* Steps to the next plane. */
static void next_plane(const struct taper_walk *w, size_t *index, char **dst,
                       const char **src)
{
    const struct taper_dim *const dim = w->layout->dim;
    for (int k = w->outer - 1; k >= 0; k--) {
        if (++index[k] < dim[k].n) {
            *dst += dim[k].dst;
            *src += dim[k].src;
            return;
        }
        index[k] = 0;
        *dst -= (ptrdiff_t)(dim[k].n - 1) * dim[k].dst;
        *src -= (ptrdiff_t)(dim[k].n - 1) * dim[k].src;
    }
}

static void do_block(const struct taper_walk *w, char *dst, const char *src,
                     size_t block, bool stream)
{
    const size_t i = block / w->column_blocks * w->rows;
    const size_t j = block % w->column_blocks * w->columns;
    dst += (ptrdiff_t)i * w->row.dst + (ptrdiff_t)j * w->column.dst;
    src += (ptrdiff_t)i * w->row.src + (ptrdiff_t)j * w->column.src;
    w->block(w, dst, src, least(w->rows, w->row.n - i),
             least(w->columns, w->column.n - j), stream);
}

static void do_blocks(const struct taper_work *work, size_t begin, size_t end,
                      bool stream)
{
    const struct taper_walk *const w = (const struct taper_walk *)work;
    const struct taper_dim *const dim = w->layout->dim;
    const size_t blocks = w->row_blocks * w->column_blocks;
    char *dst = w->layout->dst;
    const char *src = w->layout->src;
    size_t index[TAPER_MAX_DIMS];

    size_t block = begin % blocks, plane = begin / blocks;
    for (int k = w->outer - 1; k >= 0; k--) {
        index[k] = plane % dim[k].n;
        plane /= dim[k].n;
        dst += (ptrdiff_t)index[k] * dim[k].dst;
        src += (ptrdiff_t)index[k] * dim[k].src;
    }
    for (size_t i = begin; i < end; i++) {
        do_block(w, dst, src, block, stream);
        if (++block == blocks) {
            block = 0;
            next_plane(w, index, &dst, &src);
        }
    }
}

void taper_set_plane(struct taper_walk *w, const struct taper_layout *layout)
{
    const struct taper_dim one = {1, 0, 0};
    const int rank = layout->rank;
    w->layout = layout;
    w->column = layout->dim[rank - 1];
    w->row = rank > 1 ? layout->dim[rank - 2] : one;
    w->outer = rank > 2 ? rank - 2 : 0;
}

void taper_walk_blocks(struct taper_walk *w, size_t rows, size_t columns)
{
    size_t planes = 1, read = w->row.src != 0 ? w->row.n : 1;

    read *= w->column.src != 0 ? w->column.n : 1;
    for (int k = 0; k < w->outer; k++) {
        planes *= w->layout->dim[k].n;
        read *= w->layout->dim[k].src != 0 ? w->layout->dim[k].n : 1;
    }
    read = read > 1 ? read * w->src_size : 0; /* one element over and over: a fill */
    const size_t written = planes * w->row.n * w->column.n * w->dst_size;
    w->rows = least(rows, w->row.n);
    w->columns = least(columns, w->column.n);
    w->row_blocks = (w->row.n - 1) / w->rows + 1;
    w->column_blocks = (w->column.n - 1) / w->columns + 1;
    w->work = (struct taper_work){
        .run = do_blocks,
        .n = planes * w->row_blocks * w->column_blocks,
        .grain = 1,
        .read = w->back ? written : read,
        .written = w->back ? read : written,
    };
    taper_run(&w->work);
}

bool taper_find_turn(struct taper_layout *layout, size_t src_size)
{
    enum { LEAST = 4 }; /* with fewer rows, strided columns are as good */
    const int last = layout->rank - 1;
    for (int p = last - 1; p >= 0; p--) {
        const struct taper_dim d = layout->dim[p];
        if (d.src != (ptrdiff_t)src_size || d.n < LEAST)
            continue;
        for (int k = p; k < last - 1; k++)
            layout->dim[k] = layout->dim[k + 1];
        layout->dim[last - 1] = d;
        return true;
    }
    return false;
}

/* Sizes and strides that are constants make loops that the compiler can unroll or turn
 * into vectors; the strides are those of a step of 2 and of a reversed dimension. */
TAPER_INLINE void strided_loop(char *dst, ptrdiff_t dst_stride, const char *src,
                               ptrdiff_t src_stride, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(dst + (ptrdiff_t)i * dst_stride, src + (ptrdiff_t)i * src_stride, size);
}

TAPER_INLINE void strided_of(char *dst, ptrdiff_t dst_stride, const char *src,
                             ptrdiff_t src_stride, size_t n, size_t size)
{
    const ptrdiff_t one = (ptrdiff_t)size;
    if (dst_stride == one && src_stride == 2 * one)
        strided_loop(dst, one, src, 2 * one, n, size);
    else if (dst_stride == one && src_stride == -one)
        strided_loop(dst, one, src, -one, n, size);
    else if (dst_stride == one)
        strided_loop(dst, one, src, src_stride, n, size);
    else if (src_stride == one)
        strided_loop(dst, dst_stride, src, one, n, size);
    else
        strided_loop(dst, dst_stride, src, src_stride, n, size);
}

void taper_copy_strided(char *dst, ptrdiff_t dst_stride, const char *src,
                        ptrdiff_t src_stride, size_t n, size_t size)
{
    switch (size) {
    case 1:
        strided_of(dst, dst_stride, src, src_stride, n, 1);
        break;
    case 2:
        strided_of(dst, dst_stride, src, src_stride, n, 2);
        break;
    case 4:
        strided_of(dst, dst_stride, src, src_stride, n, 4);
        break;
    case 8:
        strided_of(dst, dst_stride, src, src_stride, n, 8);
        break;
    default:
        strided_of(dst, dst_stride, src, src_stride, n, 16);
    }
}
