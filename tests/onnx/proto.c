/* proto.c - the reader that proto.h describes. */
#include "proto.h"

#include <string.h>

/* ---- the wire format */

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

/* ---- the messages
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

bool onnx_read_tensor(struct proto_span message, struct onnx_tensor *tensor)
{
    *tensor = (struct onnx_tensor){0};
    return read_message(message, store_tensor, tensor);
}

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
               onnx_read_tensor(field->bytes, &attribute->t);
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
    if (field->number != 1)
        return true;
    model->nodes++;
    return field->wire == PROTO_LEN && read_message(field->bytes, store_node, model);
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
