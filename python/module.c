/* module.c - the functions of taper._taper. docs.h has what each of them does. */
#define TAPER_IMPORTS_NUMPY
#include "binding.h"

#include <limits.h>
#include <string.h>

#include "docs.h"

/* ---- Errors ---- */

static PyObject *shape_tuple(const struct operand *op)
{
    PyObject *const tuple = PyTuple_New(op->t.rank);
    for (int k = 0; tuple != NULL && k < op->t.rank; k++) {
        PyObject *const item = PyLong_FromLongLong(op->t.shape[k]);
        if (item == NULL || PyTuple_SetItem(tuple, k, item) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static int refuse_shape(const char *name, const struct operand *wanted,
                        const struct operand *got)
{
    PyObject *const expected = shape_tuple(wanted), *const found = shape_tuple(got);
    if (expected != NULL && found != NULL)
        PyErr_Format(PyExc_ValueError, "%s: expected shape %R, not %R", name, expected,
                     found);
    Py_XDECREF(expected);
    Py_XDECREF(found);
    return -1;
}

/* Whether the operator takes a kind of elements of a type, in an operator set. */
static int check_onnx(taper_onnx_op op, int64_t opset, taper_kind kind,
                      taper_dtype type, const char *name)
{
    static const char *const kinds[] = {"", "sequences of ", "optionals of ",
                                        "optional sequences of "};
    const char *const op_name = taper_onnx_name(op);
    const int version = taper_onnx_version(op, opset);
    const int since = taper_onnx_since(op, kind, type);

    if (version == 0) {
        PyErr_Format(PyExc_ValueError,
                     "opset: %s is not known in operator set %lld (the newest is %d)",
                     op_name, (long long)opset, TAPER_ONNX_NEWEST_OPSET);
        return -1;
    }
    if (since == 0) {
        PyErr_Format(PyExc_TypeError, "%s: %s takes no %s%s", name, op_name,
                     kinds[kind], taper_dtype_name(type));
        return -1;
    }
    if (since > version) {
        PyErr_Format(PyExc_TypeError,
                     "%s: %s%s came with %s-%d, and operator set %lld has %s-%d", name,
                     kinds[kind], taper_dtype_name(type), op_name, since,
                     (long long)opset, op_name, version);
        return -1;
    }
    return 0;
}

static int check_float(const struct operand *op, const char *name)
{
    if (dtype_is_float(op->type))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s: expected elements of a float type, not %s", name,
                 taper_dtype_name(op->type));
    return -1;
}

/* ---- The GIL ---- */

enum {
    GIL_BYTES = 64 << 10
}; /* read and written, from which others may run meanwhile */

static PyThreadState *let_others_run(size_t bytes)
{
    return bytes >= GIL_BYTES ? PyEval_SaveThread() : NULL;
}

static void wait_for_others(PyThreadState *state)
{
    if (state != NULL)
        PyEval_RestoreThread(state);
}

static taper_status run_convert(const struct operand *dst, const struct operand *src,
                                const taper_cast_options *options)
{
    PyThreadState *const state = let_others_run(dst->bytes + src->bytes);
    const taper_status status = convert(dst, src, options);
    wait_for_others(state);
    return status;
}

/* ---- Results ---- */

/* A new array, and `op` for its elements. Nothing but the array has to be freed. */
static PyObject *new_array(struct operand *op, taper_dtype type, int rank,
                           const npy_intp *shape)
{
    PyArray_Descr *const descr = dtype_descr(type, "dtype");

    for (int k = 0; k < rank; k++)
        if (shape[k] < 0) {
            PyErr_Format(PyExc_ValueError, "shape: a dimension is below 0: %zd",
                         shape[k]);
            return NULL;
        }
    if (descr == NULL)
        return NULL;
    Py_INCREF((PyObject *)descr);
    PyObject *const array =
        PyArray_NewFromDescr(&PyArray_Type, descr, rank, shape, NULL, NULL, 0, NULL);
    if (array != NULL && operand_open(op, array, WRITE, "result") < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

/* A new array with the shape of `model`, and with its order of dimensions in memory. */
static PyObject *new_like(struct operand *op, taper_dtype type,
                          const struct operand *model)
{
    if (model->array == NULL || model->t.strides == NULL)
        return new_array(op, type, model->t.rank, (const npy_intp *)model->t.shape);
    PyArray_Descr *const descr = dtype_descr(type, "dtype");
    if (descr == NULL)
        return NULL;
    Py_INCREF((PyObject *)descr);
    PyObject *const array = PyArray_NewLikeArray(model->array, NPY_KEEPORDER, descr, 0);
    if (array != NULL && operand_open(op, array, WRITE, "result") < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

static bool same_shape(const struct operand *a, const struct operand *b)
{
    return a->t.rank == b->t.rank &&
           (a->t.rank == 0 || memcmp(a->t.shape, b->t.shape,
                                     (size_t)a->t.rank * sizeof *a->t.shape) == 0);
}

/* ---- cast ---- */

/* That Cast of `opset` takes these types, and has the attributes that are not at their
 * defaults. */
static int check_cast(int64_t opset, taper_dtype to, const struct operand *x,
                      const taper_cast_options *options)
{
    if (check_onnx(TAPER_ONNX_CAST, opset, TAPER_TENSOR, to, "dtype") < 0 ||
        check_onnx(TAPER_ONNX_CAST, opset, TAPER_TENSOR, x->type, "x") < 0)
        return -1;
    taper_tensor input = x->t, output;
    size_t bytes;
    input.type = x->type;
    switch (taper_onnx_cast_infer(opset, &output, &bytes, to, &input, options)) {
    case TAPER_OK:
        return 0;
    case TAPER_BAD_OPTION:
        PyErr_Format(PyExc_ValueError,
                     "saturate, round_mode: Cast-%d of operator set %lld has no such "
                     "attribute",
                     taper_onnx_version(TAPER_ONNX_CAST, opset), (long long)opset);
        return -1;
    default:
        PyErr_SetString(PyExc_ValueError, "x: too large");
        return -1;
    }
}

/* Casts into what the caller gave, and returns that. */
static PyObject *cast_to_out(PyObject *out, taper_dtype type, const struct operand *x,
                             const taper_cast_options *options)
{
    struct operand dst;
    if (operand_open(&dst, out, WRITE, "out") < 0)
        return NULL;
    int status = operand_reinterpret(&dst, type, "out");
    if (status == 0 && !same_shape(&dst, x))
        status = refuse_shape("out", x, &dst);
    if (status == 0)
        status = check_status(run_convert(&dst, x, options), "out", "x");
    operand_close(&dst);
    if (status < 0)
        return NULL;
    Py_INCREF(out);
    return out;
}

static PyObject *cast_to_new(taper_dtype type, const struct operand *x,
                             const taper_cast_options *options)
{
    struct operand dst;
    PyObject *const array = new_like(&dst, type, x);
    if (array == NULL)
        return NULL;
    if (check_status(run_convert(&dst, x, options), "dtype", "x") < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

static PyObject *cast(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *keywords)
{
    static const struct signature signature = {
        "cast",
        2,
        2,
        {"x", "dtype", "saturate", "round_mode", "out", "from_dtype", "opset"},
    };
    enum { X, DTYPE, SATURATE, ROUND_MODE, OUT, FROM_DTYPE, OPSET };
    PyObject *values[MAX_ARGUMENTS], *result = NULL;
    taper_cast_options options;
    taper_dtype from = 0;
    int64_t opset = 0;
    struct operand x;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0)
        return NULL;
    const taper_dtype type = dtype_parse(values[DTYPE], "dtype");
    if (type == 0 ||
        parse_options(&options, values[SATURATE], values[ROUND_MODE]) < 0 ||
        parse_opset(values[OPSET], &opset) < 0)
        return NULL;
    if (!dtype_is_float(type)) {
        PyErr_Format(PyExc_TypeError, "dtype: expected a float type, not %s",
                     taper_dtype_name(type));
        return NULL;
    }
    if (given(values[FROM_DTYPE])) {
        from = dtype_parse(values[FROM_DTYPE], "from_dtype");
        if (from == 0)
            return NULL;
    }
    if (operand_open(&x, values[X], READ, "x") < 0)
        return NULL;
    if ((from == 0 || operand_reinterpret(&x, from, "x") == 0) &&
        check_float(&x, "x") == 0 &&
        (!given(values[OPSET]) || check_cast(opset, type, &x, &options) == 0))
        result = given(values[OUT]) ? cast_to_out(values[OUT], type, &x, &options)
                                    : cast_to_new(type, &x, &options);
    operand_close(&x);
    return result;
}

/* ---- full ---- */

static PyObject *full(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *keywords)
{
    static const struct signature signature = {
        "full", 3, 3, {"shape", "value", "dtype"}};
    enum { SHAPE, VALUE, DTYPE };
    PyObject *values[MAX_ARGUMENTS];
    npy_intp shape[MAX_RANK];
    _Alignas(MAX_ELEMENT) unsigned char element[MAX_ELEMENT];
    struct operand dst;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0)
        return NULL;
    const int rank = parse_shape(values[SHAPE], shape);
    const taper_dtype type = rank < 0 ? 0 : dtype_parse(values[DTYPE], "dtype");
    if (type == 0)
        return NULL;
    if (parse_element(values[VALUE], type, element) < 0)
        return NULL;
    PyObject *const array = new_array(&dst, type, rank, shape);
    if (array == NULL)
        return NULL;
    PyThreadState *const state = let_others_run(dst.bytes);
    const taper_status status = taper_tensor_fill(&dst.t, element);
    wait_for_others(state);
    if (check_status(status, "shape", "value") < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

/* ---- copyto ---- */

/* Gives `src` the shape of `dst` by NumPy's rules of broadcasting. */
static int broadcast(struct operand *src, const struct operand *dst)
{
    const int more = dst->t.rank - src->t.rank;
    int64_t strides[MAX_RANK], step = 1;

    if (same_shape(src, dst))
        return 0;
    if (more < 0)
        return refuse_shape("src", dst, src);
    for (int k = src->t.rank - 1; k >= 0; k--) {
        if (src->shape[k] != 1 && src->shape[k] != dst->shape[more + k])
            return refuse_shape("src", dst, src);
        strides[more + k] = src->shape[k] == 1       ? 0
                            : src->t.strides == NULL ? step
                                                     : src->strides[k];
        step *= src->shape[k];
    }
    for (int k = 0; k < more; k++)
        strides[k] = 0;
    memcpy(src->strides, strides, (size_t)dst->t.rank * sizeof *strides);
    memcpy(src->shape, dst->shape, (size_t)dst->t.rank * sizeof *src->shape);
    src->t.rank = dst->t.rank;
    src->t.strides = src->strides;
    src->n = dst->n;
    src->bytes = src->n * dtype_size(src->type); /* dst may be packed */
    return 0;
}

static int copy_operands(const struct operand *dst, struct operand *src)
{
    if (src->type != dst->type) {
        PyErr_Format(
            PyExc_TypeError,
            "src: expected elements of %s as in dst, not %s (taper.cast has an "
            "out=)",
            taper_dtype_name(dst->type), taper_dtype_name(src->type));
        return -1;
    }
    if (!src->padded && dtype_is_padded(src->type) && !same_shape(src, dst))
        return refuse_shape("src", dst, src); /* packed: strides cannot say it */
    if (broadcast(src, dst) < 0)
        return -1;
    return check_status(run_convert(dst, src, NULL), "dst", "src");
}

static PyObject *copyto(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *keywords)
{
    static const struct signature signature = {"copyto", 2, 2, {"dst", "src"}};
    enum { DST, SRC };
    PyObject *values[MAX_ARGUMENTS];
    struct operand dst, src;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0 ||
        operand_open(&dst, values[DST], WRITE, "dst") < 0)
        return NULL;
    int status = operand_open(&src, values[SRC], READ, "src");
    if (status == 0) {
        status = copy_operands(&dst, &src);
        operand_close(&src);
    }
    operand_close(&dst);
    if (status < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- pack_fp4, unpack_fp4 ---- */

static PyObject *pack_fp4(PyObject *module, PyObject *x)
{
    struct operand src, dst, bytes;
    PyObject *array = NULL;
    (void)module;

    if (operand_open(&src, x, READ, "x") < 0)
        return NULL;
    if ((src.type != TAPER_U8 || operand_reinterpret(&src, TAPER_F4E2M1, "x") == 0) &&
        check_float(&src, "x") == 0) {
        const npy_intp size = (npy_intp)(src.n / 2 + src.n % 2);
        array = new_array(&bytes, TAPER_U8, 1, &size);
    }
    if (array != NULL) {
        operand_of_memory(&dst, TAPER_F4E2M1, bytes.t.data, src.n);
        dst.t.rank = src.t.rank;
        dst.t.shape = src.t.shape;
        if (check_status(run_convert(&dst, &src, NULL), "x", "x") < 0) {
            Py_DECREF(array);
            array = NULL;
        }
    }
    operand_close(&src);
    return array;
}

static PyObject *unpack_to(taper_dtype type, int rank, const npy_intp *shape,
                           const struct operand *packed)
{
    struct operand dst, src;
    PyObject *const array = new_array(&dst, type, rank, shape);
    int status = -1;

    if (array == NULL)
        return NULL;
    if (packed->n != dst.n / 2 + dst.n % 2) {
        PyErr_Format(PyExc_ValueError,
                     "packed: expected %zd bytes for %zd elements, not %zd",
                     (Py_ssize_t)(dst.n / 2 + dst.n % 2), (Py_ssize_t)dst.n,
                     (Py_ssize_t)packed->n);
    } else if (type != TAPER_U8 || operand_reinterpret(&dst, TAPER_F4E2M1, "x") == 0) {
        operand_of_memory(&src, TAPER_F4E2M1, packed->t.data, dst.n);
        src.t.rank = dst.t.rank;
        src.t.shape = dst.t.shape;
        status = check_status(run_convert(&dst, &src, NULL), "dtype", "packed");
    }
    if (status == 0)
        return array;
    Py_DECREF(array);
    return NULL;
}

static PyObject *unpack_fp4(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *keywords)
{
    static const struct signature signature = {
        "unpack_fp4", 1, 3, {"packed", "shape", "dtype"}};
    enum { PACKED, SHAPE, DTYPE };
    PyObject *values[MAX_ARGUMENTS], *array = NULL;
    npy_intp shape[MAX_RANK];
    taper_dtype type = TAPER_F4E2M1;
    int rank = 1;
    struct operand packed;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0)
        return NULL;
    if (given(values[DTYPE]) && (type = dtype_parse(values[DTYPE], "dtype")) == 0)
        return NULL;
    if (type != TAPER_U8 && !dtype_is_float(type)) {
        PyErr_Format(PyExc_TypeError, "dtype: expected a float type or uint8, not %s",
                     taper_dtype_name(type));
        return NULL;
    }
    if (given(values[SHAPE]) && (rank = parse_shape(values[SHAPE], shape)) < 0)
        return NULL;
    if (operand_open(&packed, values[PACKED], READ, "packed") < 0)
        return NULL;
    if (!given(values[SHAPE]))
        shape[0] = (npy_intp)(2 * packed.n);
    if (packed.type != TAPER_U8)
        PyErr_Format(PyExc_TypeError, "packed: expected elements of uint8, not %s",
                     taper_dtype_name(packed.type));
    else if (!operand_is_contiguous(&packed))
        PyErr_SetString(PyExc_ValueError, "packed: expected a contiguous array");
    else
        array = unpack_to(type, rank, shape, &packed);
    operand_close(&packed);
    return array;
}

/* ---- ONNX operators ---- */

/* A list or tuple of dimensions as what ConstantOfShape takes: int64, rank 1. */
static int open_dimensions(struct operand *op, int64_t *room, PyObject *shape)
{
    if (!PyList_Check(shape) && !PyTuple_Check(shape))
        return operand_open(op, shape, READ, "shape");
    npy_intp dimensions[MAX_RANK];
    const int rank = parse_shape(shape, dimensions);
    if (rank < 0)
        return -1;
    for (int k = 0; k < rank; k++)
        room[k] = dimensions[k];
    operand_of_memory(op, TAPER_I64, room, (size_t)rank);
    return 0;
}

static PyObject *fill_constant(int64_t opset, const struct operand *shape,
                               const struct operand *value)
{
    taper_tensor output, one = {0};
    int64_t dims[MAX_RANK];
    size_t bytes;
    struct operand dst;

    if (value != NULL) { /* one code in the low bits of a byte is packed already */
        one = value->t;
        one.type = value->type;
    }
    taper_status status = taper_onnx_constant_of_shape_infer(
        opset, &output, &bytes, dims, MAX_RANK, &shape->t, value == NULL ? NULL : &one);
    if (status != TAPER_OK) {
        PyErr_Format(PyExc_ValueError, "shape: %s", taper_status_text(status));
        return NULL;
    }
    PyObject *const array =
        new_array(&dst, output.type, output.rank, (const npy_intp *)dims);
    if (array == NULL)
        return NULL;
    PyThreadState *const state = let_others_run(dst.bytes);
    if (dst.padded) {
        const unsigned mask = (1u << taper_dtype_bits(output.type)) - 1;
        const unsigned char code = *(const unsigned char *)one.data & mask;
        status = taper_tensor_fill(&dst.t, &code);
    } else {
        status = taper_onnx_constant_of_shape(opset, &dst.t, &shape->t,
                                              value == NULL ? NULL : &value->t);
    }
    wait_for_others(state);
    if (check_status(status, "shape", "value") < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

static PyObject *constant_of_shape(PyObject *module, PyObject *const *args,
                                   Py_ssize_t nargs, PyObject *keywords)
{
    static const struct signature signature = {
        "constant_of_shape", 1, 2, {"shape", "value", "opset"}};
    enum { SHAPE, VALUE, OPSET };
    PyObject *values[MAX_ARGUMENTS], *array = NULL;
    struct operand shape, value;
    int64_t opset, dims[MAX_RANK];
    taper_dtype type = TAPER_F32;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0 ||
        parse_opset(values[OPSET], &opset) < 0 ||
        open_dimensions(&shape, dims, values[SHAPE]) < 0)
        return NULL;
    const bool has_value = given(values[VALUE]);
    if (!has_value || operand_open(&value, values[VALUE], READ, "value") == 0) {
        if (has_value)
            type = value.type;
        if (shape.type != TAPER_I64 || shape.t.rank != 1)
            PyErr_Format(
                PyExc_TypeError,
                "shape: expected int64 elements in one dimension, not %s in %d",
                taper_dtype_name(shape.type), (int)shape.t.rank);
        else if (has_value && value.n != 1)
            PyErr_Format(PyExc_ValueError, "value: expected one element, not %zd",
                         (Py_ssize_t)value.n);
        else if (check_onnx(TAPER_ONNX_CONSTANT_OF_SHAPE, opset, TAPER_TENSOR, type,
                            "value") == 0)
            array = fill_constant(opset, &shape, has_value ? &value : NULL);
        if (has_value)
            operand_close(&value);
    }
    operand_close(&shape);
    return array;
}

static int parse_kind(PyObject *object, taper_kind *kind)
{
    long long value;
    if (parse_integer(object, "kind", &value) < 0)
        return -1;
    if (value < TAPER_TENSOR || value > TAPER_OPTIONAL_SEQUENCE) {
        PyErr_SetString(PyExc_ValueError, "kind: expected 0 to 3");
        return -1;
    }
    *kind = (taper_kind)value;
    return 0;
}

static taper_status copy_identity(int64_t opset, taper_kind kind,
                                  const struct operand *dst, const struct operand *src)
{
    if (dst->padded)
        return convert(dst, src, NULL);
    taper_value output = taper_value_of(&dst->t), input = taper_value_of(&src->t);
    output.kind = input.kind = kind;
    return taper_onnx_identity(opset, &output, &input);
}

/* One tensor of a value of any kind. */
static PyObject *identity_tensor(PyObject *module, PyObject *const *args,
                                 Py_ssize_t nargs, PyObject *keywords)
{
    static const struct signature signature = {
        "identity_tensor", 3, 3, {"x", "opset", "kind"}};
    enum { X, OPSET, KIND };
    PyObject *values[MAX_ARGUMENTS], *array = NULL;
    struct operand src, dst;
    taper_kind kind;
    int64_t opset;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0 ||
        parse_opset(values[OPSET], &opset) < 0 || parse_kind(values[KIND], &kind) < 0 ||
        operand_open(&src, values[X], READ, "x") < 0)
        return NULL;
    if (check_onnx(TAPER_ONNX_IDENTITY, opset, kind, src.type, "x") == 0)
        array = new_like(&dst, src.type, &src);
    if (array != NULL) {
        PyThreadState *const state = let_others_run(dst.bytes + src.bytes);
        const taper_status status = copy_identity(opset, kind, &dst, &src);
        wait_for_others(state);
        if (check_status(status, "x", "x") < 0) {
            Py_DECREF(array);
            array = NULL;
        }
    }
    operand_close(&src);
    return array;
}

/* For values whose elements Python moves: strings, and empty sequences. */
static PyObject *check_identity(PyObject *module, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *keywords)
{
    static const struct signature signature = {
        "check_identity", 3, 3, {"type", "opset", "kind"}};
    PyObject *values[MAX_ARGUMENTS];
    taper_kind kind;
    int64_t opset;
    (void)module;

    if (parse_call(&signature, args, nargs, keywords, values) < 0 ||
        parse_opset(values[1], &opset) < 0 || parse_kind(values[2], &kind) < 0)
        return NULL;
    const char *const name = PyUnicode_AsUTF8AndSize(values[0], NULL);
    if (name == NULL || check_onnx(TAPER_ONNX_IDENTITY, opset, kind,
                                   taper_dtype_from_name(name), "x") < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- info, set_num_threads ---- */

static PyObject *info(PyObject *module, PyObject *none)
{
    PyObject *const sets = PyList_New(0);
    (void)module;
    (void)none;

    if (sets == NULL)
        return NULL;
    for (size_t i = 0; taper_isa_name(i) != NULL; i++) {
        PyObject *const name = PyUnicode_FromString(taper_isa_name(i));
        if (name == NULL || PyList_Append(sets, name) < 0) {
            Py_XDECREF(name);
            Py_DECREF(sets);
            return NULL;
        }
        Py_DECREF(name);
    }
    return Py_BuildValue("{s:s,s:s,s:N,s:i,s:i}", "version", taper_version(), "isa",
                         taper_isa(), "isas", sets, "threads", taper_max_threads(),
                         "newest_opset", TAPER_ONNX_NEWEST_OPSET);
}

static PyObject *set_num_threads(PyObject *module, PyObject *threads)
{
    long long value;
    (void)module;

    if (parse_integer(threads, "n", &value) < 0)
        return NULL;
    if (value < 0 || value > INT_MAX || taper_set_max_threads((int)value) != TAPER_OK) {
        PyErr_Format(PyExc_ValueError,
                     "n: expected a number of threads, or 0 for the default, not %R",
                     threads);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- The module ---- */

#define KEYWORDS(function)                                                             \
    (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"cast", KEYWORDS(cast), cast_doc},
    {"full", KEYWORDS(full), full_doc},
    {"copyto", KEYWORDS(copyto), copyto_doc},
    {"pack_fp4", pack_fp4, METH_O, pack_fp4_doc},
    {"unpack_fp4", KEYWORDS(unpack_fp4), unpack_fp4_doc},
    {"constant_of_shape", KEYWORDS(constant_of_shape), constant_of_shape_doc},
    {"identity_tensor", KEYWORDS(identity_tensor), NULL},
    {"check_identity", KEYWORDS(check_identity), NULL},
    {"info", info, METH_NOARGS, info_doc},
    {"set_num_threads", set_num_threads, METH_O, set_num_threads_doc},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    (void)module;
    if (PyArray_ImportNumPyAPI() < 0)
        return -1;
    return dtypes_init();
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "taper._taper",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__taper(void); /* no header declares it */

PyMODINIT_FUNC PyInit__taper(void)
{
    return PyModuleDef_Init(&definition);
}
