/* fuzz_onnx.c - ConstantOfShape and Cast of any operator set, and what they say that
 * their output will be. */
#include "pair.h"

#include "taper/onnx.h"

static int64_t take_opset(struct input *in)
{
    const unsigned way = take_below(in, 256);
    return way < 240 ? (int64_t)(way % 29) : take_number(in);
}

static taper_status want_type(taper_onnx_op op, int version, taper_dtype type)
{
    if (!is_dtype(type))
        return TAPER_BAD_DTYPE;
    const int since = taper_onnx_since(op, TAPER_TENSOR, type);
    return since == 0         ? TAPER_UNSUPPORTED
           : since <= version ? TAPER_OK
                              : TAPER_TYPE_TOO_NEW;
}

static bool lacks_shape(const taper_tensor *t)
{
    return t->rank > 0 && t->shape == NULL;
}

/* What an _infer of one tensor must have made, or left alone. */
static void check_inferred(const char *name, taper_status status, int want,
                           const taper_tensor *made, size_t made_bytes,
                           const taper_tensor *want_made, size_t want_bytes)
{
    if ((int)status != want)
        finding("%s: status %d, not %d", name, (int)status, want);
    if (made->data != want_made->data || made->type != want_made->type ||
        made->rank != want_made->rank || made->shape != want_made->shape ||
        made->strides != want_made->strides || made_bytes != want_bytes)
        finding("%s: type %d, rank %d, %zu bytes, not %d, %d, %zu", name,
                (int)made->type, made->rank, made_bytes, (int)want_made->type,
                want_made->rank, want_bytes);
}

/* ---- ConstantOfShape ---- */

struct constant {
    int64_t opset;
    struct pair pair; /* the output, and what is in the value */
    taper_tensor shape, value;
    bool has_value;
    struct memory *shape_memory;
    int64_t dims[80]; /* what is in the shape */
    int count;
};

static struct memory apart;

enum { MOST_STRIDE = 1000 }; /* of dimensions that there is memory for */

/* The input: mostly the shape of the output. */
static void take_input(struct input *in, struct constant *c)
{
    const taper_tensor *const output = &c->pair.dst;
    const unsigned way = take_below(in, 64), faults = take_below(in, 64);
    int64_t *const shape = scratch(sizeof *shape), *const strides = scratch(8);
    c->count = output->rank > 0 && output->shape != NULL ? output->rank : 0;
    for (int k = 0; k < c->count; k++)
        c->dims[k] = output->shape[k];
    if (c->count > 0 && faults == 1)
        c->dims[take_below(in, 256) % (unsigned)c->count] = take_number(in);
    if (faults == 2)
        c->count -= c->count > 0;
    *shape = c->count;
    *strides = way < 32 ? 1 : way < 56 ? (int64_t)way % 7 - 3 : take_number(in);
    c->shape = (taper_tensor){.type = TAPER_I64, .rank = 1, .shape = shape};
    c->shape.strides = way < 16 ? NULL : strides;

    /* Memory for what lies within reach; the other strides must be refused. */
    const int64_t last = c->count < 2 || way < 16 ? c->count - 1
                         : *strides > MOST_STRIDE || *strides < -MOST_STRIDE
                             ? 0
                             : (c->count - 1) * *strides;
    const size_t bytes = c->count == 0 ? 0 : (size_t)(last < 0 ? -last : last) * 8 + 8;
    c->shape_memory = &apart;
    unsigned char *at = memory_place(&apart, bytes, in);
    if (way % 4 == 0 && c->pair.dst.data != NULL) { /* in the output */
        unsigned char *const inside =
            (unsigned char *)((uintptr_t)c->pair.dst.data + take(in, 1));
        if (memory_holds(c->pair.dst_memory, inside, bytes)) {
            at = inside;
            c->shape_memory = c->pair.dst_memory;
        }
    }
    c->shape.data = at - (last < 0 ? last * 8 : 0);

    if (faults == 3)
        c->shape.type = take_dtype(in);
    if (faults == 4)
        c->shape.rank = (int32_t)take_below(in, 4) - 1;
    if (faults == 5) {
        const int64_t other = take_number(in);
        *shape = other > c->count && other <= INT32_MAX ? -other : other;
    }
    if (faults == 6)
        c->shape.data = NULL;
    if (faults == 7)
        c->shape.shape = NULL;
    if (c->shape.rank > 1) { /* refused, but two dimensions have to be there */
        int64_t *const three = scratch(3 * sizeof *three);
        three[0] = three[1] = three[2] = take_below(in, 3);
        c->shape.shape = three;
        c->shape.strides = NULL;
        c->count = 0; /* and nothing where it would be read with other strides */
    }
}

static void take_value(struct input *in, struct constant *c, taper_dtype type)
{
    const unsigned way = take_below(in, 32);
    c->value = (taper_tensor){.data = c->pair.src.data, .type = type};
    c->has_value = way > 0 || type != TAPER_F32 || c->value.data == NULL;
    if (way == 1) {
        take_shape(in, &c->value);
    } else if (way < 16) {
        int64_t *const ones = scratch(way * sizeof *ones);
        for (unsigned k = 0; k < way; k++)
            ones[k] = 1;
        c->value.rank = (int32_t)way;
        c->value.shape = ones;
    }
}

static taper_status want_value(const taper_tensor *value, int version)
{
    const taper_status status =
        want_type(TAPER_ONNX_CONSTANT_OF_SHAPE, version, value->type);
    if (status != TAPER_OK)
        return status;
    if (value->rank < 0)
        return TAPER_BAD_SHAPE;
    bool one = true;
    for (int k = 0; k < value->rank; k++) {
        if (value->shape[k] < 0)
            return TAPER_BAD_SHAPE;
        one &= value->shape[k] == 1;
    }
    return one ? TAPER_OK : TAPER_NOT_ONE_ELEMENT;
}

/* Without a look at what the elements are. */
static int want_input(const struct constant *c)
{
    const taper_tensor *const s = &c->shape;
    if (!is_dtype(s->type))
        return TAPER_BAD_DTYPE;
    if (s->type != TAPER_I64)
        return TAPER_UNSUPPORTED;
    if (s->rank != 1 || s->shape[0] < 0)
        return TAPER_BAD_SHAPE;
    if (s->shape[0] > INT32_MAX)
        return TAPER_TOO_LARGE;
    if (s->shape[0] > 0 && s->data == NULL)
        return TAPER_NULL;
    if (s->shape[0] > 1 && s->strides != NULL) {
        const int64_t stride = s->strides[0];
        if (stride > PTRDIFF_MAX / 8 / s->shape[0] ||
            stride < -(PTRDIFF_MAX / 8 / s->shape[0]))
            return TAPER_BAD_STRIDE;
        if (stride > MOST_STRIDE || stride < -MOST_STRIDE)
            return NOT_CALLED; /* there is no such memory */
    }
    return TAPER_OK;
}

/* The dimensions that the call reads, all of which are there. */
static int want_dimensions(const struct constant *c, taper_tensor *made)
{
    size_t n;
    int64_t *const dims = scratch(sizeof c->dims);
    const int32_t rank = (int32_t)c->shape.shape[0];
    for (int k = 0; k < rank; k++)
        dims[k] = c->dims[k];
    *made = (taper_tensor){.type = c->value.type, .rank = rank, .shape = dims};
    return want_tensor(made, &n);
}

static int want_constant(const struct constant *c, taper_tensor *made)
{
    const int version = taper_onnx_version(TAPER_ONNX_CONSTANT_OF_SHAPE, c->opset);
    if (version == 0)
        return TAPER_BAD_OPSET;
    if (lacks_shape(&c->shape) || lacks_shape(&c->value))
        return TAPER_NULL;
    int want = want_value(&c->value, version);
    if (want == TAPER_OK)
        want = want_input(c);
    return want == TAPER_OK ? want_dimensions(c, made) : want;
}

static int want_output(const struct constant *c, const taper_tensor *made)
{
    const taper_tensor *const output = &c->pair.dst;
    if (output->type != c->value.type)
        return TAPER_TYPE_MISMATCH;
    if (!same_shape(output, made))
        return TAPER_SHAPE_MISMATCH;
    return want_pair(&c->pair);
}

static void check_infer(struct input *in, const struct constant *c, int want,
                        const taper_tensor *want_made)
{
    const taper_tensor untouched = {.type = TAPER_STRING, .rank = 12345};
    const int32_t room = (int32_t)take_below(in, 16) * 5 - 1;
    int64_t *const dims = take_below(in, 16) == 0
                              ? NULL
                              : scratch((room < 0 ? 0 : (size_t)room) * sizeof *dims);
    taper_tensor made = untouched, wanted = untouched;
    size_t bytes = 99, want_bytes = 99, n;
    if (want == TAPER_OK && want_made->rank > room)
        want = TAPER_TOO_LARGE;
    if (want == TAPER_OK && want_made->rank > 0 && dims == NULL)
        want = TAPER_NULL;
    const taper_status status =
        taper_onnx_constant_of_shape_infer(c->opset, &made, &bytes, dims, room,
                                           &c->shape, c->has_value ? &c->value : NULL);
    if (want == TAPER_OK) {
        wanted = *want_made;
        wanted.shape = dims;
        if (want_tensor(want_made, &n) == TAPER_OK)
            want_bytes = bytes_of(wanted.type, n);
        for (int k = 0; k < want_made->rank; k++)
            if (status == TAPER_OK && dims[k] != want_made->shape[k])
                finding("ConstantOfShape infers a wrong dimension %d", k);
    }
    check_inferred("ConstantOfShape", status, want, &made, bytes, &wanted, want_bytes);
}

/* Where dimension `k` is; NULL if there is no memory for it. */
static unsigned char *dimension(const struct constant *c, int k)
{
    const int64_t stride = c->shape.strides == NULL ? 1 : c->shape.strides[0];
    if (c->shape.data == NULL ||
        (k > 0 && (stride < -MOST_STRIDE || stride > MOST_STRIDE)))
        return NULL;
    return (unsigned char *)c->shape.data + (k == 0 ? 0 : k * stride * 8);
}

/* Puts the dimensions and the default value where the call will find them; those that
 * share memory, with the value or each other, are then what they have become. */
static void write_constant(struct constant *c)
{
    for (int k = 0; k < c->count; k++)
        if (dimension(c, k) != NULL) {
            memory_watch(c->shape_memory, dimension(c, k), 8);
            memcpy(dimension(c, k), &c->dims[k], 8);
        }
    if (!c->has_value && c->pair.dst.type == TAPER_F32)
        memset(c->pair.src.data, 0, sizeof(float));
    for (int k = 0; k < c->count; k++)
        if (dimension(c, k) != NULL)
            memcpy(&c->dims[k], dimension(c, k), 8);
}

static void constant_of_shape(struct input *in)
{
    struct constant c = {.opset = take_opset(in)};
    taper_tensor made = {0};
    memory_make(&apart);
    memory_forget(&apart);
    const taper_dtype type = take_below(in, 8) == 0 ? TAPER_F32 : take_dtype(in);
    take_pair(in, &c.pair, FILL, take_below(in, 32) == 0 ? take_dtype(in) : type, type,
              0);
    take_value(in, &c, type);
    take_input(in, &c);
    pair_start(&c.pair, in);
    write_constant(&c);

    const int want_made = want_constant(&c, &made);
    const bool faulty = lacks_shape(&c.pair.dst) && want_made != TAPER_BAD_OPSET;
    const int want = faulty                  ? TAPER_NULL
                     : want_made == TAPER_OK ? want_output(&c, &made)
                                             : want_made;
    if (want_made == NOT_CALLED || want == NOT_CALLED)
        return;
    memory_take(&apart);
    memory_take(c.pair.dst_memory);
    memory_take(c.pair.src_memory);
    check_infer(in, &c, want_made, &made);
    pair_check(&c.pair, want,
               taper_onnx_constant_of_shape(c.opset, &c.pair.dst, &c.shape,
                                            c.has_value ? &c.value : NULL));
    memory_check(&apart, "the input of ConstantOfShape", c.shape.data);
}

/* ---- Cast ---- */

enum { SATURATE_SINCE = 19, ROUND_MODE_SINCE = 24 };

static taper_status want_cast(int64_t opset, taper_dtype to, taper_dtype from,
                              const taper_cast_options *options)
{
    const int version = taper_onnx_version(TAPER_ONNX_CAST, opset);
    if (!is_dtype(to) || !is_dtype(from))
        return TAPER_BAD_DTYPE;
    if (oracle_bits(to) == 0 || oracle_bits(from) == 0)
        return TAPER_UNSUPPORTED;
    if (options != NULL && ((unsigned)options->overflow > TAPER_NO_SATURATE ||
                            (unsigned)options->rounding > TAPER_ROUND_NEAREST))
        return TAPER_BAD_OPTION;
    const taper_status statuses[] = {want_type(TAPER_ONNX_CAST, version, to),
                                     want_type(TAPER_ONNX_CAST, version, from)};
    for (int i = 0; i < 2; i++)
        if (statuses[i] != TAPER_OK)
            return statuses[i];
    if (options != NULL &&
        ((options->overflow != TAPER_SATURATE && version < SATURATE_SINCE) ||
         (options->rounding != TAPER_ROUND_UP && version < ROUND_MODE_SINCE)))
        return TAPER_BAD_OPTION;
    return TAPER_OK;
}

static void check_cast_infer(int64_t opset, taper_dtype to, const taper_tensor *input,
                             const taper_cast_options *options, bool in_place)
{
    const taper_tensor untouched = {.type = TAPER_STRING, .rank = 12345};
    taper_tensor made = in_place ? *input : untouched, wanted = made, output = *input;
    size_t bytes = 99, want_bytes = 99, n = 0;
    int want = taper_onnx_version(TAPER_ONNX_CAST, opset) == 0 ? TAPER_BAD_OPSET
               : lacks_shape(input)                            ? TAPER_NULL
                                    : want_cast(opset, to, input->type, options);
    output.type = to;
    if (want == TAPER_OK)
        want = want_tensor(input, &n);
    if (want == TAPER_OK)
        want = want_tensor(&output, &n);
    if (want == TAPER_OK) {
        wanted = (taper_tensor){.type = to, .rank = input->rank, .shape = input->shape};
        const size_t bits = taper_dtype_bits(to);
        want_bytes =
            bits >= 8 ? n * (bits / 8) : n / (8 / bits) + (n % (8 / bits) != 0);
    }
    const taper_status status = taper_onnx_cast_infer(
        opset, &made, &bytes, to, in_place ? &made : input, options);
    check_inferred("Cast", status, want, &made, bytes, &wanted, want_bytes);
}

static void cast(struct input *in)
{
    struct pair p;
    const int64_t opset = take_opset(in);
    const taper_dtype to = take_cast_dtype(in), from = take_cast_dtype(in);
    take_pair(in, &p, CAST, to, from, 0);
    const taper_cast_options *const options = p.has_options ? &p.options : NULL;
    check_cast_infer(opset, to, &p.src, options, take_below(in, 2) != 0);

    int want = taper_onnx_version(TAPER_ONNX_CAST, opset) == 0 ? TAPER_BAD_OPSET
               : lacks_shape(&p.dst) || lacks_shape(&p.src)
                   ? TAPER_NULL
                   : want_cast(opset, to, from, options);
    if (want == TAPER_OK)
        want = want_pair(&p);
    if (want == NOT_CALLED)
        return;
    pair_start(&p, in);
    pair_check(&p, want, taper_onnx_cast(opset, &p.dst, &p.src, options));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    take_settings(&in);
    if (take_below(&in, 2) == 0)
        constant_of_shape(&in);
    else
        cast(&in);
    scratch_free();
    return 0;
}
