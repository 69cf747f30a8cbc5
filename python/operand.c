/* operand.c - an argument as a tensor: NumPy arrays, buffers and DLPack tensors,
 * without a copy. */
#include "binding.h"

#include <string.h>

#include "dlpack.h"
#include "taper/dlpack.h"

_Static_assert(sizeof(npy_intp) == sizeof(int64_t), "dimensions of NumPy are 64-bit");

static int refuse(PyObject *exception, const char *name, const char *text)
{
    PyErr_Format(exception, "%s: %s", name, text);
    return -1;
}

/* ---- What all sources have in common ---- */

/* Sets all of `op` but what it holds. Shape and strides, which are in bytes, are those
 * of memory that somebody could describe, so sizes fit. False: strides are not whole
 * elements. */
static bool set_layout(struct operand *op, taper_dtype type, bool padded, void *data,
                       int rank, const Py_ssize_t *shape, const Py_ssize_t *strides)
{
    const size_t bits = taper_dtype_bits(type);
    const Py_ssize_t size = bits < 8 ? 1 : (Py_ssize_t)(bits / 8);
    size_t n = 1;

    for (int k = 0; k < rank; k++) {
        op->shape[k] = shape[k];
        n *= (size_t)shape[k];
    }
    op->type = type;
    op->padded = padded;
    op->t = (taper_tensor){data, padded ? TAPER_U8 : type, rank, op->shape, NULL};
    op->n = n;
    op->bytes = padded ? n : bits < 8 ? (n + 1) / 2 : n * (size_t)size;
    if (strides == NULL || n == 0)
        return true;
    op->t.strides = op->strides;
    for (int k = 0; k < rank; k++) {
        if (shape[k] > 1 && strides[k] % size != 0)
            return false;
        op->strides[k] = strides[k] / size;
    }
    return true;
}

bool operand_is_contiguous(const struct operand *op)
{
    int64_t step = 1;
    if (op->t.strides == NULL)
        return true;
    for (int k = op->t.rank - 1; k >= 0; k--) {
        if (op->shape[k] != 1 && op->strides[k] != step)
            return false;
        step *= op->shape[k];
    }
    return true;
}

static const char not_whole[] = "its strides are not multiples of the element size";

/* ---- NumPy arrays ---- */

/* Fields of records, and other layouts that strides in elements cannot say, are copied
 * first if they are only read. */
static int open_array(struct operand *op, PyArrayObject *array, enum access access,
                      const char *name)
{
    const PyArray_Descr *const descr = PyArray_DESCR(array);
    taper_dtype type = dtype_of(descr);

    if (type == 0) {
        PyErr_Format(PyExc_TypeError,
                     "%s: expected elements of a type that ONNX has too, not %S", name,
                     (PyObject *)descr);
        return -1;
    }
    if (!PyArray_ISNBO(descr->byteorder) && dtype_size(type) > 1) {
        PyErr_Format(PyExc_TypeError, "%s: expected native byte order, not dtype %R",
                     name, (PyObject *)descr);
        return -1;
    }
    if (access == WRITE && !PyArray_ISWRITEABLE(array))
        return refuse(PyExc_ValueError, name,
                      "expected a writable array, not a "
                      "read-only one");
    op->array = array;
    if (set_layout(op, type, dtype_is_padded(type), PyArray_DATA(array),
                   PyArray_NDIM(array), PyArray_DIMS(array),
                   PyArray_IS_C_CONTIGUOUS(array) ? NULL : PyArray_STRIDES(array)))
        return 0;
    if (access == WRITE)
        return refuse(PyExc_ValueError, name, not_whole);
    PyObject *const copy = PyArray_NewCopy(array, NPY_CORDER);
    if (copy == NULL)
        return -1;
    op->holds = HOLDS_OBJECT;
    op->object = copy;
    return open_array(op, (PyArrayObject *)copy, access, name);
}

/* NumPy's and ml_dtypes' scalars. */
static int open_scalar(struct operand *op, PyObject *scalar, const char *name)
{
    PyObject *const array = PyArray_FROM_O(scalar);
    if (array == NULL)
        return -1;
    op->holds = HOLDS_OBJECT;
    op->object = array;
    const int status = open_array(op, (PyArrayObject *)array, READ, name);
    op->array = NULL;
    return status;
}

/* ---- The buffer protocol ---- */

static taper_dtype signed_or_not(size_t size, bool is_signed)
{
    switch (size) {
    case 1:
        return is_signed ? TAPER_I8 : TAPER_U8;
    case 2:
        return is_signed ? TAPER_I16 : TAPER_U16;
    case 4:
        return is_signed ? TAPER_I32 : TAPER_U32;
    case 8:
        return is_signed ? TAPER_I64 : TAPER_U64;
    default:
        return 0;
    }
}

/* The type behind a format of the struct module; 0 if taper has none. */
static taper_dtype type_of_format(const char *format, size_t size)
{
    if (format == NULL)
        return size == 1 ? TAPER_U8 : 0;
    const char order = *format;
    if (order != '\0' && strchr("@=<>!", order) != NULL)
        format++;
    const bool swapped = PY_BIG_ENDIAN ? order == '<' : order == '>' || order == '!';
    if (swapped && size > 1)
        return 0;
    if (strcmp(format, "Zf") == 0)
        return TAPER_C64;
    if (strcmp(format, "Zd") == 0)
        return TAPER_C128;
    if (format[0] == '\0' || format[1] != '\0')
        return 0;
    switch (format[0]) {
    case 'f':
        return TAPER_F32;
    case 'd':
        return TAPER_F64;
    case 'e':
        return TAPER_F16;
    case '?':
        return TAPER_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
        return signed_or_not(size, true);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
        return signed_or_not(size, false);
    default:
        return 0;
    }
}

static int open_buffer(struct operand *op, PyObject *object, enum access access,
                       const char *name)
{
    Py_buffer *const view = &op->buffer;

    if (PyObject_GetBuffer(object, view, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return -1;
    op->holds = HOLDS_BUFFER;
    if (access == WRITE && view->readonly)
        return refuse(PyExc_ValueError, name,
                      "expected a writable buffer, not a "
                      "read-only one");
    const taper_dtype type = type_of_format(view->format, (size_t)view->itemsize);
    if (type == 0 || dtype_size(type) != (size_t)view->itemsize) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: expected elements of a type that ONNX has too, in native byte "
            "order, not buffer format '%s'",
            name, view->format == NULL ? "" : view->format);
        return -1;
    }
    if (view->ndim > MAX_RANK)
        return refuse(PyExc_ValueError, name, "it has more than 64 dimensions");
    if (!set_layout(op, type, false, view->buf, view->ndim, view->shape, view->strides))
        return refuse(PyExc_ValueError, name, not_whole);
    return 0;
}

/* ---- DLPack ---- */

static void delete_managed(void *managed)
{
    DLManagedTensor *const self = managed;
    if (self->deleter != NULL)
        self->deleter(self);
}

static void delete_versioned(void *managed)
{
    DLManagedTensorVersioned *const self = managed;
    if (self->deleter != NULL)
        self->deleter(self);
}

/* PyTorch has two 4-bit elements as one of two lanes: makes it two of one. */
static int split_pairs(DLTensor *t, int64_t *shape, int64_t *strides, const char *name)
{
    const int last = t->ndim - 1;
    for (int k = 0; k <= last; k++) {
        shape[k] = t->shape[k];
        if (t->strides != NULL)
            strides[k] = k < last ? 2 * t->strides[k] : t->strides[k];
    }
    if (shape[last] > INT64_MAX / 2)
        return refuse(PyExc_ValueError, name,
                      "its dimensions are negative or too large");
    shape[last] *= 2;
    t->shape = shape;
    t->strides = t->strides == NULL ? NULL : strides;
    t->dtype.lanes = 1;
    return 0;
}

static int set_dlpack(struct operand *op, DLTensor t, uint64_t flags, const char *name)
{
    int64_t shape[MAX_RANK], strides[MAX_RANK];
    taper_tensor tensor;
    size_t bytes;

    if (t.device.device_type != kDLCPU && t.device.device_type != kDLCUDAHost &&
        t.device.device_type != kDLROCMHost)
        return refuse(PyExc_BufferError, name, "expected a tensor in the CPU's memory");
    if (t.ndim < 0 || t.ndim > MAX_RANK)
        return refuse(PyExc_ValueError, name, "it has more than 64 dimensions");
    const bool pairs = t.dtype.bits == 4 && t.dtype.lanes == 2 && t.ndim > 0;
    if (pairs && split_pairs(&t, shape, strides, name) < 0)
        return -1;
    if (taper_from_dlpack(&t, &tensor) != TAPER_OK ||
        taper_dtype_bits(tensor.type) < 4) {
        PyErr_Format(PyExc_TypeError,
                     "%s: expected elements of a type that ONNX has too, of 4 bits at "
                     "least, not those of DLPack code %d, bits %d, lanes %d",
                     name, t.dtype.code, t.dtype.bits, t.dtype.lanes);
        return -1;
    }
    if (taper_tensor_bytes(&tensor, &bytes) != TAPER_OK)
        return refuse(PyExc_ValueError, name,
                      "its dimensions are negative or too large");
    if (bytes != 0 && t.data == NULL)
        return refuse(PyExc_ValueError, name, "it has elements, but no memory");

    const Py_ssize_t size = (Py_ssize_t)dtype_size(tensor.type);
    for (int k = 0; k < t.ndim && t.strides != NULL; k++)
        if (__builtin_mul_overflow(t.strides[k], size, &strides[k]))
            return refuse(PyExc_ValueError, name, "its strides are out of range");
    const bool padded = dtype_is_padded(tensor.type) && !pairs &&
                        (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
    set_layout(op, tensor.type, padded, tensor.data, t.ndim, t.shape,
               t.strides == NULL ? NULL : strides);
    if (dtype_is_padded(tensor.type) && !padded && !operand_is_contiguous(op))
        return refuse(PyExc_ValueError, name,
                      "expected a contiguous tensor, as its elements are packed");
    return 0;
}

/* object.__dlpack__(), of the newest version that both know. */
static PyObject *dlpack_capsule(PyObject *object)
{
    PyObject *capsule = NULL;
    PyObject *const method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *const none = PyTuple_New(0);
    PyObject *const keywords = Py_BuildValue(
        "{s:(ii)}", "max_version", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);

    if (method != NULL && none != NULL && keywords != NULL) {
        capsule = PyObject_Call(method, none, keywords);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* a producer from before versions */
            capsule = PyObject_Call(method, none, NULL);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(keywords);
    return capsule;
}

/* Takes what is in the capsule, which is renamed to say so. A capsule without a version
 * cannot say that it is read-only: those who make one do not, then. */
static int open_dlpack(struct operand *op, PyObject *object, enum access access,
                       const char *name)
{
    PyObject *const capsule = dlpack_capsule(object);
    const DLTensor *tensor = NULL;
    uint64_t flags = 0;

    if (capsule == NULL)
        return -1;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *const managed =
            PyCapsule_GetPointer(capsule, "dltensor_versioned");
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        op->holds = HOLDS_DLPACK;
        op->dlpack = managed;
        op->dlpack_deleter = delete_versioned;
        if (managed->version.major == DLPACK_MAJOR_VERSION) {
            tensor = &managed->dl_tensor;
            flags = managed->flags;
        }
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *const managed = PyCapsule_GetPointer(capsule, "dltensor");
        PyCapsule_SetName(capsule, "used_dltensor");
        op->holds = HOLDS_DLPACK;
        op->dlpack = managed;
        op->dlpack_deleter = delete_managed;
        tensor = &managed->dl_tensor;
    }
    Py_DECREF(capsule);
    if (tensor == NULL)
        return refuse(PyExc_BufferError, name,
                      "its __dlpack__ gives no DLPack tensor of version 1 or before");
    if (access == WRITE && (flags & DLPACK_FLAG_BITMASK_READ_ONLY))
        return refuse(PyExc_ValueError, name,
                      "expected a writable tensor, not a "
                      "read-only one");
    if (access == WRITE && (flags & DLPACK_FLAG_BITMASK_IS_COPIED))
        return refuse(PyExc_BufferError, name, "its __dlpack__ gives a copy");
    return set_dlpack(op, *tensor, flags, name);
}

/* ---- All of them ---- */

static bool has_dlpack(PyObject *object)
{
    return !PyType_Check(object) && PyObject_HasAttrString(object, "__dlpack__");
}

/* JAX has both protocols, but exports the types of ml_dtypes by DLPack only. */
static int open_buffer_or_dlpack(struct operand *op, PyObject *object,
                                 enum access access, const char *name)
{
    PyObject *type, *value, *traceback;
    const int status = open_buffer(op, object, access, name);

    if (status == 0 || op->holds != HOLDS_NOTHING ||
        !PyErr_ExceptionMatches(PyExc_BufferError))
        return status;
    PyErr_Fetch(&type, &value, &traceback);
    if (!has_dlpack(object)) {
        PyErr_Restore(type, value, traceback);
        return -1;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return open_dlpack(op, object, access, name);
}

static int open_any(struct operand *op, PyObject *object, enum access access,
                    const char *name)
{
    if (PyArray_Check(object))
        return open_array(op, (PyArrayObject *)object, access, name);
    if (access == READ && PyArray_CheckScalar(object))
        return open_scalar(op, object, name);
    if (PyObject_CheckBuffer(object))
        return open_buffer_or_dlpack(op, object, access, name);
    if (has_dlpack(object))
        return open_dlpack(op, object, access, name);
    PyObject *const type = PyType_GetName(Py_TYPE(object));
    if (type != NULL)
        PyErr_Format(PyExc_TypeError,
                     "%s: expected an array, a buffer or a DLPack tensor, not %U", name,
                     type);
    Py_XDECREF(type);
    return -1;
}

int operand_open(struct operand *op, PyObject *object, enum access access,
                 const char *name)
{
    op->holds = HOLDS_NOTHING;
    op->array = NULL;
    if (open_any(op, object, access, name) == 0)
        return 0;
    operand_close(op);
    return -1;
}

int operand_reinterpret(struct operand *op, taper_dtype type, const char *name)
{
    const size_t size = dtype_size(type);
    const bool same = op->type == type;
    const bool codes =
        (op->type == TAPER_U8 && size == 1) || (op->type == TAPER_U16 && size == 2) ||
        (op->type == TAPER_U32 && size == 4) || (op->type == TAPER_U64 && size == 8);
    if (!same && !codes) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: expected elements of %s, or of uint%d for their codes, not %s", name,
            taper_dtype_name(type), (int)(8 * size), taper_dtype_name(op->type));
        return -1;
    }
    if (same)
        return 0;
    op->type = type;
    op->padded = dtype_is_padded(type);
    op->t.type = op->padded ? TAPER_U8 : type;
    return 0;
}

void operand_of_memory(struct operand *op, taper_dtype type, void *data, size_t n)
{
    op->type = type;
    op->padded = false;
    op->n = n;
    op->bytes = (n * taper_dtype_bits(type) + 7) / 8;
    op->array = NULL;
    op->holds = HOLDS_NOTHING;
    op->shape[0] = (int64_t)n;
    op->t = (taper_tensor){data, type, 1, op->shape, NULL};
}

void operand_close(struct operand *op)
{
    switch (op->holds) {
    case HOLDS_NOTHING:
        break;
    case HOLDS_OBJECT:
        Py_DECREF(op->object);
        break;
    case HOLDS_BUFFER:
        PyBuffer_Release(&op->buffer);
        break;
    case HOLDS_DLPACK: {
        /* A deleter may run Python code: an exception that is set must survive it. */
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        op->dlpack_deleter(op->dlpack);
        PyErr_Restore(type, value, traceback);
        break;
    }
    }
    op->holds = HOLDS_NOTHING;
}
