/* walk.h - copies and casts between two layouts, in an order that suits the caches, on
 * as many threads as they are worth. */
#ifndef TAPER_WALK_H
#define TAPER_WALK_H

#include "cast.h"
#include "layout.h"

/* Copies elements of `size` bytes. If all src strides are 0 it is a fill. May reorder
 * the dimensions of `layout`. */
void taper_walk_copy(struct taper_layout *layout, size_t size);

/* Casts elements; neither type is packed. May reorder the dimensions of `layout`. */
void taper_walk_cast(struct taper_layout *layout, const struct taper_path *path);

/* Casts `count` elements between an array of packed ones and another tensor: with
 * `other` as `src` of `layout`, and as `dst` the index in the packed array. Uses
 * `layout` up. */
void taper_walk_packed(struct taper_layout *layout, size_t count, char *packed,
                       char *other, const struct taper_path *path);

#endif
