/* safetensors.h - safetensors files: the header read and checked, a new header made. */
#ifndef TAPER_SAFETENSORS_H
#define TAPER_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "taper/taper.h"

struct st_dtype {
    const char *name; /* as in the header */
    unsigned bits;
    taper_dtype type; /* of floats that taper casts; 0 for the rest */
};

enum { ST_DTYPES = 22 };
extern const struct st_dtype st_dtypes[ST_DTYPES];

/* NULL for a word that is no dtype. */
const struct st_dtype *st_dtype_named(const char *name);

/* The float type with this name, in any case, or with this name in ONNX ("F8_E4M3",
 * "f8_e4m3" and "float8e4m3fn" are one). NULL for another word. */
const struct st_dtype *st_float_named(const char *word);

/* For messages: what st_float_named() takes and has less than 32 bits. */
#define ST_NARROW_NAMES                                                                \
    "bf16, f16, f8_e4m3, f8_e5m2, f8_e4m3fnuz, f8_e5m2fnuz, f8_e8m0, f4"

/* Bytes of `count` elements that were checked to be whole bytes. */
uint64_t st_bytes(const struct st_dtype *dtype, uint64_t count);

struct st_tensor {
    const char *name;
    const struct st_dtype *dtype;
    uint64_t count;      /* elements */
    uint64_t begin, end; /* bytes, from the start of the data */
    size_t place;        /* in the header, which may have another order than the data */
    json_t *entry;       /* of the header */
};

struct st_file {
    const char *path; /* for messages */
    int fd;
    mode_t mode;
    uint64_t data; /* where the data begins in the file */
    json_t *header;
    struct st_tensor *tensors; /* in the order of their data */
    size_t count;
};

/* Opens and checks. Everything about the file is known to be in order when it returns
 * true; else it has said what is wrong, where, in one line. `path` must outlive `file`.
 */
bool st_open(struct st_file *file, const char *path);
void st_close(struct st_file *file);

/* Prints "PATH: tensor "NAME": FAULT" with cli_error(); `tensor` may be NULL. */
__attribute__((format(printf, 3, 4))) void
st_fault(const char *path, const char *tensor, const char *format, ...);

/* Gives a tensor another dtype and place in the header, which is all that changes. */
void st_retype(struct st_tensor *tensor, const struct st_dtype *dtype, uint64_t begin,
               uint64_t end);

/* The header as the first bytes of a file, its length in front: for free(). */
void *st_header(const struct st_file *file, size_t *bytes);

#endif
