/* dlpack.h - the part of DLPack's ABI, version 1, that tensors in the CPU's memory
 * need, by the names of its own header, which this stands for. */
#ifndef TAPER_PYTHON_DLPACK_H
#define TAPER_PYTHON_DLPACK_H

#include <stdint.h>

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

enum { kDLCPU = 1, kDLCUDAHost = 3, kDLROCMHost = 11 };

enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLBfloat = 4,
    kDLComplex = 5,
};

enum {
    DLPACK_FLAG_BITMASK_READ_ONLY = 1,
    DLPACK_FLAG_BITMASK_IS_COPIED = 2,
    DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED = 4,
};

typedef struct {
    int32_t device_type, device_id;
} DLDevice;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: contiguous */
    uint64_t byte_offset;
} DLTensor;

/* Behind a capsule named "dltensor". */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

/* Behind a capsule named "dltensor_versioned". With another major version, nothing
 * after `deleter` may be looked at. */
typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif
