/* safetensors.c - see safetensors.h.
 *
 * A file is 8 bytes of length (little-endian), that many bytes of JSON, and the data.
 * The JSON names each tensor with its dtype, its shape and the bytes it has in the
 * data, which the tensors must cover one after the other without a gap. */
#include "safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* What the reference implementation takes at most. */
enum { MAX_HEADER = 100000000 };

const struct st_dtype st_dtypes[ST_DTYPES] = {
    {"F64", 64, TAPER_F64},
    {"F32", 32, TAPER_F32},
    {"F16", 16, TAPER_F16},
    {"BF16", 16, TAPER_BF16},
    {"F8_E4M3", 8, TAPER_F8E4M3FN},
    {"F8_E5M2", 8, TAPER_F8E5M2},
    {"F8_E4M3FNUZ", 8, TAPER_F8E4M3FNUZ},
    {"F8_E5M2FNUZ", 8, TAPER_F8E5M2FNUZ},
    {"F8_E8M0", 8, TAPER_F8E8M0},
    {"F6_E2M3", 6, 0},
    {"F6_E3M2", 6, 0},
    {"F4", 4, TAPER_F4E2M1},
    {"C64", 64, 0},
    {"I64", 64, 0},
    {"I32", 32, 0},
    {"I16", 16, 0},
    {"I8", 8, 0},
    {"U64", 64, 0},
    {"U32", 32, 0},
    {"U16", 16, 0},
    {"U8", 8, 0},
    {"BOOL", 8, 0},
};

const struct st_dtype *st_dtype_named(const char *name)
{
    for (size_t i = 0; i < ST_DTYPES; i++)
        if (strcmp(st_dtypes[i].name, name) == 0)
            return st_dtypes + i;
    return NULL;
}

const struct st_dtype *st_float_named(const char *word)
{
    const taper_dtype type = taper_dtype_from_name(word);
    for (size_t i = 0; i < ST_DTYPES; i++)
        if (st_dtypes[i].type != 0 &&
            (st_dtypes[i].type == type || strcasecmp(st_dtypes[i].name, word) == 0))
            return st_dtypes + i;
    return NULL;
}

uint64_t st_bytes(const struct st_dtype *dtype, uint64_t count)
{
    return dtype->bits >= 8 ? count * (dtype->bits / 8)
                            : count / 4 * dtype->bits / 2 + count % 4 * dtype->bits / 8;
}

void st_fault(const char *path, const char *tensor, const char *format, ...)
{
    char fault[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(fault, sizeof fault, format, values);
    va_end(values);
    if (tensor == NULL)
        cli_error("%s: %s", path, fault);
    else
        cli_error("%s: tensor \"%s\": %s", path, tensor, fault);
}

/* Reads the length and the JSON text, for free(); NULL after saying what is wrong. */
static char *read_header(struct st_file *file, uint64_t size, size_t *length)
{
    unsigned char first[8];
    if (size < sizeof first) {
        st_fault(file->path, NULL,
                 "has %" PRIu64
                 " bytes, but a safetensors file begins with 8 of length",
                 size);
        return NULL;
    }
    const ssize_t got = pread(file->fd, first, sizeof first, 0);
    if (got != sizeof first) {
        st_fault(file->path, NULL, "cannot be read: %s",
                 got < 0 ? strerror(errno) : "it became shorter");
        return NULL;
    }
    uint64_t n = 0;
    for (size_t i = sizeof first; i-- > 0;)
        n = n << 8 | first[i];
    if (n > size - sizeof first) {
        st_fault(file->path, NULL,
                 "the header is said to have %" PRIu64 " bytes, but only %" PRIu64
                 " follow: not a safetensors file, or truncated",
                 n, size - sizeof first);
        return NULL;
    }
    if (n > MAX_HEADER) {
        st_fault(file->path, NULL,
                 "the header is said to have %" PRIu64 " bytes; the format allows %d",
                 n, MAX_HEADER);
        return NULL;
    }

    char *const text = cli_alloc((size_t)n + 1, 1);
    for (size_t have = 0; have < n;) {
        const ssize_t part = pread(file->fd, text + have, (size_t)n - have,
                                   (off_t)(sizeof first + have));
        if (part <= 0) {
            st_fault(file->path, NULL, "the header cannot be read: %s",
                     part < 0 ? strerror(errno) : "the file became shorter");
            free(text);
            return NULL;
        }
        have += (size_t)part;
    }
    file->data = sizeof first + n;
    *length = (size_t)n;
    return text;
}

static bool parse(struct st_file *file, const char *text, size_t length)
{
    if (length == 0 || text[0] != '{') {
        st_fault(file->path, NULL, "the header does not begin with '{': not JSON");
        return false;
    }
    json_error_t error;
    file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (file->header == NULL) {
        if (json_error_code(&error) == json_error_duplicate_key)
            st_fault(file->path, NULL, "the header has a name twice: %s", error.text);
        else
            st_fault(file->path, NULL, "the header is not JSON: %s, byte %d of it",
                     error.text, error.position);
        return false;
    }
    return true;
}

static bool check_metadata(const struct st_file *file, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata)) {
        st_fault(file->path, NULL, "__metadata__ is not an object");
        return false;
    }
    json_object_foreach(metadata, key, value) if (!json_is_string(value))
    {
        st_fault(file->path, NULL, "__metadata__: the value of \"%s\" is no string",
                 key);
        return false;
    }
    return true;
}

/* A number of the header that is neither negative nor a fraction. */
static bool whole_number(const json_t *value, uint64_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

/* Counts the elements; a product past 64 bits is a fault, even where a later dimension
 * is 0, because the reference implementation refuses such a file too. */
static bool check_shape(const struct st_file *file, struct st_tensor *t,
                        const json_t *shape)
{
    if (!json_is_array(shape)) {
        st_fault(file->path, t->name, "has no array called \"shape\"");
        return false;
    }
    t->count = 1;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        uint64_t dim;
        if (!whole_number(json_array_get(shape, i), &dim)) {
            st_fault(file->path, t->name,
                     "dimension %zu of the shape is not a whole number from 0 up", i);
            return false;
        }
        if (__builtin_mul_overflow(t->count, dim, &t->count)) {
            st_fault(file->path, t->name, "the shape overflows: too many elements");
            return false;
        }
    }
    uint64_t bits;
    if (__builtin_mul_overflow(t->count, (uint64_t)t->dtype->bits, &bits)) {
        st_fault(file->path, t->name, "the shape overflows: too many bytes");
        return false;
    }
    if (bits % 8 != 0) {
        st_fault(file->path, t->name,
                 "%" PRIu64 " elements of %s are not a whole number of bytes", t->count,
                 t->dtype->name);
        return false;
    }
    return true;
}

static bool check_entry(const struct st_file *file, struct st_tensor *t)
{
    if (!json_is_object(t->entry)) {
        st_fault(file->path, t->name, "its entry in the header is not an object");
        return false;
    }
    const char *const dtype = json_string_value(json_object_get(t->entry, "dtype"));
    if (dtype == NULL) {
        st_fault(file->path, t->name, "has no string called \"dtype\"");
        return false;
    }
    t->dtype = st_dtype_named(dtype);
    if (t->dtype == NULL) {
        st_fault(file->path, t->name, "unknown dtype \"%s\"", dtype);
        return false;
    }
    if (!check_shape(file, t, json_object_get(t->entry, "shape")))
        return false;

    const json_t *const offsets = json_object_get(t->entry, "data_offsets");
    if (json_array_size(offsets) != 2 ||
        !whole_number(json_array_get(offsets, 0), &t->begin) ||
        !whole_number(json_array_get(offsets, 1), &t->end)) {
        st_fault(file->path, t->name,
                 "\"data_offsets\" is not an array of two whole numbers from 0 up");
        return false;
    }
    if (t->end < t->begin) {
        st_fault(file->path, t->name,
                 "data_offsets end at %" PRIu64 ", before they begin at %" PRIu64,
                 t->end, t->begin);
        return false;
    }
    if (t->end - t->begin != st_bytes(t->dtype, t->count)) {
        st_fault(file->path, t->name,
                 "data_offsets span %" PRIu64
                 " bytes, but shape times dtype is %" PRIu64,
                 t->end - t->begin, st_bytes(t->dtype, t->count));
        return false;
    }
    return true;
}

static int by_offset(const void *left, const void *right)
{
    const struct st_tensor *const a = left, *const b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* The tensors, now sorted, must cover the `bytes` of data that the file has. */
static bool check_cover(const struct st_file *file, uint64_t bytes)
{
    uint64_t end = 0;
    const char *before = NULL;
    for (size_t i = 0; i < file->count; i++) {
        const struct st_tensor *const t = file->tensors + i;
        if (t->begin != end) {
            const char *const kind = t->begin < end ? "overlap" : "hole";
            if (before == NULL)
                st_fault(file->path, t->name,
                         "%s: begins at byte %" PRIu64 " of the data, not at 0", kind,
                         t->begin);
            else
                st_fault(file->path, t->name,
                         "%s: begins at byte %" PRIu64
                         " of the data, but tensor \"%s\" ends at %" PRIu64,
                         kind, t->begin, before, end);
            return false;
        }
        if (t->end > bytes) {
            st_fault(file->path, t->name,
                     "truncated: ends at byte %" PRIu64
                     " of the data, but the file holds only %" PRIu64,
                     t->end, bytes);
            return false;
        }
        end = t->end;
        before = t->name;
    }
    if (end != bytes) {
        st_fault(file->path, NULL,
                 "hole: the tensors end at byte %" PRIu64
                 " of the data, but the file holds %" PRIu64,
                 end, bytes);
        return false;
    }
    return true;
}

static bool check(struct st_file *file, uint64_t bytes)
{
    const char *name;
    json_t *entry;
    size_t place = 0;

    file->tensors = cli_alloc(json_object_size(file->header), sizeof *file->tensors);
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            if (!check_metadata(file, entry))
                return false;
            continue;
        }
        struct st_tensor *const t = file->tensors + file->count++;
        *t = (struct st_tensor){.name = name, .place = place++, .entry = entry};
        if (!check_entry(file, t))
            return false;
    }
    if (file->count != 0)
        qsort(file->tensors, file->count, sizeof *file->tensors, by_offset);
    return check_cover(file, bytes);
}

bool st_open(struct st_file *file, const char *path)
{
    *file = (struct st_file){.path = path};
    /* O_NONBLOCK: a FIFO is to be refused, not waited for. */
    file->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat stat;
    if (file->fd < 0 || fstat(file->fd, &stat) != 0) {
        st_fault(path, NULL, "cannot be opened: %s", strerror(errno));
        st_close(file);
        return false;
    }
    if (!S_ISREG(stat.st_mode)) {
        st_fault(path, NULL, "%s",
                 S_ISDIR(stat.st_mode) ? "is a folder: name the files in it"
                                       : "is not a regular file");
        st_close(file);
        return false;
    }
    file->mode = stat.st_mode & 0777;

    size_t length;
    char *const text = read_header(file, (uint64_t)stat.st_size, &length);
    const bool good = text != NULL && parse(file, text, length) &&
                      check(file, (uint64_t)stat.st_size - file->data);
    free(text);
    if (!good)
        st_close(file);
    return good;
}

void st_close(struct st_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    json_decref(file->header);
    free(file->tensors);
    *file = (struct st_file){.path = file->path, .fd = -1}; /* closing twice is fine */
}

void st_retype(struct st_tensor *tensor, const struct st_dtype *dtype, uint64_t begin,
               uint64_t end)
{
    tensor->dtype = dtype;
    /* Setting a key that exists leaves it where it is, so the order is kept. */
    json_object_set_new(tensor->entry, "dtype", json_string(dtype->name));
    json_object_set_new(tensor->entry, "data_offsets",
                        json_pack("[I, I]", (json_int_t)begin, (json_int_t)end));
}

void *st_header(const struct st_file *file, size_t *bytes)
{
    const size_t length = json_dumpb(file->header, NULL, 0, JSON_COMPACT);
    /* Spaces at the end let the data begin on a multiple of 8, as other writers do. */
    const size_t padded = (length + 7) / 8 * 8;
    unsigned char *const out = cli_alloc(8 + padded, 1);
    for (size_t i = 0; i < 8; i++)
        out[i] = (unsigned char)((uint64_t)padded >> 8 * i);
    memset(out + 8, ' ', padded);
    json_dumpb(file->header, (char *)out + 8, length, JSON_COMPACT);
    *bytes = 8 + padded;
    return out;
}
