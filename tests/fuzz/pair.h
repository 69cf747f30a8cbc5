/* pair.h - two tensors of any layout, made of the input, and what a call with them must
 * do: for the targets of taper/tensor.h and taper/onnx.h. */
#ifndef TAPER_TESTS_PAIR_H
#define TAPER_TESTS_PAIR_H

#include "fuzz.h"

struct pair {
    enum op op;
    taper_tensor dst, src; /* shapes and strides are in memory of their own size */
    bool has_options;
    taper_cast_options options;
    struct memory *dst_memory,
        *src_memory; /* may be one; of a fill, src is its value */
};

/* More elements than this are not looked at one by one. */
enum { MOST_ELEMENTS = 20000 };

/* Memory that lasts for one input. */
void *scratch(size_t bytes);
void scratch_free(void);

/* Room for two tensors, number `place`. */
enum { PLACES = 4 };

/* Makes tensors for `op` of these types, at `place`. Of a fill, src.data is its value,
 * of type `to`, which may lie in dst. */
void take_pair(struct input *in, struct pair *p, enum op op, taper_dtype to,
               taper_dtype from, int place);

/* Makes a shape, and strides for tensors of that shape. */
void take_shape(struct input *in, taper_tensor *t);
void take_strides(struct input *in, taper_tensor *t, const int64_t *near);

/* What can be told of `t` without its data and strides, as tensor.h has it, and then
 * *n, the number of its elements. */
taper_status want_tensor(const taper_tensor *t, size_t *n);

bool same_shape(const taper_tensor *a, const taper_tensor *b);

/* The status that the call of tensor.h must have; 1 if it must not be called, for want
 * of memory or since it would take too long to tell. */
enum { NOT_CALLED = 1 };
int want_pair(const struct pair *p);

/* Fills the memory and takes its image. */
void pair_start(struct pair *p, struct input *in);

/* Whether `status` is `want`, or what tensor.h allows where strides are contrived. */
bool pair_allows(const struct pair *p, int want, taper_status status);

/* Fails unless memory holds what it did, or if `done` what the call must make of it. */
void pair_compare(const struct pair *p, bool done);

/* Both, for a call with this pair alone. */
void pair_check(const struct pair *p, int want, taper_status status);

#endif
