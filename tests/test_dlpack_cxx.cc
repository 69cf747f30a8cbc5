// test_dlpack_cxx.cc - taper/dlpack.h is C++ as well: a vector there and back.
#include <cstdint>

#include <dlpack/dlpack.h>

#include "taper/dlpack.h"

int main()
{
    float data[] = {1, 2, 3};
    const std::int64_t shape[] = {3};
    std::int64_t strides[] = {0};
    const taper_tensor from = {data, TAPER_F32, 1, shape, nullptr};
    DLTensor middle;
    taper_tensor to;
    if (taper_to_dlpack(&from, strides, &middle) != TAPER_OK)
        return 1;
    middle.byte_offset = sizeof *data;
    if (taper_from_dlpack(&middle, &to) != TAPER_OK)
        return 2;
    return to.data == data + 1 && to.type == TAPER_F32 && to.shape == shape &&
                   to.strides == strides && strides[0] == 1
               ? 0
               : 3;
}
