// bench_data.cc - whether the time of narrowing depends on the data. Counter `normal`:
// time on normally distributed numbers / time on these, in the same rounds.
#include <cstring>

#include "bench.hh"

static const size_t counts[] = {sizes[0], sizes[1]}; // beyond L2, memory hides it

static void measure_data(benchmark::State &state, taper_dtype to, Data data, size_t n)
{
    const void *const src = source(TAPER_F32, data, n, 1);
    const void *const normal = source(TAPER_F32, Data::normal, n);
    unsigned char *const dst = destination();
    // Both are read from the same place: another one may fit the caches differently.
    unsigned char *const place = dst + buffer_bytes / 2;
    const auto narrow = [=](const void *from) {
        const Loop calls =
            loop([=] { must(taper_narrow(to, dst, place, n, nullptr)); });
        return [=](size_t count) {
            if (count == 0)
                std::memcpy(place, from, 4 * n);
            calls(count);
        };
    };
    measure(state, n, bytes_of(to, n) + 4 * n, narrow(src),
            {{"normal", narrow(normal)}});
}

void add_data()
{
    for (const char *const isa : isas())
        for (const taper_dtype to : cast_types())
            for (const Data data : all_data)
                for (const size_t n : counts)
                    add(join("data", taper_dtype_name(to), isa, data_name(data), n),
                        isa, 1, [=](benchmark::State &state) {
                            measure_data(state, to, data, n);
                        });
}
