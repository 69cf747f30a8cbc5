/* test_onnx_ops.c - the ONNX operators: every version with every type, the rules of the
 * operator pages, and what is refused, in which order, with nothing written. */
#include <stdio.h>

#include "support.h"
#include "taper/onnx.h"

enum { OPS = 3, KINDS = 4, TYPES = TAPER_I2 + 1, CANARY = 0xa5 };

static const taper_onnx_op ops[OPS] = {TAPER_ONNX_CONSTANT_OF_SHAPE,
                                       TAPER_ONNX_IDENTITY, TAPER_ONNX_CAST};

/* Arguments for comparison with `status`, named by the line in a failure. */
#define REFUSES(status, call) assert_int_equal(call, status)
#define ACCEPTS(call)         assert_int_equal(call, TAPER_OK)

/* ---- What the operator pages say ---- */

/* What a version added, and how many types it takes then. */
static const struct {
    taper_onnx_op op;
    taper_kind kind;
    int version;
    size_t count;
    const char *types;
} pages[] = {
    {TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR, 9, 12,
     "float16 float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"},
    {TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR, 20, 17,
     "bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR, 21, 19, "uint4 int4"},
    {TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR, 23, 20, "float4e2m1"},
    {TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR, 24, 21, "float8e8m0"},
    {TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR, 25, 23, "uint2 int2"},

    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 1, 15,
     "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float double string "
     "bool complex64 complex128"},
    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 13, 16, "bfloat16"},
    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 19, 20,
     "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 21, 22, "uint4 int4"},
    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 23, 23, "float4e2m1"},
    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 24, 24, "float8e8m0"},
    {TAPER_ONNX_IDENTITY, TAPER_TENSOR, 25, 26, "uint2 int2"},
    {TAPER_ONNX_IDENTITY, TAPER_SEQUENCE, 14, 15,
     "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float double string "
     "bool complex64 complex128"},
    {TAPER_ONNX_IDENTITY, TAPER_OPTIONAL_TENSOR, 16, 15,
     "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float double string "
     "bool complex64 complex128"},
    {TAPER_ONNX_IDENTITY, TAPER_OPTIONAL_SEQUENCE, 16, 15,
     "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float double string "
     "bool complex64 complex128"},

    {TAPER_ONNX_CAST, TAPER_TENSOR, 9, 13,
     "float16 float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
     "string"},
    {TAPER_ONNX_CAST, TAPER_TENSOR, 13, 14, "bfloat16"},
    {TAPER_ONNX_CAST, TAPER_TENSOR, 19, 18,
     "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {TAPER_ONNX_CAST, TAPER_TENSOR, 21, 20, "uint4 int4"},
    {TAPER_ONNX_CAST, TAPER_TENSOR, 23, 21, "float4e2m1"},
    {TAPER_ONNX_CAST, TAPER_TENSOR, 24, 22, "float8e8m0"},
    {TAPER_ONNX_CAST, TAPER_TENSOR, 25, 24, "uint2 int2"},
};
enum { PAGES = sizeof pages / sizeof *pages };

/* The version in force in operator sets 0 to 27. */
static const int versions[OPS][28] = {
    {0, 0, 0, 0, 0, 0, 0,  0,  0,  9,  9,  9,  9,  9,
     9, 9, 9, 9, 9, 9, 20, 21, 21, 23, 24, 25, 25, 0},
    {0,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  13,
     14, 14, 16, 16, 16, 19, 19, 21, 21, 23, 24, 25, 25, 0},
    {0,  0,  0,  0,  0,  0,  0,  0,  0,  9,  9,  9,  9,  13,
     13, 13, 13, 13, 13, 19, 19, 21, 21, 23, 24, 25, 25, 0},
};

/* Whether `name` is one of the words in `list`. */
static bool has_word(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

/* The first version that takes the type, 0 if none. */
static int first_version(taper_onnx_op op, taper_kind kind, taper_dtype type)
{
    const char *const name = taper_dtype_name(type);
    for (int i = 0; name != NULL && i < PAGES; i++)
        if (pages[i].op == op && pages[i].kind == kind &&
            has_word(pages[i].types, name))
            return pages[i].version;
    return 0;
}

static taper_status expected(taper_onnx_op op, int opset, taper_kind kind,
                             taper_dtype type)
{
    const int since = first_version(op, kind, type);
    if (opset < 0 || opset > 27 || versions[op][opset] == 0)
        return TAPER_BAD_OPSET;
    if ((int)type < 1 || (int)type >= TYPES)
        return TAPER_BAD_DTYPE;
    if (since == 0)
        return TAPER_UNSUPPORTED;
    return since <= versions[op][opset] ? TAPER_OK : TAPER_TYPE_TOO_NEW;
}

/* ---- The tables ---- */

static void test_versions(void **state)
{
    (void)state;
    for (int op = 0; op < OPS; op++) {
        for (int opset = 0; opset < 28; opset++)
            assert_int_equal(taper_onnx_version(ops[op], opset), versions[op][opset]);
        assert_int_equal(taper_onnx_version(ops[op], -1), 0);
        assert_int_equal(taper_onnx_version(ops[op], INT64_MIN), 0);
        assert_int_equal(taper_onnx_version(ops[op], INT64_MAX), 0);
        /* 9 in the low half */
        assert_int_equal(taper_onnx_version(ops[op], INT64_C(0x100000009)), 0);
    }
    assert_int_equal(TAPER_ONNX_NEWEST_OPSET, 26);
    assert_int_equal(taper_onnx_version((taper_onnx_op)3, 20), 0);
    assert_int_equal(taper_onnx_version((taper_onnx_op)-1, 20), 0);
    assert_string_equal(taper_onnx_name(ops[0]), "ConstantOfShape");
    assert_string_equal(taper_onnx_name(ops[1]), "Identity");
    assert_string_equal(taper_onnx_name(ops[2]), "Cast");
    assert_null(taper_onnx_name((taper_onnx_op)3));
    assert_null(taper_onnx_name((taper_onnx_op)-1));
}

static void test_since(void **state)
{
    (void)state;
    for (int op = 0; op < OPS; op++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int type = -1; type <= TYPES; type++)
                assert_int_equal(
                    taper_onnx_since(ops[op], (taper_kind)kind, (taper_dtype)type),
                    first_version(ops[op], (taper_kind)kind, (taper_dtype)type));
    assert_int_equal(taper_onnx_since((taper_onnx_op)3, TAPER_TENSOR, TAPER_F32), 0);
    assert_int_equal(
        taper_onnx_since(TAPER_ONNX_IDENTITY, (taper_kind)KINDS, TAPER_F32), 0);
    assert_int_equal(taper_onnx_since(TAPER_ONNX_IDENTITY, (taper_kind)-1, TAPER_F32),
                     0);
}

/* The numbers of types, so that a word misspelt in the table above is seen. */
static void test_counts(void **state)
{
    (void)state;
    for (int i = 0; i < PAGES; i++) {
        size_t count = 0;
        for (int type = 1; type < TYPES; type++) {
            const int since =
                taper_onnx_since(pages[i].op, pages[i].kind, (taper_dtype)type);
            count += since != 0 && since <= pages[i].version;
        }
        assert_int_equal(count, pages[i].count);
    }
}

/* ---- Every version with every type, by calls ---- */

static void check_constant_types(int opset, taper_dtype type)
{
    unsigned char element[16] = {0}, made[64];
    const int64_t three = 3, one = 1;
    const taper_tensor shape = {(void *)(uintptr_t)&three, TAPER_I64, 1, &one, NULL};
    const taper_tensor value = {element, type, 0, NULL, NULL};
    const taper_tensor output = {made, type, 1, &three, NULL};
    const taper_status want =
        expected(TAPER_ONNX_CONSTANT_OF_SHAPE, opset, TAPER_TENSOR, type);
    assert_int_equal(taper_onnx_constant_of_shape(opset, &output, &shape, &value),
                     want);

    taper_tensor inferred;
    int64_t dims[1];
    size_t bytes;
    assert_int_equal(taper_onnx_constant_of_shape_infer(opset, &inferred, &bytes, dims,
                                                        1, &shape, &value),
                     want);
    if (want == TAPER_OK) {
        assert_int_equal(inferred.type, type);
        assert_int_equal(bytes, (3 * taper_dtype_bits(type) + 7) / 8);
    }
}

static void check_identity_types(int opset, taper_kind kind, taper_dtype type)
{
    unsigned char from[16] = {0}, to[16];
    int64_t from_offsets[2] = {0, 1}, to_offsets[2];
    taper_strings from_strings = {from_offsets, from, 1};
    taper_strings to_strings = {to_offsets, to, 1};
    const bool strings = type == TAPER_STRING;
    const taper_tensor src = {strings ? (void *)&from_strings : from, type, 0, NULL,
                              NULL};
    const taper_tensor dst = {strings ? (void *)&to_strings : to, type, 0, NULL, NULL};
    const taper_value input = {kind, type, 0, 1, &src};
    const taper_value output = {kind, type, 0, 1, &dst};
    const taper_status want = expected(TAPER_ONNX_IDENTITY, opset, kind, type);
    assert_int_equal(taper_onnx_identity(opset, &output, &input), want);

    taper_value inferred;
    taper_tensor tensor;
    size_t bytes;
    assert_int_equal(
        taper_onnx_identity_infer(opset, &inferred, &tensor, &bytes, &input), want);
    if (want == TAPER_OK) {
        assert_int_equal(inferred.kind, kind);
        assert_int_equal(inferred.type, type);
        assert_int_equal(tensor.type, type);
        assert_int_equal(bytes, strings ? 1 : (taper_dtype_bits(type) + 7) / 8);
    }
}

static bool is_float(taper_dtype type)
{
    for (int i = 0; i < CAST_TYPES; i++)
        if (cast_types[i] == type)
            return true;
    return false;
}

static void check_cast_types(int opset, taper_dtype to, taper_dtype from)
{
    unsigned char in[16] = {0}, out[16];
    const taper_tensor input = {in, from, 0, NULL, NULL};
    const taper_tensor output = {out, to, 0, NULL, NULL};
    const taper_status by_to = expected(TAPER_ONNX_CAST, opset, TAPER_TENSOR, to);
    const taper_status by_from = expected(TAPER_ONNX_CAST, opset, TAPER_TENSOR, from);
    taper_status want = by_to == TAPER_OK ? by_from : by_to;
    if (by_to == TAPER_BAD_DTYPE || by_from == TAPER_BAD_DTYPE)
        want = TAPER_BAD_DTYPE;
    else if (want != TAPER_BAD_OPSET && !(is_float(to) && is_float(from)))
        want = TAPER_UNSUPPORTED;
    assert_int_equal(taper_onnx_cast(opset, &output, &input, NULL), want);

    taper_tensor inferred;
    size_t bytes;
    assert_int_equal(taper_onnx_cast_infer(opset, &inferred, &bytes, to, &input, NULL),
                     want);
    if (want == TAPER_OK) {
        assert_int_equal(inferred.type, to);
        assert_int_equal(bytes, (taper_dtype_bits(to) + 7) / 8);
    }
}

static void test_types(void **state)
{
    (void)state;
    for (int opset = -1; opset <= 28; opset++)
        for (int number = -1; number <= TYPES; number++) {
            const taper_dtype type = (taper_dtype)number;
            check_constant_types(opset, type);
            for (int kind = 0; kind < KINDS; kind++)
                check_identity_types(opset, (taper_kind)kind, type);
            for (int to = -1; to <= TYPES; to++)
                check_cast_types(opset, (taper_dtype)to, type);
        }
}

/* What a message that names both versions is made of. */
static void test_message(void **state)
{
    char text[100];
    const float one = 1;
    unsigned char out;
    const taper_tensor input = {(void *)(uintptr_t)&one, TAPER_F32, 0, NULL, NULL};
    const taper_tensor output = {&out, TAPER_F4E2M1, 0, NULL, NULL};
    (void)state;
    REFUSES(TAPER_TYPE_TOO_NEW, taper_onnx_cast(22, &output, &input, NULL));
    snprintf(text, sizeof text, "%s came with %s-%d, opset 22 has %s-%d",
             taper_dtype_name(output.type), taper_onnx_name(TAPER_ONNX_CAST),
             taper_onnx_since(TAPER_ONNX_CAST, TAPER_TENSOR, output.type),
             taper_onnx_name(TAPER_ONNX_CAST), taper_onnx_version(TAPER_ONNX_CAST, 22));
    assert_string_equal(text, "float4e2m1 came with Cast-23, opset 22 has Cast-21");
}

/* ---- ConstantOfShape ---- */

enum { MOST = 4096 };

/* A call, and room for what it makes. */
struct constant {
    int64_t dims[8], length; /* the input, and its shape */
    unsigned char element[16];
    int64_t value_dims[3];
    taper_tensor shape, value, output;
    unsigned char made[MOST];
    taper_tensor inferred;
    size_t bytes;
    int64_t inferred_dims[8];
};

static void set_constant(struct constant *c, taper_dtype type, int32_t rank,
                         const int64_t *dims)
{
    memset(c, CANARY, sizeof *c);
    for (int32_t k = 0; k < rank; k++)
        c->dims[k] = dims[k];
    c->length = rank;
    c->shape = (taper_tensor){c->dims, TAPER_I64, 1, &c->length, NULL};
    c->value_dims[0] = c->value_dims[1] = c->value_dims[2] = 1;
    c->value = (taper_tensor){c->element, type, 1, c->value_dims, NULL};
    c->output = (taper_tensor){c->made, type, rank, c->dims, NULL};
}

#define SET(c, type, ...)                                                              \
    set_constant(c, type,                                                              \
                 (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),        \
                 (const int64_t[]){__VA_ARGS__})

static bool untouched(const void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)at)[i] != CANARY)
            return false;
    return true;
}

static taper_status run_constant(struct constant *c)
{
    const taper_status status =
        taper_onnx_constant_of_shape(25, &c->output, &c->shape, &c->value);
    if (status != TAPER_OK)
        assert_true(untouched(c->made, sizeof c->made));
    return status;
}

static taper_status infer_constant(struct constant *c)
{
    memset(&c->inferred, CANARY, sizeof c->inferred);
    memset(&c->bytes, CANARY, sizeof c->bytes);
    memset(c->inferred_dims, CANARY, sizeof c->inferred_dims);
    const taper_status status = taper_onnx_constant_of_shape_infer(
        25, &c->inferred, &c->bytes, c->inferred_dims, 8, &c->shape, &c->value);
    if (status != TAPER_OK) {
        assert_true(untouched(&c->inferred, sizeof c->inferred));
        assert_true(untouched(&c->bytes, sizeof c->bytes));
        assert_true(untouched(c->inferred_dims, sizeof c->inferred_dims));
    }
    return status;
}

/* Both give `status`. */
static void check_constant(struct constant *c, taper_status status)
{
    assert_int_equal(infer_constant(c), status);
    assert_int_equal(run_constant(c), status);
}

/* The output is as inferred, holds `count` elements like c->element, and nothing is
 * written after it. */
static void check_made(struct constant *c, size_t count)
{
    const size_t bits = taper_dtype_bits(c->value.type);
    check_constant(c, TAPER_OK);
    assert_int_equal(c->inferred.type, c->value.type);
    assert_int_equal(c->inferred.rank, c->length);
    assert_null(c->inferred.data);
    assert_null(c->inferred.strides);
    assert_ptr_equal(c->inferred.shape, c->inferred_dims);
    for (int32_t k = 0; k < c->inferred.rank; k++)
        assert_int_equal(c->inferred.shape[k], c->dims[k]);
    assert_int_equal(c->bytes, (count * bits + 7) / 8);

    unsigned char want[MOST];
    memset(want, 0, sizeof want);
    for (size_t i = 0; i < count && bits < 8; i++)
        set_element(want, (unsigned)bits, i, c->element[0] & ((1u << bits) - 1));
    for (size_t i = 0; i < c->bytes && bits >= 8; i++)
        want[i] = c->element[i % (bits / 8)];
    assert_memory_equal(c->made, want, c->bytes);
    assert_true(untouched(c->made + c->bytes, sizeof c->made - c->bytes));
}

/* Every type; of the packed ones every size of a tail. The element is odd bits: 0xa5,
 * signalling NaNs among them. */
static void test_constant_types(void **state)
{
    (void)state;
    for (int type = 1; type < TYPES; type++) {
        if (first_version(TAPER_ONNX_CONSTANT_OF_SHAPE, TAPER_TENSOR,
                          (taper_dtype)type) == 0)
            continue;
        for (int64_t n = 0; n < 20; n++) {
            struct constant c;
            SET(&c, (taper_dtype)type, n, 3);
            check_made(&c, (size_t)n * 3);
        }
    }
}

static void test_constant_bits(void **state)
{
    static const struct {
        taper_dtype type;
        unsigned char element[8];
    } kept[] = {
        {TAPER_F32, {0x01, 0x00, 0x80, 0x7f}}, /* signalling NaN, either byte order */
        {TAPER_F32, {0x7f, 0x80, 0x00, 0x01}},
        {TAPER_F32, {0x00, 0x00, 0x00, 0x80}}, /* -0 */
        {TAPER_F32, {0x80, 0x00, 0x00, 0x00}},
        {TAPER_F64, {0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x7f}},
        {TAPER_F16, {0x01, 0x7c}},
        {TAPER_F16, {0x7c, 0x01}},
        {TAPER_BF16, {0x80, 0x00}},
        {TAPER_BF16, {0x00, 0x80}},
        {TAPER_F8E4M3FNUZ, {0x80}}, /* NaN */
        {TAPER_F8E5M2FNUZ, {0x80}},
        {TAPER_F8E5M2, {0x7d}},
        {TAPER_F8E8M0, {0xff}},
        {TAPER_F4E2M1, {0x08}}, /* -0 */
        {TAPER_F4E2M1, {0xf8}}, /* the high bits are not the element's */
        {TAPER_I2, {0xfe}},
        {TAPER_BOOL, {0x01}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        struct constant c;
        SET(&c, kept[i].type, 7, 3);
        memcpy(c.element, kept[i].element, sizeof kept[i].element);
        check_made(&c, 21);
    }
}

static void test_constant_shapes(void **state)
{
    struct constant c;
    (void)state;
    set_constant(&c, TAPER_F64, 0, NULL); /* an empty shape input: a scalar */
    check_made(&c, 1);
    set_constant(&c, TAPER_U4, 0, NULL);
    check_made(&c, 1);
    set_constant(&c, TAPER_F32, 0, NULL); /* and then its data is not looked at */
    c.shape.data = NULL;
    check_made(&c, 1);
    SET(&c, TAPER_F32, 1, 1, 1, 1);
    check_made(&c, 1);
    SET(&c, TAPER_I64, 2, 3, 4, 5);
    check_made(&c, 120);
    SET(&c, TAPER_F32, 0);
    check_made(&c, 0);
    SET(&c, TAPER_F32, 3, 0, 2);
    check_made(&c, 0);
    SET(&c, TAPER_F32, INT64_MAX, INT64_MAX, 0); /* empty, whatever the others are */
    check_made(&c, 0);
    SET(&c, TAPER_U2, 0, INT64_MAX, INT64_MAX);
    c.output.data = c.value.data = NULL;
    check_made(&c, 0);
}

/* A value of any rank, if it is one element; its strides do not matter. */
static void test_constant_value(void **state)
{
    static const int64_t strides[3] = {INT64_MAX, INT64_MIN, 0};
    struct constant c;
    (void)state;
    for (int32_t rank = 0; rank <= 3; rank++) {
        SET(&c, TAPER_I16, 5);
        c.value.rank = rank;
        if (rank == 0)
            c.value.shape = NULL;
        check_made(&c, 5);
        c.value.strides = strides;
        memset(c.made, CANARY, sizeof c.made);
        check_made(&c, 5);
        for (int32_t k = 0; k < rank; k++) {
            SET(&c, TAPER_I16, 5);
            c.value.rank = rank;
            c.value_dims[k] = 0;
            check_constant(&c, TAPER_NOT_ONE_ELEMENT);
            c.value_dims[k] = 2;
            check_constant(&c, TAPER_NOT_ONE_ELEMENT);
            c.value_dims[k] = INT64_MAX;
            check_constant(&c, TAPER_NOT_ONE_ELEMENT);
            c.value_dims[k] = -1;
            check_constant(&c, TAPER_BAD_SHAPE);
        }
    }
    SET(&c, TAPER_I16, 5); /* two odd dimensions do not make an even one */
    c.value.rank = 2;
    c.value_dims[0] = INT64_C(1) << 32;
    c.value_dims[1] = INT64_C(1) << 32;
    check_constant(&c, TAPER_NOT_ONE_ELEMENT);
    SET(&c, TAPER_I16, 5);
    c.value.rank = -1;
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_I16, 0); /* the value is checked for an empty output, too */
    c.value_dims[0] = 2;
    check_constant(&c, TAPER_NOT_ONE_ELEMENT);
}

static void test_constant_default(void **state)
{
    static const unsigned char zeros[6 * sizeof(float)];
    struct constant c;
    (void)state;
    for (int opset = 9; opset <= 26; opset++) {
        SET(&c, TAPER_F32, 2, 3);
        ACCEPTS(taper_onnx_constant_of_shape_infer(opset, &c.inferred, &c.bytes,
                                                   c.inferred_dims, 2, &c.shape, NULL));
        assert_int_equal(c.inferred.type, TAPER_F32);
        assert_int_equal(c.bytes, sizeof zeros);
        ACCEPTS(taper_onnx_constant_of_shape(opset, &c.output, &c.shape, NULL));
        assert_memory_equal(c.made, zeros, sizeof zeros);
        assert_true(untouched(c.made + sizeof zeros, sizeof c.made - sizeof zeros));
    }
    SET(&c, TAPER_F64, 2);
    REFUSES(TAPER_TYPE_MISMATCH,
            taper_onnx_constant_of_shape(25, &c.output, &c.shape, NULL));
}

/* The input may be strided and at any address, the output of any layout. */
static void test_constant_layouts(void **state)
{
    static const int64_t backwards[1] = {-2}, columns[2] = {1, 4};
    char bytes[8 * 5 + 1];
    struct constant c;
    (void)state;

    const int64_t spread[5] = {4, -7, 3, -7, 2};
    memcpy(bytes + 1, spread, sizeof spread);
    SET(&c, TAPER_I32, 2, 3, 4);
    c.shape.data = bytes + 1 + 4 * sizeof(int64_t);
    c.shape.strides = backwards;
    check_made(&c, 24);

    static const unsigned char want[12] = {7,      7, CANARY, CANARY, 7,     7, CANARY,
                                           CANARY, 7, 7,      CANARY, CANARY};
    SET(&c, TAPER_U8, 2, 3);
    c.element[0] = 7;
    c.output.strides = columns;
    ACCEPTS(run_constant(&c));
    assert_memory_equal(c.made, want, sizeof want);
}

/* Value and shape inside the output. */
static void test_constant_inside(void **state)
{
    const int64_t length = 1, count = 6;
    int64_t data[6] = {9, 6, 7, 9, 9, 9};
    const taper_tensor shape = {&data[1], TAPER_I64, 1, &length, NULL};
    const taper_tensor value = {&data[2], TAPER_I64, 0, NULL, NULL};
    const taper_tensor output = {data, TAPER_I64, 1, &count, NULL};
    (void)state;
    ACCEPTS(taper_onnx_constant_of_shape(9, &output, &shape, &value));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(data[i], 7);
}

static void test_constant_errors(void **state)
{
    static const int64_t large = INT64_C(1) << 31, far_apart = INT64_MAX / 8,
                         lowest = INT64_MIN, none = 0, shared[2] = {0, 1};
    struct constant c;
    (void)state;

    /* The shape input. */
    SET(&c, TAPER_F32, 2, -1);
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_F32, 0, -1);
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_F32, INT64_MIN);
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_F32, 2, 3);
    c.shape.rank = 0;
    c.shape.shape = NULL;
    check_constant(&c, TAPER_BAD_SHAPE);
    c.shape.rank = -1;
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_F32, 2);
    c.shape.rank = 2;
    c.shape.shape = (const int64_t[]){1, 1};
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_F32, 2, 3);
    c.length = -1;
    check_constant(&c, TAPER_BAD_SHAPE);
    SET(&c, TAPER_F32, 2, 3);
    c.shape.type = TAPER_I32;
    check_constant(&c, TAPER_UNSUPPORTED);
    c.shape.type = TAPER_U64;
    check_constant(&c, TAPER_UNSUPPORTED);
    c.shape.type = (taper_dtype)27;
    check_constant(&c, TAPER_BAD_DTYPE);
    SET(&c, TAPER_F32, 2, 3);
    c.shape.shape = &large;
    check_constant(&c, TAPER_TOO_LARGE);
    SET(&c, TAPER_F32, 2, 3);
    c.shape.strides = &far_apart;
    check_constant(&c, TAPER_BAD_STRIDE);
    c.shape.strides = &lowest;
    check_constant(&c, TAPER_BAD_STRIDE);
    for (int64_t sign = -1; sign <= 1; sign += 2) { /* how far apart they may be */
        int64_t stride = sign * (INT64_MAX / 8 / 2);
        SET(&c, TAPER_F32, -1, 3); /* so that the second is not looked for */
        c.shape.strides = &stride;
        check_constant(&c, TAPER_BAD_SHAPE);
        stride += sign;
        check_constant(&c, TAPER_BAD_STRIDE);
    }
    SET(&c, TAPER_F32, -1); /* as many dimensions as there can be, if they were good */
    c.length = INT32_MAX;
    c.shape.strides = &none;
    check_constant(&c, TAPER_BAD_SHAPE);
    c.length++;
    check_constant(&c, TAPER_TOO_LARGE);
    SET(&c, TAPER_F32, 2); /* of one element it does not matter */
    c.shape.strides = &lowest;
    check_made(&c, 2);

    /* The product. */
    SET(&c, TAPER_F32, INT64_MAX / 4 + 1);
    check_constant(&c, TAPER_TOO_LARGE);
    SET(&c, TAPER_U8, INT64_MAX, 2);
    check_constant(&c, TAPER_TOO_LARGE);
    SET(&c, TAPER_U2, INT64_C(1) << 32, INT64_C(1) << 32); /* 0 by 64 bits */
    check_constant(&c, TAPER_TOO_LARGE);
    SET(&c, TAPER_F32, INT64_MAX / 4); /* fits */
    assert_int_equal(infer_constant(&c), TAPER_OK);
    assert_int_equal(c.bytes, INT64_MAX / 4 * 4);
    SET(&c, TAPER_U8, INT64_MAX, 1);
    assert_int_equal(infer_constant(&c), TAPER_OK);
    assert_int_equal(c.bytes, INT64_MAX);

    /* The output. */
    SET(&c, TAPER_F32, 2, 3);
    c.output.type = TAPER_I32;
    REFUSES(TAPER_TYPE_MISMATCH, run_constant(&c));
    c.output.type = (taper_dtype)99;
    REFUSES(TAPER_TYPE_MISMATCH, run_constant(&c));
    SET(&c, TAPER_F32, 2, 3);
    c.output.shape = (const int64_t[]){3, 2};
    REFUSES(TAPER_SHAPE_MISMATCH, run_constant(&c));
    c.output.rank = 1;
    REFUSES(TAPER_SHAPE_MISMATCH, run_constant(&c));
    c.output.rank = -2;
    REFUSES(TAPER_SHAPE_MISMATCH, run_constant(&c));
    SET(&c, TAPER_F32, 2, 3);
    c.output.strides = shared;
    REFUSES(TAPER_BAD_STRIDE, run_constant(&c));

    /* Null pointers. */
    SET(&c, TAPER_F32, 2, 3);
    c.shape.data = NULL;
    check_constant(&c, TAPER_NULL);
    c.length = 1;
    check_constant(&c, TAPER_NULL);
    SET(&c, TAPER_F32, 2, 3);
    c.shape.shape = NULL;
    check_constant(&c, TAPER_NULL);
    SET(&c, TAPER_F32, 2, 3);
    c.value.shape = NULL;
    check_constant(&c, TAPER_NULL);
    SET(&c, TAPER_F32, 2, 3);
    c.value.data = NULL;
    REFUSES(TAPER_NULL, run_constant(&c));
    ACCEPTS(infer_constant(&c));
    SET(&c, TAPER_F32, 2, 3);
    c.output.data = NULL;
    REFUSES(TAPER_NULL, run_constant(&c));
    c.output.shape = NULL;
    REFUSES(TAPER_NULL, run_constant(&c));
    SET(&c, TAPER_F32, 2, 3);
    REFUSES(TAPER_NULL, taper_onnx_constant_of_shape(25, NULL, &c.shape, &c.value));
    REFUSES(TAPER_NULL, taper_onnx_constant_of_shape(25, &c.output, NULL, &c.value));
    REFUSES(TAPER_NULL,
            taper_onnx_constant_of_shape_infer(25, NULL, &c.bytes, c.inferred_dims, 8,
                                               &c.shape, &c.value));
    REFUSES(TAPER_NULL,
            taper_onnx_constant_of_shape_infer(25, &c.inferred, NULL, c.inferred_dims,
                                               8, &c.shape, &c.value));
    REFUSES(TAPER_NULL, taper_onnx_constant_of_shape_infer(
                            25, &c.inferred, &c.bytes, NULL, 8, &c.shape, &c.value));
    REFUSES(TAPER_TOO_LARGE,
            taper_onnx_constant_of_shape_infer(25, &c.inferred, &c.bytes,
                                               c.inferred_dims, 1, &c.shape, &c.value));
    c.length = 1;
    REFUSES(TAPER_NULL, taper_onnx_constant_of_shape_infer(
                            25, &c.inferred, &c.bytes, NULL, 8, &c.shape, &c.value));
    assert_true(untouched(&c.inferred, sizeof c.inferred));
    assert_true(untouched(c.inferred_dims, sizeof c.inferred_dims));
    c.length = 0;
    ACCEPTS(taper_onnx_constant_of_shape_infer(25, &c.inferred, &c.bytes, NULL, 0,
                                               &c.shape, &c.value));
    assert_int_equal(c.bytes, sizeof(float));
}

/* Everything is wrong at first; what is reported is put right, and the next error has
 * to show. */
static void test_constant_order(void **state)
{
    static const int64_t far_apart[1] = {INT64_MAX}, no_stride[2] = {0, 0};
    const int64_t two = 2;
    int64_t bad_length = -1;
    struct constant c;
    int64_t opset = 27;
    (void)state;
    SET(&c, TAPER_F32, -1, 3);
    c.value = (taper_tensor){c.element, (taper_dtype)0, 1, NULL, NULL};
    c.shape = (taper_tensor){NULL, (taper_dtype)0, 1, NULL, far_apart};
    c.output = (taper_tensor){NULL, TAPER_F64, 1, NULL, no_stride};

#define NEXT(status)                                                                   \
    assert_int_equal(                                                                  \
        taper_onnx_constant_of_shape(opset, &c.output, &c.shape, &c.value), status)
    NEXT(TAPER_BAD_OPSET);
    opset = 19;
    NEXT(TAPER_NULL);
    c.output.shape = &two;
    NEXT(TAPER_NULL);
    c.shape.shape = &bad_length;
    NEXT(TAPER_NULL);
    c.value.shape = c.value_dims;
    c.value_dims[0] = -1;
    NEXT(TAPER_BAD_DTYPE);
    c.value.type = TAPER_C64;
    NEXT(TAPER_UNSUPPORTED);
    c.value.type = TAPER_BF16;
    NEXT(TAPER_TYPE_TOO_NEW);
    opset = 20;
    NEXT(TAPER_BAD_SHAPE);
    c.value_dims[0] = 0;
    NEXT(TAPER_NOT_ONE_ELEMENT);
    c.value_dims[0] = 1;
    NEXT(TAPER_BAD_DTYPE);
    c.shape.type = TAPER_F32;
    NEXT(TAPER_UNSUPPORTED);
    c.shape.type = TAPER_I64;
    NEXT(TAPER_BAD_SHAPE);
    bad_length = INT64_MAX;
    NEXT(TAPER_TOO_LARGE);
    bad_length = 2;
    NEXT(TAPER_NULL);
    c.shape.data = c.dims;
    NEXT(TAPER_BAD_STRIDE);
    c.shape.strides = NULL;
    NEXT(TAPER_BAD_SHAPE);
    c.dims[0] = INT64_MAX;
    NEXT(TAPER_TOO_LARGE);
    c.dims[0] = 2;
    NEXT(TAPER_TYPE_MISMATCH);
    c.output.type = TAPER_BF16;
    NEXT(TAPER_SHAPE_MISMATCH);
    c.output.rank = 2;
    c.output.shape = c.dims;
    NEXT(TAPER_NULL);
    c.output.data = c.made;
    c.value.data = NULL;
    NEXT(TAPER_NULL);
    c.value.data = c.element;
    NEXT(TAPER_BAD_STRIDE);
    assert_true(untouched(c.made, sizeof c.made));
    c.output.strides = NULL;
    NEXT(TAPER_OK);
#undef NEXT
}

/* ---- Identity of tensors ---- */

static taper_status copy_tensor(int64_t opset, const taper_tensor *dst,
                                const taper_tensor *src)
{
    const taper_value output = taper_value_of(dst), input = taper_value_of(src);
    return taper_onnx_identity(opset, &output, &input);
}

/* Every type with random bits; packed ones with rubbish in the last byte of the input,
 * from which the output is free. */
static void test_identity_types(void **state)
{
    uint64_t seed = 0x1de7;
    (void)state;
    for (int number = 1; number < TYPES; number++) {
        const taper_dtype type = (taper_dtype)number;
        const unsigned bits = (unsigned)taper_dtype_bits(type);
        if (bits == 0)
            continue;
        for (int64_t n = 0; n < 20; n++) {
            unsigned char from[320], to[320], want[320];
            const size_t bytes = array_bytes(bits, (size_t)n);
            for (size_t i = 0; i < sizeof from; i++)
                from[i] = (unsigned char)next_random(&seed);
            memset(to, CANARY, sizeof to);
            memset(want, CANARY, sizeof want);
            memcpy(want, from, bytes);
            if (n * bits % 8 != 0)
                want[bytes - 1] &= (unsigned char)((1u << n * bits % 8) - 1);
            const taper_tensor src = {from, type, 1, &n, NULL};
            const taper_tensor dst = {to, type, 1, &n, NULL};
            ACCEPTS(copy_tensor(26, &dst, &src));
            assert_memory_equal(to, want, sizeof to);

            ACCEPTS(copy_tensor(26, &src, &src)); /* in place */
            assert_memory_equal(from, want, bytes);
        }
    }
}

static void test_identity_layouts(void **state)
{
    static const int64_t shape[2] = {2, 3}, turned[2] = {1, 2}, twice[2] = {0, 1},
                         apart[2] = {6, 2};
    uint16_t from[6] = {0, 1, 2, 3, 4, 5}, to[6], both[13] = {0};
    taper_tensor src = {from, TAPER_BF16, 2, shape, turned};
    taper_tensor dst = {to, TAPER_BF16, 2, shape, NULL};
    (void)state;
    ACCEPTS(copy_tensor(13, &dst, &src));
    assert_memory_equal(to, ((const uint16_t[]){0, 2, 4, 1, 3, 5}), sizeof to);
    src.strides = twice; /* broadcast */
    ACCEPTS(copy_tensor(13, &dst, &src));
    assert_memory_equal(to, ((const uint16_t[]){0, 1, 2, 0, 1, 2}), sizeof to);
    dst.strides = twice;
    REFUSES(TAPER_BAD_STRIDE, copy_tensor(13, &dst, &src));

    /* Elements between those of the other. */
    src = (taper_tensor){both, TAPER_BF16, 2, shape, apart};
    dst = (taper_tensor){both + 1, TAPER_BF16, 2, shape, apart};
    ACCEPTS(copy_tensor(13, &dst, &src));
    dst.data = both + 2;
    REFUSES(TAPER_OVERLAP, copy_tensor(13, &dst, &src));
    dst.data = both;
    ACCEPTS(copy_tensor(13, &dst, &src));
    dst.strides = src.strides = NULL;
    dst.data = both + 1;
    REFUSES(TAPER_OVERLAP, copy_tensor(13, &dst, &src));

    const taper_tensor packed = {from, TAPER_U4, 2, shape, turned};
    dst = (taper_tensor){to, TAPER_U4, 2, shape, NULL};
    REFUSES(TAPER_BAD_STRIDE, copy_tensor(21, &dst, &packed));
}

/* Identity has to look at all tensors before it writes, so it repeats the checks of
 * taper_tensor_copy(). Both find the same in layouts of all sorts. */
static void test_identity_agrees(void **state)
{
    enum { SPAN = 96 };
    uint64_t seed = 0xa62ee5;
    size_t counts[4] = {0};
    (void)state;
    for (int round = 0; round < 200000; round++) {
        static unsigned char memory[3 * SPAN];
        int64_t shape[3], strides[2][3];
        for (int k = 0; k < 3; k++) {
            shape[k] = (int64_t)(next_random(&seed) % 4);
            strides[0][k] = (int64_t)(next_random(&seed) % 13) - 6;
            strides[1][k] = (int64_t)(next_random(&seed) % 13) - 6;
        }
        const taper_dtype type = next_random(&seed) % 4 == 0 ? TAPER_I2 : TAPER_I16;
        const taper_tensor dst = {memory + SPAN + next_random(&seed) % SPAN, type, 3,
                                  shape, round % 3 == 0 ? NULL : strides[0]};
        const taper_tensor src = {memory + SPAN + next_random(&seed) % SPAN, type, 3,
                                  shape, round % 5 == 0 ? NULL : strides[1]};
        const taper_status status = copy_tensor(25, &dst, &src);
        assert_int_equal(status, taper_tensor_copy(&dst, &src));
        counts[status == TAPER_OK           ? 0
               : status == TAPER_BAD_STRIDE ? 1
               : status == TAPER_OVERLAP    ? 2
                                            : 3]++;
    }
    for (int i = 0; i < 3; i++)
        assert_true(counts[i] > 10000);
    assert_int_equal(counts[3], 0);
}

static void test_identity_infer(void **state)
{
    static const int64_t shape[2] = {3, 5}, strides[2] = {0, -1};
    taper_tensor src = {NULL, TAPER_I4, 2, shape, strides}, made;
    taper_value input = taper_value_of(&src), output;
    size_t bytes;
    (void)state;
    ACCEPTS(taper_onnx_identity_infer(21, &output, &made, &bytes, &input));
    assert_int_equal(bytes, 8);
    assert_int_equal(output.kind, TAPER_TENSOR);
    assert_int_equal(output.type, TAPER_I4);
    assert_int_equal(output.absent, 0);
    assert_int_equal(output.count, 1);
    assert_ptr_equal(output.tensors, &made);
    assert_null(made.data);
    assert_int_equal(made.type, TAPER_I4);
    assert_int_equal(made.rank, 2);
    assert_ptr_equal(made.shape, shape);
    assert_null(made.strides);

    src.rank = 0; /* then no shape */
    ACCEPTS(taper_onnx_identity_infer(21, &output, &made, &bytes, &input));
    assert_int_equal(bytes, 1);
    assert_null(made.shape);
    src.rank = 2;

    ACCEPTS(taper_onnx_identity_infer(21, &input, &src, &bytes, &input)); /* itself */
    assert_ptr_equal(input.tensors, &src);
    assert_ptr_equal(src.shape, shape);
    assert_null(src.strides);
}

/* ---- Identity of strings ---- */

/* A tensor of up to four strings. */
struct text {
    int64_t offsets[5];
    char bytes[32];
    taper_strings strings;
    int64_t n;
    taper_tensor tensor;
};

static void set_text(struct text *t, int64_t n, const int64_t *offsets,
                     const char *bytes)
{
    memset(t, CANARY, sizeof *t);
    if (offsets != NULL)
        memcpy(t->offsets, offsets, (size_t)(n + 1) * sizeof *offsets);
    if (bytes != NULL)
        memcpy(t->bytes, bytes, strlen(bytes));
    t->strings = (taper_strings){t->offsets, t->bytes,
                                 bytes != NULL ? strlen(bytes) : sizeof t->bytes};
    t->n = n;
    t->tensor = (taper_tensor){&t->strings, TAPER_STRING, 1, &t->n, NULL};
}

/* Both are refused, or not; nothing is written then. */
static void check_text(struct text *src, taper_status status)
{
    struct text dst;
    taper_tensor made;
    taper_value output;
    const taper_value input = taper_value_of(&src->tensor);
    size_t bytes;
    set_text(&dst, src->n, NULL, NULL);
    assert_int_equal(copy_tensor(1, &dst.tensor, &src->tensor), status);
    assert_int_equal(taper_onnx_identity_infer(1, &output, &made, &bytes, &input),
                     status);
    if (status != TAPER_OK) {
        assert_true(untouched(dst.offsets, sizeof dst.offsets));
        assert_true(untouched(dst.bytes, sizeof dst.bytes));
    }
}

static void test_strings(void **state)
{
    static const int64_t offsets[] = {0, 3, 3, 8, 9};
    struct text src, dst;
    taper_tensor made;
    taper_value output;
    size_t bytes;
    (void)state;
    set_text(&src, 4, offsets, "onesthree\xff zz"); /* "one", "", "sthre", "e" */
    set_text(&dst, 4, NULL, NULL);
    const taper_value input = taper_value_of(&src.tensor);
    ACCEPTS(taper_onnx_identity_infer(1, &output, &made, &bytes, &input));
    assert_int_equal(bytes, 9);
    assert_int_equal(made.type, TAPER_STRING);
    dst.strings.size = 9;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.offsets, offsets, sizeof offsets);
    assert_memory_equal(dst.bytes, "onesthree", 9);
    assert_true(untouched(dst.bytes + 9, sizeof dst.bytes - 9));

    ACCEPTS(copy_tensor(25, &src.tensor, &src.tensor)); /* in place */
    assert_memory_equal(src.offsets, offsets, sizeof offsets);
    assert_memory_equal(src.bytes, "onesthree\xff zz", 13);

    taper_strings shared = {dst.offsets, src.bytes, 9}; /* half in place */
    dst.tensor.data = &shared;
    memset(dst.offsets, CANARY, sizeof dst.offsets);
    ACCEPTS(copy_tensor(25, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.offsets, offsets, sizeof offsets);
    shared = (taper_strings){src.offsets, dst.bytes, 9};
    memset(dst.bytes, CANARY, sizeof dst.bytes);
    ACCEPTS(copy_tensor(25, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.bytes, "onesthree", 9);
}

/* The first offset may be above 0: a slice of a larger array. Nothing before it is
 * touched. */
static void test_strings_slice(void **state)
{
    static const int64_t offsets[] = {3, 5, 9};
    struct text src, dst;
    (void)state;
    set_text(&src, 2, offsets, "onesthree and more");
    src.strings.size = 9;
    set_text(&dst, 2, NULL, NULL);
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.offsets, offsets, sizeof offsets);
    assert_true(untouched(dst.bytes, 3));
    assert_memory_equal(dst.bytes + 3, "sthree", 6);
    assert_true(untouched(dst.bytes + 9, sizeof dst.bytes - 9));
}

/* Slices overlap where their own bytes do, and what is empty nowhere. */
static void test_strings_slice_overlap(void **state)
{
    static const int64_t one[] = {7, 8, 8}, none[] = {7, 7, 7},
                         last[] = {PTRDIFF_MAX, PTRDIFF_MAX, PTRDIFF_MAX};
    struct text src, dst;
    (void)state;
    for (int byte = 0; byte < 24; byte++) {
        /* A byte at `bytes` + 7 among offsets that take 24. */
        set_text(&src, 2, one, "0123456789");
        set_text(&dst, 2, NULL, NULL);
        dst.strings.bytes = (char *)dst.offsets + byte - 7;
        REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
        dst.strings.bytes = (char *)src.offsets + byte - 7;
        REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
        dst.strings.bytes = dst.bytes;
        src.strings.bytes = (char *)dst.offsets + byte - 7;
        REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
        assert_memory_equal(src.offsets, one, sizeof one);

        set_text(&src, 2, none, "0123456789");
        set_text(&dst, 2, NULL, NULL);
        dst.strings.bytes = (char *)dst.offsets + byte - 7;
        src.strings.bytes = (char *)dst.offsets + byte - 7;
        ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
        assert_memory_equal(dst.offsets, none, sizeof none);
    }
    set_text(&src, 2, one, "0123456789"); /* beside the offsets */
    set_text(&dst, 2, NULL, NULL);
    dst.strings.bytes = (char *)dst.offsets + 24 - 7;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.offsets, one, sizeof one);
    assert_memory_equal((char *)dst.offsets + 24, "7", 1);

    set_text(&src, 2, one, "0123456789"); /* beside the other bytes */
    set_text(&dst, 2, NULL, NULL);
    dst.strings.bytes = src.bytes + 1;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(src.bytes, "0123456779", 10);

    set_text(&src, 2, last, NULL); /* as far as offsets reach */
    set_text(&dst, 2, NULL, NULL);
    src.strings.size = dst.strings.size = SIZE_MAX;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.offsets, last, sizeof last);
    src.offsets[2] = INT64_MIN;
    check_text(&src, TAPER_BAD_OFFSETS);
}

static void test_strings_small(void **state)
{
    static const int64_t none[] = {0, 0, 0}, one[] = {0, 2}, shape[] = {2, 2},
                         four[] = {0, 1, 2, 3, 4};
    struct text src, dst;
    (void)state;
    set_text(&src, 0, NULL, NULL); /* an empty tensor: nothing is looked at */
    set_text(&dst, 0, NULL, NULL);
    src.strings = dst.strings = (taper_strings){NULL, NULL, 0};
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    src.tensor.data = dst.tensor.data = NULL;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    check_text(&src, TAPER_OK);

    set_text(&src, 2, none, NULL); /* empty strings need no bytes */
    set_text(&dst, 2, NULL, NULL);
    src.strings.bytes = dst.strings.bytes = NULL;
    src.strings.size = dst.strings.size = 0;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.offsets, none, sizeof none);

    set_text(&src, 1, one, "hi"); /* a scalar */
    set_text(&dst, 1, NULL, NULL);
    src.tensor.rank = dst.tensor.rank = 0;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.bytes, "hi", 2);

    set_text(&src, 4, four, "abcd"); /* a matrix */
    set_text(&dst, 4, NULL, NULL);
    src.tensor.rank = dst.tensor.rank = 2;
    src.tensor.shape = dst.tensor.shape = shape;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(dst.bytes, "abcd", 4);

    char unaligned[2][1 + 3 * 8];
    set_text(&src, 2, (const int64_t[]){0, 1, 2}, "ab");
    set_text(&dst, 2, NULL, NULL);
    memcpy(unaligned[0] + 1, src.offsets, 3 * 8);
    src.strings.offsets = unaligned[0] + 1;
    dst.strings.offsets = unaligned[1] + 1;
    ACCEPTS(copy_tensor(1, &dst.tensor, &src.tensor));
    assert_memory_equal(unaligned[1] + 1, unaligned[0] + 1, 3 * 8);
}

static void test_strings_errors(void **state)
{
    static const int64_t wrong[][5] = {
        {0, 3, 2, 8, 9},  /* falls */
        {0, 3, 3, 9, 8},  /* at the end */
        {1, 0, 3, 8, 9},  /* at the beginning */
        {-1, 0, 3, 8, 9}, /* below 0 */
        {0, -1, 3, 8, 9},
        {-4, -3, -2, -1, 0},
        {-4, -3, -2, -1, -1},
        {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN},
        {0, 3, 3, 8, 10},     /* out of the bytes */
        {10, 10, 10, 10, 10}, /* even if nothing is read */
        {0, 3, 3, 8, INT64_MAX},
        {0, INT64_MAX, INT64_MIN, 8, 9},
    };
    static const int64_t right[] = {0, 3, 3, 8, 9}, strides[] = {-1};
    struct text src, dst;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set_text(&src, 4, wrong[i], "onesthree");
        check_text(&src, TAPER_BAD_OFFSETS);
    }
    set_text(&src, 4, wrong[10], "onesthree"); /* a size that cannot be either */
    src.strings.size = SIZE_MAX;
    src.offsets[4] = -1;
    check_text(&src, TAPER_BAD_OFFSETS);
    set_text(&src, 4, (const int64_t[]){2, 2, 2, 2, 2}, "onesthree");
    src.strings.bytes = NULL; /* of which nothing is read */
    check_text(&src, TAPER_OK);

    set_text(&src, 4, right, "onesthree");
    set_text(&dst, 4, NULL, NULL);
    dst.strings.size = 8; /* too small */
    REFUSES(TAPER_BAD_OFFSETS, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.size = 9;

    src.tensor.strides = strides;
    check_text(&src, TAPER_BAD_STRIDE);
    src.tensor.strides = NULL;
    dst.tensor.strides = strides;
    REFUSES(TAPER_BAD_STRIDE, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.tensor.strides = NULL;

    src.tensor.data = NULL;
    check_text(&src, TAPER_NULL);
    src.tensor.data = &src.strings;
    src.strings.offsets = NULL;
    check_text(&src, TAPER_NULL);
    src.strings.offsets = src.offsets;
    src.strings.bytes = NULL;
    check_text(&src, TAPER_NULL);
    src.strings.bytes = src.bytes;
    dst.strings.bytes = NULL;
    REFUSES(TAPER_NULL, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.bytes = dst.bytes;
    dst.strings.offsets = NULL;
    REFUSES(TAPER_NULL, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.offsets = dst.offsets;
    dst.tensor.data = NULL;
    REFUSES(TAPER_NULL, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.tensor.data = &dst.strings;

    src.n = -1;
    check_text(&src, TAPER_BAD_SHAPE);
    src.n = PTRDIFF_MAX / 8 + 1;
    check_text(&src, TAPER_TOO_LARGE);
    src.n = PTRDIFF_MAX / 8; /* the offset after the last string is too much */
    check_text(&src, TAPER_TOO_LARGE);
    src.n = 3;
    REFUSES(TAPER_SHAPE_MISMATCH, copy_tensor(1, &dst.tensor, &src.tensor));
    src.n = 4;

    dst.strings.offsets = (char *)src.offsets + 8; /* overlaps of each two parts */
    REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.offsets = src.bytes + 8;
    REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.offsets = dst.offsets;
    dst.strings.bytes = src.bytes + 1;
    REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.bytes = (char *)src.offsets + 8;
    REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
    dst.strings.bytes = (char *)dst.offsets + 39;
    REFUSES(TAPER_OVERLAP, copy_tensor(1, &dst.tensor, &src.tensor));
    assert_true(untouched(dst.offsets, sizeof dst.offsets));
    assert_true(untouched(dst.bytes, sizeof dst.bytes));
    assert_memory_equal(src.offsets, right, sizeof right);
}

/* ---- Identity of sequences and optionals ---- */

/* Three tensors of float: [2], [] and [0, 5]. */
static const int64_t shape_2[1] = {2}, shape_0_5[2] = {0, 5};

static void set_sequence(taper_tensor *tensors, float *data)
{
    tensors[0] = (taper_tensor){data, TAPER_F32, 1, shape_2, NULL};
    tensors[1] = (taper_tensor){data + 2, TAPER_F32, 0, NULL, NULL};
    tensors[2] = (taper_tensor){NULL, TAPER_F32, 2, shape_0_5, NULL};
}

static void test_sequence(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        float from[3] = {1, 2, 3}, to[4] = {0, 0, 0, 4};
        taper_tensor src[3], dst[3], made[3];
        size_t bytes[3];
        taper_value output;
        set_sequence(src, from);
        set_sequence(dst, to);
        const taper_value input = {kind == 0 ? TAPER_SEQUENCE : TAPER_OPTIONAL_SEQUENCE,
                                   TAPER_F32, 0, 3, src};
        ACCEPTS(taper_onnx_identity_infer(16, &output, made, bytes, &input));
        assert_int_equal(output.kind, input.kind);
        assert_int_equal(output.type, TAPER_F32);
        assert_int_equal(output.absent, 0);
        assert_int_equal(output.count, 3);
        assert_ptr_equal(output.tensors, made);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(made[i].rank, src[i].rank);
            assert_ptr_equal(made[i].shape, src[i].shape);
            assert_null(made[i].data);
        }
        assert_int_equal(bytes[0], 8);
        assert_int_equal(bytes[1], 4);
        assert_int_equal(bytes[2], 0);
        output.tensors = dst;
        ACCEPTS(taper_onnx_identity(16, &output, &input));
        assert_memory_equal(to, ((const float[]){1, 2, 3, 4}), sizeof to);
        ACCEPTS(taper_onnx_identity(16, &input, &input)); /* in place */
        assert_memory_equal(from, ((const float[]){1, 2, 3}), sizeof from);
    }
}

/* None, and then nothing is looked at. */
static void test_none(void **state)
{
    static const taper_value none[] = {
        {TAPER_SEQUENCE, TAPER_I8, 0, 0, NULL},
        {TAPER_OPTIONAL_SEQUENCE, TAPER_STRING, 0, 0, NULL},
        {TAPER_OPTIONAL_SEQUENCE, TAPER_STRING, 1, 0, NULL},
        {TAPER_OPTIONAL_SEQUENCE, TAPER_STRING, 1, 77, NULL},
        {TAPER_OPTIONAL_TENSOR, TAPER_F64, 1, 0, NULL},
        {TAPER_OPTIONAL_TENSOR, TAPER_F64, -5, 77, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        taper_value output;
        taper_tensor made;
        size_t bytes;
        ACCEPTS(taper_onnx_identity_infer(16, &output, NULL, NULL, &none[i]));
        assert_null(output.tensors);
        ACCEPTS(taper_onnx_identity_infer(16, &output, &made, &bytes, &none[i]));
        assert_int_equal(output.kind, none[i].kind);
        assert_int_equal(output.type, none[i].type);
        assert_int_equal(output.absent, none[i].absent != 0);
        assert_int_equal(output.count, 0);
        assert_null(output.tensors);
        ACCEPTS(taper_onnx_identity(16, &output, &none[i]));
        ACCEPTS(taper_onnx_identity(16, &none[i], &none[i]));
    }
}

static void test_optional_tensor(void **state)
{
    const float from[3] = {1, 2, 3};
    float to[3] = {0, 0, 0};
    taper_tensor src[3], dst[3];
    (void)state;
    set_sequence(src, (float *)(uintptr_t)from);
    set_sequence(dst, to);
    const taper_value input = {TAPER_OPTIONAL_TENSOR, TAPER_F32, 0, 1, src};
    taper_value output = {TAPER_OPTIONAL_TENSOR, TAPER_F32, 0, 1, dst};
    ACCEPTS(taper_onnx_identity(16, &output, &input));
    assert_memory_equal(to, ((const float[]){1, 2, 0}), sizeof to);
}

/* Strings in a sequence. */
static void test_sequence_of_strings(void **state)
{
    struct text a, b, to_a, to_b;
    (void)state;
    set_text(&a, 2, (const int64_t[]){0, 1, 3}, "abc");
    set_text(&b, 1, (const int64_t[]){0, 2}, "de");
    set_text(&to_a, 2, NULL, NULL);
    set_text(&to_b, 1, NULL, NULL);
    const taper_tensor src[2] = {a.tensor, b.tensor};
    const taper_tensor dst[2] = {to_a.tensor, to_b.tensor};
    const taper_value input = {TAPER_SEQUENCE, TAPER_STRING, 0, 2, src};
    const taper_value output = {TAPER_SEQUENCE, TAPER_STRING, 0, 2, dst};
    ACCEPTS(taper_onnx_identity(14, &output, &input));
    assert_memory_equal(to_a.bytes, "abc", 3);
    assert_memory_equal(to_b.bytes, "de", 2);

    b.offsets[1] = 3; /* an error in the last tensor: nothing is written to any */
    set_text(&to_a, 2, NULL, NULL);
    REFUSES(TAPER_BAD_OFFSETS, taper_onnx_identity(14, &output, &input));
    b.offsets[1] = 2;
    to_b.strings.size = 1;
    REFUSES(TAPER_BAD_OFFSETS, taper_onnx_identity(14, &output, &input));
    to_b.strings.size = 2;
    assert_true(untouched(to_a.offsets, sizeof to_a.offsets));
    assert_true(untouched(to_a.bytes, sizeof to_a.bytes));

    /* Not allowed and not looked for, but no byte outside is touched either: the first
     * copy makes offsets of the second that lead far away. */
    set_text(&a, 1, (const int64_t[]){0, 16}, "................");
    set_text(&b, 1, (const int64_t[]){0, 2}, "de");
    set_text(&to_a, 1, NULL, NULL);
    to_a.strings.bytes = b.offsets;
    REFUSES(TAPER_BAD_OFFSETS, taper_onnx_identity(14, &output, &input));
    memset(a.bytes, 0, 16); /* now to where only src has bytes */
    a.bytes[8] = sizeof b.bytes;
    memcpy(b.offsets, (const int64_t[]){0, 2}, 2 * sizeof *b.offsets);
    b.strings.size = sizeof b.bytes;
    to_b.strings.size = 2;
    REFUSES(TAPER_BAD_OFFSETS, taper_onnx_identity(14, &output, &input));
    memset(a.bytes, 0, 16); /* or back */
    a.bytes[0] = 2;
    memcpy(b.offsets, (const int64_t[]){0, 2}, 2 * sizeof *b.offsets);
    REFUSES(TAPER_BAD_OFFSETS, taper_onnx_identity(14, &output, &input));
}

/* Neither allowed nor looked for: what is written makes another tensor a wrong one. */
static void test_sequence_over_shapes(void **state)
{
    static const int64_t one = 1, large = PTRDIFF_MAX / 8;
    int64_t minus = -1, length = 1, from = 5, to = 7;
    const taper_tensor src[2] = {{&minus, TAPER_I64, 1, &one, NULL},
                                 {&from, TAPER_I64, 1, &length, NULL}};
    const taper_tensor dst[2] = {{&length, TAPER_I64, 1, &one, NULL},
                                 {&to, TAPER_I64, 1, &length, NULL}};
    const taper_value input = {TAPER_SEQUENCE, TAPER_I64, 0, 2, src};
    const taper_value output = {TAPER_SEQUENCE, TAPER_I64, 0, 2, dst};
    (void)state;
    REFUSES(TAPER_BAD_SHAPE, taper_onnx_identity(14, &output, &input));
    assert_int_equal(to, 7);

    union {
        size_t bytes[3];
        int64_t length;
    } both = {.length = 1};
    const taper_tensor measured[3] = {{NULL, TAPER_I64, 1, &large, NULL},
                                      {NULL, TAPER_I64, 1, &both.length, NULL},
                                      {NULL, TAPER_I64, 1, &one, NULL}};
    const taper_value value = {TAPER_SEQUENCE, TAPER_I64, 0, 3, measured};
    taper_value inferred;
    taper_tensor made[3];
    REFUSES(TAPER_TOO_LARGE,
            taper_onnx_identity_infer(14, &inferred, made, both.bytes, &value));
}

static void test_value_errors(void **state)
{
    float from[3] = {1, 2, 3}, to[3];
    taper_tensor src[3], dst[3], made[3];
    taper_value input = {TAPER_SEQUENCE, TAPER_F32, 0, 3, src};
    taper_value output = {TAPER_SEQUENCE, TAPER_F32, 0, 3, dst};
    taper_value inferred;
    size_t bytes[3];
    (void)state;
    memset(to, CANARY, sizeof to);
    memset(made, CANARY, sizeof made);
    memset(bytes, CANARY, sizeof bytes);
    memset(&inferred, CANARY, sizeof inferred);
    set_sequence(src, from);
    set_sequence(dst, to);

#define BOTH(status)                                                                   \
    do {                                                                               \
        assert_int_equal(taper_onnx_identity(16, &output, &input), status);            \
        assert_int_equal(                                                              \
            taper_onnx_identity_infer(16, &inferred, made, bytes, &input), status);    \
    } while (0)
#define COPY(status) assert_int_equal(taper_onnx_identity(16, &output, &input), status)

    /* Values that are none. */
    input.kind = output.kind = (taper_kind)4;
    BOTH(TAPER_BAD_KIND);
    input.kind = output.kind = (taper_kind)-1;
    BOTH(TAPER_BAD_KIND);
    input.kind = output.kind = TAPER_TENSOR;
    BOTH(TAPER_BAD_KIND); /* of three tensors */
    input.kind = output.kind = TAPER_OPTIONAL_TENSOR;
    BOTH(TAPER_BAD_KIND);
    input.count = output.count = 0;
    BOTH(TAPER_BAD_KIND);
    input.kind = output.kind = TAPER_TENSOR;
    BOTH(TAPER_BAD_KIND);
    input.count = output.count = 1;
    input.absent = output.absent = 1;
    BOTH(TAPER_BAD_KIND);
    input.kind = output.kind = TAPER_SEQUENCE;
    BOTH(TAPER_BAD_KIND);
    input.absent = output.absent = 0;
    input.count = output.count = 3;
    output.absent = 1;
    COPY(TAPER_BAD_KIND);
    output.absent = 0;

    /* Unlike values. */
    output.kind = TAPER_OPTIONAL_SEQUENCE;
    COPY(TAPER_TYPE_MISMATCH);
    input.kind = TAPER_OPTIONAL_SEQUENCE;
    output.absent = 1;
    COPY(TAPER_SHAPE_MISMATCH);
    output.absent = 0;
    input.absent = 1;
    COPY(TAPER_SHAPE_MISMATCH);
    output.count = 0; /* an empty sequence is no absent one */
    COPY(TAPER_SHAPE_MISMATCH);
    input.absent = 0;
    COPY(TAPER_SHAPE_MISMATCH);
    output.count = 3;
    output.type = TAPER_I32;
    COPY(TAPER_TYPE_MISMATCH);
    output.type = TAPER_F32;

    /* Null pointers. */
    REFUSES(TAPER_NULL, taper_onnx_identity(16, NULL, &input));
    REFUSES(TAPER_NULL, taper_onnx_identity(16, &output, NULL));
    REFUSES(TAPER_NULL, taper_onnx_identity_infer(16, NULL, made, bytes, &input));
    REFUSES(TAPER_NULL, taper_onnx_identity_infer(16, &inferred, NULL, bytes, &input));
    REFUSES(TAPER_NULL, taper_onnx_identity_infer(16, &inferred, made, NULL, &input));
    REFUSES(TAPER_NULL, taper_onnx_identity_infer(16, &inferred, made, bytes, NULL));
    output.tensors = NULL;
    COPY(TAPER_NULL);
    output.tensors = dst;
    input.tensors = NULL;
    BOTH(TAPER_NULL);
    input.tensors = src;

    /* The last tensor. All of them are looked at before the first is written. */
    src[2].shape = dst[2].shape = NULL;
    BOTH(TAPER_NULL);
    src[2] = dst[2] = (taper_tensor){from, TAPER_I32, 1, shape_2, NULL};
    BOTH(TAPER_TYPE_MISMATCH);
    const taper_tensor second[2] = {src[1], dst[1]}; /* or one that is not the last */
    src[1] = dst[1] = (taper_tensor){from, TAPER_F32, -1, shape_2, NULL};
    BOTH(TAPER_BAD_SHAPE);
    src[1] = second[0];
    dst[1] = second[1];
    src[2] = dst[2] = (taper_tensor){from, TAPER_F32, -1, shape_2, NULL};
    BOTH(TAPER_BAD_SHAPE);
    const int64_t large = INT64_MAX / 2;
    src[2] = dst[2] = (taper_tensor){from, TAPER_F32, 1, &large, NULL};
    BOTH(TAPER_TOO_LARGE);
    src[2] = dst[2] = (taper_tensor){from, TAPER_F32, 1, shape_2, NULL};
    dst[2].rank = 0;
    COPY(TAPER_SHAPE_MISMATCH);
    dst[2].rank = 1;
    dst[2].data = NULL;
    COPY(TAPER_NULL);
    dst[2].data = to;
    src[2].data = NULL;
    COPY(TAPER_NULL);
    src[2].data = from;
    const int64_t no_stride = 0, far_apart = INT64_MAX / 2;
    dst[2].strides = &no_stride;
    COPY(TAPER_BAD_STRIDE);
    dst[2].strides = NULL;
    src[2].strides = &far_apart;
    COPY(TAPER_BAD_STRIDE);
    src[2].strides = NULL;
    dst[2].data = from + 1;
    COPY(TAPER_OVERLAP);
    assert_true(untouched(to, sizeof to));
    assert_true(untouched(made, sizeof made));
    assert_true(untouched(bytes, sizeof bytes));
    assert_true(untouched(&inferred, sizeof inferred));
    assert_memory_equal(from, ((const float[]){1, 2, 3}), sizeof from);
    dst[2].data = from; /* in place, and all is well */
    COPY(TAPER_OK);
#undef BOTH
#undef COPY
}

static void test_identity_order(void **state)
{
    unsigned char from[4] = {1, 2, 3, 4}, to[4];
    const int64_t two = 2, minus = -1, two_large[2] = {2, INT64_MAX}, no_stride = 0;
    int64_t opset = 27;
    taper_tensor src = {NULL, TAPER_I8, 1, NULL, NULL};
    taper_tensor dst = {NULL, TAPER_I8, 1, NULL, &no_stride};
    taper_value input = {TAPER_OPTIONAL_TENSOR, (taper_dtype)0, 0, 2, NULL};
    taper_value output = {TAPER_SEQUENCE, TAPER_I8, 1, 2, NULL};
    const taper_value *in = NULL;
    (void)state;
#define NEXT(status) assert_int_equal(taper_onnx_identity(opset, &output, in), status)
    NEXT(TAPER_BAD_OPSET);
    opset = 14;
    NEXT(TAPER_NULL);
    in = &input;
    NEXT(TAPER_BAD_KIND);
    input.count = 1;
    NEXT(TAPER_BAD_DTYPE);
    input.type = TAPER_F8E8M0;
    NEXT(TAPER_UNSUPPORTED);
    input.type = TAPER_U8;
    NEXT(TAPER_TYPE_TOO_NEW);
    opset = 16;
    NEXT(TAPER_TYPE_MISMATCH); /* kinds */
    input.kind = TAPER_SEQUENCE;
    NEXT(TAPER_TYPE_MISMATCH);
    output.type = TAPER_U8;
    NEXT(TAPER_BAD_KIND);
    output.absent = 0;
    NEXT(TAPER_SHAPE_MISMATCH);
    output.count = 1;
    NEXT(TAPER_NULL);
    output.tensors = &dst;
    NEXT(TAPER_NULL);
    input.tensors = &src;
    NEXT(TAPER_NULL);
    dst.shape = &two;
    NEXT(TAPER_TYPE_MISMATCH);
    dst.type = TAPER_U8;
    dst.shape = &minus;
    NEXT(TAPER_NULL);
    src.shape = &minus;
    NEXT(TAPER_TYPE_MISMATCH);
    src.type = TAPER_U8;
    NEXT(TAPER_BAD_SHAPE);
    dst.shape = two_large;
    dst.rank = 2;
    NEXT(TAPER_TOO_LARGE);
    dst.shape = &two;
    dst.rank = 1;
    NEXT(TAPER_BAD_SHAPE);
    src.shape = two_large;
    src.rank = 2;
    NEXT(TAPER_TOO_LARGE);
    src.shape = &two;
    src.rank = 0;
    NEXT(TAPER_SHAPE_MISMATCH);
    src.rank = 1;
    NEXT(TAPER_NULL);
    dst.data = from + 1;
    NEXT(TAPER_NULL);
    src.data = from;
    NEXT(TAPER_BAD_STRIDE);
    dst.strides = NULL;
    NEXT(TAPER_OVERLAP);
    dst.data = to;
    NEXT(TAPER_OK);
#undef NEXT
}

/* All faults at once, mended one by one: each status comes before those after it. */
static void test_strings_order(void **state)
{
    static const int64_t right[] = {0, 1, 2}, stride = 2, minus = -1, none = 0,
                         large = PTRDIFF_MAX / 8;
    struct text text, to_text;
    (void)state;
    set_text(&text, 2, right, "ab");
    set_text(&to_text, 2, NULL, NULL);
    taper_tensor src = {NULL, TAPER_I8, 1, NULL, &stride};
    taper_tensor dst = {NULL, TAPER_I8, 1, NULL, &stride};
    text.offsets[1] = 3; /* falls */
    text.strings.offsets = to_text.strings.offsets = NULL;
    text.strings.bytes = to_text.strings.bytes = NULL;
    to_text.strings.size = 1;
    const taper_value output = {TAPER_TENSOR, TAPER_STRING, 0, 1, &dst};
    const taper_value input = {TAPER_TENSOR, TAPER_STRING, 0, 1, &src};
#define NEXT(status) assert_int_equal(taper_onnx_identity(1, &output, &input), status)
    NEXT(TAPER_NULL);
    dst.shape = &minus;
    NEXT(TAPER_TYPE_MISMATCH);
    dst.type = TAPER_STRING;
    NEXT(TAPER_NULL);
    src.shape = &minus;
    NEXT(TAPER_TYPE_MISMATCH);
    src.type = TAPER_STRING;
    NEXT(TAPER_BAD_SHAPE);
    dst.shape = &large;
    NEXT(TAPER_TOO_LARGE);
    dst.shape = &none;
    NEXT(TAPER_BAD_SHAPE);
    src.shape = &large;
    NEXT(TAPER_TOO_LARGE);
    src.shape = &text.n;
    NEXT(TAPER_SHAPE_MISMATCH);
    src.shape = &none;
    NEXT(TAPER_OK);
    src.shape = dst.shape = &text.n;
    NEXT(TAPER_NULL);
    dst.data = &to_text.strings;
    NEXT(TAPER_NULL);
    to_text.strings.offsets = text.bytes + 1; /* overlaps the bytes */
    NEXT(TAPER_NULL);
    src.data = &text.strings;
    NEXT(TAPER_NULL);
    text.strings.offsets = text.offsets;
    NEXT(TAPER_BAD_STRIDE);
    dst.strides = NULL;
    NEXT(TAPER_BAD_STRIDE);
    src.strides = NULL;
    NEXT(TAPER_BAD_OFFSETS);
    text.offsets[1] = 1;
    NEXT(TAPER_BAD_OFFSETS);
    to_text.strings.size = 2;
    NEXT(TAPER_NULL);
    text.strings.bytes = text.bytes;
    NEXT(TAPER_NULL);
    to_text.strings.bytes = to_text.bytes;
    NEXT(TAPER_OVERLAP);
    to_text.strings.offsets = to_text.offsets;
    assert_true(untouched(to_text.offsets, sizeof to_text.offsets));
    assert_true(untouched(to_text.bytes, sizeof to_text.bytes));
    assert_memory_equal(text.bytes, "ab\xa5\xa5", 4);
    NEXT(TAPER_OK);

    /* Pairs of faults that are never alone above: one in each tensor. */
    dst.strides = &stride;
    text.strings.offsets = NULL;
    NEXT(TAPER_NULL);
    src.data = NULL;
    NEXT(TAPER_NULL);
    src.data = &text.strings;
    text.strings.offsets = text.offsets;
    dst.strides = NULL;
    to_text.strings.bytes = NULL;
    src.strides = &stride;
    NEXT(TAPER_BAD_STRIDE);
    src.strides = NULL;
    text.offsets[1] = 3;
    NEXT(TAPER_BAD_OFFSETS);
    text.offsets[1] = 1;
    text.strings.bytes = NULL;
    to_text.strings.bytes = to_text.bytes;
    to_text.strings.size = 1;
    NEXT(TAPER_BAD_OFFSETS);
#undef NEXT
}

/* ---- Cast ---- */

static taper_status cast_one(int64_t opset, taper_dtype to, void *dst, taper_dtype from,
                             const void *src, const taper_cast_options *options)
{
    const taper_tensor output = {dst, to, 0, NULL, NULL};
    const taper_tensor input = {(void *)(uintptr_t)src, from, 0, NULL, NULL};
    taper_tensor made;
    size_t bytes;
    const taper_status status = taper_onnx_cast(opset, &output, &input, options);
    assert_int_equal(taper_onnx_cast_infer(opset, &made, &bytes, to, &input, options),
                     status);
    return status;
}

/* The same bytes as taper_cast(), in every version that has the types. */
static void test_cast_values(void **state)
{
    uint64_t seed = 0xca57;
    (void)state;
    for (int i = 0; i < CAST_TYPES; i++)
        for (int j = 0; j < CAST_TYPES; j++) {
            const taper_dtype to = cast_types[i], from = cast_types[j];
            const unsigned from_bits = (unsigned)taper_dtype_bits(from);
            const int64_t n = 21;
            unsigned char src[8 * 21], dst[8 * 21], want[8 * 21];
            memset(src, 0, sizeof src);
            for (size_t k = 0; k < (size_t)n; k++)
                set_element(src, from_bits, k, random_element(from, &seed));
            memset(want, CANARY, sizeof want);
            ACCEPTS(taper_cast(to, want, from, src, (size_t)n, NULL));
            for (int opset = 9; opset <= 26; opset++) {
                if (expected(TAPER_ONNX_CAST, opset, TAPER_TENSOR, to) != TAPER_OK ||
                    expected(TAPER_ONNX_CAST, opset, TAPER_TENSOR, from) != TAPER_OK)
                    continue;
                const taper_tensor output = {dst, to, 1, &n, NULL};
                const taper_tensor input = {src, from, 1, &n, NULL};
                memset(dst, CANARY, sizeof dst);
                ACCEPTS(taper_onnx_cast(opset, &output, &input, NULL));
                assert_memory_equal(dst, want, sizeof dst);
            }
        }
}

static void test_cast_attributes(void **state)
{
    static const taper_cast_options defaults,
        no_saturate = {.overflow = TAPER_NO_SATURATE},
        down = {.rounding = TAPER_ROUND_DOWN},
        nearest = {.rounding = TAPER_ROUND_NEAREST},
        wrong = {(taper_overflow)2, TAPER_ROUND_UP};
    const float x = 1000, y = 5;
    (void)state;
    for (int opset = 9; opset <= 26; opset++) {
        unsigned char out[2] = {CANARY, CANARY};
        const bool saturate = opset >= 19, round_mode = opset >= 24;
        ACCEPTS(cast_one(opset, TAPER_F16, out, TAPER_F32, &x, &defaults));
        memset(out, CANARY, sizeof out);
        assert_int_equal(cast_one(opset, TAPER_F16, out, TAPER_F32, &x, &no_saturate),
                         saturate ? TAPER_OK : TAPER_BAD_OPTION);
        assert_int_equal(untouched(out, 2), !saturate);
        memset(out, CANARY, sizeof out);
        assert_int_equal(cast_one(opset, TAPER_F16, out, TAPER_F32, &x, &down),
                         round_mode ? TAPER_OK : TAPER_BAD_OPTION);
        assert_int_equal(untouched(out, 2), !round_mode);
        assert_int_equal(cast_one(opset, TAPER_F16, out, TAPER_F32, &x, &nearest),
                         round_mode ? TAPER_OK : TAPER_BAD_OPTION);
        REFUSES(TAPER_BAD_OPTION,
                cast_one(opset, TAPER_F16, out, TAPER_F32, &x, &wrong));
        if (saturate) {
            ACCEPTS(cast_one(opset, TAPER_F8E4M3FN, out, TAPER_F32, &x, NULL));
            assert_int_equal(out[0], 0x7e);
            ACCEPTS(cast_one(opset, TAPER_F8E4M3FN, out, TAPER_F32, &x, &no_saturate));
            assert_int_equal(out[0], 0x7f);
        }
        if (round_mode) {
            ACCEPTS(cast_one(opset, TAPER_F8E8M0, out, TAPER_F32, &y, NULL));
            assert_int_equal(out[0], 127 + 3);
            ACCEPTS(cast_one(opset, TAPER_F8E8M0, out, TAPER_F32, &y, &down));
            assert_int_equal(out[0], 127 + 2);
            ACCEPTS(cast_one(opset, TAPER_F8E8M0, out, TAPER_F32, &y, &nearest));
            assert_int_equal(out[0], 127 + 2);
        }
    }
}

/* Inference, layouts, in place. */
static void test_cast_tensors(void **state)
{
    static const int64_t shape[2] = {2, 3}, turned[2] = {1, 2};
    float data[6] = {0, 1, 2, 3, 4, 6};
    unsigned char packed[4];
    taper_tensor input = {data, TAPER_F32, 2, shape, turned}, output;
    size_t bytes;
    (void)state;
    memset(packed, CANARY, sizeof packed);
    ACCEPTS(taper_onnx_cast_infer(23, &output, &bytes, TAPER_F4E2M1, &input, NULL));
    assert_int_equal(bytes, 3);
    assert_int_equal(output.type, TAPER_F4E2M1);
    assert_int_equal(output.rank, 2);
    assert_ptr_equal(output.shape, shape);
    assert_null(output.strides);
    assert_null(output.data);
    output.data = packed;
    ACCEPTS(taper_onnx_cast(23, &output, &input, NULL));
    assert_memory_equal(packed, ((const unsigned char[]){0x40, 0x26, 0x75, CANARY}), 4);

    input.strides = NULL;
    taper_tensor same = input;
    same.type = TAPER_BF16;
    ACCEPTS(taper_onnx_cast(13, &same, &input, NULL));
    assert_memory_equal(
        data, ((const uint16_t[]){0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40c0}), 12);
    ACCEPTS(taper_onnx_cast_infer(13, &input, &bytes, TAPER_F64, &input, NULL));
    assert_int_equal(input.type, TAPER_F64);
    assert_int_equal(bytes, 48);
}

static void test_cast_order(void **state)
{
    static const int64_t shape[2] = {2, 3}, large[2] = {INT64_MAX, 2}, minus[1] = {-1},
                         no_strides[2] = {0, 0};
    static const taper_cast_options wrong = {TAPER_SATURATE, (taper_rounding)3},
                                    down = {.rounding = TAPER_ROUND_DOWN};
    float data[6];
    unsigned char made[6];
    int64_t opset = 8;
    taper_tensor output = {NULL, (taper_dtype)0, 1, NULL, no_strides};
    taper_tensor input = {NULL, TAPER_I32, 1, NULL, NULL};
    const taper_cast_options *options = &wrong;
    (void)state;
    memset(made, CANARY, sizeof made);
#define NEXT(status)                                                                   \
    assert_int_equal(taper_onnx_cast(opset, &output, &input, options), status)
    NEXT(TAPER_BAD_OPSET);
    opset = 9;
    NEXT(TAPER_NULL);
    output.shape = minus;
    NEXT(TAPER_NULL);
    input.shape = minus;
    NEXT(TAPER_BAD_DTYPE);
    output.type = TAPER_STRING;
    input.type = (taper_dtype)27;
    NEXT(TAPER_BAD_DTYPE);
    input.type = TAPER_I32;
    NEXT(TAPER_UNSUPPORTED);
    output.type = TAPER_F8E8M0;
    NEXT(TAPER_UNSUPPORTED);
    input.type = TAPER_BF16;
    NEXT(TAPER_BAD_OPTION);
    options = &down;
    NEXT(TAPER_TYPE_TOO_NEW);
    opset = 13;
    NEXT(TAPER_TYPE_TOO_NEW);
    output.type = TAPER_F16;
    NEXT(TAPER_BAD_OPTION);
    output.type = TAPER_F8E8M0;
    opset = 24;
    NEXT(TAPER_BAD_SHAPE);
    output.rank = 2;
    output.shape = large;
    NEXT(TAPER_TOO_LARGE);
    output.shape = shape;
    NEXT(TAPER_BAD_SHAPE);
    input.rank = 2;
    input.shape = large;
    NEXT(TAPER_TOO_LARGE);
    input.rank = 1;
    input.shape = shape;
    NEXT(TAPER_SHAPE_MISMATCH);
    input.rank = 2;
    NEXT(TAPER_NULL);
    output.data = made;
    NEXT(TAPER_NULL);
    input.data = (char *)made + 1;
    NEXT(TAPER_BAD_STRIDE);
    output.strides = NULL;
    NEXT(TAPER_OVERLAP);
    assert_true(untouched(made, sizeof made));
    memset(data, 0, sizeof data);
    input.data = data;
    NEXT(TAPER_OK);
#undef NEXT

    taper_tensor inferred;
    size_t bytes;
    memset(&inferred, CANARY, sizeof inferred);
    input = (taper_tensor){data, TAPER_F32, 1, minus, NULL};
    REFUSES(TAPER_NULL,
            taper_onnx_cast_infer(25, NULL, &bytes, TAPER_F16, &input, NULL));
    REFUSES(TAPER_NULL,
            taper_onnx_cast_infer(25, &inferred, NULL, TAPER_F16, &input, NULL));
    REFUSES(TAPER_NULL,
            taper_onnx_cast_infer(25, &inferred, &bytes, TAPER_F16, NULL, NULL));
    REFUSES(TAPER_BAD_SHAPE,
            taper_onnx_cast_infer(25, &inferred, &bytes, TAPER_F16, &input, NULL));
    const int64_t half = PTRDIFF_MAX / 8 + 1; /* fits as float, not as double */
    input.shape = &half;
    REFUSES(TAPER_TOO_LARGE,
            taper_onnx_cast_infer(25, &inferred, &bytes, TAPER_F64, &input, NULL));
    input.type = TAPER_F64; /* and the other way round */
    REFUSES(TAPER_TOO_LARGE,
            taper_onnx_cast_infer(25, &inferred, &bytes, TAPER_F32, &input, NULL));
    assert_true(untouched(&inferred, sizeof inferred));
    input.shape = NULL;
    REFUSES(TAPER_NULL,
            taper_onnx_cast_infer(25, &inferred, &bytes, TAPER_F16, &input, NULL));
    REFUSES(TAPER_NULL, taper_onnx_cast(25, NULL, &output, NULL));
    REFUSES(TAPER_NULL, taper_onnx_cast(25, &output, NULL, NULL));
}

static void test_texts(void **state)
{
    static const taper_status added[] = {TAPER_BAD_OPSET, TAPER_TYPE_TOO_NEW,
                                         TAPER_NOT_ONE_ELEMENT, TAPER_BAD_KIND,
                                         TAPER_BAD_OFFSETS};
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(added[i], -12 - i); /* ABI */
        for (int j = -11 - i; j <= 1; j++)
            assert_string_not_equal(taper_status_text(added[i]),
                                    taper_status_text((taper_status)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_since),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_constant_types),
        cmocka_unit_test(test_constant_bits),
        cmocka_unit_test(test_constant_shapes),
        cmocka_unit_test(test_constant_value),
        cmocka_unit_test(test_constant_default),
        cmocka_unit_test(test_constant_layouts),
        cmocka_unit_test(test_constant_inside),
        cmocka_unit_test(test_constant_errors),
        cmocka_unit_test(test_constant_order),
        cmocka_unit_test(test_identity_types),
        cmocka_unit_test(test_identity_layouts),
        cmocka_unit_test(test_identity_agrees),
        cmocka_unit_test(test_identity_infer),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_strings_slice),
        cmocka_unit_test(test_strings_slice_overlap),
        cmocka_unit_test(test_strings_small),
        cmocka_unit_test(test_strings_errors),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_optional_tensor),
        cmocka_unit_test(test_sequence_of_strings),
        cmocka_unit_test(test_sequence_over_shapes),
        cmocka_unit_test(test_value_errors),
        cmocka_unit_test(test_identity_order),
        cmocka_unit_test(test_strings_order),
        cmocka_unit_test(test_cast_values),
        cmocka_unit_test(test_cast_attributes),
        cmocka_unit_test(test_cast_tensors),
        cmocka_unit_test(test_cast_order),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
