/* onnx_types.h - the checks that all operators begin with. */
#ifndef TAPER_ONNX_TYPES_H
#define TAPER_ONNX_TYPES_H

#include "taper/onnx.h"

/* Whether `version` of `op` takes a `kind` of elements of `type`: TAPER_BAD_DTYPE,
 * TAPER_UNSUPPORTED, TAPER_TYPE_TOO_NEW. */
taper_status taper_onnx_takes(taper_onnx_op op, int version, taper_kind kind,
                              taper_dtype type);

#endif
