// peers_fp16.cc - Marat Dukhan's FP16: its functions for one number, in a loop.
#include <fp16.h>

#include "peers.hh"

static void narrow(void *dst, const void *src, size_t n)
{
    auto *const to = static_cast<uint16_t *>(dst);
    const auto *const from = static_cast<const float *>(src);
    for (size_t i = 0; i < n; i++)
        to[i] = fp16_ieee_from_fp32_value(from[i]);
}

static void widen(void *dst, const void *src, size_t n)
{
    auto *const to = static_cast<float *>(dst);
    const auto *const from = static_cast<const uint16_t *>(src);
    for (size_t i = 0; i < n; i++)
        to[i] = fp16_ieee_to_fp32_value(from[i]);
}

void add_fp16(std::vector<Peer> &list)
{
    list.push_back({"fp16", {Op::narrow, TAPER_F16}, narrow});
    list.push_back({"fp16", {Op::widen, TAPER_F16}, widen});
}
