// peers.cc - other functions for the same operations: those of the C and C++ libraries,
// and the list of all. Like every peer, compiled with -O3 -march=native.
#include "peers.hh"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

static void memset_bytes(void *dst, const void *src, size_t n)
{
    std::memset(dst, *static_cast<const unsigned char *>(src), n);
}

template <size_t bits> static void memset_n(void *dst, const void *src, size_t n)
{
    memset_bytes(dst, src, (n * bits + 7) / 8);
}

static void memcpy_floats(void *dst, const void *src, size_t n)
{
    std::memcpy(dst, src, n * sizeof(float));
}

template <class T> static void std_fill(void *dst, const void *src, size_t n)
{
    T value;
    std::memcpy(&value, src, sizeof value);
    std::fill_n(static_cast<T *>(dst), n, value);
}

static void std_copy(void *dst, const void *src, size_t n)
{
    const auto *const from = static_cast<const float *>(src);
    std::copy(from, from + n, static_cast<float *>(dst));
}

static void add_libc(std::vector<Peer> &list)
{
    list.push_back({"memset", {Op::fill, TAPER_F32}, memset_n<32>});
    list.push_back({"memset", {Op::fill, TAPER_U4}, memset_n<4>});
    list.push_back({"memset", {Op::fill, TAPER_U8}, memset_n<8>});
    list.push_back({"memset", {Op::fill, TAPER_U16}, memset_n<16>});
    list.push_back({"memset", {Op::fill, TAPER_U64}, memset_n<64>});
    list.push_back({"memset", {Op::fill, TAPER_C128}, memset_n<128>});
    list.push_back({"std::fill", {Op::fill, TAPER_F32}, std_fill<float>});
    list.push_back({"std::fill", {Op::fill, TAPER_U8}, std_fill<uint8_t>});
    list.push_back({"std::fill", {Op::fill, TAPER_U16}, std_fill<uint16_t>});
    list.push_back({"std::fill", {Op::fill, TAPER_U64}, std_fill<uint64_t>});
    list.push_back(
        {"std::fill", {Op::fill, TAPER_C128}, std_fill<std::complex<double>>});
    list.push_back({"memcpy", {Op::copy, TAPER_F32}, memcpy_floats});
    list.push_back({"std::copy", {Op::copy, TAPER_F32}, std_copy});
}

const std::vector<Peer> &peers()
{
    static const std::vector<Peer> all = [] {
        std::vector<Peer> list;
        add_libc(list);
        add_compiler(list);
#if defined(BENCH_EIGEN)
        add_eigen(list);
#endif
#if defined(BENCH_FP16)
        add_fp16(list);
#endif
#if defined(BENCH_HIGHWAY)
        add_highway(list);
#endif
#if defined(BENCH_XNNPACK)
        add_xnnpack(list);
#endif
        return list;
    }();
    return all;
}
