/* uses.c - see uses.h. */
#include "uses.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "taper/onnx.h"

enum { NUMBERS = 7, PERIOD = NUMBERS * 8, GUARD = 64, CANARY = 0xa5 };

/* 1, -2.5, 0.1, 1e9, -0, 65520 and NaN: a short number, a tie of f4e2m1, a long number,
 * two that are too large for most, a sign, no number. By hand, with taper.h and the
 * default options. */
static const struct type {
    taper_dtype type;
    unsigned bits;
    uint64_t codes[NUMBERS];   /* of the numbers rounded to this type */
    uint64_t widened[NUMBERS]; /* of these codes in binary32 */
} types[] = {
    {TAPER_BF16,
     16,
     {0x3f80, 0xc020, 0x3dcd, 0x4e6e, 0x8000, 0x4780, 0x7fc0},
     {0x3f800000, 0xc0200000, 0x3dcd0000, 0x4e6e0000, 0x80000000, 0x47800000,
      0x7fc00000}},
    {TAPER_F16,
     16,
     {0x3c00, 0xc100, 0x2e66, 0x7c00, 0x8000, 0x7c00, 0x7e00},
     {0x3f800000, 0xc0200000, 0x3dccc000, 0x7f800000, 0x80000000, 0x7f800000,
      0x7fc00000}},
    {TAPER_F8E4M3FN,
     8,
     {0x38, 0xc2, 0x1d, 0x7e, 0x80, 0x7e, 0x7f},
     {0x3f800000, 0xc0200000, 0x3dd00000, 0x43e00000, 0x80000000, 0x43e00000,
      0x7fc00000}},
    {TAPER_F8E4M3FNUZ,
     8,
     {0x40, 0xca, 0x25, 0x7f, 0x00, 0x7f, 0x80},
     {0x3f800000, 0xc0200000, 0x3dd00000, 0x43700000, 0x00000000, 0x43700000,
      0xffc00000}},
    {TAPER_F8E5M2,
     8,
     {0x3c, 0xc1, 0x2e, 0x7b, 0x80, 0x7b, 0x7e},
     {0x3f800000, 0xc0200000, 0x3dc00000, 0x47600000, 0x80000000, 0x47600000,
      0x7fc00000}},
    {TAPER_F8E5M2FNUZ,
     8,
     {0x40, 0xc5, 0x32, 0x7f, 0x00, 0x7f, 0x80},
     {0x3f800000, 0xc0200000, 0x3dc00000, 0x47600000, 0x00000000, 0x47600000,
      0xffc00000}},
    {TAPER_F8E8M0,
     8,
     {0x7f, 0x81, 0x7c, 0x9d, 0x00, 0x8f, 0xff},
     {0x3f800000, 0x40800000, 0x3e000000, 0x4e800000, 0x00400000, 0x47800000,
      0x7fc00000}},
    {TAPER_F4E2M1,
     4,
     {0x2, 0xc, 0x0, 0x7, 0x8, 0x7, 0x7},
     {0x3f800000, 0xc0000000, 0x00000000, 0x40c00000, 0x80000000, 0x40c00000,
      0x40c00000}},
};
enum { TYPES = sizeof types / sizeof *types };

static const uint64_t f32[NUMBERS] = {0x3f800000, 0xc0200000, 0x3dcccccd, 0x4e6e6b28,
                                      0x80000000, 0x477ff000, 0x7fc00000};
static const uint64_t f64[NUMBERS] = {
    0x3ff0000000000000, 0xc004000000000000, 0x3fb99999a0000000, 0x41cdcd6500000000,
    0x8000000000000000, 0x40effe0000000000, 0x7ff8000000000000};

/* What is only moved, by width; the low bits of these. */
static const uint64_t moved[NUMBERS] = {
    0xfedcba9876543211, 0x0123456789abcdea, 0x7ff0000000000003, 0xa5a5a5a55a5a5a54,
    0x0000000000000000, 0xffffffffffffffff, 0x13579bdf02468ace};
static const taper_dtype by_width[] = {TAPER_U2,  TAPER_I4,  TAPER_BOOL,
                                       TAPER_I16, TAPER_U32, TAPER_I64};
enum { WIDTHS = sizeof by_width / sizeof *by_width, FIRST_WHOLE = 2 };

/* ---- Arrays ---- */

static void put(unsigned char *array, unsigned bits, size_t i, uint64_t code)
{
    const uint16_t code16 = (uint16_t)code;
    const uint32_t code32 = (uint32_t)code;
    const unsigned shift = (unsigned)(i * bits % 8);
    switch (bits) {
    case 64:
        memcpy(array + 8 * i, &code, 8);
        break;
    case 32:
        memcpy(array + 4 * i, &code32, 4);
        break;
    case 16:
        memcpy(array + 2 * i, &code16, 2);
        break;
    default: /* the first one in a byte clears it */
        if (shift == 0)
            array[i * bits / 8] = 0;
        array[i * bits / 8] |= (unsigned char)((code & ((1u << bits) - 1)) << shift);
    }
}

/* Element i is codes[i * step % 7], and guard bytes follow. */
static size_t write_numbers(unsigned char *array, unsigned bits, const uint64_t *codes,
                            size_t step, size_t n)
{
    const size_t bytes = (n * bits + 7) / 8;
    size_t done = (size_t)NUMBERS * bits; /* 56 elements are whole bytes */
    for (size_t i = 0; i < n && i < PERIOD; i++)
        put(array, bits, i, codes[i * step % NUMBERS]);
    while (done < bytes) {
        const size_t more = done < bytes - done ? done : bytes - done;
        memcpy(array + done, array, more);
        done += more;
    }
    if (n * bits % 8 != 0)
        array[bytes - 1] &= (unsigned char)((1u << n * bits % 8) - 1);
    memset(array + bytes, CANARY, GUARD);
    return bytes;
}

/* What a call will be compared with; it finds other bytes in `dst`. */
static void expect(const struct room *room, unsigned bits, const uint64_t *codes,
                   size_t step, size_t n)
{
    const size_t bytes = write_numbers(room->want, bits, codes, step, n);
    memset(room->dst, CANARY, bytes + GUARD);
}

static bool is_right(const struct room *room, taper_status status, unsigned bits,
                     size_t n)
{
    return status == TAPER_OK &&
           memcmp(room->dst, room->want, (n * bits + 7) / 8 + GUARD) == 0;
}

static size_t count(size_t rows)
{
    return rows * (rows - 2);
}

/* ---- Calls ---- */

static bool narrow(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    write_numbers(r->src, 32, f32, 1, n);
    for (const struct type *t = types; t < types + TYPES; t++) {
        expect(r, t->bits, t->codes, 1, n);
        if (!is_right(r, taper_narrow(t->type, r->dst, r->src, n, NULL), t->bits, n))
            return false;
    }
    return true;
}

static bool widen(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    for (const struct type *t = types; t < types + TYPES; t++) {
        write_numbers(r->src, t->bits, t->codes, 1, n);
        expect(r, 32, t->widened, 1, n);
        if (!is_right(r, taper_widen(t->type, r->dst, r->src, n), 32, n))
            return false;
    }
    return true;
}

static bool cast(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    write_numbers(r->src, 64, f64, 1, n);
    for (const struct type *t = types; t < types + TYPES; t++) {
        expect(r, t->bits, t->codes, 1, n);
        if (!is_right(r, taper_cast(t->type, r->dst, TAPER_F64, r->src, n, NULL),
                      t->bits, n))
            return false;
    }
    return true;
}

static bool copy(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    for (unsigned w = 0; w < WIDTHS; w++) {
        const unsigned bits = 2u << w;
        write_numbers(r->src, bits, moved, 1, n);
        expect(r, bits, moved, 1, n);
        if (!is_right(r, taper_copy(by_width[w], r->dst, r->src, n), bits, n))
            return false;
    }
    return true;
}

static bool fill(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    for (unsigned w = 0; w < WIDTHS; w++) {
        const unsigned bits = 2u << w;
        unsigned char value[8];
        put(value, bits, 0, moved[1]);
        expect(r, bits, &moved[1], 0, n);
        if (!is_right(r, taper_fill(by_width[w], r->dst, n, value), bits, n))
            return false;
    }
    return true;
}

/* Every seventh element of an array; the others stay. */
static bool tensor_fill(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    const int64_t shape = (int64_t)((n + NUMBERS - 1) / NUMBERS), stride = NUMBERS;
    const taper_tensor dst = {r->dst, TAPER_U16, 1, &shape, &stride};
    const uint64_t codes[NUMBERS] = {0x1234, 0xa5a5, 0xa5a5, 0xa5a5,
                                     0xa5a5, 0xa5a5, 0xa5a5};
    const uint16_t value = 0x1234;
    expect(r, 16, codes, 1, n);
    return is_right(r, taper_tensor_fill(&dst, &value), 16, n);
}

/* A matrix and its turned view. With 4 for the rest of the rows by 7 and 2 for that of
 * the columns, element p of the result is number 2p. */
struct turned {
    int64_t shape[2], strides[2];
};

static struct turned turn(size_t rows)
{
    const int64_t columns = (int64_t)rows - 2;
    return (struct turned){{columns, (int64_t)rows}, {1, columns}};
}

static bool tensor_copy(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    const struct turned t = turn(rows);
    for (unsigned w = FIRST_WHOLE; w < WIDTHS; w++) {
        const unsigned bits = 2u << w;
        const taper_tensor src = {r->src, by_width[w], 2, t.shape, t.strides};
        const taper_tensor dst = {r->dst, by_width[w], 2, t.shape, NULL};
        write_numbers(r->src, bits, moved, 1, n);
        expect(r, bits, moved, 2, n);
        if (!is_right(r, taper_tensor_copy(&dst, &src), bits, n))
            return false;
    }
    return true;
}

static bool tensor_cast(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    const struct turned turned = turn(rows);
    const taper_tensor src = {r->src, TAPER_F32, 2, turned.shape, turned.strides};
    write_numbers(r->src, 32, f32, 1, n);
    for (const struct type *t = types; t < types + TYPES; t++) {
        const taper_tensor dst = {r->dst, t->type, 2, turned.shape, NULL};
        expect(r, t->bits, t->codes, 2, n);
        if (!is_right(r, taper_tensor_cast(&dst, &src, NULL), t->bits, n))
            return false;
    }
    return true;
}

static bool constant_of_shape(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    const struct turned t = turn(rows);
    const int64_t rank = 2;
    const uint16_t number = 0x2e66;
    const uint64_t code = number;
    const taper_tensor shape = {(void *)t.shape, TAPER_I64, 1, &rank, NULL};
    const taper_tensor value = {(void *)&number, TAPER_F16, 0, NULL, NULL};
    taper_tensor dst;
    int64_t dims[2];
    size_t bytes;
    if (taper_onnx_constant_of_shape_infer(26, &dst, &bytes, dims, 2, &shape, &value) !=
            TAPER_OK ||
        bytes != 2 * n)
        return false;
    dst.data = r->dst;
    expect(r, 16, &code, 0, n);
    return is_right(r, taper_onnx_constant_of_shape(26, &dst, &shape, &value), 16, n);
}

static bool identity(const struct room *r, size_t rows)
{
    const size_t n = count(rows);
    const struct turned t = turn(rows);
    const taper_tensor src = {r->src, TAPER_BF16, 2, t.shape, t.strides};
    const taper_value input = taper_value_of(&src);
    taper_value output;
    taper_tensor dst;
    size_t bytes;
    write_numbers(r->src, 16, moved, 1, n);
    expect(r, 16, moved, 2, n);
    if (taper_onnx_identity_infer(26, &output, &dst, &bytes, &input) != TAPER_OK ||
        bytes != 2 * n)
        return false;
    dst.data = r->dst;
    return is_right(r, taper_onnx_identity(26, &output, &input), 16, n);
}

static bool identity_of_strings(const struct room *r, size_t rows)
{
    int64_t offsets[3] = {0, 5, 11}, got[3] = {-1, -1, -1};
    const int64_t two = 2;
    taper_strings from = {offsets, r->src, 11}, to = {got, r->dst, 11};
    const taper_tensor src = {&from, TAPER_STRING, 1, &two, NULL};
    const taper_tensor dst = {&to, TAPER_STRING, 1, &two, NULL};
    const taper_value input = taper_value_of(&src), output = taper_value_of(&dst);
    (void)rows;
    write_numbers(r->src, 8, moved, 1, 11);
    expect(r, 8, moved, 1, 11);
    return is_right(r, taper_onnx_identity(26, &output, &input), 8, 11) &&
           memcmp(got, offsets, sizeof got) == 0;
}

/* A row backwards: number n - 1 - i is number 6i on from the last one. */
static bool onnx_cast(const struct room *r, size_t rows)
{
    const size_t n = count(rows), last = (n - 1) % NUMBERS;
    const int64_t shape = (int64_t)n, stride = -1;
    const taper_tensor src = {r->src + 4 * (n - 1), TAPER_F32, 1, &shape, &stride};
    const struct type *const t = &types[TYPES - 1];
    uint64_t codes[NUMBERS];
    taper_tensor dst;
    size_t bytes;
    for (size_t i = 0; i < NUMBERS; i++)
        codes[i] = t->codes[(last + NUMBERS - i) % NUMBERS];
    write_numbers(r->src, 32, f32, 1, n);
    expect(r, t->bits, codes, 1, n);
    if (taper_onnx_cast_infer(26, &dst, &bytes, t->type, &src, NULL) != TAPER_OK ||
        bytes != (n * t->bits + 7) / 8)
        return false;
    dst.data = r->dst;
    return is_right(r, taper_onnx_cast(26, &dst, &src, NULL), t->bits, n);
}

static bool questions(const struct room *r, size_t rows)
{
    const int64_t shape[2] = {3, 5};
    const taper_tensor tensor = {NULL, TAPER_F4E2M1, 2, shape, NULL};
    size_t bytes;
    (void)r;
    (void)rows;
    return taper_tensor_bytes(&tensor, &bytes) == TAPER_OK && bytes == 8 &&
           taper_dtype_bits(TAPER_C128) == 128 &&
           strcmp(taper_dtype_name(TAPER_F4E2M1), "float4e2m1") == 0 &&
           taper_dtype_from_name("bfloat16") == TAPER_BF16 &&
           strlen(taper_status_text(TAPER_OVERLAP)) > 0 && taper_version()[1] == '.' &&
           taper_isa() != NULL && taper_isa_name(0) != NULL &&
           taper_max_threads() >= 1 && taper_threshold_bytes(TAPER_STREAM_BYTES) > 0 &&
           taper_onnx_version(TAPER_ONNX_CAST, 22) == 21 &&
           strcmp(taper_onnx_name(TAPER_ONNX_CAST), "Cast") == 0 &&
           taper_onnx_since(TAPER_ONNX_CAST, TAPER_TENSOR, TAPER_BF16) == 13;
}

static const struct {
    const char *name;
    bool (*right)(const struct room *room, size_t rows);
} uses[] = {
    {"taper_narrow", narrow},
    {"taper_widen", widen},
    {"taper_cast", cast},
    {"taper_copy", copy},
    {"taper_fill", fill},
    {"taper_tensor_fill", tensor_fill},
    {"taper_tensor_copy", tensor_copy},
    {"taper_tensor_cast", tensor_cast},
    {"taper_onnx_constant_of_shape", constant_of_shape},
    {"taper_onnx_identity", identity},
    {"taper_onnx_identity of strings", identity_of_strings},
    {"taper_onnx_cast", onnx_cast},
    {"questions", questions},
};
enum { USES = sizeof uses / sizeof *uses, ARRAY_USES = 5 };

static const char *use(const struct room *room, size_t rows, size_t first, size_t kinds)
{
    for (size_t i = 0; i < kinds; i++)
        if (!uses[(first + i) % kinds].right(room, rows))
            return uses[(first + i) % kinds].name;
    return NULL;
}

const char *use_taper(const struct room *room, size_t rows, size_t first)
{
    return use(room, rows, first, USES);
}

const char *use_arrays(const struct room *room, size_t rows, size_t first)
{
    return use(room, rows, first, ARRAY_USES);
}

void cut_taper(int threads)
{
    if (taper_set_max_threads(threads) != TAPER_OK ||
        taper_set_threshold_bytes(TAPER_PARALLEL_BYTES, threads > 0) != TAPER_OK)
        abort();
}
