/* proto.h - reads the parts of ONNX's protobuf messages (onnx.proto3) that its node
 * tests use. Nothing is copied: every span points into the bytes of the file. */
#ifndef TAPER_TESTS_ONNX_PROTO_H
#define TAPER_TESTS_ONNX_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto_span {
    const uint8_t *data;
    size_t size;
};

/* ---- the wire format ---- */

enum proto_wire { PROTO_VARINT = 0, PROTO_I64 = 1, PROTO_LEN = 2, PROTO_I32 = 5 };

struct proto_field {
    uint64_t number;
    enum proto_wire wire;
    uint64_t value;          /* of PROTO_VARINT, PROTO_I64 and PROTO_I32 */
    struct proto_span bytes; /* of PROTO_LEN */
};

enum proto_step { PROTO_FIELD, PROTO_END, PROTO_MALFORMED };

/* Takes one field off the front of `message`. */
enum proto_step proto_next(struct proto_span *message, struct proto_field *field);

/* Takes one number off the front of packed ones. */
bool proto_varint(struct proto_span *from, uint64_t *value);

bool proto_equals(struct proto_span span, const char *text);

/* ---- the messages ----
 *
 * Each reader is false for one that is malformed, or that holds more
 * than the structure can. Fields that the structure does not name are passed over. */

enum { ONNX_MAX_RANK = 8, ONNX_MAX_TENSORS = 4, ONNX_MAX_ATTRIBUTES = 4 };

/* TensorProto. The elements are in `raw`, or else in one of the two typed fields: of
 * those the bytes of the packed numbers. */
struct onnx_tensor {
    int64_t dims[ONNX_MAX_RANK];
    size_t rank;
    uint64_t data_type;
    struct proto_span raw, floats, int32s;
};

/* TypeProto: a tensor, a sequence of tensors, or an optional one of these. */
struct onnx_type {
    bool optional, sequence;
    uint64_t elem_type;
};

/* The message of a value: TensorProto, SequenceProto or OptionalProto. */
struct onnx_value {
    bool absent;
    size_t count;
    struct onnx_tensor tensors[ONNX_MAX_TENSORS];
};

/* AttributeProto. Its `type` says which of the values is meant: ONNX_INT ... */
enum { ONNX_INT = 2, ONNX_STRING = 3, ONNX_TENSOR = 4 };
struct onnx_attribute {
    struct proto_span name;
    uint64_t type;
    int64_t i;
    struct proto_span s;
    struct onnx_tensor t;
};

/* ModelProto with the only node of its graph. */
struct onnx_model {
    int64_t opset; /* of the default domain; 0: not imported */
    size_t functions, nodes;
    struct proto_span op_type;
    size_t inputs, outputs; /* of the node */
    size_t graph_inputs;
    struct onnx_type input_type; /* of the first */
    struct onnx_attribute attributes[ONNX_MAX_ATTRIBUTES];
    size_t attribute_count;
};

bool onnx_read_value(struct proto_span message, const struct onnx_type *type,
                     struct onnx_value *value);
bool onnx_read_model(struct proto_span message, struct onnx_model *model);

/* The attribute called `name`, NULL if the node has none. */
const struct onnx_attribute *onnx_attribute(const struct onnx_model *model,
                                            const char *name);

#endif
