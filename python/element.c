/* element.c - one element from a Python object, for taper.full(). */
#include "binding.h"

#include <string.h>

static int integer_element(PyObject *value, taper_dtype type, void *element)
{
    const unsigned bits = (unsigned)taper_dtype_bits(type);
    const bool is_signed = type == TAPER_I2 || type == TAPER_I4 || type == TAPER_I8 ||
                           type == TAPER_I16 || type == TAPER_I32 || type == TAPER_I64;
    bool fits;
    uint64_t code;

    PyObject *const index = PyNumber_Index(value);
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "value: expected an integer, not %R", value);
        return -1;
    }
    if (is_signed) {
        const long long number = PyLong_AsLongLong(index);
        const long long limit = bits == 64 ? 0 : 1LL << (bits - 1);
        fits = bits == 64 || (number >= -limit && number < limit);
        code = (uint64_t)number;
    } else {
        const unsigned long long number = PyLong_AsUnsignedLongLong(index);
        fits = bits == 64 || number >> bits == 0;
        code = number;
    }
    Py_DECREF(index);
    if (PyErr_Occurred() || !fits) {
        PyErr_Format(PyExc_OverflowError, "value: %R is out of the range of %s", value,
                     taper_dtype_name(type));
        return -1;
    }
    const uint8_t code8 = (uint8_t)(bits < 8 ? code & ((1u << bits) - 1) : code);
    const uint16_t code16 = (uint16_t)code;
    const uint32_t code32 = (uint32_t)code;
    switch (dtype_size(type)) {
    case 1:
        memcpy(element, &code8, 1);
        break;
    case 2:
        memcpy(element, &code16, 2);
        break;
    case 4:
        memcpy(element, &code32, 4);
        break;
    default:
        memcpy(element, &code, 8);
        break;
    }
    return 0;
}

static int number_expected(PyObject *value, taper_dtype type)
{
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "value: expected a number for %s, not %R",
                     taper_dtype_name(type), value);
    return -1;
}

static int complex_element(PyObject *value, taper_dtype type, void *element)
{
    PyObject *const number =
        PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL);
    if (number == NULL || PyUnicode_Check(value)) {
        Py_XDECREF(number);
        if (!PyErr_Occurred())
            PyErr_SetNone(PyExc_TypeError);
        return number_expected(value, type);
    }
    const double wide[2] = {PyComplex_RealAsDouble(number),
                            PyComplex_ImagAsDouble(number)};
    Py_DECREF(number);
    struct operand dst, src;
    operand_of_memory(&src, TAPER_F64, (void *)wide, 2);
    operand_of_memory(&dst, type == TAPER_C64 ? TAPER_F32 : TAPER_F64, element, 2);
    return check_status(convert(&dst, &src, NULL), "value", "value");
}

/* From a Python number. */
static int element_of_number(PyObject *value, taper_dtype type, void *element)
{
    if (type == TAPER_BOOL) {
        const int yes = PyBool_Check(value) || PyIndex_Check(value)
                            ? PyObject_IsTrue(value)
                            : (PyErr_SetNone(PyExc_TypeError), -1);
        if (yes < 0)
            return number_expected(value, type);
        *(unsigned char *)element = (unsigned char)yes;
        return 0;
    }
    if (type == TAPER_C64 || type == TAPER_C128)
        return complex_element(value, type, element);
    if (!dtype_is_float(type))
        return integer_element(value, type, element);
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred())
        return number_expected(value, type);
    struct operand dst, src;
    operand_of_memory(&src, TAPER_F64, &number, 1);
    operand_of_memory(&dst, type, element, 1);
    return check_status(convert(&dst, &src, NULL), "value", "value");
}

/* From an array or a scalar of NumPy or ml_dtypes: its bits if it has this type, a cast
 * between floats. Everything else is done as with the Python number. */
static int element_of_array(PyObject *value, taper_dtype type, void *element)
{
    struct operand src, dst;
    PyObject *const array = PyArray_FROM_O(value);
    int status = -1;

    if (array == NULL)
        return -1;
    if (operand_open(&src, array, READ, "value") == 0) {
        operand_of_memory(&dst, type, element, 1);
        dst.t.rank = src.t.rank; /* all dimensions are 1 */
        dst.t.shape = src.t.shape;
        if (src.n != 1)
            PyErr_Format(PyExc_ValueError, "value: expected one element, not %zd",
                         (Py_ssize_t)src.n);
        else if (src.type == type) {
            memcpy(element, src.t.data, dtype_size(type));
            status = 0;
        } else if (dtype_is_float(src.type) && dtype_is_float(type)) {
            status = check_status(convert(&dst, &src, NULL), "value", "value");
        } else {
            PyObject *const number = PyObject_CallMethod(array, "item", NULL);
            if (number != NULL)
                status = element_of_number(number, type, element);
            Py_XDECREF(number);
        }
        operand_close(&src);
    }
    Py_DECREF(array);
    return status;
}

int parse_element(PyObject *value, taper_dtype type, void *element)
{
    if (PyArray_Check(value) || PyArray_CheckScalar(value))
        return element_of_array(value, type, element);
    return element_of_number(value, type, element);
}
