/* checks.h - the checks of taper_tensor_copy() apart from the copy, for those that have
 * several tensors to check before they write the first. */
#ifndef TAPER_CHECKS_H
#define TAPER_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "taper/tensor.h"

/* All that can be told of `t` without looking at data and strides; sets *count to the
 * number of its elements and *bytes to their storage. */
taper_status taper_check_tensor(const taper_tensor *t, size_t *count, size_t *bytes);

bool taper_same_shape(const taper_tensor *a, const taper_tensor *b);

/* All checks of taper_tensor_copy(); sets *count to the number of elements. */
taper_status taper_check_copy(const taper_tensor *dst, const taper_tensor *src,
                              size_t *count);

/* What is left of taper_tensor_copy() after these checks if `count` is not 0. */
taper_status taper_copy_checked(const taper_tensor *dst, const taper_tensor *src,
                                size_t count);

#endif
