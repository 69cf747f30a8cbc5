/* arguments.c - the arguments of a call: by place or name, and what they say. */
#include "binding.h"

#include <string.h>

int parse_call(const struct signature *s, PyObject *const *args, Py_ssize_t nargs,
               PyObject *keywords, PyObject *values[MAX_ARGUMENTS])
{
    memset(values, 0, MAX_ARGUMENTS * sizeof *values);
    if (nargs > s->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments, not %zd",
                     s->function, s->positional, nargs);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nargs; i++)
        values[i] = args[i];
    const Py_ssize_t count = keywords == NULL ? 0 : PyTuple_Size(keywords);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *const keyword = PyTuple_GetItem(keywords, i);
        int k = 0;
        while (s->names[k] != NULL &&
               PyUnicode_CompareWithASCIIString(keyword, s->names[k]) != 0)
            k++;
        if (s->names[k] == NULL || values[k] != NULL) {
            PyErr_Format(PyExc_TypeError,
                         s->names[k] == NULL ? "%s() has no argument '%U'"
                                             : "%s() got argument '%U' twice",
                         s->function, keyword);
            return -1;
        }
        values[k] = args[nargs + i];
    }
    for (int k = 0; k < s->required; k++)
        if (values[k] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() lacks argument '%s'", s->function,
                         s->names[k]);
            return -1;
        }
    return 0;
}

int parse_options(taper_cast_options *options, PyObject *saturate, PyObject *round_mode)
{
    static const char *const modes[] = {"up", "down", "nearest"};

    *options = (taper_cast_options){TAPER_SATURATE, TAPER_ROUND_UP};
    if (saturate != NULL) {
        const int yes = PyObject_IsTrue(saturate);
        if (yes < 0)
            return -1;
        options->overflow = yes ? TAPER_SATURATE : TAPER_NO_SATURATE;
    }
    if (round_mode == NULL)
        return 0;
    for (int i = 0; PyUnicode_Check(round_mode) && i < 3; i++)
        if (PyUnicode_CompareWithASCIIString(round_mode, modes[i]) == 0) {
            options->rounding = (taper_rounding)i;
            return 0;
        }
    PyErr_Format(PyUnicode_Check(round_mode) ? PyExc_ValueError : PyExc_TypeError,
                 "round_mode: expected 'up', 'down' or 'nearest', not %R", round_mode);
    return -1;
}

int parse_integer(PyObject *object, const char *name, long long *value)
{
    PyObject *const index = PyNumber_Index(object);
    if (index == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s: expected an integer, not %R", name,
                         object);
        return -1;
    }
    *value = PyLong_AsLongLong(index);
    Py_DECREF(index);
    if (*value == -1 && PyErr_Occurred()) {
        PyErr_Format(PyExc_OverflowError, "%s: %R does not fit into 64 bits", name,
                     object);
        return -1;
    }
    return 0;
}

int parse_opset(PyObject *object, int64_t *opset)
{
    long long value = TAPER_ONNX_NEWEST_OPSET;
    if (given(object) && parse_integer(object, "opset", &value) < 0)
        return -1;
    *opset = value;
    return 0;
}

int parse_shape(PyObject *object, npy_intp shape[MAX_RANK])
{
    long long value;

    /* Every array says that it can be an index. */
    const bool is_array =
        PyArray_Check(object) && PyArray_NDIM((PyArrayObject *)object) > 0;
    if (PyIndex_Check(object) && !is_array) {
        if (parse_integer(object, "shape", &value) < 0)
            return -1;
        shape[0] = (npy_intp)value;
        return 1;
    }
    if (!PySequence_Check(object) || PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "shape: expected an integer or a sequence of them, not %R",
                     object);
        return -1;
    }
    const Py_ssize_t rank = PySequence_Size(object);
    if (rank < 0)
        return -1;
    if (rank > MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "shape: expected at most %d dimensions, not %zd",
                     MAX_RANK, rank);
        return -1;
    }
    for (Py_ssize_t k = 0; k < rank; k++) {
        PyObject *const item = PySequence_GetItem(object, k);
        const int status = item == NULL ? -1 : parse_integer(item, "shape", &value);
        Py_XDECREF(item);
        if (status < 0)
            return -1;
        shape[k] = (npy_intp)value;
    }
    return (int)rank;
}

int check_status(taper_status status, const char *dst, const char *src)
{
    switch ((int)status) {
    case TAPER_OK:
        return 0;
    case NO_MEMORY:
        PyErr_NoMemory();
        return -1;
    case TAPER_OVERLAP:
        PyErr_Format(PyExc_ValueError,
                     "%s: shares memory with %s, and is not the same elements", dst,
                     src);
        return -1;
    case TAPER_BAD_STRIDE:
        PyErr_Format(PyExc_ValueError,
                     "%s: two of its indices mean the same memory, or its strides are "
                     "out of range",
                     dst);
        return -1;
    default:
        PyErr_Format(PyExc_ValueError, "%s: %s", dst, taper_status_text(status));
        return -1;
    }
}
