// peers_xnnpack.cc - XNNPACK: its convert operators, set up for each call.
#include <xnnpack.h>

#include "peers.hh"

static void check(xnn_status status)
{
    if (status != xnn_status_success) {
        std::fprintf(stderr, "taper_bench: XNNPACK reports %d\n", int(status));
        std::exit(1);
    }
}

// One channel of n values, which XNNPACK treats as a vector.
static xnn_operator_t make(decltype(xnn_create_convert_nc_f32_f16) *create)
{
    xnn_operator_t convert = nullptr;
    check(xnn_initialize(nullptr));
    check(create(1, 1, 1, 0, &convert));
    return convert;
}

static void narrow(void *dst, const void *src, size_t n)
{
    static const xnn_operator_t convert = make(xnn_create_convert_nc_f32_f16);
    const auto *const from = static_cast<const float *>(src);
    check(xnn_setup_convert_nc_f32_f16(convert, n, from, dst, nullptr));
    check(xnn_run_operator(convert, nullptr));
}

static void widen(void *dst, const void *src, size_t n)
{
    static const xnn_operator_t convert = make(xnn_create_convert_nc_f16_f32);
    auto *const to = static_cast<float *>(dst);
    check(xnn_setup_convert_nc_f16_f32(convert, n, src, to, nullptr));
    check(xnn_run_operator(convert, nullptr));
}

void add_xnnpack(std::vector<Peer> &list)
{
    list.push_back({"xnnpack", {Op::narrow, TAPER_F16}, narrow});
    list.push_back({"xnnpack", {Op::widen, TAPER_F16}, widen});
}
