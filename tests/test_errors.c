/* test_errors.c - what is refused: for every public function that reports a status,
 * each fault alone, each two at once and each with all that come after it. The status
 * is that of the fault which the headers name first, and not a byte is written. */
#include "support.h"

#include <stdio.h>

#include "taper/onnx.h"

#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>

#include "taper/dlpack.h"
#define WITH_DLPACK
#endif
#endif

/* ---- A call: all that a function reads and writes, in one place ---- */

static struct arguments {
    unsigned char out[64], in[64], value_data[16];
    /* arrays */
    taper_dtype to, from;
    void *dst;
    const void *src;
    size_t n;
    taper_cast_options options;
    /* tensors: the first of each two is never at fault */
    int64_t dst_shape[2], src_shape[2], dst_strides[2], src_strides[2], value_shape[2];
    taper_tensor dsts[2], srcs[2], value;
    const taper_tensor *dst_at, *src_at, *value_at;
    /* operators */
    int64_t opset, dims[2], length[2], length_stride;
    taper_value output, input;
    const taper_value *output_at, *input_at;
    taper_strings to_text, from_text;
    int64_t to_offsets[3], from_offsets[3];
    unsigned char to_bytes[8], from_bytes[8];
    /* what _infer sets */
    taper_tensor made[2], *made_at;
    taper_value made_value, *made_value_at;
    size_t bytes[2], *bytes_at;
    int64_t made_dims[2], *made_dims_at;
    int32_t room;
#ifdef WITH_DLPACK
    DLTensor dl;
    DLTensor *dl_at;
    int64_t *dl_strides_at, dl_strides[2];
#endif
} a;

enum { DST = 1, SRC = 1 }; /* which tensor of two faults are put into */

/* Floats to float16, tensors of {2, 3}. */
static void set_numbers(void)
{
    memset(&a, 0x5a, sizeof a);
    memset(a.in, 0x33, sizeof a.in);
    a.to = TAPER_F16;
    a.from = TAPER_F32;
    a.dst = a.out;
    a.src = a.in;
    a.n = 6;
    a.options = (taper_cast_options){TAPER_SATURATE, TAPER_ROUND_UP};
    a.dst_shape[0] = a.src_shape[0] = 2;
    a.dst_shape[1] = a.src_shape[1] = 3;
    a.value_shape[0] = a.value_shape[1] = 1;
    a.dsts[0] = (taper_tensor){a.out + 32, TAPER_F16, 1, a.value_shape, NULL};
    a.srcs[0] = (taper_tensor){a.in + 32, TAPER_F32, 1, a.value_shape, NULL};
    a.dsts[DST] = (taper_tensor){a.out, TAPER_F16, 2, a.dst_shape, NULL};
    a.srcs[SRC] = (taper_tensor){a.in, TAPER_F32, 2, a.src_shape, NULL};
    a.dst_at = &a.dsts[DST];
    a.src_at = &a.srcs[SRC];
    a.opset = 26;
    a.made_at = a.made;
    a.made_value_at = &a.made_value;
    a.bytes_at = a.bytes;
    a.made_dims_at = a.made_dims;
    a.room = 2;
#ifdef WITH_DLPACK
    a.dl_at = &a.dl;
    a.dl_strides_at = a.dl_strides;
#endif
}

/* Both sides binary32. */
static void set_equal_types(void)
{
    set_numbers();
    a.dsts[0].type = a.dsts[DST].type = a.to = TAPER_F32;
}

/* The output is dsts[DST]; the shape is srcs[SRC], of the dimensions in `dims`. */
static void set_constant(void)
{
    set_numbers();
    a.dims[0] = 2;
    a.dims[1] = 3;
    a.length[0] = 2;
    a.length[1] = 1;
    a.srcs[SRC] = (taper_tensor){a.dims, TAPER_I64, 1, a.length, NULL};
    memset(a.value_data, 0x33, sizeof a.value_data);
    a.value = (taper_tensor){a.value_data, TAPER_F16, 2, a.value_shape, NULL};
    a.value_at = &a.value;
}

static void set_sequence(void)
{
    set_equal_types();
    a.output = (taper_value){TAPER_SEQUENCE, TAPER_F32, 0, 2, a.dsts};
    a.input = (taper_value){TAPER_SEQUENCE, TAPER_F32, 0, 2, a.srcs};
    a.output_at = &a.output;
    a.input_at = &a.input;
}

/* Two strings, "ab" and "c", as an optional tensor. */
static void set_strings(void)
{
    set_numbers();
    a.dst_shape[0] = a.src_shape[0] = 1;
    a.dst_shape[1] = a.src_shape[1] = 2;
    a.from_offsets[0] = 0;
    a.from_offsets[1] = 2;
    a.from_offsets[2] = 3;
    memcpy(a.from_bytes, "abc", 3);
    a.to_text = (taper_strings){a.to_offsets, a.to_bytes, 3};
    a.from_text = (taper_strings){a.from_offsets, a.from_bytes, 3};
    a.dsts[DST] = (taper_tensor){&a.to_text, TAPER_STRING, 2, a.dst_shape, NULL};
    a.srcs[SRC] = (taper_tensor){&a.from_text, TAPER_STRING, 2, a.src_shape, NULL};
    a.output = (taper_value){TAPER_OPTIONAL_TENSOR, TAPER_STRING, 0, 1, &a.dsts[DST]};
    a.input = (taper_value){TAPER_OPTIONAL_TENSOR, TAPER_STRING, 0, 1, &a.srcs[SRC]};
    a.output_at = &a.output;
    a.input_at = &a.input;
}

/* ---- Faults ---- */

enum fault {
    NO_FAULT,
    /* arrays */
    TO_UNKNOWN,
    FROM_UNKNOWN,
    TO_STRING,
    TO_INTEGER,
    FROM_INTEGER,
    OVERFLOW_UNKNOWN,
    ROUNDING_UNKNOWN,
    N_LARGE,
    N_ZERO, /* not a fault: TAPER_OK */
    DST_NULL,
    SRC_NULL,
    ARRAYS_OVERLAP,
    /* tensors */
    DST_NO_TENSOR,
    DST_NO_SHAPE,
    DST_UNKNOWN,
    DST_STRING,
    DST_INTEGER,
    DST_RANK,
    DST_NEGATIVE,
    DST_LARGE,
    DST_LARGE_BYTES,
    SRC_NO_TENSOR,
    SRC_NO_SHAPE,
    SRC_UNKNOWN,
    SRC_STRING,
    SRC_INTEGER,
    SRC_RANK,
    SRC_NEGATIVE,
    SRC_LARGE,
    SRC_LARGE_BYTES,
    TYPES_DIFFER,
    DIMENSIONS_DIFFER,
    RANKS_DIFFER,
    EMPTY, /* not a fault: TAPER_OK */
    DST_NO_DATA,
    SRC_NO_DATA,
    DST_MEETS,
    DST_FAR,
    DST_PACKED_GAPS,
    SRC_FAR,
    TENSORS_OVERLAP,
    NO_BYTES,
    /* operators */
    OPSET_OLD,
    OPSET_NEW,
    VALUE_NO_SHAPE,
    VALUE_UNKNOWN,
    VALUE_COMPLEX,
    VALUE_TOO_NEW,
    VALUE_RANK,
    VALUE_NEGATIVE,
    VALUE_TWO,
    VALUE_NONE,
    LENGTH_RANK_0,
    LENGTH_RANK_2,
    LENGTH_NEGATIVE,
    LENGTH_LARGE,
    LENGTH_FAR,
    DIMS_NEGATIVE,
    DIMS_LARGE,
    OUTPUT_TYPE,
    OUTPUT_DIMENSIONS,
    OUTPUT_RANK,
    DIMS_ZERO, /* not a fault: TAPER_OK */
    VALUE_NO_DATA,
    NO_ROOM,
    NO_DIMS,
    NO_MADE,
    NO_OUTPUT,
    NO_INPUT,
    KIND_UNKNOWN,
    COUNT_WRONG,
    SEQUENCE_ABSENT,
    INPUT_UNKNOWN,
    INPUT_UNSUPPORTED,
    INPUT_TOO_NEW,
    KINDS_DIFFER,
    VALUE_TYPES_DIFFER,
    OUTPUT_COUNT_WRONG,
    OUTPUT_ABSENT,
    COUNTS_DIFFER,
    ABSENT, /* not a fault: TAPER_OK */
    OUTPUT_NO_TENSORS,
    INPUT_NO_TENSORS,
    NO_MADE_VALUE,
    DST_OF_OTHER_TYPE,
    SRC_OF_OTHER_TYPE,
    DST_NO_OFFSETS,
    SRC_NO_OFFSETS,
    DST_GAPS,
    SRC_GAPS,
    OFFSETS_FALL,
    OFFSETS_NEGATIVE,
    OFFSETS_OUT,
    TO_SMALL,
    TO_NO_BYTES,
    FROM_NO_BYTES,
    OFFSETS_OVERLAP,
    BYTES_OVERLAP,
    OFFSETS_OVER_BYTES,
    BYTES_OVER_OFFSETS,
    OWN_OFFSETS_OVER_BYTES,
    DST_TOO_NEW,
    SRC_TOO_NEW,
    TO_TOO_NEW,
    SATURATE_TOO_NEW,
    ROUND_MODE_TOO_NEW,
    OUTPUT_LARGE,
    /* DLPack */
    DL_NONE,
    DL_DEVICE,
    DL_TYPE,
    DL_OFFSET,
    DL_NO_STRIDES,
};

/* Each puts in a fault and returns what it has to be reported as. */
enum { NOT_HERE = 1 };

static int put_in_array(enum fault fault)
{
    switch ((int)fault) {
    case TO_UNKNOWN:
        a.to = (taper_dtype)27;
        return TAPER_BAD_DTYPE;
    case FROM_UNKNOWN:
        a.from = (taper_dtype)-1;
        return TAPER_BAD_DTYPE;
    case TO_STRING:
        a.to = TAPER_STRING;
        return TAPER_UNSUPPORTED;
    case TO_INTEGER:
        a.to = TAPER_I32;
        return TAPER_UNSUPPORTED;
    case FROM_INTEGER:
        a.from = TAPER_U4;
        return TAPER_UNSUPPORTED;
    case OVERFLOW_UNKNOWN:
        a.options.overflow = (taper_overflow)2;
        return TAPER_BAD_OPTION;
    case ROUNDING_UNKNOWN:
        a.options.rounding = (taper_rounding)-1;
        return TAPER_BAD_OPTION;
    case N_LARGE:
        a.n = (size_t)PTRDIFF_MAX + 1;
        return TAPER_TOO_LARGE;
    case N_ZERO:
        a.n = 0;
        return TAPER_OK;
    case DST_NULL:
        a.dst = NULL;
        return TAPER_NULL;
    case SRC_NULL:
        a.src = NULL;
        return TAPER_NULL;
    case ARRAYS_OVERLAP:
        a.dst = a.in + 5;
        return TAPER_OVERLAP;
    default:
        return NOT_HERE;
    }
}

static int put_in_tensor(enum fault fault)
{
    static const int64_t far_apart = INT64_MAX / 3;
    taper_tensor *const dst = &a.dsts[DST], *const src = &a.srcs[SRC];
    switch ((int)fault) {
    case DST_NO_TENSOR:
        a.dst_at = NULL;
        return TAPER_NULL;
    case DST_NO_SHAPE:
        dst->rank = 2;
        dst->shape = NULL;
        return TAPER_NULL;
    case DST_UNKNOWN:
        dst->type = (taper_dtype)0;
        return TAPER_BAD_DTYPE;
    case DST_STRING:
        dst->type = TAPER_STRING;
        return TAPER_UNSUPPORTED;
    case DST_INTEGER:
        dst->type = TAPER_I16;
        return TAPER_UNSUPPORTED;
    case DST_RANK:
        dst->rank = -1;
        return TAPER_BAD_SHAPE;
    case DST_NEGATIVE:
        a.dst_shape[0] = 0;
        a.dst_shape[1] = -1;
        return TAPER_BAD_SHAPE;
    case DST_LARGE:
        a.dst_shape[0] = a.dst_shape[1] = INT64_MAX;
        return TAPER_TOO_LARGE;
    case DST_LARGE_BYTES:
        a.dst_shape[0] = 1;
        a.dst_shape[1] = PTRDIFF_MAX / 2 + 1;
        dst->type = TAPER_F16;
        return TAPER_TOO_LARGE;
    case SRC_NO_TENSOR:
        a.src_at = NULL;
        return TAPER_NULL;
    case SRC_NO_SHAPE:
        src->rank = 2;
        src->shape = NULL;
        return TAPER_NULL;
    case SRC_UNKNOWN:
        src->type = (taper_dtype)27;
        return TAPER_BAD_DTYPE;
    case SRC_STRING:
        src->type = TAPER_STRING;
        return TAPER_UNSUPPORTED;
    case SRC_INTEGER:
        src->type = TAPER_I32;
        return TAPER_UNSUPPORTED;
    case SRC_RANK:
        src->rank = INT32_MIN;
        return TAPER_BAD_SHAPE;
    case SRC_NEGATIVE:
        a.src_shape[0] = -1;
        a.src_shape[1] = 0;
        return TAPER_BAD_SHAPE;
    case SRC_LARGE:
        a.src_shape[0] = a.src_shape[1] = INT64_MAX;
        return TAPER_TOO_LARGE;
    case SRC_LARGE_BYTES:
        a.src_shape[0] = PTRDIFF_MAX / 4 + 1;
        a.src_shape[1] = 1;
        return TAPER_TOO_LARGE;
    case TYPES_DIFFER:
        src->type = TAPER_U32;
        return TAPER_TYPE_MISMATCH;
    case DIMENSIONS_DIFFER:
        a.src_shape[0] = 3;
        return TAPER_SHAPE_MISMATCH;
    case RANKS_DIFFER:
        src->rank = 1;
        return TAPER_SHAPE_MISMATCH;
    case EMPTY:
        a.dst_shape[0] = a.src_shape[0] = INT64_C(1) << 40;
        a.dst_shape[1] = a.src_shape[1] = 0;
        return TAPER_OK;
    case DST_NO_DATA:
        dst->data = NULL;
        return TAPER_NULL;
    case SRC_NO_DATA:
        src->data = NULL;
        return TAPER_NULL;
    case DST_MEETS:
        a.dst_strides[0] = a.dst_strides[1] = 1;
        dst->strides = a.dst_strides;
        return TAPER_BAD_STRIDE;
    case DST_FAR:
        a.dst_strides[0] = far_apart;
        a.dst_strides[1] = 1;
        dst->strides = a.dst_strides;
        return TAPER_BAD_STRIDE;
    case DST_PACKED_GAPS:
        dst->type = TAPER_U4;
        a.dst_strides[0] = 6;
        a.dst_strides[1] = 2;
        dst->strides = a.dst_strides;
        return TAPER_BAD_STRIDE;
    case SRC_FAR:
        a.src_strides[0] = -far_apart;
        a.src_strides[1] = 1;
        src->strides = a.src_strides;
        return TAPER_BAD_STRIDE;
    case TENSORS_OVERLAP:
        dst->data = a.in + 5;
        return TAPER_OVERLAP;
    case NO_BYTES:
        a.bytes_at = NULL;
        return TAPER_NULL;
    default:
        return NOT_HERE;
    }
}

static int put_in_constant(enum fault fault)
{
    taper_tensor *const length = &a.srcs[SRC];
    switch ((int)fault) {
    case OPSET_OLD:
        a.opset = 0;
        return TAPER_BAD_OPSET;
    case OPSET_NEW:
        a.opset = TAPER_ONNX_NEWEST_OPSET + 1;
        return TAPER_BAD_OPSET;
    case VALUE_NO_SHAPE:
        a.value.rank = 1;
        a.value.shape = NULL;
        return TAPER_NULL;
    case VALUE_UNKNOWN:
        a.value.type = (taper_dtype)27;
        return TAPER_BAD_DTYPE;
    case VALUE_COMPLEX:
        a.value.type = TAPER_C64;
        return TAPER_UNSUPPORTED;
    case VALUE_TOO_NEW:
        a.value.type = TAPER_BF16;
        a.opset = 19;
        return TAPER_TYPE_TOO_NEW;
    case VALUE_RANK:
        a.value.rank = -1;
        return TAPER_BAD_SHAPE;
    case VALUE_NEGATIVE:
        a.value_shape[1] = -1;
        return TAPER_BAD_SHAPE;
    case VALUE_TWO:
        a.value_shape[1] = 2;
        return TAPER_NOT_ONE_ELEMENT;
    case VALUE_NONE:
        a.value_shape[0] = 0;
        return TAPER_NOT_ONE_ELEMENT;
    case LENGTH_RANK_0:
        length->rank = 0;
        return TAPER_BAD_SHAPE;
    case LENGTH_RANK_2:
        length->rank = 2;
        return TAPER_BAD_SHAPE;
    case LENGTH_NEGATIVE:
        a.length[0] = -1;
        return TAPER_BAD_SHAPE;
    case LENGTH_LARGE:
        a.length[0] = INT64_C(1) << 31;
        return TAPER_TOO_LARGE;
    case LENGTH_FAR:
        a.length_stride = INT64_MAX / 8;
        length->strides = &a.length_stride;
        return TAPER_BAD_STRIDE;
    case DIMS_NEGATIVE:
        a.dims[0] = 0;
        a.dims[1] = -3;
        return TAPER_BAD_SHAPE;
    case DIMS_LARGE:
        a.dims[0] = a.dims[1] = INT64_C(1) << 32;
        return TAPER_TOO_LARGE;
    case OUTPUT_TYPE:
        a.dsts[DST].type = TAPER_F32;
        return TAPER_TYPE_MISMATCH;
    case OUTPUT_DIMENSIONS:
        a.dst_shape[0] = 1;
        return TAPER_SHAPE_MISMATCH;
    case OUTPUT_RANK:
        a.dsts[DST].rank = 1;
        return TAPER_SHAPE_MISMATCH;
    case DIMS_ZERO:
        a.dims[0] = a.dst_shape[0] = 0;
        return TAPER_OK;
    case VALUE_NO_DATA:
        a.value.data = NULL;
        return TAPER_NULL;
    case NO_ROOM:
        a.room = 1;
        return TAPER_TOO_LARGE;
    case NO_DIMS:
        a.made_dims_at = NULL;
        return TAPER_NULL;
    case NO_MADE:
        a.made_at = NULL;
        return TAPER_NULL;
    default:
        return NOT_HERE;
    }
}

static int put_in_value(enum fault fault)
{
    switch ((int)fault) {
    case NO_OUTPUT:
        a.output_at = NULL;
        return TAPER_NULL;
    case NO_INPUT:
        a.input_at = NULL;
        return TAPER_NULL;
    case KIND_UNKNOWN:
        a.input.kind = (taper_kind)4;
        return TAPER_BAD_KIND;
    case COUNT_WRONG:
        a.input.kind = TAPER_OPTIONAL_TENSOR;
        a.input.absent = 0;
        a.input.count = 2;
        return TAPER_BAD_KIND;
    case SEQUENCE_ABSENT:
        a.input.kind = TAPER_SEQUENCE;
        a.input.absent = 1;
        return TAPER_BAD_KIND;
    case INPUT_UNKNOWN:
        a.input.type = (taper_dtype)0;
        return TAPER_BAD_DTYPE;
    case INPUT_UNSUPPORTED: /* of an optional or a sequence, by any version */
        a.input.type = TAPER_F8E8M0;
        return TAPER_UNSUPPORTED;
    case INPUT_TOO_NEW:
        a.opset = 13;
        return TAPER_TYPE_TOO_NEW;
    case KINDS_DIFFER:
        a.output.kind = TAPER_OPTIONAL_SEQUENCE;
        return TAPER_TYPE_MISMATCH;
    case VALUE_TYPES_DIFFER:
        a.output.type = TAPER_I8;
        return TAPER_TYPE_MISMATCH;
    case OUTPUT_COUNT_WRONG: /* or, of a sequence, not absent */
        a.output.absent = a.output.kind == TAPER_SEQUENCE;
        a.output.count = 2;
        return TAPER_BAD_KIND;
    case OUTPUT_ABSENT:
        a.output.absent = 1;
        a.input.absent = 0;
        return TAPER_SHAPE_MISMATCH;
    case COUNTS_DIFFER:
        a.output.count = 1;
        return TAPER_SHAPE_MISMATCH;
    case ABSENT:
        a.output.absent = a.input.absent = 2;
        return TAPER_OK;
    case OUTPUT_NO_TENSORS:
        a.output.tensors = NULL;
        return TAPER_NULL;
    case INPUT_NO_TENSORS:
        a.input.tensors = NULL;
        return TAPER_NULL;
    case NO_MADE_VALUE:
        a.made_value_at = NULL;
        return TAPER_NULL;
    case DST_OF_OTHER_TYPE:
        a.dsts[DST].type = TAPER_I32;
        return TAPER_TYPE_MISMATCH;
    case SRC_OF_OTHER_TYPE:
        a.srcs[SRC].type = TAPER_I32;
        return TAPER_TYPE_MISMATCH;
    default:
        return NOT_HERE;
    }
}

static int put_in_strings(enum fault fault)
{
    switch ((int)fault) {
    case DST_NO_OFFSETS:
        a.to_text.offsets = NULL;
        return TAPER_NULL;
    case SRC_NO_OFFSETS:
        a.from_text.offsets = NULL;
        return TAPER_NULL;
    case DST_GAPS:
        a.dst_strides[0] = a.dst_strides[1] = 2;
        a.dsts[DST].strides = a.dst_strides;
        return TAPER_BAD_STRIDE;
    case SRC_GAPS:
        a.src_strides[0] = a.src_strides[1] = -1;
        a.srcs[SRC].strides = a.src_strides;
        return TAPER_BAD_STRIDE;
    case OFFSETS_FALL:
        a.from_offsets[1] = 4;
        return TAPER_BAD_OFFSETS;
    case OFFSETS_NEGATIVE:
        a.from_offsets[0] = -1;
        return TAPER_BAD_OFFSETS;
    case OFFSETS_OUT:
        a.from_offsets[2] = 4;
        return TAPER_BAD_OFFSETS;
    case TO_SMALL:
        a.to_text.size = 2;
        return TAPER_BAD_OFFSETS;
    case TO_NO_BYTES:
        a.to_text.bytes = NULL;
        return TAPER_NULL;
    case FROM_NO_BYTES:
        a.from_text.bytes = NULL;
        return TAPER_NULL;
    case OFFSETS_OVERLAP:
        a.to_text.offsets = a.from_offsets + 1;
        return TAPER_OVERLAP;
    case BYTES_OVERLAP:
        a.to_text.bytes = a.from_bytes + 2;
        return TAPER_OVERLAP;
    case OFFSETS_OVER_BYTES:
        a.to_text.offsets = a.from_bytes + 2;
        return TAPER_OVERLAP;
    case BYTES_OVER_OFFSETS:
        a.to_text.bytes = (char *)a.from_offsets + 23;
        return TAPER_OVERLAP;
    case OWN_OFFSETS_OVER_BYTES:
        a.to_text.bytes = a.to_offsets;
        return TAPER_OVERLAP;
    default:
        return NOT_HERE;
    }
}

static int put_in_cast(enum fault fault)
{
    switch ((int)fault) {
    case DST_TOO_NEW:
        a.dsts[DST].type = TAPER_F4E2M1;
        a.opset = 22;
        return TAPER_TYPE_TOO_NEW;
    case SRC_TOO_NEW:
        a.srcs[SRC].type = TAPER_F8E4M3FN;
        a.opset = 18;
        return TAPER_TYPE_TOO_NEW;
    case TO_TOO_NEW:
        a.to = TAPER_F4E2M1;
        a.opset = 22;
        return TAPER_TYPE_TOO_NEW;
    case SATURATE_TOO_NEW:
        a.options = (taper_cast_options){TAPER_NO_SATURATE, TAPER_ROUND_UP};
        a.opset = 18;
        return TAPER_BAD_OPTION;
    case ROUND_MODE_TOO_NEW:
        a.options = (taper_cast_options){TAPER_SATURATE, TAPER_ROUND_DOWN};
        a.opset = 23;
        return TAPER_BAD_OPTION;
    case OUTPUT_LARGE: /* as double, not as float */
        a.to = TAPER_F64;
        a.src_shape[0] = PTRDIFF_MAX / 8 + 1;
        a.src_shape[1] = 1;
        return TAPER_TOO_LARGE;
#ifdef WITH_DLPACK
    case DL_NONE:
        a.dl_at = NULL;
        return TAPER_NULL;
    case DL_DEVICE:
        a.dl.device.device_type = kDLCUDA;
        return TAPER_UNSUPPORTED;
    case DL_TYPE:
        a.dl.dtype.lanes = 4;
        return TAPER_UNSUPPORTED;
    case DL_OFFSET:
        a.dl.byte_offset = UINT64_MAX;
        return TAPER_TOO_LARGE;
    case DL_NO_STRIDES:
        a.dl_strides_at = NULL;
        return TAPER_NULL;
#endif
    default:
        return NOT_HERE;
    }
}

static taper_status put(enum fault fault)
{
    static int (*const groups[])(enum fault fault) = {
        put_in_array, put_in_tensor,  put_in_constant,
        put_in_value, put_in_strings, put_in_cast,
    };
    int status = NOT_HERE;
    for (size_t i = 0; i < sizeof groups / sizeof *groups && status == NOT_HERE; i++)
        status = groups[i](fault);
    return (taper_status)status;
}

/* ---- Functions ---- */

static taper_status call_fill(void)
{
    return taper_fill(a.to, a.dst, a.n, a.src);
}

static taper_status call_copy(void)
{
    return taper_copy(a.to, a.dst, a.src, a.n);
}

static taper_status call_narrow(void)
{
    return taper_narrow(a.to, a.dst, a.src, a.n, &a.options);
}

static taper_status call_widen(void)
{
    return taper_widen(a.to, a.dst, a.src, a.n);
}

static taper_status call_cast(void)
{
    return taper_cast(a.to, a.dst, a.from, a.src, a.n, &a.options);
}

static taper_status call_tensor_bytes(void)
{
    return taper_tensor_bytes(a.dst_at, a.bytes_at);
}

static taper_status call_tensor_fill(void)
{
    return taper_tensor_fill(a.dst_at, a.src);
}

static taper_status call_tensor_copy(void)
{
    return taper_tensor_copy(a.dst_at, a.src_at);
}

static taper_status call_tensor_cast(void)
{
    return taper_tensor_cast(a.dst_at, a.src_at, &a.options);
}

static taper_status call_constant(void)
{
    return taper_onnx_constant_of_shape(a.opset, a.dst_at, a.src_at, a.value_at);
}

static taper_status call_constant_infer(void)
{
    return taper_onnx_constant_of_shape_infer(
        a.opset, a.made_at, a.bytes_at, a.made_dims_at, a.room, a.src_at, a.value_at);
}

static taper_status call_identity(void)
{
    return taper_onnx_identity(a.opset, a.output_at, a.input_at);
}

static taper_status call_identity_infer(void)
{
    return taper_onnx_identity_infer(a.opset, a.made_value_at, a.made_at, a.bytes_at,
                                     a.input_at);
}

static taper_status call_onnx_cast(void)
{
    return taper_onnx_cast(a.opset, a.dst_at, a.src_at, &a.options);
}

static taper_status call_onnx_cast_infer(void)
{
    return taper_onnx_cast_infer(a.opset, a.made_at, a.bytes_at, a.to, a.src_at,
                                 &a.options);
}

#ifdef WITH_DLPACK
static void set_dlpack(void)
{
    set_numbers();
    memset(&a.dl, 0, sizeof a.dl);
    a.dl.data = a.in;
    a.dl.device.device_type = kDLCPU;
    a.dl.ndim = 2;
    a.dl.dtype = taper_dtype_to_dlpack(TAPER_F32);
    a.dl.shape = a.src_shape;
}

static taper_status call_from_dlpack(void)
{
    return taper_from_dlpack(a.dl_at, a.made_at);
}

static taper_status call_to_dlpack(void)
{
    return taper_to_dlpack(a.dst_at, a.dl_strides_at, a.dl_at);
}
#endif

/* What the headers say of each, in their order; 0 ends the list. */
enum { MOST_FAULTS = 48 };

static const struct function {
    const char *name;
    void (*set)(void);
    taper_status (*call)(void);
    enum fault faults[MOST_FAULTS];
} functions[] = {
    {"taper_fill",
     set_equal_types,
     call_fill,
     {TO_UNKNOWN, TO_STRING, N_LARGE, N_ZERO, DST_NULL, SRC_NULL}},
    {"taper_copy",
     set_equal_types,
     call_copy,
     {TO_UNKNOWN, TO_STRING, N_LARGE, N_ZERO, DST_NULL, SRC_NULL, ARRAYS_OVERLAP}},
    {"taper_narrow",
     set_numbers,
     call_narrow,
     {TO_UNKNOWN, TO_STRING, TO_INTEGER, OVERFLOW_UNKNOWN, ROUNDING_UNKNOWN, N_LARGE,
      N_ZERO, DST_NULL, SRC_NULL, ARRAYS_OVERLAP}},
    {"taper_widen",
     set_numbers,
     call_widen,
     {TO_UNKNOWN, TO_STRING, TO_INTEGER, N_LARGE, N_ZERO, DST_NULL, SRC_NULL,
      ARRAYS_OVERLAP}},
    {"taper_cast",
     set_numbers,
     call_cast,
     {TO_UNKNOWN, FROM_UNKNOWN, TO_STRING, TO_INTEGER, FROM_INTEGER, OVERFLOW_UNKNOWN,
      ROUNDING_UNKNOWN, N_LARGE, N_ZERO, DST_NULL, SRC_NULL, ARRAYS_OVERLAP}},
    {"taper_cast, equal types",
     set_equal_types,
     call_cast,
     {TO_UNKNOWN, FROM_UNKNOWN, TO_STRING, TO_INTEGER, FROM_INTEGER, OVERFLOW_UNKNOWN,
      ROUNDING_UNKNOWN, N_LARGE, N_ZERO, DST_NULL, SRC_NULL, ARRAYS_OVERLAP}},
    {"taper_tensor_bytes",
     set_numbers,
     call_tensor_bytes,
     {DST_NO_TENSOR, DST_NO_SHAPE, NO_BYTES, DST_UNKNOWN, DST_STRING, DST_RANK,
      DST_NEGATIVE, DST_LARGE, DST_LARGE_BYTES}},
    {"taper_tensor_fill",
     set_numbers,
     call_tensor_fill,
     {DST_NO_TENSOR, DST_NO_SHAPE, DST_UNKNOWN, DST_STRING, DST_RANK, DST_NEGATIVE,
      DST_LARGE, DST_LARGE_BYTES, EMPTY, DST_NO_DATA, SRC_NULL, DST_MEETS, DST_FAR,
      DST_PACKED_GAPS}},
    {"taper_tensor_copy",
     set_equal_types,
     call_tensor_copy,
     {DST_NO_TENSOR, DST_NO_SHAPE, DST_UNKNOWN,       DST_STRING,   DST_RANK,
      DST_NEGATIVE,  DST_LARGE,    SRC_NO_TENSOR,     SRC_NO_SHAPE, SRC_UNKNOWN,
      SRC_STRING,    SRC_RANK,     SRC_NEGATIVE,      SRC_LARGE,    SRC_LARGE_BYTES,
      TYPES_DIFFER,  RANKS_DIFFER, DIMENSIONS_DIFFER, EMPTY,        DST_NO_DATA,
      SRC_NO_DATA,   DST_MEETS,    DST_FAR,           SRC_FAR,      TENSORS_OVERLAP}},
    {"taper_tensor_cast",
     set_numbers,
     call_tensor_cast,
     {DST_NO_TENSOR,    DST_NO_SHAPE,     DST_UNKNOWN,  DST_STRING,
      DST_RANK,         DST_NEGATIVE,     DST_LARGE,    DST_LARGE_BYTES,
      SRC_NO_TENSOR,    SRC_NO_SHAPE,     SRC_UNKNOWN,  SRC_STRING,
      SRC_RANK,         SRC_NEGATIVE,     SRC_LARGE,    SRC_LARGE_BYTES,
      DST_INTEGER,      SRC_INTEGER,      RANKS_DIFFER, DIMENSIONS_DIFFER,
      OVERFLOW_UNKNOWN, ROUNDING_UNKNOWN, EMPTY,        DST_NO_DATA,
      SRC_NO_DATA,      DST_MEETS,        DST_FAR,      SRC_FAR,
      TENSORS_OVERLAP}},
    {"taper_onnx_constant_of_shape",
     set_constant,
     call_constant,
     {OPSET_OLD,         OPSET_NEW,      DST_NO_TENSOR, DST_NO_SHAPE,    SRC_NO_TENSOR,
      SRC_NO_SHAPE,      VALUE_NO_SHAPE, VALUE_UNKNOWN, VALUE_COMPLEX,   VALUE_TOO_NEW,
      VALUE_RANK,        VALUE_NEGATIVE, VALUE_TWO,     VALUE_NONE,      SRC_UNKNOWN,
      SRC_INTEGER,       LENGTH_RANK_0,  LENGTH_RANK_2, LENGTH_NEGATIVE, LENGTH_LARGE,
      SRC_NO_DATA,       LENGTH_FAR,     DIMS_NEGATIVE, DIMS_LARGE,      OUTPUT_TYPE,
      OUTPUT_DIMENSIONS, OUTPUT_RANK,    DIMS_ZERO,     DST_NO_DATA,     VALUE_NO_DATA,
      DST_MEETS,         DST_FAR}},
    {"taper_onnx_constant_of_shape_infer",
     set_constant,
     call_constant_infer,
     {OPSET_OLD,    OPSET_NEW,      NO_MADE,       NO_BYTES,        SRC_NO_TENSOR,
      SRC_NO_SHAPE, VALUE_NO_SHAPE, VALUE_UNKNOWN, VALUE_COMPLEX,   VALUE_TOO_NEW,
      VALUE_RANK,   VALUE_NEGATIVE, VALUE_TWO,     VALUE_NONE,      SRC_UNKNOWN,
      SRC_INTEGER,  LENGTH_RANK_0,  LENGTH_RANK_2, LENGTH_NEGATIVE, LENGTH_LARGE,
      SRC_NO_DATA,  LENGTH_FAR,     DIMS_NEGATIVE, DIMS_LARGE,      NO_ROOM,
      NO_DIMS}},
    {"taper_onnx_identity of a sequence",
     set_sequence,
     call_identity,
     {OPSET_OLD,
      OPSET_NEW,
      NO_OUTPUT,
      NO_INPUT,
      KIND_UNKNOWN,
      COUNT_WRONG,
      SEQUENCE_ABSENT,
      INPUT_UNKNOWN,
      INPUT_UNSUPPORTED,
      INPUT_TOO_NEW,
      KINDS_DIFFER,
      VALUE_TYPES_DIFFER,
      OUTPUT_COUNT_WRONG,
      COUNTS_DIFFER,
      OUTPUT_NO_TENSORS,
      INPUT_NO_TENSORS,
      DST_NO_SHAPE,
      DST_OF_OTHER_TYPE,
      SRC_NO_SHAPE,
      SRC_OF_OTHER_TYPE,
      DST_RANK,
      DST_NEGATIVE,
      DST_LARGE,
      SRC_RANK,
      SRC_NEGATIVE,
      SRC_LARGE,
      SRC_LARGE_BYTES,
      RANKS_DIFFER,
      DIMENSIONS_DIFFER,
      DST_NO_DATA,
      SRC_NO_DATA,
      DST_MEETS,
      DST_FAR,
      SRC_FAR,
      TENSORS_OVERLAP}},
    {"taper_onnx_identity of strings",
     set_strings,
     call_identity,
     {OPSET_OLD,
      OPSET_NEW,
      NO_OUTPUT,
      NO_INPUT,
      KIND_UNKNOWN,
      COUNT_WRONG,
      INPUT_UNKNOWN,
      INPUT_UNSUPPORTED,
      INPUT_TOO_NEW,
      KINDS_DIFFER,
      VALUE_TYPES_DIFFER,
      OUTPUT_COUNT_WRONG,
      OUTPUT_ABSENT,
      ABSENT,
      OUTPUT_NO_TENSORS,
      INPUT_NO_TENSORS,
      DST_NO_SHAPE,
      DST_OF_OTHER_TYPE,
      SRC_NO_SHAPE,
      SRC_OF_OTHER_TYPE,
      DST_RANK,
      DST_NEGATIVE,
      DST_LARGE,
      SRC_RANK,
      SRC_NEGATIVE,
      SRC_LARGE,
      RANKS_DIFFER,
      DIMENSIONS_DIFFER,
      EMPTY,
      DST_NO_DATA,
      DST_NO_OFFSETS,
      SRC_NO_DATA,
      SRC_NO_OFFSETS,
      DST_GAPS,
      SRC_GAPS,
      OFFSETS_FALL,
      OFFSETS_NEGATIVE,
      OFFSETS_OUT,
      TO_SMALL,
      TO_NO_BYTES,
      FROM_NO_BYTES,
      OFFSETS_OVERLAP,
      BYTES_OVERLAP,
      OFFSETS_OVER_BYTES,
      BYTES_OVER_OFFSETS,
      OWN_OFFSETS_OVER_BYTES}},
    {"taper_onnx_identity_infer of a sequence",
     set_sequence,
     call_identity_infer,
     {OPSET_OLD, OPSET_NEW, NO_MADE_VALUE, NO_INPUT, KIND_UNKNOWN, COUNT_WRONG,
      SEQUENCE_ABSENT, INPUT_UNKNOWN, INPUT_UNSUPPORTED, INPUT_TOO_NEW, NO_MADE,
      NO_BYTES, INPUT_NO_TENSORS, SRC_NO_SHAPE, SRC_OF_OTHER_TYPE, SRC_RANK,
      SRC_NEGATIVE, SRC_LARGE, SRC_LARGE_BYTES}},
    {"taper_onnx_identity_infer of strings",
     set_strings,
     call_identity_infer,
     {OPSET_OLD,     OPSET_NEW,         NO_MADE_VALUE,  NO_INPUT,
      KIND_UNKNOWN,  COUNT_WRONG,       INPUT_UNKNOWN,  INPUT_UNSUPPORTED,
      INPUT_TOO_NEW, NO_MADE,           NO_BYTES,       INPUT_NO_TENSORS,
      SRC_NO_SHAPE,  SRC_OF_OTHER_TYPE, SRC_RANK,       SRC_NEGATIVE,
      SRC_LARGE,     SRC_NO_DATA,       SRC_NO_OFFSETS, SRC_GAPS,
      OFFSETS_FALL,  OFFSETS_NEGATIVE,  OFFSETS_OUT,    FROM_NO_BYTES}},
    {"taper_onnx_cast",
     set_numbers,
     call_onnx_cast,
     {OPSET_OLD,
      OPSET_NEW,
      DST_NO_TENSOR,
      DST_NO_SHAPE,
      SRC_NO_TENSOR,
      SRC_NO_SHAPE,
      DST_UNKNOWN,
      SRC_UNKNOWN,
      DST_STRING,
      SRC_STRING,
      DST_INTEGER,
      SRC_INTEGER,
      OVERFLOW_UNKNOWN,
      ROUNDING_UNKNOWN,
      DST_TOO_NEW,
      SRC_TOO_NEW,
      SATURATE_TOO_NEW,
      ROUND_MODE_TOO_NEW,
      DST_RANK,
      DST_NEGATIVE,
      DST_LARGE,
      DST_LARGE_BYTES,
      SRC_RANK,
      SRC_NEGATIVE,
      SRC_LARGE,
      SRC_LARGE_BYTES,
      RANKS_DIFFER,
      DIMENSIONS_DIFFER,
      EMPTY,
      DST_NO_DATA,
      SRC_NO_DATA,
      DST_MEETS,
      DST_FAR,
      SRC_FAR,
      TENSORS_OVERLAP}},
    {"taper_onnx_cast_infer",
     set_numbers,
     call_onnx_cast_infer,
     {OPSET_OLD,        OPSET_NEW,          NO_MADE,     NO_BYTES,
      SRC_NO_TENSOR,    SRC_NO_SHAPE,       TO_UNKNOWN,  SRC_UNKNOWN,
      TO_STRING,        SRC_STRING,         TO_INTEGER,  SRC_INTEGER,
      OVERFLOW_UNKNOWN, ROUNDING_UNKNOWN,   TO_TOO_NEW,  SRC_TOO_NEW,
      SATURATE_TOO_NEW, ROUND_MODE_TOO_NEW, SRC_RANK,    SRC_NEGATIVE,
      SRC_LARGE,        SRC_LARGE_BYTES,    OUTPUT_LARGE}},
#ifdef WITH_DLPACK
    {"taper_from_dlpack",
     set_dlpack,
     call_from_dlpack,
     {DL_NONE, NO_MADE, DL_DEVICE, DL_TYPE, DL_OFFSET}},
    {"taper_to_dlpack",
     set_dlpack,
     call_to_dlpack,
     {DST_NO_TENSOR, DST_NO_SHAPE, DST_UNKNOWN, DST_STRING, DST_RANK, DST_NEGATIVE,
      DST_LARGE, DST_LARGE_BYTES, DL_NONE, DL_NO_STRIDES}},
#endif
};

/* ---- The test ---- */

static unsigned calls, seen[17]; /* by status below zero */

/* With the faults at `first` and `second`, and all after that if `more`. They are put
 * in from the last on, so that none hides one before it. */
static void check(const struct function *f, int first, int second, bool more)
{
    static struct arguments before;
    f->set();
    for (int i = MOST_FAULTS - 1; i > second && more; i--)
        if (f->faults[i] != NO_FAULT)
            put(f->faults[i]);
    put(f->faults[second]);
    const taper_status want = put(f->faults[first]);
    memcpy(&before, &a, sizeof a);
    const taper_status status = f->call();
    if (status != want || memcmp(&before, &a, sizeof a) != 0)
        fail_msg("%s: faults %d and %d of its list%s: %s, where it should be: %s%s",
                 f->name, first, second, more ? " and those after them" : "",
                 taper_status_text(status), taper_status_text(want),
                 status == want ? "; and something was written" : "");
    seen[-status]++;
    calls++;
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *const f = &functions[i];
        static struct arguments before;
        int count = 0;
        while (f->faults[count] != NO_FAULT)
            count++;
        f->set();
        memcpy(&before, &a, sizeof a);
        if (f->call() != TAPER_OK || memcmp(&before, &a, sizeof a) == 0)
            fail_msg("%s: nothing is done without a fault", f->name);
        calls = 0;
        for (int first = 0; first < count; first++)
            for (int second = first; second < count; second++) {
                check(f, first, second, false);
                check(f, first, second, true);
            }
        print_message("%s: %d faults, %u calls\n", f->name, count, calls);
    }
    for (int status = 1; status <= 16; status++)
        if (seen[status] == 0 && -status != TAPER_BAD_ISA)
            fail_msg("%d is never reported", -status);
}

/* The settings: what is refused leaves all of them as they were. */
static void test_settings(void **state)
{
    (void)state;
    const char *const isa = taper_isa();
    assert_int_equal(taper_set_max_threads(3), TAPER_OK);
    for (int which = 0; which < 3; which++)
        assert_int_equal(taper_set_threshold_bytes((taper_threshold)which, 1000), 0);

    assert_int_equal(taper_use_isa(""), TAPER_BAD_ISA);
    assert_int_equal(taper_use_isa("AVX2"), TAPER_BAD_ISA);
    assert_int_equal(taper_use_isa("scalar "), TAPER_BAD_ISA);
    assert_int_equal(taper_set_max_threads(-1), TAPER_BAD_OPTION);
    assert_int_equal(taper_set_max_threads(INT32_MIN), TAPER_BAD_OPTION);
    assert_int_equal(taper_set_threshold_bytes((taper_threshold)3, 7),
                     TAPER_BAD_OPTION);
    assert_int_equal(taper_set_threshold_bytes((taper_threshold)-1, 7),
                     TAPER_BAD_OPTION);

    assert_string_equal(taper_isa(), isa);
    assert_int_equal(taper_max_threads(), 3);
    for (int which = 0; which < 3; which++)
        assert_int_equal(taper_threshold_bytes((taper_threshold)which), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
