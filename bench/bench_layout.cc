// bench_layout.cc - copies between layouts, beside memcpy() and a plain loop over them;
// a cast of rows with gaps.
#include <cstring>

#include "bench.hh"

extern "C" {
#include "taper/tensor.h"
}

struct Layout {
    const char *name;
    taper_dtype type;
    std::vector<int64_t> shape, strides; // of the source; the destination is contiguous
};

static const std::vector<Layout> layouts = {
    {"transpose", TAPER_U8, {4096, 4096}, {1, 4096}},
    {"transpose", TAPER_U16, {4096, 4096}, {1, 4096}},
    {"transpose", TAPER_U32, {4096, 4096}, {1, 4096}},
    {"transpose", TAPER_U64, {4096, 4096}, {1, 4096}},
    {"nhwc_from_nchw",
     TAPER_U32,
     {32, 112, 112, 64},
     {64 * 112 * 112, 112, 1, 112 * 112}},
    {"nchw_from_nhwc",
     TAPER_U32,
     {32, 64, 112, 112},
     {64 * 112 * 112, 1, 112 * 64, 64}},
    {"step_2", TAPER_U32, {32, 64, 112, 56}, {64 * 112 * 112, 112 * 112, 112, 2}},
    {"rows_apart", TAPER_U32, {4096, 2048}, {4096, 1}},
};

// Loops over four dimensions, the last one innermost, as one would write them.
template <class T> static void plain(const Layout &layout)
{
    int64_t n[4] = {1, 1, 1, 1}, stride[4] = {0, 0, 0, 0};
    const size_t rank = layout.shape.size();
    for (size_t k = 0; k < rank; k++) {
        n[4 - rank + k] = layout.shape[k];
        stride[4 - rank + k] = layout.strides[k];
    }
    T *dst = reinterpret_cast<T *>(destination());
    const T *const src = reinterpret_cast<const T *>(source());
    for (int64_t a = 0; a < n[0]; a++)
        for (int64_t b = 0; b < n[1]; b++)
            for (int64_t c = 0; c < n[2]; c++)
                for (int64_t d = 0; d < n[3]; d++)
                    *dst++ = src[a * stride[0] + b * stride[1] + c * stride[2] +
                                 d * stride[3]];
}

static void plain_copy(const Layout &layout)
{
    switch (bytes_of(layout.type, 1)) {
    case 1:
        return plain<uint8_t>(layout);
    case 2:
        return plain<uint16_t>(layout);
    case 4:
        return plain<uint32_t>(layout);
    default:
        return plain<uint64_t>(layout);
    }
}

static void tensor_copy(const Layout &layout)
{
    const auto rank = static_cast<int32_t>(layout.shape.size());
    const taper_tensor dst = {destination(), layout.type, rank, layout.shape.data(),
                              nullptr};
    const taper_tensor src = {source(), layout.type, rank, layout.shape.data(),
                              layout.strides.data()};
    must(taper_tensor_copy(&dst, &src));
}

static Estimate estimate(int threads)
{
    return threads > 1 ? Estimate::best : Estimate::median;
}

// Rows of 8 KiB at a pitch of 16 KiB: 64 MiB are read.
static void measure_cast_rows(benchmark::State &state, int threads)
{
    static constexpr int64_t rows = 8192, columns = 2048, pitch = 4096;
    static constexpr int64_t shape[] = {rows, columns}, strides[] = {pitch, 1};
    // A tensor is of what may be written, which this one is not.
    void *const floats =
        const_cast<void *>(source(TAPER_F32, Data::normal, size_t(rows * pitch)));
    const taper_tensor dst = {destination(), TAPER_BF16, 2, shape, nullptr};
    const taper_tensor src = {floats, TAPER_F32, 2, shape, strides};
    const auto n = size_t(rows * columns);
    measure(state, double(n), double(bytes_of(TAPER_F32, n) + bytes_of(TAPER_BF16, n)),
            loop([&] { must(taper_tensor_cast(&dst, &src, nullptr)); }), {},
            estimate(threads));
}

void add_layout()
{
    for (const Layout &layout : layouts)
        for (const int threads : {1, 2})
            add(join("layout", layout.name, taper_dtype_name(layout.type), threads),
                nullptr, threads, [&layout, threads](benchmark::State &state) {
                    size_t n = 1;
                    for (const int64_t dimension : layout.shape)
                        n *= static_cast<size_t>(dimension);
                    measure(state, n, 2 * bytes_of(layout.type, n),
                            loop([&layout] { tensor_copy(layout); }),
                            {{"plain loop", loop([&layout] { plain_copy(layout); })}},
                            estimate(threads));
                });
    for (const int threads : {1, 2})
        add(join("layout/cast_rows_apart/bfloat16_from_float", threads), nullptr,
            threads,
            [=](benchmark::State &state) { measure_cast_rows(state, threads); });
}
