/* onnx.h - the ONNX operators ConstantOfShape, Identity and Cast, in every version.
 *
 * Each takes the number of the operator set that the model imports for the default
 * domain; the version of the operator in force there decides which types it takes. Each
 * has a companion, _infer, that tells what the output will be, so that the caller makes
 * room for it: taper allocates nothing.
 *
 * What taper.h says of arrays and tensor.h of tensors holds here too. No error writes
 * anything, not even one in the last tensor of a sequence. What is written must not be
 * the memory of the structures, shapes and strides that describe it. */
#ifndef TAPER_ONNX_H
#define TAPER_ONNX_H

#include "taper/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions and types ---- */

typedef enum taper_onnx_op {
    TAPER_ONNX_CONSTANT_OF_SHAPE = 0,
    TAPER_ONNX_IDENTITY = 1,
    TAPER_ONNX_CAST = 2,
} taper_onnx_op;

/** What an operator takes and makes. */
typedef enum taper_kind {
    TAPER_TENSOR = 0,
    TAPER_SEQUENCE = 1,          /**< seq(tensor) */
    TAPER_OPTIONAL_TENSOR = 2,   /**< optional(tensor) */
    TAPER_OPTIONAL_SEQUENCE = 3, /**< optional(seq(tensor)) */
} taper_kind;

/** The newest operator set known; higher numbers are refused. */
#define TAPER_ONNX_NEWEST_OPSET 26

/** The operator's name, such as "ConstantOfShape"; NULL for an unknown number. */
TAPER_API const char *taper_onnx_name(taper_onnx_op op);

/**
 * The version of `op` in force in operator set `opset`: 21 for ConstantOfShape in 22. 0
 * if there is none: before the first, above TAPER_ONNX_NEWEST_OPSET, or Cast before 9,
 * which is not here.
 */
TAPER_API int taper_onnx_version(taper_onnx_op op, int64_t opset);

/**
 * The first version of `op` that takes a `kind` of elements of `type`; 0 if none does.
 * Later versions take it too. With taper_onnx_version() it says what is behind
 * TAPER_TYPE_TOO_NEW: "float4e2m1 came with Cast-23, this is Cast-21".
 *
 * This is what ONNX says. Of Cast, taper has the casts between float types only.
 */
TAPER_API int taper_onnx_since(taper_onnx_op op, taper_kind kind, taper_dtype type);

/* ---- ConstantOfShape ---- */

/**
 * Sets every element of `output` to the only element of `value`, bit for bit (ONNX
 * ConstantOfShape-25, whose text is that of all versions since 9).
 *
 * - `shape` is the input: an int64 tensor of rank 1, whose elements are the dimensions
 *   of the output. If it is empty, the output is a scalar. A dimension may be 0.
 * - `value` is the attribute: a tensor of any rank with exactly one element; NULL is
 *   the default, a float of +0.
 * - `output` has the type of `value` and the dimensions in `shape`, in any layout.
 *
 * `shape` and `value` are read before the first write, so both may lie in `output`.
 *
 * Checks: TAPER_BAD_OPSET; TAPER_NULL (`output`, `shape`, or the `shape` of one of the
 * tensors with a rank above 0). For `value`: TAPER_BAD_DTYPE, TAPER_UNSUPPORTED (a type
 * that no version takes), TAPER_TYPE_TOO_NEW, TAPER_BAD_SHAPE, TAPER_NOT_ONE_ELEMENT.
 * For `shape`: TAPER_BAD_DTYPE, TAPER_UNSUPPORTED (not int64), TAPER_BAD_SHAPE (also a
 * rank other than 1), TAPER_TOO_LARGE, TAPER_NULL (`data`), TAPER_BAD_STRIDE; then its
 * elements: TAPER_BAD_SHAPE (one below 0, also beside a 0), TAPER_TOO_LARGE. For
 * `output`: TAPER_TYPE_MISMATCH, TAPER_SHAPE_MISMATCH; then an empty one is TAPER_OK;
 * TAPER_NULL (`data`, also of `value`), TAPER_BAD_STRIDE.
 */
TAPER_CHECKED taper_status taper_onnx_constant_of_shape(int64_t opset,
                                                        const taper_tensor *output,
                                                        const taper_tensor *shape,
                                                        const taper_tensor *value);

/**
 * Sets `output` to what taper_onnx_constant_of_shape() will make, contiguous, with
 * `data` NULL and its `shape` at `dims`, and *bytes to its storage. `dims`, which has
 * room for `room` dimensions, may be NULL for a scalar. The elements of `value` are not
 * looked at.
 *
 * Checks: TAPER_BAD_OPSET; TAPER_NULL (also `bytes`); those of `value` and `shape` as
 * there; TAPER_TOO_LARGE (more than `room` dimensions); TAPER_NULL (`dims`).
 */
TAPER_CHECKED taper_status taper_onnx_constant_of_shape_infer(
    int64_t opset, taper_tensor *output, size_t *bytes, int64_t *dims, int32_t room,
    const taper_tensor *shape, const taper_tensor *value);

/* ---- Identity ---- */

/**
 * The elements of a tensor of type TAPER_STRING, whose `data` points to one of these
 * and whose elements are contiguous. String i is the bytes from offset i up to offset
 * i + 1, as in Arrow's LargeBinary: `n` strings have n + 1 offsets, which never fall;
 * the first need not be 0, and the last is `size` at most. The offsets need no
 * alignment. What the bytes are, UTF-8 or not, is not looked at.
 */
typedef struct taper_strings {
    void *offsets; /**< int64, one more than there are elements */
    void *bytes;   /**< may be NULL where all strings are empty */
    size_t size;   /**< how many bytes there are at `bytes` */
} taper_strings;

/**
 * A tensor, a sequence of tensors, or an optional one of these. The caller owns all
 * that it points to. A tensor or a present optional tensor has a `count` of 1.
 */
typedef struct taper_value {
    taper_kind kind;
    taper_dtype type; /**< of all tensors, also where there are none */
    int absent; /**< not 0: an optional without a value, and what follows is ignored */
    size_t count;                /**< of tensors; their shapes may differ */
    const taper_tensor *tensors; /**< may be NULL when there are none */
} taper_value;

/** A tensor as a value. */
static inline taper_value taper_value_of(const taper_tensor *tensor)
{
    taper_value value;
    value.kind = TAPER_TENSOR;
    value.type = tensor->type;
    value.absent = 0;
    value.count = 1;
    value.tensors = tensor;
    return value;
}

/**
 * Copies every tensor of `input` to the one at the same place of `output`, bit for bit
 * (ONNX Identity-25, of which the earlier versions differ in types and kinds only).
 *
 * `output` has the kind and type of `input`, is absent if that is, and has as many
 * tensors with the same shapes. Numbers are copied by taper_tensor_copy(), between any
 * layouts. Of strings, the offsets are copied as they are and the bytes between the
 * first offset and the last to the same place: what is before the first one is neither
 * read nor written, and `size` of the output has to be the last one at least.
 *
 * In place is allowed: a tensor of numbers with the same data and strides, strings with
 * the same `offsets`, `bytes` or both. Any other overlap of two tensors at the same
 * place is an error. Between different places of a sequence it is not looked for, which
 * would take time by the square of their number: no tensor of `output` may share a byte
 * with one at another place.
 *
 * Checks: TAPER_BAD_OPSET; TAPER_NULL (`output`, `input`). For `input`: TAPER_BAD_KIND,
 * TAPER_BAD_DTYPE, TAPER_UNSUPPORTED (a type that no version takes in this kind),
 * TAPER_TYPE_TOO_NEW. For `output`: TAPER_TYPE_MISMATCH (kind or type), TAPER_BAD_KIND,
 * TAPER_SHAPE_MISMATCH (absent, or another count). Then no tensors is TAPER_OK;
 * TAPER_NULL (`tensors`). Then for each pair of tensors, in their order: TAPER_NULL
 * (`shape` with a rank above 0), TAPER_TYPE_MISMATCH (another type than their value's),
 * for the output, then for the input; the checks of taper_tensor_copy(). For strings,
 * in place of the last three of these, each for both tensors: TAPER_NULL (`data`,
 * `offsets`), TAPER_BAD_STRIDE (not contiguous), TAPER_BAD_OFFSETS (also a `size` of
 * the output that is too small), TAPER_NULL (`bytes`), TAPER_OVERLAP.
 */
TAPER_CHECKED taper_status taper_onnx_identity(int64_t opset, const taper_value *output,
                                               const taper_value *input);

/**
 * Sets `output` to what taper_onnx_identity() will make: its tensors, at `tensors`,
 * share their shapes with those of `input`, are contiguous, and have no `data` yet. For
 * each, `bytes` gets the storage: of numbers, that of taper_tensor_bytes(); of strings,
 * the `size` of the bytes, beside which there are the offsets, 8 bytes each. `tensors`
 * and `bytes` have room for `input->count`; both may be NULL when there are no tensors.
 * `output` may be `input`, and `tensors` the tensors of that.
 *
 * Checks: TAPER_BAD_OPSET; TAPER_NULL (`output`, `input`); those of `input` as there;
 * then no tensors is TAPER_OK; TAPER_NULL (`tensors`, `bytes`, those of `input`); then
 * for each tensor: TAPER_NULL (`shape`), TAPER_TYPE_MISMATCH, TAPER_BAD_SHAPE,
 * TAPER_TOO_LARGE; then an empty one is TAPER_OK; strings as there, without overlap.
 */
TAPER_CHECKED taper_status taper_onnx_identity_infer(int64_t opset, taper_value *output,
                                                     taper_tensor *tensors,
                                                     size_t *bytes,
                                                     const taper_value *input);

/* ---- Cast ---- */

/**
 * Casts every element of `input` to the same index of `output`, whose type is the
 * attribute `to` (ONNX Cast-25; the rules for every pair of types are in taper.h, and
 * are the same in all versions from 9 on, an infinity to a FNUZ type included, for
 * which the pages of 19 to 23 say NaN and those of 24 and 25 the largest number). Both
 * types are floats: the casts from and to integers, bool and string are not here.
 *
 * `options` are the attributes, NULL their defaults. `saturate` came with version 19
 * and `round_mode` with 24: before, they have to be the defaults. CastLike is this with
 * the type of its second input and without `round_mode`, which it does not forward.
 *
 * Overlap is as in taper_tensor_cast(): in place, too.
 *
 * Checks: TAPER_BAD_OPSET; TAPER_NULL (`output`, `input`); TAPER_BAD_DTYPE (`output`,
 * then `input`); TAPER_UNSUPPORTED (not floats), TAPER_BAD_OPTION (outside its enum),
 * TAPER_TYPE_TOO_NEW, TAPER_BAD_OPTION (not yet an attribute); then those of
 * taper_tensor_cast().
 */
TAPER_CHECKED taper_status taper_onnx_cast(int64_t opset, const taper_tensor *output,
                                           const taper_tensor *input,
                                           const taper_cast_options *options);

/**
 * Sets `output` to what taper_onnx_cast() will make of `input` for the type `to`: it
 * shares the shape of `input`, is contiguous, and has no `data` yet; *bytes is its
 * storage. `output` may be `input`.
 *
 * Checks: TAPER_BAD_OPSET; TAPER_NULL (`output`, `bytes`, `input`); those of types and
 * options as there; then those of taper_tensor_bytes() for `input`, then for `output`.
 */
TAPER_CHECKED taper_status taper_onnx_cast_infer(int64_t opset, taper_tensor *output,
                                                 size_t *bytes, taper_dtype to,
                                                 const taper_tensor *input,
                                                 const taper_cast_options *options);

#ifdef __cplusplus
}
#endif

#endif
