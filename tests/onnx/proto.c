/* proto.c - the reader that proto.h describes. */
#include "proto.h"

#include <string.h>

/* ---- the wire format ---- */

bool proto_varint(struct proto_span *from, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && from->size > 0; shift += 7) {
        const uint8_t byte = *from->data++;
        from->size--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_bytes(struct proto_span *from, uint64_t size, struct proto_span *bytes)
{
    if (size > from->size)
        return false;
    *bytes = (struct proto_span){from->data, (size_t)size};
    from->data += size;
    from->size -= (size_t)size;
    return true;
}

static bool take_fixed(struct proto_span *from, size_t size, uint64_t *value)
{
    struct proto_span bytes;
    if (!take_bytes(from, size, &bytes))
        return false;
    *value = 0;
    for (size_t i = size; i-- > 0;)
        *value = *value << 8 | bytes.data[i];
    return true;
}

static bool take_value(struct proto_span *from, struct proto_field *field)
{
    switch (field->wire) {
    case PROTO_VARINT:
        return proto_varint(from, &field->value);
    case PROTO_I64:
        return take_fixed(from, 8, &field->value);
    case PROTO_I32:
        return take_fixed(from, 4, &field->value);
    case PROTO_LEN:
        return proto_varint(from, &field->value) &&
               take_bytes(from, field->value, &field->bytes);
    }
    return false; /* groups are not in proto3 */
}

enum proto_step proto_next(struct proto_span *message, struct proto_field *field)
{
    if (message->size == 0)
        return PROTO_END;
    uint64_t tag;
    if (!proto_varint(message, &tag))
        return PROTO_MALFORMED;
    *field =
        (struct proto_field){.number = tag >> 3, .wire = (enum proto_wire)(tag & 7)};
    return take_value(message, field) ? PROTO_FIELD : PROTO_MALFORMED;
}

bool proto_equals(struct proto_span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.data, text, span.size) == 0;
}

/* ---- the messages ----
 *
 * A reader is a function that stores one field; messages within messages are read by
 * the next reader. A field of another wire type than onnx.proto3 gives it is malformed.
 */

typedef bool store_fn(void *message, const struct proto_field *field);

static bool read_message(struct proto_span from, store_fn *store, void *message)
{
    struct proto_field field;
    enum proto_step step;
    while ((step = proto_next(&from, &field)) == PROTO_FIELD)
        if (!store(message, &field))
            return false;
    return step == PROTO_END;
}

static bool store_int(const struct proto_field *field, int64_t *value)
{
    *value = (int64_t)field->value;
    return field->wire == PROTO_VARINT;
}

static bool store_bytes(const struct proto_field *field, struct proto_span *bytes)
{
    *bytes = field->bytes;
    return field->wire == PROTO_LEN;
}

static bool add_dim(struct onnx_tensor *tensor, uint64_t dim)
{
    if (tensor->rank == ONNX_MAX_RANK)
        return false;
    tensor->dims[tensor->rank++] = (int64_t)dim;
    return true;
}

/* Repeated numbers come packed in one field or, from older writers, in one field each.
 */
static bool store_dims(struct onnx_tensor *tensor, const struct proto_field *field)
{
    if (field->wire == PROTO_VARINT)
        return add_dim(tensor, field->value);
    struct proto_span packed = field->bytes;
    while (packed.size > 0) {
        uint64_t dim;
        if (!proto_varint(&packed, &dim) || !add_dim(tensor, dim))
            return false;
    }
    return field->wire == PROTO_LEN;
}

static bool store_tensor(void *message, const struct proto_field *field)
{
    struct onnx_tensor *const tensor = message;
    switch (field->number) {
    case 1:
        return store_dims(tensor, field);
    case 2:
        tensor->data_type = field->value;
        return field->wire == PROTO_VARINT;
    case 4:
        return store_bytes(field, &tensor->floats);
    case 5:
        return store_bytes(field, &tensor->int32s);
    case 8: /* name */
        return true;
    case 9:
        return store_bytes(field, &tensor->raw);
    default: /* other typed fields, segments, external data: not understood here */
        return false;
    }
}

static bool add_tensor(struct onnx_value *value, const struct proto_field *field)
{
    return value->count < ONNX_MAX_TENSORS && field->wire == PROTO_LEN &&
           read_message(field->bytes, store_tensor, &value->tensors[value->count++]);
}

/* What SequenceProto and OptionalProto say their elements are. */
enum { OF_NOTHING = 0, OF_TENSORS = 1, OF_SEQUENCES = 3 };

static bool store_sequence(void *message, const struct proto_field *field)
{
    switch (field->number) {
    case 1: /* name */
        return true;
    case 2:
        return field->wire == PROTO_VARINT && field->value == OF_TENSORS;
    case 3:
        return add_tensor(message, field);
    default: /* of other things than tensors */
        return false;
    }
}

/* An OptionalProto, and what it has been found to hold. */
struct optional {
    uint64_t elem_type;
    size_t values;
    bool of_sequence;
    struct onnx_value *value;
};

static bool store_optional(void *message, const struct proto_field *field)
{
    struct optional *const optional = message;
    switch (field->number) {
    case 1: /* name */
        return true;
    case 2:
        optional->elem_type = field->value;
        return field->wire == PROTO_VARINT;
    case 3:
        optional->values++;
        return !optional->of_sequence && add_tensor(optional->value, field);
    case 5:
        optional->values++;
        return optional->of_sequence && field->wire == PROTO_LEN &&
               read_message(field->bytes, store_sequence, optional->value);
    default:
        return false;
    }
}

static bool read_optional(struct proto_span message, bool of_sequence,
                          struct onnx_value *value)
{
    struct optional optional = {.of_sequence = of_sequence, .value = value};
    if (!read_message(message, store_optional, &optional))
        return false;
    value->absent = optional.values == 0;
    if (value->absent)
        return optional.elem_type == OF_NOTHING;
    return optional.values == 1 &&
           optional.elem_type == (of_sequence ? OF_SEQUENCES : OF_TENSORS);
}

bool onnx_read_value(struct proto_span message, const struct onnx_type *type,
                     struct onnx_value *value)
{
    *value = (struct onnx_value){0};
    if (type->optional)
        return read_optional(message, type->sequence, value);
    if (type->sequence)
        return read_message(message, store_sequence, value);
    value->count = 1;
    return read_message(message, store_tensor, &value->tensors[0]);
}

/* ---- types ---- */

static bool store_tensor_type(void *message, const struct proto_field *field)
{
    struct onnx_type *const type = message;
    if (field->number != 1)
        return true; /* the shape */
    type->elem_type = field->value;
    return field->wire == PROTO_VARINT;
}

static bool store_type(void *message, const struct proto_field *field);

/* Of a sequence or an optional. */
static bool store_elem_type(void *message, const struct proto_field *field)
{
    return field->number == 1 && field->wire == PROTO_LEN &&
           read_message(field->bytes, store_type, message);
}

static bool store_type(void *message, const struct proto_field *field)
{
    struct onnx_type *const type = message;
    if (field->wire != PROTO_LEN)
        return false;
    switch (field->number) {
    case 1:
        return read_message(field->bytes, store_tensor_type, type);
    case 4:
        if (type->sequence)
            return false;
        type->sequence = true;
        return read_message(field->bytes, store_elem_type, type);
    case 9:
        if (type->optional || type->sequence)
            return false;
        type->optional = true;
        return read_message(field->bytes, store_elem_type, type);
    default:
        return false;
    }
}

static bool store_value_info(void *message, const struct proto_field *field)
{
    if (field->number != 2)
        return true;
    return field->wire == PROTO_LEN && read_message(field->bytes, store_type, message);
}

/* ---- models ---- */

static bool store_attribute(void *message, const struct proto_field *field)
{
    struct onnx_attribute *const attribute = message;
    switch (field->number) {
    case 1:
        return store_bytes(field, &attribute->name);
    case 3:
        return store_int(field, &attribute->i);
    case 4:
        return store_bytes(field, &attribute->s);
    case 5:
        return field->wire == PROTO_LEN &&
               read_message(field->bytes, store_tensor, &attribute->t);
    case 20:
        attribute->type = field->value;
        return field->wire == PROTO_VARINT;
    default:
        return false;
    }
}

static bool store_node(void *message, const struct proto_field *field)
{
    struct onnx_model *const model = message;
    switch (field->number) {
    case 1:
        model->inputs++;
        return true;
    case 2:
        model->outputs++;
        return true;
    case 4:
        return store_bytes(field, &model->op_type);
    case 5:
        return model->attribute_count < ONNX_MAX_ATTRIBUTES &&
               field->wire == PROTO_LEN &&
               read_message(field->bytes, store_attribute,
                            &model->attributes[model->attribute_count++]);
    case 7: /* domain: other than the default one, it would be another operator */
        return field->wire == PROTO_LEN && field->bytes.size == 0;
    default:
        return true;
    }
}

static bool store_graph(void *message, const struct proto_field *field)
{
    struct onnx_model *const model = message;
    switch (field->number) {
    case 1:
        model->nodes++;
        return field->wire == PROTO_LEN &&
               read_message(field->bytes, store_node, model);
    case 11:
        return model->graph_inputs++ != 0 ||
               (field->wire == PROTO_LEN &&
                read_message(field->bytes, store_value_info, &model->input_type));
    default:
        return true;
    }
}

/* OperatorSetIdProto */
struct opset {
    struct proto_span domain;
    int64_t version;
};

static bool store_opset(void *message, const struct proto_field *field)
{
    struct opset *const opset = message;
    switch (field->number) {
    case 1:
        return store_bytes(field, &opset->domain);
    case 2:
        return store_int(field, &opset->version);
    default:
        return true;
    }
}

static bool store_model(void *message, const struct proto_field *field)
{
    struct onnx_model *const model = message;
    struct opset opset = {0};
    switch (field->number) {
    case 7:
        return field->wire == PROTO_LEN &&
               read_message(field->bytes, store_graph, model);
    case 8:
        if (field->wire != PROTO_LEN ||
            !read_message(field->bytes, store_opset, &opset))
            return false;
        if (opset.domain.size == 0)
            model->opset = opset.version;
        return true;
    case 25:
        model->functions++;
        return true;
    default:
        return true;
    }
}

bool onnx_read_model(struct proto_span message, struct onnx_model *model)
{
    *model = (struct onnx_model){0};
    return read_message(message, store_model, model);
}

const struct onnx_attribute *onnx_attribute(const struct onnx_model *model,
                                            const char *name)
{
    for (size_t i = 0; i < model->attribute_count; i++)
        if (proto_equals(model->attributes[i].name, name))
            return &model->attributes[i];
    return NULL;
}
