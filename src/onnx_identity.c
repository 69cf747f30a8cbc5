/* onnx_identity.c - Identity of tensors, strings, sequences and optionals: all checks
 * of all tensors, and then the copies. */
#include <stdbool.h>
#include <string.h>

#include "checks.h"
#include "dtype.h"
#include "layout.h"
#include "onnx_types.h"

/* ---- Values ---- */

static taper_status check_kind(const taper_value *value)
{
    switch (value->kind) {
    case TAPER_TENSOR:
        return !value->absent && value->count == 1 ? TAPER_OK : TAPER_BAD_KIND;
    case TAPER_OPTIONAL_TENSOR:
        return value->absent || value->count == 1 ? TAPER_OK : TAPER_BAD_KIND;
    case TAPER_SEQUENCE:
        return value->absent ? TAPER_BAD_KIND : TAPER_OK;
    case TAPER_OPTIONAL_SEQUENCE:
        return TAPER_OK;
    }
    return TAPER_BAD_KIND;
}

static size_t count_of(const taper_value *value)
{
    return value->absent ? 0 : value->count;
}

static taper_status check_input(int64_t opset, bool has_output,
                                const taper_value *input)
{
    const int version = taper_onnx_version(TAPER_ONNX_IDENTITY, opset);
    if (version == 0)
        return TAPER_BAD_OPSET;
    if (!has_output || input == NULL)
        return TAPER_NULL;
    const taper_status status = check_kind(input);
    if (status != TAPER_OK)
        return status;
    return taper_onnx_takes(TAPER_ONNX_IDENTITY, version, input->kind, input->type);
}

/* That `t` may be a tensor of a value of `type`. */
static taper_status check_type(const taper_tensor *t, taper_dtype type)
{
    if (t->rank > 0 && t->shape == NULL)
        return TAPER_NULL;
    return t->type == type ? TAPER_OK : TAPER_TYPE_MISMATCH;
}

/* What else can be told by type and shape. *bytes are, of strings, those of their
 * offsets without the last one. */
static taper_status check_shape(const taper_tensor *t, size_t *count, size_t *bytes)
{
    if (t->type != TAPER_STRING)
        return taper_check_tensor(t, count, bytes);
    taper_tensor offsets = *t;
    offsets.type = TAPER_I64;
    const taper_status status = taper_check_tensor(&offsets, count, bytes);
    if (status != TAPER_OK)
        return status;
    return *bytes > PTRDIFF_MAX - sizeof(int64_t) ? TAPER_TOO_LARGE : TAPER_OK;
}

/* ---- Strings ----
 *
 * At least one of them, `offset_bytes` being their offsets without the last one. */

/* The offset at byte `at` of the offsets, which may not be aligned. A negative one
 * comes out larger than any size can be. */
static uint64_t offset(const taper_strings *strings, size_t at)
{
    uint64_t o;
    memcpy(&o, (const char *)strings->offsets + at, sizeof o);
    return o;
}

static bool has_offsets(const taper_tensor *t)
{
    const taper_strings *const strings = t->data;
    return strings != NULL && strings->offsets != NULL;
}

/* Sets *begin and *end to where the bytes are that the strings are made of. */
static taper_status check_offsets(const taper_strings *strings, size_t offset_bytes,
                                  size_t *begin, size_t *end)
{
    const uint64_t first = offset(strings, 0);
    uint64_t last = first;
    bool falls = false;
    for (size_t at = sizeof last; at <= offset_bytes; at += sizeof last) {
        const uint64_t next = offset(strings, at);
        falls |= next < last;
        last = next;
    }
    if (falls || last > strings->size || last > PTRDIFF_MAX)
        return TAPER_BAD_OFFSETS;
    *begin = (size_t)first;
    *end = (size_t)last;
    return TAPER_OK;
}

static bool share(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return a_bytes != 0 && b_bytes != 0 && taper_overlap(a, a_bytes, b, b_bytes);
}

static taper_status check_copy_of_strings(const taper_tensor *dst,
                                          const taper_tensor *src, size_t offset_bytes)
{
    if (!has_offsets(dst) || !has_offsets(src))
        return TAPER_NULL;
    if (!taper_is_contiguous(dst) || !taper_is_contiguous(src))
        return TAPER_BAD_STRIDE;
    const taper_strings *const to = dst->data, *const from = src->data;
    size_t begin, end;
    const taper_status status = check_offsets(from, offset_bytes, &begin, &end);
    if (status != TAPER_OK)
        return status;
    if (end > to->size)
        return TAPER_BAD_OFFSETS;
    const size_t all = offset_bytes + sizeof(int64_t), n = end - begin;
    if (n != 0 && (to->bytes == NULL || from->bytes == NULL))
        return TAPER_NULL;

    const char *const to_bytes = n == 0 ? NULL : (const char *)to->bytes + begin;
    const char *const from_bytes = n == 0 ? NULL : (const char *)from->bytes + begin;
    if ((to->offsets != from->offsets && share(to->offsets, all, from->offsets, all)) ||
        (to_bytes != from_bytes && share(to_bytes, n, from_bytes, n)) ||
        share(to->offsets, all, from_bytes, n) ||
        share(to->offsets, all, to_bytes, n) || share(to_bytes, n, from->offsets, all))
        return TAPER_OVERLAP;
    return TAPER_OK;
}

/* Looks at the ends again, which an earlier tensor of a sequence has changed if it lay
 * over these offsets: then the strings are wrong, but what is touched is not. */
static taper_status copy_strings(const taper_strings *dst, const taper_strings *src,
                                 size_t offset_bytes)
{
    const uint64_t begin = offset(src, 0), end = offset(src, offset_bytes);
    if (begin > end || end > src->size || end > dst->size)
        return TAPER_BAD_OFFSETS;
    const taper_status status = taper_copy(TAPER_I64, dst->offsets, src->offsets,
                                           offset_bytes / sizeof(int64_t) + 1);
    if (status != TAPER_OK || begin == end)
        return status;
    return taper_copy(TAPER_U8, (char *)dst->bytes + begin,
                      (const char *)src->bytes + begin, (size_t)(end - begin));
}

/* ---- Tensors ---- */

static taper_status check_copy(const taper_tensor *dst, const taper_tensor *src,
                               taper_dtype type)
{
    size_t count, bytes;
    taper_status status = check_type(dst, type);
    if (status == TAPER_OK)
        status = check_type(src, type);
    if (status != TAPER_OK)
        return status;
    if (type != TAPER_STRING)
        return taper_check_copy(dst, src, &count);

    status = check_shape(dst, &count, &bytes);
    if (status == TAPER_OK)
        status = check_shape(src, &count, &bytes);
    if (status != TAPER_OK)
        return status;
    if (!taper_same_shape(dst, src))
        return TAPER_SHAPE_MISMATCH;
    return count == 0 ? TAPER_OK : check_copy_of_strings(dst, src, bytes);
}

/* After check_copy(). */
static taper_status copy(const taper_tensor *dst, const taper_tensor *src)
{
    size_t count, bytes;
    const taper_status status = check_shape(src, &count, &bytes);
    if (status != TAPER_OK || count == 0)
        return status;
    return src->type == TAPER_STRING ? copy_strings(dst->data, src->data, bytes)
                                     : taper_copy_checked(dst, src, count);
}

/* ---- The public functions ---- */

/* That the output is such a value as the input, and all tensors are there. */
static taper_status check_output(const taper_value *output, const taper_value *input)
{
    if (output->kind != input->kind || output->type != input->type)
        return TAPER_TYPE_MISMATCH;
    const taper_status status = check_kind(output);
    if (status != TAPER_OK)
        return status;
    if (!output->absent != !input->absent || count_of(output) != count_of(input))
        return TAPER_SHAPE_MISMATCH;
    if (count_of(input) > 0 && (output->tensors == NULL || input->tensors == NULL))
        return TAPER_NULL;
    return TAPER_OK;
}

taper_status taper_onnx_identity(int64_t opset, const taper_value *output,
                                 const taper_value *input)
{
    taper_status status = check_input(opset, output != NULL, input);
    if (status == TAPER_OK)
        status = check_output(output, input);
    const size_t count = status == TAPER_OK ? count_of(input) : 0;
    for (size_t i = 0; i < count && status == TAPER_OK; i++)
        status = check_copy(&output->tensors[i], &input->tensors[i], input->type);
    for (size_t i = 0; i < count && status == TAPER_OK; i++)
        status = copy(&output->tensors[i], &input->tensors[i]);
    return status;
}

/* Sets *bytes to the storage of a tensor like `t`. */
static taper_status measure(const taper_tensor *t, taper_dtype type, size_t *bytes)
{
    size_t count, size, begin, end;
    taper_status status = check_type(t, type);
    if (status == TAPER_OK)
        status = check_shape(t, &count, &size);
    if (status != TAPER_OK)
        return status;
    if (type != TAPER_STRING || count == 0) {
        *bytes = size;
        return TAPER_OK;
    }
    if (!has_offsets(t))
        return TAPER_NULL;
    if (!taper_is_contiguous(t))
        return TAPER_BAD_STRIDE;
    const taper_strings *const strings = t->data;
    status = check_offsets(strings, size, &begin, &end);
    if (status != TAPER_OK)
        return status;
    if (begin < end && strings->bytes == NULL)
        return TAPER_NULL;
    *bytes = end;
    return TAPER_OK;
}

taper_status taper_onnx_identity_infer(int64_t opset, taper_value *output,
                                       taper_tensor *tensors, size_t *bytes,
                                       const taper_value *input)
{
    taper_status status = check_input(opset, output != NULL, input);
    if (status != TAPER_OK)
        return status;
    const size_t count = count_of(input);
    if (count > 0 && (tensors == NULL || bytes == NULL || input->tensors == NULL))
        return TAPER_NULL;
    size_t size;
    for (size_t i = 0; i < count && status == TAPER_OK; i++)
        status = measure(&input->tensors[i], input->type, &size);
    if (status != TAPER_OK)
        return status;

    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        const taper_tensor *const t = &input->tensors[i];
        status = measure(t, input->type, &bytes[i]);
        tensors[i] = (taper_tensor){
            .type = t->type, .rank = t->rank, .shape = t->rank > 0 ? t->shape : NULL};
    }
    *output = (taper_value){input->kind, input->type, input->absent != 0, count,
                            count > 0 ? tensors : NULL};
    return status;
}
