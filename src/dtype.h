/* dtype.h - sizes of elements, and the checks on arrays of them. */
#ifndef TAPER_DTYPE_H
#define TAPER_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "taper/taper.h"

/* Whether `type` is the number of a taper_dtype. */
bool taper_dtype_known(taper_dtype type);

/* Bytes that `n` packed elements of `bits` bits take; false if they or `n` exceed
 * PTRDIFF_MAX. */
bool taper_array_bytes(size_t bits, size_t n, size_t *bytes);

/* Whether two arrays share a byte. */
bool taper_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);

#endif
