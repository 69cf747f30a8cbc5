/* fuzz_identity.c - Identity of tensors, strings, sequences and optionals in any
 * operator set, and what it says that its output will be. */
#include "pair.h"

#include "taper/onnx.h"

/* Two tensors of strings, all in one memory. */
struct strings {
    taper_tensor dst, src;
    taper_strings to, from;
    size_t n;
};

struct member {
    bool is_strings;
    struct pair pair;
    struct strings strings;
};

static struct memory texts[PLACES];

/* ---- Strings ---- */

enum { MOST_STRINGS = 40, MOST_TEXT = 300, TEXTS = 5000 };

static uint64_t offset(const taper_strings *s, size_t i)
{
    uint64_t o;
    memcpy(&o, (const char *)s->offsets + 8 * i, 8);
    return o;
}

/* A place of its own, or at or near `near`. */
static unsigned char *take_text(struct input *in, const struct memory *m, size_t bytes,
                                unsigned slot, const void *near)
{
    const unsigned way = take_below(in, 16);
    unsigned char *const own = m->real.end - TEXTS + 1000 * slot + take_below(in, 8);
    unsigned char *const close =
        (unsigned char *)((uintptr_t)near + (way == 0 ? 0 : take(in, 2) % 700 - 350));
    if (way < 3 && near != NULL && memory_holds(m, close, bytes))
        return close;
    return way == 15 ? m->real.end - bytes : own;
}

static void take_strings(struct input *in, struct strings *s, struct memory *m)
{
    const unsigned faults = take_below(in, 64);
    memory_make(m);
    memory_forget(m);
    *s = (struct strings){.dst.type = TAPER_STRING, .src.type = TAPER_STRING};
    take_shape(in, &s->dst);
    s->src.rank = s->dst.rank;
    s->src.shape = s->dst.shape;
    if (faults == 1)
        take_shape(in, &s->src);
    take_strides(in, &s->dst, NULL);
    take_strides(in, &s->src, NULL);

    const size_t room = 8 * (MOST_STRINGS + 1);
    s->from.offsets = take_text(in, m, room, 0, NULL);
    s->from.bytes = take_text(in, m, MOST_TEXT, 1, s->from.offsets);
    s->to.offsets = take_text(in, m, room, 2, s->from.offsets);
    s->to.bytes = take_text(in, m, MOST_TEXT, 3,
                            take_below(in, 4) == 0 ? s->from.offsets : s->from.bytes);
    s->from.size = faults == 2 ? (size_t)take_number(in) : MOST_TEXT;
    s->to.size = faults == 3 ? (size_t)take_number(in) : MOST_TEXT;
    if (faults == 4)
        s->from.bytes = NULL;
    if (faults == 5)
        s->to.bytes = NULL;
    if (faults == 6)
        s->from.offsets = NULL;
    if (faults == 7)
        s->to.offsets = NULL;
    s->dst.data = faults == 8 ? NULL : &s->to;
    s->src.data = faults == 9 ? NULL : &s->from;
}

static taper_status want_lengths(const taper_tensor *t, size_t *n)
{
    taper_tensor offsets = *t;
    if (t->rank > 0 && t->shape == NULL)
        return TAPER_NULL;
    offsets.type = TAPER_I64;
    const taper_status status = want_tensor(&offsets, n);
    return status == TAPER_OK && *n > (PTRDIFF_MAX - 8) / 8 ? TAPER_TOO_LARGE : status;
}

/* Makes the room for the bytes just enough, or not quite. */
static void take_sizes(struct input *in, struct strings *s)
{
    const unsigned way = take_below(in, 16);
    size_t n = 0;
    if (s->from.offsets == NULL || want_lengths(&s->src, &n) != TAPER_OK ||
        n > MOST_STRINGS)
        return;
    const size_t end = (size_t)offset(&s->from, n);
    if (way == 1 || way == 2)
        s->to.size = end - (way - 1);
    if (way == 3 || way == 4)
        s->from.size = end - (way - 3);
}

/* Fills the memory: with offsets that mostly rise. */
static void start_strings(struct input *in, struct strings *s, struct memory *m)
{
    memory_watch(m, m->real.end - TEXTS, TEXTS);
    memory_fill(m, take(in, 1));
    uint64_t at = take_below(in, 8);
    for (size_t i = 0; i <= MOST_STRINGS && s->from.offsets != NULL; i++) {
        const unsigned way = take_below(in, 256);
        at = way < 250 ? at + way % 9 : way < 253 ? at - 1 : (uint64_t)take_number(in);
        memcpy((char *)s->from.offsets + 8 * i, &at, 8);
    }
    take_sizes(in, s);
    memory_take(m);
}

static bool share(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const uintptr_t p = (uintptr_t)a, q = (uintptr_t)b;
    return a_bytes > 0 && b_bytes > 0 && p < q + b_bytes && q < p + a_bytes;
}

/* Offsets and bytes of the one that is read. */
static taper_status want_offsets(const taper_strings *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (offset(s, i + 1) < offset(s, i))
            return TAPER_BAD_OFFSETS;
    return offset(s, n) > s->size || offset(s, n) > PTRDIFF_MAX ? TAPER_BAD_OFFSETS
                                                                : TAPER_OK;
}

static int want_strings(struct strings *s)
{
    size_t n = 0;
    taper_status status = want_lengths(&s->dst, &n);
    if (status == TAPER_OK)
        status = want_lengths(&s->src, &n);
    if (status != TAPER_OK)
        return status;
    if (!same_shape(&s->dst, &s->src))
        return TAPER_SHAPE_MISMATCH;
    s->n = n;
    if (n == 0)
        return TAPER_OK;
    if (s->dst.data == NULL || s->to.offsets == NULL || s->src.data == NULL ||
        s->from.offsets == NULL)
        return TAPER_NULL;
    if (!is_row_major(&s->dst) || !is_row_major(&s->src))
        return TAPER_BAD_STRIDE;
    if (n > MOST_STRINGS)
        return NOT_CALLED;
    status = want_offsets(&s->from, n);
    if (status != TAPER_OK)
        return status;
    const uint64_t begin = offset(&s->from, 0), end = offset(&s->from, n);
    if (end > s->to.size)
        return TAPER_BAD_OFFSETS;
    if (begin != end && (s->from.bytes == NULL || s->to.bytes == NULL))
        return TAPER_NULL;
    const size_t all = 8 * (n + 1), text = (size_t)(end - begin);
    if (end > MOST_TEXT && text > 0)
        return NOT_CALLED;
    const char *const to = (const char *)((uintptr_t)s->to.bytes + begin);
    const char *const from = (const char *)((uintptr_t)s->from.bytes + begin);
    if ((s->to.offsets != s->from.offsets &&
         share(s->to.offsets, all, s->from.offsets, all)) ||
        (to != from && share(to, text, from, text)) ||
        share(s->to.offsets, all, from, text) || share(s->to.offsets, all, to, text) ||
        share(s->from.offsets, all, to, text))
        return TAPER_OVERLAP;
    return TAPER_OK;
}

static void compare_strings(const struct strings *s, const struct memory *m, bool done)
{
    if (done && s->n > 0) {
        const uint64_t begin = offset(&s->from, 0), end = offset(&s->from, s->n);
        memmove(memory_image(m, s->to.offsets), memory_image(m, s->from.offsets),
                8 * (s->n + 1));
        if (begin < end)
            memmove(memory_image(m, s->to.bytes) + begin,
                    memory_image(m, s->from.bytes) + begin, (size_t)(end - begin));
    }
    memory_check(m, "strings", m->real.end);
}

/* ---- Values ---- */

static taper_status want_kind(const taper_value *v)
{
    const bool sequence =
        v->kind == TAPER_SEQUENCE || v->kind == TAPER_OPTIONAL_SEQUENCE;
    const bool optional =
        v->kind == TAPER_OPTIONAL_TENSOR || v->kind == TAPER_OPTIONAL_SEQUENCE;
    if ((unsigned)v->kind > TAPER_OPTIONAL_SEQUENCE || (v->absent && !optional))
        return TAPER_BAD_KIND;
    return v->absent || sequence || v->count == 1 ? TAPER_OK : TAPER_BAD_KIND;
}

static taper_status want_input(int64_t opset, const taper_value *input)
{
    const int version = taper_onnx_version(TAPER_ONNX_IDENTITY, opset);
    if (version == 0)
        return TAPER_BAD_OPSET;
    const taper_status status = want_kind(input);
    if (status != TAPER_OK)
        return status;
    if (!is_dtype(input->type))
        return TAPER_BAD_DTYPE;
    const int since = taper_onnx_since(TAPER_ONNX_IDENTITY, input->kind, input->type);
    return since == 0         ? TAPER_UNSUPPORTED
           : since <= version ? TAPER_OK
                              : TAPER_TYPE_TOO_NEW;
}

static size_t count_of(const taper_value *v)
{
    return v->absent ? 0 : v->count;
}

static taper_status want_output(const taper_value *output, const taper_value *input)
{
    if (output->kind != input->kind || output->type != input->type)
        return TAPER_TYPE_MISMATCH;
    const taper_status status = want_kind(output);
    if (status != TAPER_OK)
        return status;
    if (!output->absent != !input->absent || count_of(output) != count_of(input))
        return TAPER_SHAPE_MISMATCH;
    return count_of(input) > 0 && (output->tensors == NULL || input->tensors == NULL)
               ? TAPER_NULL
               : TAPER_OK;
}

static taper_status want_type(const taper_tensor *t, taper_dtype type)
{
    return t->rank > 0 && t->shape == NULL ? TAPER_NULL
           : t->type != type               ? TAPER_TYPE_MISMATCH
                                           : TAPER_OK;
}

static const taper_tensor *dst_of(const struct member *m)
{
    return m->is_strings ? &m->strings.dst : &m->pair.dst;
}

static const taper_tensor *src_of(const struct member *m)
{
    return m->is_strings ? &m->strings.src : &m->pair.src;
}

static int want_member(struct member *m, taper_dtype type)
{
    taper_status status = want_type(dst_of(m), type);
    if (status == TAPER_OK)
        status = want_type(src_of(m), type);
    if (status != TAPER_OK)
        return status;
    return m->is_strings ? want_strings(&m->strings) : want_pair(&m->pair);
}

static void take_value(struct input *in, taper_value *v, taper_dtype type)
{
    const unsigned way = take_below(in, 128);
    v->kind = way < 120 ? (taper_kind)(way % 4) : (taper_kind)(int32_t)take(in, 4);
    v->type = type;
    v->absent = way % 16 == 15 ? 7 : 0;
    v->count = v->kind == TAPER_TENSOR || v->kind == TAPER_OPTIONAL_TENSOR
                   ? way % 32 != 31
                   : way / 4 % (PLACES + 1);
}

static void check_infer(struct input *in, int64_t opset, const taper_value *input,
                        const struct member *members)
{
    const unsigned faults = take_below(in, 32);
    const size_t count = count_of(input);
    taper_tensor *const tensors = scratch(count * sizeof *tensors);
    size_t *const bytes = scratch(count * sizeof *bytes);
    taper_value output = {.kind = (taper_kind)77, .count = 12345};
    int want = want_input(opset, input);
    if (want == TAPER_OK && count > 0 &&
        (faults == 0 || faults == 1 || input->tensors == NULL))
        want = TAPER_NULL;
    size_t sizes[PLACES], n = 0;
    for (size_t i = 0; i < count && want == TAPER_OK; i++) {
        const taper_tensor *const t = &input->tensors[i];
        const taper_strings *const s = &members[i].strings.from;
        want = want_type(t, input->type);
        if (want == TAPER_OK)
            want = members[i].is_strings ? want_lengths(t, &n) : want_tensor(t, &n);
        sizes[i] = bytes_of(t->type, n);
        if (want != TAPER_OK || n == 0 || !members[i].is_strings)
            continue;
        if (t->data == NULL || s->offsets == NULL)
            want = TAPER_NULL;
        else if (!is_row_major(t))
            want = TAPER_BAD_STRIDE;
        else if (n > MOST_STRINGS)
            return;
        else
            want = want_offsets(s, n);
        if (want == TAPER_OK && offset(s, 0) != offset(s, n) && s->bytes == NULL)
            want = TAPER_NULL;
        if (want == TAPER_OK)
            sizes[i] = (size_t)offset(s, n);
    }
    const taper_status status =
        taper_onnx_identity_infer(opset, &output, faults == 0 ? NULL : tensors,
                                  faults == 1 ? NULL : bytes, input);
    if ((int)status != want)
        finding("Identity infers with status %d, not %d", (int)status, want);
    if (want != TAPER_OK) {
        if ((int)output.kind != 77 || output.count != 12345)
            finding("Identity infers nothing, but writes");
        return;
    }
    if (output.kind != input->kind || output.type != input->type ||
        !output.absent != !input->absent || output.count != count)
        finding("Identity infers another value");
    for (size_t i = 0; i < count; i++)
        if (tensors[i].type != input->type ||
            !same_shape(&tensors[i], &input->tensors[i]) || tensors[i].data != NULL ||
            tensors[i].strides != NULL || bytes[i] != sizes[i])
            finding("Identity infers another tensor %zu, of %zu bytes", i, bytes[i]);
}

static void check_identity(int64_t opset, const taper_value *output,
                           const taper_value *input, struct member *members)
{
    int want = want_input(opset, input);
    if (want == TAPER_OK)
        want = want_output(output, input);
    const size_t count = want == TAPER_OK ? count_of(input) : 0;
    for (size_t i = 0; i < count && want == TAPER_OK; i++)
        want = want_member(&members[i], input->type);
    if (want == NOT_CALLED)
        return;

    const taper_status status = taper_onnx_identity(opset, output, input);
    bool good = (int)status == want;
    for (size_t i = 0; i < count && !good; i++) {
        const int one = want_member(&members[i], input->type);
        good = !members[i].is_strings && pair_allows(&members[i].pair, one, status);
        if (one != TAPER_OK)
            break;
    }
    if (!good)
        finding("Identity of kind %d, type %d, %zu tensors, opset %lld: status %d, "
                "not %d",
                (int)input->kind, (int)input->type, input->count, (long long)opset,
                (int)status, want);
    for (size_t i = 0; i < PLACES; i++)
        if (i < input->count && members[i].is_strings)
            compare_strings(&members[i].strings, &texts[i],
                            status == TAPER_OK && i < count);
        else if (i < input->count)
            pair_compare(&members[i].pair, status == TAPER_OK && i < count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct member members[PLACES];
    taper_value input = {0}, output;
    take_settings(&in);
    const unsigned way = take_below(&in, 256), faults = take_below(&in, 128);
    const int64_t opset = way < 240 ? (int64_t)(way % 29) : take_number(&in);
    const taper_dtype type = take_below(&in, 4) == 0 ? TAPER_STRING : take_dtype(&in);
    take_value(&in, &input, type);
    output = input;
    if (faults == 1)
        take_value(&in, &output, type);
    if (faults == 2)
        output.type = take_dtype(&in);

    const size_t count = input.count < PLACES ? input.count : PLACES;
    const size_t outputs = output.count < count ? count : output.count;
    taper_tensor *const src = scratch(count * sizeof *src);
    taper_tensor *const dst = scratch(outputs * sizeof *dst);
    for (size_t i = 0; i < outputs; i++)
        dst[i] = (taper_tensor){.type = type};
    for (size_t i = 0; i < count; i++) {
        struct member *const m = &members[i];
        m->is_strings = type == TAPER_STRING;
        if (m->is_strings) {
            take_strings(&in, &m->strings, &texts[i]);
            start_strings(&in, &m->strings, &texts[i]);
        } else {
            take_pair(&in, &m->pair, COPY, type, faults == 3 ? take_dtype(&in) : type,
                      (int)i);
            pair_start(&m->pair, &in);
        }
        src[i] = *src_of(m);
        dst[i] = *dst_of(m);
    }
    input.tensors = faults == 4 ? NULL : src;
    output.tensors = faults == 5 ? NULL : dst;
    check_infer(&in, opset, &input, members);
    check_identity(opset, &output, &input, members);
    scratch_free();
    return 0;
}
