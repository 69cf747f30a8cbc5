/* onnx_types.c - which version of an operator takes which types, as the operator pages
 * of ONNX have it. A type once taken is taken by all later versions, so a table lists
 * what each version added. */
#include "onnx_types.h"

#include "dtype.h"

#define BIT(type) (UINT32_C(1) << (type))

#define INTEGERS                                                                       \
    (BIT(TAPER_I8) | BIT(TAPER_I16) | BIT(TAPER_I32) | BIT(TAPER_I64) |                \
     BIT(TAPER_U8) | BIT(TAPER_U16) | BIT(TAPER_U32) | BIT(TAPER_U64))
#define FLOATS (BIT(TAPER_F16) | BIT(TAPER_F32) | BIT(TAPER_F64))
#define FLOAT8S                                                                        \
    (BIT(TAPER_F8E4M3FN) | BIT(TAPER_F8E4M3FNUZ) | BIT(TAPER_F8E5M2) |                 \
     BIT(TAPER_F8E5M2FNUZ))

enum { KINDS = TAPER_OPTIONAL_SEQUENCE + 1 };

struct version {
    int number;
    uint32_t added[KINDS]; /* a BIT for each type */
};

static const struct version constant_of_shape[] = {
    {9, {INTEGERS | FLOATS | BIT(TAPER_BOOL)}},
    {20, {BIT(TAPER_BF16) | FLOAT8S}},
    {21, {BIT(TAPER_U4) | BIT(TAPER_I4)}},
    {23, {BIT(TAPER_F4E2M1)}},
    {24, {BIT(TAPER_F8E8M0)}},
    {25, {BIT(TAPER_U2) | BIT(TAPER_I2)}},
};

/* What Identity began with, and all that it ever took in sequences and optionals. */
#define FIRST                                                                          \
    (INTEGERS | FLOATS | BIT(TAPER_BOOL) | BIT(TAPER_STRING) | BIT(TAPER_C64) |        \
     BIT(TAPER_C128))

static const struct version identity[] = {
    {1, {FIRST}},
    {13, {BIT(TAPER_BF16)}},
    {14, {[TAPER_SEQUENCE] = FIRST}},
    {16, {[TAPER_OPTIONAL_TENSOR] = FIRST, [TAPER_OPTIONAL_SEQUENCE] = FIRST}},
    {19, {FLOAT8S}},
    {21, {BIT(TAPER_U4) | BIT(TAPER_I4)}},
    {23, {BIT(TAPER_F4E2M1)}},
    {24, {BIT(TAPER_F8E8M0)}},
    {25, {BIT(TAPER_U2) | BIT(TAPER_I2)}},
};

/* From and to alike. 1 and 6 are left out: see taper_onnx_version(). */
static const struct version cast[] = {
    {9, {INTEGERS | FLOATS | BIT(TAPER_BOOL) | BIT(TAPER_STRING)}},
    {13, {BIT(TAPER_BF16)}},
    {19, {FLOAT8S}},
    {21, {BIT(TAPER_U4) | BIT(TAPER_I4)}},
    {23, {BIT(TAPER_F4E2M1)}},
    {24, {BIT(TAPER_F8E8M0)}},
    {25, {BIT(TAPER_U2) | BIT(TAPER_I2)}},
};

#define LIST(versions) versions, sizeof(versions) / sizeof *(versions)

static const struct {
    const char *name;
    const struct version *versions;
    size_t count;
} operators[] = {
    [TAPER_ONNX_CONSTANT_OF_SHAPE] = {"ConstantOfShape", LIST(constant_of_shape)},
    [TAPER_ONNX_IDENTITY] = {"Identity", LIST(identity)},
    [TAPER_ONNX_CAST] = {"Cast", LIST(cast)},
};

static bool known(taper_onnx_op op)
{
    return (unsigned)op < sizeof operators / sizeof *operators;
}

const char *taper_onnx_name(taper_onnx_op op)
{
    return known(op) ? operators[op].name : NULL;
}

int taper_onnx_version(taper_onnx_op op, int64_t opset)
{
    int version = 0;
    if (!known(op) || opset > TAPER_ONNX_NEWEST_OPSET)
        return 0;
    for (size_t i = 0; i < operators[op].count; i++)
        if (operators[op].versions[i].number <= opset)
            version = operators[op].versions[i].number;
    return version;
}

int taper_onnx_since(taper_onnx_op op, taper_kind kind, taper_dtype type)
{
    if (!known(op) || (unsigned)kind >= KINDS || !taper_dtype_known(type))
        return 0;
    for (size_t i = 0; i < operators[op].count; i++)
        if (operators[op].versions[i].added[kind] & BIT(type))
            return operators[op].versions[i].number;
    return 0;
}

taper_status taper_onnx_takes(taper_onnx_op op, int version, taper_kind kind,
                              taper_dtype type)
{
    if (!taper_dtype_known(type))
        return TAPER_BAD_DTYPE;
    const int since = taper_onnx_since(op, kind, type);
    if (since == 0)
        return TAPER_UNSUPPORTED;
    return since <= version ? TAPER_OK : TAPER_TYPE_TOO_NEW;
}
