/* dtype.c - names and sizes of element types. */
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
