/* fuzz_dlpack.c - taper_from_dlpack() and taper_to_dlpack() with any tensor of theirs
 * and of ours, and there and back. */
#include "pair.h"

#include <dlpack/dlpack.h>

#include "taper/dlpack.h"

static DLDataType take_type(struct input *in)
{
    const unsigned way = take_below(in, 8);
    if (way < 6)
        return taper_dtype_to_dlpack(take_dtype(in));
    const DLDataType any = {(uint8_t)take(in, 1), (uint8_t)take(in, 1),
                            (uint16_t)(way == 6 ? 1 : take(in, 2))};
    return any;
}

static bool same_type(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

static bool is_host(DLDeviceType device)
{
    return device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost;
}

/* Shape and strides are not looked at: they may be anything. */
static void check_from(struct input *in)
{
    static char data;
    int64_t shape[1] = {take_number(in)}, strides[1] = {take_number(in)};
    const unsigned nulls = take_below(in, 8), device = take_below(in, 20);
    const DLTensor theirs = {
        .data = nulls & 1 ? NULL : &data,
        .device = {device < 12 ? kDLCPU : (DLDeviceType)device, 0},
        .ndim = (int32_t)take_number(in),
        .dtype = take_type(in),
        .shape = nulls & 2 ? NULL : shape,
        .strides = nulls & 4 ? NULL : strides,
        .byte_offset = take_below(in, 4) == 0 ? 0 : (uint64_t)take_number(in),
    };
    const taper_tensor untouched = {.type = TAPER_STRING, .rank = 12345};
    taper_tensor ours = untouched;
    const taper_dtype type = taper_dtype_from_dlpack(theirs.dtype);
    if ((int)type != 0 && !same_type(taper_dtype_to_dlpack(type), theirs.dtype))
        finding("type %d is not %d %d %d", (int)type, theirs.dtype.code,
                theirs.dtype.bits, theirs.dtype.lanes);
    const taper_status want = !is_host(theirs.device.device_type) || (int)type == 0
                                  ? TAPER_UNSUPPORTED
                              : theirs.byte_offset > PTRDIFF_MAX ? TAPER_TOO_LARGE
                                                                 : TAPER_OK;
    const taper_status status = taper_from_dlpack(&theirs, &ours);
    taper_tensor wanted = untouched;
    if (want == TAPER_OK)
        wanted = (taper_tensor){
            theirs.data == NULL
                ? NULL
                : (void *)((uintptr_t)theirs.data + (uintptr_t)theirs.byte_offset),
            type, theirs.ndim, theirs.shape, theirs.strides};
    if (status != want)
        finding("taper_from_dlpack: status %d, not %d", (int)status, (int)want);
    if (ours.data != wanted.data || ours.type != wanted.type ||
        ours.rank != wanted.rank || ours.shape != wanted.shape ||
        ours.strides != wanted.strides)
        finding("taper_from_dlpack made another tensor");
}

static void check_to(struct input *in)
{
    static char data;
    taper_tensor ours = {.data = &data, .type = take_dtype(in)}, back;
    DLTensor theirs = {.ndim = 12345};
    take_shape(in, &ours);
    take_strides(in, &ours, NULL);
    const unsigned nulls = take_below(in, 8);
    const size_t rank = ours.rank > 0 ? (size_t)ours.rank : 0;
    int64_t *const strides = nulls == 0 ? NULL : scratch(rank * sizeof *strides);
    size_t n = 0;
    taper_status want = want_tensor(&ours, &n);
    if (want == TAPER_OK &&
        (nulls == 1 || (strides == NULL && ours.strides == NULL && rank > 0)))
        want = TAPER_NULL;
    const taper_status status =
        taper_to_dlpack(&ours, strides, nulls == 1 ? NULL : &theirs);
    if (status != want)
        finding("taper_to_dlpack: status %d, not %d", (int)status, (int)want);
    if (want != TAPER_OK) {
        if (theirs.ndim != 12345)
            finding("taper_to_dlpack refuses, but writes");
        return;
    }
    if (taper_from_dlpack(&theirs, &back) != TAPER_OK || back.type != ours.type ||
        !same_shape(&ours, &back) || back.data != (n > 0 ? ours.data : NULL) ||
        (ours.strides != NULL && back.strides != ours.strides))
        finding("there and back it is another tensor");
    if (n > 0 && ours.strides == NULL && !is_row_major(&back))
        finding("wrong strides");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    if (take_below(&in, 2) == 0)
        check_from(&in);
    else
        check_to(&in);
    scratch_free();
    return 0;
}
