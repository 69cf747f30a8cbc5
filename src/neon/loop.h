/* loop.h - the loop of every cast kernel of this folder. */
#ifndef TAPER_NEON_LOOP_H
#define TAPER_NEON_LOOP_H

#include <string.h>

#include "../kernels.h"

enum { BLOCK = 32 }; /* elements: 16 bytes of the narrowest type, 256 of the widest */

/* Converts BLOCK elements, all of which it reads before it writes what covers them.
 * `how` is the kernel's own. */
typedef void block_fn(unsigned char *dst, const unsigned char *src, const void *how);

/* `block` and the widths, in bits, are constants at every call, so all is inlined. The
 * rest, less than a block, is padded with zeros and converted by the same code. */
TAPER_INLINE void cast_loop(void *dst, size_t dst_bits, const void *src,
                            size_t src_bits, size_t n, block_fn *block, const void *how)
{
    unsigned char *out = dst;
    const unsigned char *in = src;
    for (; n >= BLOCK; n -= BLOCK) {
        block(out, in, how);
        out += BLOCK * dst_bits / 8;
        in += BLOCK * src_bits / 8;
    }
    if (n != 0) {
        unsigned char padded[BLOCK * 8], converted[BLOCK * 8];
        memset(padded, 0, BLOCK * src_bits / 8);
        memcpy(padded, in, (n * src_bits + 7) / 8);
        block(converted, padded, how);
        memcpy(out, converted, (n * dst_bits + 7) / 8);
    }
}

#endif
