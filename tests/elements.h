/* elements.h - arrays of elements, in native words or packed, and the types and options
 * of casts: what the tests share with programs that have no test framework. */
#ifndef TAPER_TESTS_ELEMENTS_H
#define TAPER_TESTS_ELEMENTS_H

#include <stdbool.h>

#include "oracle.h"

size_t array_bytes(unsigned bits, size_t n);
uint64_t get_element(const void *array, unsigned bits, size_t i);
void set_element(void *array, unsigned bits, size_t i, uint64_t element);

/* The float types of casts: f32, f64, and then those that taper_narrow() makes. */
extern const taper_dtype cast_types[];
enum { CAST_TYPES = 10, FIRST_NARROW_TYPE = 2 };

/* Steps through the options that matter for `to`, from all zero on; false after the
 * last. */
bool next_options(taper_dtype to, taper_cast_options *options);

/* The same numbers on every machine. */
uint64_t next_random(uint64_t *seed);

#endif
