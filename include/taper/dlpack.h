/* dlpack.h - taper's tensors from DLPack's, and back. Include <dlpack/dlpack.h> first,
 * of version 0.6 or later; the codes of newer types are known by number.
 *
 * Nothing is copied or owned: both tensors point to the same data, shape and strides,
 * which live as long as their owner lets them. Who takes a DLManagedTensor apart still
 * has to call its deleter, and to look at the flags of a versioned one:
 *
 * - DLPACK_FLAG_BITMASK_READ_ONLY: `data` must not become a destination.
 * - DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED: one element a byte, which is none of
 *   taper's 4-bit and 2-bit types. Call it TAPER_U8 to fill or copy it. */
#ifndef TAPER_DLPACK_H
#define TAPER_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#include "taper/tensor.h"

#if !defined(DLPACK_VERSION) && !defined(DLPACK_MAJOR_VERSION)
#error "include <dlpack/dlpack.h> before <taper/dlpack.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DLPack's name of a type, with one lane. TAPER_STRING and unknown numbers have none:
 * then all of it is 0, also the lanes.
 */
static inline DLDataType taper_dtype_to_dlpack(taper_dtype type)
{
    static const struct {
        uint8_t code, bits;
    } types[] = {
        {0, 0},            /* no dtype */
        {kDLFloat, 32},    /* TAPER_F32 */
        {kDLUInt, 8},      /* TAPER_U8 */
        {kDLInt, 8},       /* TAPER_I8 */
        {kDLUInt, 16},     /* TAPER_U16 */
        {kDLInt, 16},      /* TAPER_I16 */
        {kDLInt, 32},      /* TAPER_I32 */
        {kDLInt, 64},      /* TAPER_I64 */
        {0, 0},            /* TAPER_STRING */
        {6, 8},            /* TAPER_BOOL: kDLBool */
        {kDLFloat, 16},    /* TAPER_F16 */
        {kDLFloat, 64},    /* TAPER_F64 */
        {kDLUInt, 32},     /* TAPER_U32 */
        {kDLUInt, 64},     /* TAPER_U64 */
        {kDLComplex, 64},  /* TAPER_C64 */
        {kDLComplex, 128}, /* TAPER_C128 */
        {kDLBfloat, 16},   /* TAPER_BF16 */
        {10, 8},           /* TAPER_F8E4M3FN: kDLFloat8_e4m3fn */
        {11, 8},           /* TAPER_F8E4M3FNUZ: kDLFloat8_e4m3fnuz */
        {12, 8},           /* TAPER_F8E5M2: kDLFloat8_e5m2 */
        {13, 8},           /* TAPER_F8E5M2FNUZ: kDLFloat8_e5m2fnuz */
        {kDLUInt, 4},      /* TAPER_U4 */
        {kDLInt, 4},       /* TAPER_I4 */
        {17, 4},           /* TAPER_F4E2M1: kDLFloat4_e2m1fn */
        {14, 8},           /* TAPER_F8E8M0: kDLFloat8_e8m0fnu */
        {kDLUInt, 2},      /* TAPER_U2 */
        {kDLInt, 2},       /* TAPER_I2 */
    };
    DLDataType to = {0, 0, 0};
    if ((unsigned)type < sizeof types / sizeof *types && types[type].bits != 0) {
        to.code = types[type].code;
        to.bits = types[type].bits;
        to.lanes = 1;
    }
    return to;
}

/**
 * The inverse of taper_dtype_to_dlpack(); 0, which is no dtype, for more than one lane
 * and for a type that taper does not have, such as kDLFloat8_e4m3, whose infinity tells
 * it from kDLFloat8_e4m3fn.
 */
static inline taper_dtype taper_dtype_from_dlpack(DLDataType from)
{
    int type = TAPER_I2;
    for (; type > 0; type--) {
        const DLDataType known = taper_dtype_to_dlpack((taper_dtype)type);
        if (known.lanes != 0 && known.lanes == from.lanes && known.code == from.code &&
            known.bits == from.bits)
            break;
    }
    return (taper_dtype)type;
}

/**
 * Sets *to to the elements of `from`: its `byte_offset` is added to its data, and no
 * strides mean contiguous, as they did before DLPack 1.2. Its memory has to be the
 * host's: kDLCPU, or the pinned kDLCUDAHost and kDLROCMHost. Shape and strides are not
 * looked at here but by the functions that use them; no alignment is assumed.
 *
 * Checks: TAPER_NULL (`from`, `to`), TAPER_UNSUPPORTED (memory that is not the host's;
 * then a type that taper_dtype_from_dlpack() does not know), TAPER_TOO_LARGE (the
 * offset).
 */
static inline taper_status taper_from_dlpack(const DLTensor *from, taper_tensor *to)
{
    taper_dtype type;
    if (from == NULL || to == NULL)
        return TAPER_NULL;
    if (from->device.device_type != kDLCPU && from->device.device_type != kDLCUDAHost &&
        from->device.device_type != kDLROCMHost)
        return TAPER_UNSUPPORTED;
    type = taper_dtype_from_dlpack(from->dtype);
    if ((int)type == 0)
        return TAPER_UNSUPPORTED;
    if (from->byte_offset > (uint64_t)PTRDIFF_MAX)
        return TAPER_TOO_LARGE;
    to->data =
        from->data == NULL ? NULL : (void *)((char *)from->data + from->byte_offset);
    to->type = type;
    to->rank = from->ndim;
    to->shape = from->shape;
    to->strides = from->strides;
    return TAPER_OK;
}

/**
 * Sets *to to the elements of `from`, in kDLCPU memory, device 0, offset 0; an empty
 * tensor has no data.
 *
 * DLPack wants strides since 1.2. Those of `from` are used if it has any; else they are
 * written to `strides`, which has room for `rank` of them and has to live as long as
 * `to` is used: the row-major ones, or all 1 in an empty tensor. `strides` may be NULL
 * where it is not needed: with strides in `from`, or with rank 0. Consumers must not
 * write to shape and strides, though their type in DLTensor would let them.
 *
 * Checks: those of taper_tensor_bytes(), for `from`; TAPER_NULL (`to`; `strides` where
 * needed).
 */
static inline taper_status taper_to_dlpack(const taper_tensor *from, int64_t *strides,
                                           DLTensor *to)
{
    size_t bytes;
    const taper_status status = taper_tensor_bytes(from, &bytes);
    if (status != TAPER_OK)
        return status;
    if (to == NULL || (strides == NULL && from->strides == NULL && from->rank > 0))
        return TAPER_NULL;
    if (from->strides == NULL) {
        int64_t step = 1;
        int32_t k;
        for (k = from->rank; k-- > 0;) {
            strides[k] = step;
            if (bytes > 0)
                step *= from->shape[k];
        }
    }
    to->data = bytes > 0 ? from->data : NULL;
    to->device.device_type = kDLCPU;
    to->device.device_id = 0;
    to->ndim = from->rank;
    to->dtype = taper_dtype_to_dlpack(from->type);
    to->shape = (int64_t *)from->shape;
    to->strides = from->strides == NULL ? strides : (int64_t *)from->strides;
    to->byte_offset = 0;
    return TAPER_OK;
}

#ifdef __cplusplus
}
#endif

#endif
