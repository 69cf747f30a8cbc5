/* dtypes.c - taper_dtype and the types of NumPy and ml_dtypes. */
#include "binding.h"

#include <string.h>

/* Where ml_dtypes has a type, its name there. */
static const char *const ml_names[DTYPES] = {
    [TAPER_BF16] = "bfloat16",
    [TAPER_F8E4M3FN] = "float8_e4m3fn",
    [TAPER_F8E4M3FNUZ] = "float8_e4m3fnuz",
    [TAPER_F8E5M2] = "float8_e5m2",
    [TAPER_F8E5M2FNUZ] = "float8_e5m2fnuz",
    [TAPER_U4] = "uint4",
    [TAPER_I4] = "int4",
    [TAPER_F4E2M1] = "float4_e2m1fn",
    [TAPER_F8E8M0] = "float8_e8m0fnu",
    [TAPER_U2] = "uint2",
    [TAPER_I2] = "int2",
};

static const int numpy_numbers[DTYPES] = {
    [TAPER_F32] = NPY_FLOAT32,   [TAPER_U8] = NPY_UINT8,
    [TAPER_I8] = NPY_INT8,       [TAPER_U16] = NPY_UINT16,
    [TAPER_I16] = NPY_INT16,     [TAPER_I32] = NPY_INT32,
    [TAPER_I64] = NPY_INT64,     [TAPER_BOOL] = NPY_BOOL,
    [TAPER_F16] = NPY_FLOAT16,   [TAPER_F64] = NPY_FLOAT64,
    [TAPER_U32] = NPY_UINT32,    [TAPER_U64] = NPY_UINT64,
    [TAPER_C64] = NPY_COMPLEX64, [TAPER_C128] = NPY_COMPLEX128,
};

/* Set once and never freed: the types of NumPy at the start, those of ml_dtypes when
 * they are first met. */
static PyObject *ml_types[DTYPES];
static PyArray_Descr *descrs[DTYPES];

int dtypes_init(void)
{
    for (int type = 1; type < DTYPES; type++) {
        if (type == TAPER_STRING || ml_names[type] != NULL || descrs[type] != NULL)
            continue;
        descrs[type] = PyArray_DescrFromType(numpy_numbers[type]);
        if (descrs[type] == NULL)
            return -1;
    }
    return 0;
}

/* Looks for ml_dtypes, among the imported modules only or by importing it. That it is
 * not there is no error. */
static int find_ml_dtypes(bool import)
{
    static bool found;
    PyObject *module;

    if (found)
        return 0;
    if (import) {
        module = PyImport_ImportModule("ml_dtypes");
        if (module == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_ImportError))
                return -1;
            PyErr_Clear();
            return 0;
        }
    } else {
        module = PyDict_GetItemString(PyImport_GetModuleDict(), "ml_dtypes");
        if (module == NULL)
            return 0;
        Py_INCREF(module);
    }
    for (int type = 1; type < DTYPES; type++) {
        if (ml_names[type] == NULL || descrs[type] != NULL)
            continue;
        PyObject *const scalar = PyObject_GetAttrString(module, ml_names[type]);
        if (scalar == NULL) { /* an older version, or one that is being imported */
            PyErr_Clear();
            continue;
        }
        PyArray_Descr *descr = NULL;
        if (!PyArray_DescrConverter(scalar, &descr)) {
            Py_DECREF(scalar);
            Py_DECREF(module);
            return -1;
        }
        descrs[type] = descr;
        ml_types[type] = scalar;
    }
    Py_DECREF(module);
    found = import || descrs[TAPER_BF16] != NULL;
    return 0;
}

bool dtype_is_padded(taper_dtype type)
{
    return taper_dtype_bits(type) < 8;
}

bool dtype_is_float(taper_dtype type)
{
    switch (type) {
    case TAPER_F64:
    case TAPER_F32:
    case TAPER_F16:
    case TAPER_BF16:
    case TAPER_F8E4M3FN:
    case TAPER_F8E4M3FNUZ:
    case TAPER_F8E5M2:
    case TAPER_F8E5M2FNUZ:
    case TAPER_F8E8M0:
    case TAPER_F4E2M1:
        return true;
    default:
        return false;
    }
}

size_t dtype_size(taper_dtype type)
{
    const size_t bits = taper_dtype_bits(type);
    return bits < 8 ? 1 : bits / 8;
}

/* An integer type of this size, whatever C calls it. */
static taper_dtype integer_of(size_t size, bool is_signed)
{
    switch (size) {
    case 1:
        return is_signed ? TAPER_I8 : TAPER_U8;
    case 2:
        return is_signed ? TAPER_I16 : TAPER_U16;
    case 4:
        return is_signed ? TAPER_I32 : TAPER_U32;
    default:
        return is_signed ? TAPER_I64 : TAPER_U64;
    }
}

taper_dtype dtype_of(const PyArray_Descr *descr)
{
    switch (descr->type_num) {
    case NPY_FLOAT:
        return TAPER_F32;
    case NPY_DOUBLE:
        return TAPER_F64;
    case NPY_HALF:
        return TAPER_F16;
    case NPY_BOOL:
        return TAPER_BOOL;
    case NPY_BYTE:
        return TAPER_I8;
    case NPY_UBYTE:
        return TAPER_U8;
    case NPY_SHORT:
        return TAPER_I16;
    case NPY_USHORT:
        return TAPER_U16;
    case NPY_INT:
        return integer_of(sizeof(int), true);
    case NPY_UINT:
        return integer_of(sizeof(int), false);
    case NPY_LONG:
        return integer_of(sizeof(long), true);
    case NPY_ULONG:
        return integer_of(sizeof(long), false);
    case NPY_LONGLONG:
        return integer_of(sizeof(long long), true);
    case NPY_ULONGLONG:
        return integer_of(sizeof(long long), false);
    case NPY_CFLOAT:
        return TAPER_C64;
    case NPY_CDOUBLE:
        return TAPER_C128;
    default:
        break;
    }
    if (descr->type_num < NPY_USERDEF)
        return 0;
    if (find_ml_dtypes(false) < 0)
        PyErr_Clear();
    for (int type = TAPER_BF16; type < DTYPES; type++)
        if (ml_types[type] != NULL && (PyObject *)descr->typeobj == ml_types[type])
            return (taper_dtype)type;
    return 0;
}

PyArray_Descr *dtype_descr(taper_dtype type, const char *name)
{
    if (descrs[type] == NULL && find_ml_dtypes(true) < 0)
        return NULL;
    if (descrs[type] == NULL)
        PyErr_Format(PyExc_ImportError,
                     "%s: an array of %s needs ml_dtypes, which is not installed or is "
                     "too old (without it, taper.cast can write codes to an out= of "
                     "uint%d)",
                     name, ml_names[type], (int)(8 * dtype_size(type)));
    return descrs[type];
}

static taper_dtype from_name(const char *name)
{
    for (int type = TAPER_BF16; type < DTYPES; type++)
        if (ml_names[type] != NULL && strcmp(name, ml_names[type]) == 0)
            return (taper_dtype)type;
    return taper_dtype_from_name(name);
}

taper_dtype dtype_parse(PyObject *object, const char *name)
{
    taper_dtype type = 0;
    PyArray_Descr *descr = NULL;

    if (PyArray_DescrCheck(object)) {
        type = dtype_of((PyArray_Descr *)object);
        if (type != 0 && PyArray_ISNBO(((PyArray_Descr *)object)->byteorder))
            return type;
        type = 0;
    } else if (PyUnicode_Check(object)) {
        const char *const text = PyUnicode_AsUTF8AndSize(object, NULL);
        if (text == NULL)
            return 0;
        type = from_name(text);
        if (type != 0 && type != TAPER_STRING)
            return type;
    } else if (PyType_Check(object)) {
        for (int k = TAPER_BF16; k < DTYPES; k++)
            if (object == ml_types[k])
                return (taper_dtype)k;
    }
    if (type == 0 && object != Py_None && PyArray_DescrConverter(object, &descr)) {
        type = dtype_of(descr);
        if (type != 0 && dtype_size(type) > 1 && !PyArray_ISNBO(descr->byteorder)) {
            PyErr_Format(PyExc_TypeError,
                         "%s: expected a type in native byte order, not %R", name,
                         object);
            Py_DECREF((PyObject *)descr);
            return 0;
        }
        Py_DECREF((PyObject *)descr);
    }
    if (type == 0 || type == TAPER_STRING) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: expected a NumPy or ml_dtypes type that ONNX has too, or a name "
            "such as 'bfloat16' or 'float8_e4m3fn', not %R",
            name, object);
        return 0;
    }
    return type;
}
