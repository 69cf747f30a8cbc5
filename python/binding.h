/* binding.h - what the files of the extension module share. */
#ifndef TAPER_BINDING_H
#define TAPER_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API  NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL taper_numpy
#ifndef TAPER_IMPORTS_NUMPY /* module.c does, for all files */
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <stdbool.h>

#include "taper/onnx.h"

/* Functions that return int give 0, or -1 with an exception set; those that return a
 * pointer or a taper_dtype give 0 then. `name` is the argument that messages name. */

/* ---- dtypes.c: taper_dtype and the types of NumPy and ml_dtypes ---- */

enum { DTYPES = TAPER_I2 + 1 };

int dtypes_init(void);

/* What argument `name` asks for: a NumPy dtype or scalar type, or a name. */
taper_dtype dtype_parse(PyObject *object, const char *name);

/* The element type of arrays of `descr`; 0, without an exception, if taper has none. */
taper_dtype dtype_of(const PyArray_Descr *descr);

/* NumPy's type for arrays of `type`: borrowed. */
PyArray_Descr *dtype_descr(taper_dtype type, const char *name);

/* Types of 4 and 2 bits, which NumPy arrays hold one per byte, in its low bits. */
bool dtype_is_padded(taper_dtype type);

/* Types that taper casts. */
bool dtype_is_float(taper_dtype type);

/* Bytes of an element in a NumPy array. */
size_t dtype_size(taper_dtype type);

/* ---- operand.c: an argument as a tensor ---- */

enum { MAX_RANK = 64 }; /* as NumPy and the buffer protocol have it */

struct operand {
    taper_tensor t;       /* if `padded`, of bytes */
    taper_dtype type;     /* of the elements */
    bool padded;          /* 4 or 2 bits, one per byte */
    size_t n;             /* elements */
    size_t bytes;         /* that they take */
    PyArrayObject *array; /* borrowed; NULL if it is something else */

    int64_t shape[MAX_RANK], strides[MAX_RANK];

    /* What keeps the memory there until operand_close(). */
    enum { HOLDS_NOTHING, HOLDS_OBJECT, HOLDS_BUFFER, HOLDS_DLPACK } holds;
    PyObject *object;
    Py_buffer buffer;
    void *dlpack;
    void (*dlpack_deleter)(void *);
};

enum access { READ, WRITE };

/* Makes an operand of an array, a buffer or a DLPack tensor. Without an error it has to
 * be closed; after one it is closed already. */
int operand_open(struct operand *op, PyObject *object, enum access access,
                 const char *name);

/* Takes the elements, unsigned integers of the right size, as codes of `type`. */
int operand_reinterpret(struct operand *op, taper_dtype type, const char *name);

/* An operand of `n` elements of `type` at `data`, one after the other; packed, if they
 * have 4 or 2 bits. It need not be closed. */
void operand_of_memory(struct operand *op, taper_dtype type, void *data, size_t n);

void operand_close(struct operand *op);

bool operand_is_contiguous(const struct operand *op);

/* ---- convert.c: casts and copies between operands, padded or not ---- */

enum { NO_MEMORY = 1 }; /* beside what the library reports */

/* taper_tensor_cast(), and for equal types taper_tensor_copy(). Runs without the GIL.
 */
taper_status convert(const struct operand *dst, const struct operand *src,
                     const taper_cast_options *options);

/* ---- arguments.c: the arguments of a call, and its outcome ---- */

enum { MAX_ARGUMENTS = 7 };

struct signature {
    const char *function;
    int required, positional; /* how many, from the first on */
    const char *names[MAX_ARGUMENTS + 1];
};

/* Puts the arguments of a call into `values` by their place in `s`; NULL: not given. */
int parse_call(const struct signature *s, PyObject *const *args, Py_ssize_t nargs,
               PyObject *keywords, PyObject *values[MAX_ARGUMENTS]);

static inline bool given(const PyObject *value)
{
    return value != NULL && value != Py_None;
}

int parse_options(taper_cast_options *options, PyObject *saturate,
                  PyObject *round_mode);

/* An integer for C; objects of other types are refused. */
int parse_integer(PyObject *object, const char *name, long long *value);

int parse_opset(PyObject *object, int64_t *opset);

/* A shape, an integer or a sequence of them, into `shape`; the rank, or -1. */
int parse_shape(PyObject *object, npy_intp shape[MAX_RANK]);

/* Turns what the library reports into an exception. */
int check_status(taper_status status, const char *dst, const char *src);

/* ---- element.c ---- */

enum { MAX_ELEMENT = 16 };

/* The bytes of one element, as it is in a NumPy array. */
int parse_element(PyObject *value, taper_dtype type, void *element);

#endif
