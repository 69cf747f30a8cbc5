// peers_eigen.cc - Eigen: cast<half>(), cast<bfloat16>() and back.
#include <Eigen/Core>

#include "peers.hh"

template <class To, class From> static void cast(void *dst, const void *src, size_t n)
{
    using Source = Eigen::Array<From, Eigen::Dynamic, 1>;
    using Destination = Eigen::Array<To, Eigen::Dynamic, 1>;
    const auto size = Eigen::Index(n);
    Eigen::Map<Destination>(static_cast<To *>(dst), size) =
        Eigen::Map<const Source>(static_cast<const From *>(src), size)
            .template cast<To>();
}

void add_eigen(std::vector<Peer> &list)
{
    list.push_back({"eigen", {Op::narrow, TAPER_F16}, cast<Eigen::half, float>});
    list.push_back({"eigen", {Op::widen, TAPER_F16}, cast<float, Eigen::half>});
    list.push_back({"eigen", {Op::narrow, TAPER_BF16}, cast<Eigen::bfloat16, float>});
    list.push_back({"eigen", {Op::widen, TAPER_BF16}, cast<float, Eigen::bfloat16>});
}
