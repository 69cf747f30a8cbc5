/* dtype.c - names and sizes of element types, texts of statuses, the version. */
#include "dtype.h"

#include <string.h>

const struct taper_dtype_info taper_dtypes[TAPER_DTYPE_COUNT] = {
    [TAPER_F32] = {"float", 32, 5},
    [TAPER_U8] = {"uint8", 8, 3},
    [TAPER_I8] = {"int8", 8, 3},
    [TAPER_U16] = {"uint16", 16, 4},
    [TAPER_I16] = {"int16", 16, 4},
    [TAPER_I32] = {"int32", 32, 5},
    [TAPER_I64] = {"int64", 64, 6},
    [TAPER_STRING] = {"string", 0, 0},
    [TAPER_BOOL] = {"bool", 8, 3},
    [TAPER_F16] = {"float16", 16, 4},
    [TAPER_F64] = {"double", 64, 6},
    [TAPER_U32] = {"uint32", 32, 5},
    [TAPER_U64] = {"uint64", 64, 6},
    [TAPER_C64] = {"complex64", 64, 6},
    [TAPER_C128] = {"complex128", 128, 7},
    [TAPER_BF16] = {"bfloat16", 16, 4},
    [TAPER_F8E4M3FN] = {"float8e4m3fn", 8, 3},
    [TAPER_F8E4M3FNUZ] = {"float8e4m3fnuz", 8, 3},
    [TAPER_F8E5M2] = {"float8e5m2", 8, 3},
    [TAPER_F8E5M2FNUZ] = {"float8e5m2fnuz", 8, 3},
    [TAPER_U4] = {"uint4", 4, 2},
    [TAPER_I4] = {"int4", 4, 2},
    [TAPER_F4E2M1] = {"float4e2m1", 4, 2},
    [TAPER_F8E8M0] = {"float8e8m0", 8, 3},
    [TAPER_U2] = {"uint2", 2, 1},
    [TAPER_I2] = {"int2", 2, 1},
};

size_t taper_dtype_bits(taper_dtype type)
{
    return taper_dtype_known(type) ? taper_dtypes[type].bits : 0;
}

const char *taper_dtype_name(taper_dtype type)
{
    return taper_dtype_known(type) ? taper_dtypes[type].name : NULL;
}

taper_dtype taper_dtype_from_name(const char *name)
{
    for (int type = 1; name != NULL && type < TAPER_DTYPE_COUNT; type++)
        if (strcmp(taper_dtypes[type].name, name) == 0)
            return (taper_dtype)type;
    return (taper_dtype)0;
}

const char *taper_status_text(taper_status status)
{
    switch (status) {
    case TAPER_OK:
        return "success";
    case TAPER_BAD_DTYPE:
        return "unknown element type";
    case TAPER_UNSUPPORTED:
        return "the operation does not take this element type";
    case TAPER_BAD_OPTION:
        return "option or setting out of range";
    case TAPER_TOO_LARGE:
        return "too many elements, bytes or dimensions";
    case TAPER_NULL:
        return "null pointer";
    case TAPER_OVERLAP:
        return "source and destination overlap";
    case TAPER_BAD_ISA:
        return "instruction set not available here";
    case TAPER_BAD_SHAPE:
        return "negative rank or dimension, or not the rank that is needed";
    case TAPER_BAD_STRIDE:
        return "strides out of range, not contiguous, or of a shared destination "
               "element";
    case TAPER_TYPE_MISMATCH:
        return "element types differ";
    case TAPER_SHAPE_MISMATCH:
        return "shapes differ";
    case TAPER_BAD_OPSET:
        return "operator set without this operator";
    case TAPER_TYPE_TOO_NEW:
        return "element type that a later version of the operator brought";
    case TAPER_NOT_ONE_ELEMENT:
        return "no or several elements where one is needed";
    case TAPER_BAD_KIND:
        return "unknown kind of value, or a wrong number of tensors for it";
    case TAPER_BAD_OFFSETS:
        return "offsets of strings fall, or lead out of the bytes";
    }
    return "unknown status";
}

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

const char *taper_version(void)
{
    return TEXT(TAPER_VERSION_MAJOR) "." TEXT(TAPER_VERSION_MINOR) "." TEXT(
        TAPER_VERSION_PATCH);
}
