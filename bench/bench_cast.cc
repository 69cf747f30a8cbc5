// bench_cast.cc - casts between types that are not binary32, and what else is not in
// bench_array.cc: each table, each size, one thread.
#include "bench.hh"

static void measure_cast(benchmark::State &state, taper_dtype to, taper_dtype from,
                         size_t n, taper_cast_options options)
{
    const void *const src = source(from, Data::normal, n);
    unsigned char *const dst = destination();
    measure(state, n, bytes_of(to, n) + bytes_of(from, n),
            loop([=] { must(taper_cast(to, dst, from, src, n, &options)); }));
}

static void add_sizes(const std::string &name, const char *isa, taper_dtype to,
                      taper_dtype from, taper_cast_options options = {})
{
    for (const size_t n : sizes)
        if (bytes_of(to, n) <= buffer_bytes && bytes_of(from, n) <= buffer_bytes)
            add(join(name, isa, n), isa, 1, [=](benchmark::State &state) {
                measure_cast(state, to, from, n, options);
            });
}

void add_cast()
{
    static const taper_dtype pairs[][2] = {
        {TAPER_F32, TAPER_F64},       {TAPER_F64, TAPER_F32},
        {TAPER_BF16, TAPER_F64},      {TAPER_BF16, TAPER_F16},
        {TAPER_F8E4M3FN, TAPER_BF16}, {TAPER_BF16, TAPER_F8E4M3FN},
    };
    for (const char *const isa : isas()) {
        add_sizes("cast/float8e4m3fn_from_float_no_saturate", isa, TAPER_F8E4M3FN,
                  TAPER_F32, {TAPER_NO_SATURATE, TAPER_ROUND_UP});
        for (const auto &[to, from] : pairs)
            add_sizes(join("cast", cast_name(to, from)), isa, to, from);
    }
}
