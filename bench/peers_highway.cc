// peers_highway.cc - Highway: DemoteTo() and PromoteTo(), for the best vectors that the
// flags of this file allow (static dispatch). Its bfloat16 cuts instead of rounding
// before version 1.1.
#include <algorithm>

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include "peers.hh"

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

template <class Half> static void narrow(void *dst, const void *src, size_t n)
{
    const Floats floats;
    const hn::Rebind<Half, Floats> halves;
    const size_t lanes = hn::Lanes(floats);
    auto *const to = static_cast<Half *>(dst);
    const auto *const from = static_cast<const float *>(src);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::DemoteTo(halves, hn::LoadU(floats, from + i)), halves, to + i);
    if (i < n) {
        float rest[HWY_MAX_BYTES / sizeof(float)] = {};
        Half out[HWY_MAX_BYTES / sizeof(float)];
        std::copy(from + i, from + n, rest);
        hn::StoreU(hn::DemoteTo(halves, hn::LoadU(floats, rest)), halves, out);
        std::copy(out, out + (n - i), to + i);
    }
}

template <class Half> static void widen(void *dst, const void *src, size_t n)
{
    const Floats floats;
    const hn::Rebind<Half, Floats> halves;
    const size_t lanes = hn::Lanes(floats);
    auto *const to = static_cast<float *>(dst);
    const auto *const from = static_cast<const Half *>(src);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::PromoteTo(floats, hn::LoadU(halves, from + i)), floats, to + i);
    if (i < n) {
        Half rest[HWY_MAX_BYTES / sizeof(float)] = {};
        float out[HWY_MAX_BYTES / sizeof(float)];
        std::copy(from + i, from + n, rest);
        hn::StoreU(hn::PromoteTo(floats, hn::LoadU(halves, rest)), floats, out);
        std::copy(out, out + (n - i), to + i);
    }
}

void add_highway(std::vector<Peer> &list)
{
    list.push_back({"highway", {Op::narrow, TAPER_F16}, narrow<hwy::float16_t>});
    list.push_back({"highway", {Op::widen, TAPER_F16}, widen<hwy::float16_t>});
    list.push_back({"highway", {Op::narrow, TAPER_BF16}, narrow<hwy::bfloat16_t>});
    list.push_back({"highway", {Op::widen, TAPER_BF16}, widen<hwy::bfloat16_t>});
}
