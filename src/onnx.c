/* onnx.c - ConstantOfShape and Cast: the checks; the tensors do the rest. */
#include "taper/onnx.h"

#include <stdbool.h>
#include <string.h>

#include "dtype.h"
#include "onnx_types.h"

/* No tensor, or not as many dimensions as it says. */
static bool is_null(const taper_tensor *t)
{
    return t == NULL || (t->rank > 0 && t->shape == NULL);
}

/* ---- ConstantOfShape ---- */

static taper_status check_value(const taper_tensor *value, int version)
{
    const taper_status status = taper_onnx_takes(TAPER_ONNX_CONSTANT_OF_SHAPE, version,
                                                 TAPER_TENSOR, value->type);
    if (status != TAPER_OK)
        return status;
    if (value->rank < 0)
        return TAPER_BAD_SHAPE;
    bool one = true;
    for (int k = 0; k < value->rank; k++) {
        if (value->shape[k] < 0)
            return TAPER_BAD_SHAPE;
        one = one && value->shape[k] == 1;
    }
    return one ? TAPER_OK : TAPER_NOT_ONE_ELEMENT;
}

/* The elements of the input are in range: their number, their address. */
static taper_status check_shape(const taper_tensor *shape)
{
    if (!taper_dtype_known(shape->type))
        return TAPER_BAD_DTYPE;
    if (shape->type != TAPER_I64)
        return TAPER_UNSUPPORTED;
    if (shape->rank != 1 || shape->shape[0] < 0)
        return TAPER_BAD_SHAPE;
    if (shape->shape[0] > INT32_MAX)
        return TAPER_TOO_LARGE;
    if (shape->shape[0] > 0 && shape->data == NULL)
        return TAPER_NULL;
    if (shape->shape[0] > 1 && shape->strides != NULL) {
        const int64_t stride = shape->strides[0];
        const int64_t most = PTRDIFF_MAX / (int64_t)sizeof(int64_t) / shape->shape[0];
        if (stride > most || stride < -most)
            return TAPER_BAD_STRIDE;
    }
    return TAPER_OK;
}

/* Dimension `k` of the output: an element of the input, which may not be aligned. */
static int64_t dimension(const taper_tensor *shape, int32_t k)
{
    const int64_t stride = shape->strides == NULL ? 1 : shape->strides[0];
    int64_t d;
    memcpy(&d,
           (const char *)shape->data + (ptrdiff_t)(k * stride) * (ptrdiff_t)sizeof d,
           sizeof d);
    return d;
}

/* Sets *bytes to the storage of the output: of one dimension, that the shape need not
 * be written down for it. */
static taper_status output_bytes(const taper_tensor *shape, taper_dtype type,
                                 size_t *bytes)
{
    const int32_t rank = (int32_t)shape->shape[0];
    int64_t count = 1;
    bool empty = false;
    for (int32_t k = 0; k < rank; k++) {
        const int64_t d = dimension(shape, k);
        if (d < 0)
            return TAPER_BAD_SHAPE;
        empty = empty || d == 0;
    }
    for (int32_t k = 0; k < rank && !empty; k++) {
        const int64_t d = dimension(shape, k);
        if (d > INT64_MAX / count)
            return TAPER_TOO_LARGE;
        count *= d;
    }
    count = empty ? 0 : count;
    return taper_tensor_bytes(&(taper_tensor){NULL, type, 1, &count, NULL}, bytes);
}

/* All checks that do not look at the output, if there is one. */
static taper_status check_constant(int64_t opset, bool has_output,
                                   const taper_tensor *shape, const taper_tensor *value,
                                   size_t *bytes)
{
    const int version = taper_onnx_version(TAPER_ONNX_CONSTANT_OF_SHAPE, opset);
    if (version == 0)
        return TAPER_BAD_OPSET;
    if (!has_output || is_null(shape) || is_null(value))
        return TAPER_NULL;
    taper_status status = check_value(value, version);
    if (status == TAPER_OK)
        status = check_shape(shape);
    if (status == TAPER_OK)
        status = output_bytes(shape, value->type, bytes);
    return status;
}

static bool has_dimensions(const taper_tensor *output, const taper_tensor *shape)
{
    if (output->rank != shape->shape[0])
        return false;
    for (int32_t k = 0; k < output->rank; k++)
        if (output->shape[k] != dimension(shape, k))
            return false;
    return true;
}

taper_status taper_onnx_constant_of_shape(int64_t opset, const taper_tensor *output,
                                          const taper_tensor *shape,
                                          const taper_tensor *value)
{
    float zero = 0;
    const taper_tensor by_default = {.data = &zero, .type = TAPER_F32};
    size_t bytes;
    if (value == NULL)
        value = &by_default;
    const taper_status status =
        check_constant(opset, !is_null(output), shape, value, &bytes);
    if (status != TAPER_OK)
        return status;
    if (output->type != value->type)
        return TAPER_TYPE_MISMATCH;
    if (!has_dimensions(output, shape))
        return TAPER_SHAPE_MISMATCH;
    return taper_tensor_fill(output, value->data);
}

taper_status taper_onnx_constant_of_shape_infer(int64_t opset, taper_tensor *output,
                                                size_t *bytes, int64_t *dims,
                                                int32_t room, const taper_tensor *shape,
                                                const taper_tensor *value)
{
    const taper_tensor by_default = {.type = TAPER_F32};
    size_t size;
    if (value == NULL)
        value = &by_default;
    const taper_status status =
        check_constant(opset, output != NULL && bytes != NULL, shape, value, &size);
    if (status != TAPER_OK)
        return status;
    const int32_t rank = (int32_t)shape->shape[0];
    if (rank > room)
        return TAPER_TOO_LARGE;
    if (rank > 0 && dims == NULL)
        return TAPER_NULL;
    for (int32_t k = 0; k < rank; k++)
        dims[k] = dimension(shape, k);
    *output = (taper_tensor){.type = value->type, .rank = rank, .shape = dims};
    *bytes = size;
    return TAPER_OK;
}

/* ---- Cast ---- */

/* The versions that brought the attributes. */
enum { SATURATE_SINCE = 19, ROUND_MODE_SINCE = 24 };

static taper_status check_types(int version, taper_dtype to, taper_dtype from,
                                const taper_cast_options *options)
{
    if (!taper_dtype_known(to) || !taper_dtype_known(from))
        return TAPER_BAD_DTYPE;

    /* Which pairs there are, and which options, is for the tensors to say. */
    const int64_t none = 0;
    taper_status status =
        taper_tensor_cast(&(taper_tensor){NULL, to, 1, &none, NULL},
                          &(taper_tensor){NULL, from, 1, &none, NULL}, options);
    if (status == TAPER_OK)
        status = taper_onnx_takes(TAPER_ONNX_CAST, version, TAPER_TENSOR, to);
    if (status == TAPER_OK)
        status = taper_onnx_takes(TAPER_ONNX_CAST, version, TAPER_TENSOR, from);
    if (status != TAPER_OK || options == NULL)
        return status;
    if ((options->overflow != TAPER_SATURATE && version < SATURATE_SINCE) ||
        (options->rounding != TAPER_ROUND_UP && version < ROUND_MODE_SINCE))
        return TAPER_BAD_OPTION;
    return TAPER_OK;
}

taper_status taper_onnx_cast(int64_t opset, const taper_tensor *output,
                             const taper_tensor *input,
                             const taper_cast_options *options)
{
    const int version = taper_onnx_version(TAPER_ONNX_CAST, opset);
    if (version == 0)
        return TAPER_BAD_OPSET;
    if (is_null(output) || is_null(input))
        return TAPER_NULL;
    const taper_status status =
        check_types(version, output->type, input->type, options);
    return status == TAPER_OK ? taper_tensor_cast(output, input, options) : status;
}

taper_status taper_onnx_cast_infer(int64_t opset, taper_tensor *output, size_t *bytes,
                                   taper_dtype to, const taper_tensor *input,
                                   const taper_cast_options *options)
{
    const int version = taper_onnx_version(TAPER_ONNX_CAST, opset);
    if (version == 0)
        return TAPER_BAD_OPSET;
    if (output == NULL || bytes == NULL || is_null(input))
        return TAPER_NULL;
    const taper_tensor made = {.type = to, .rank = input->rank, .shape = input->shape};
    size_t size;
    taper_status status = check_types(version, to, input->type, options);
    if (status == TAPER_OK)
        status = taper_tensor_bytes(input, &size);
    if (status == TAPER_OK)
        status = taper_tensor_bytes(&made, &size);
    if (status != TAPER_OK)
        return status;
    *output = made;
    *bytes = size;
    return TAPER_OK;
}
