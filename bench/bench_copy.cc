// bench_copy.cc - copy, beside memcpy().
#include <cstring>

#include "bench.hh"

static const size_t byte_sizes[] = {size_t(16) << 10, size_t(512) << 10,
                                    size_t(4) << 20,  size_t(16) << 20,
                                    size_t(64) << 20, size_t(512) << 20};

void add_copy()
{
    for (const size_t bytes : byte_sizes) {
        for (const char *const isa : isas())
            add(join("copy/u32", isa, bytes), isa, 1, [=](benchmark::State &state) {
                unsigned char *const dst = destination(), *const src = source();
                measure(state, bytes / 4, 2 * bytes, loop([=] {
                            must(taper_copy(TAPER_U32, dst, src, bytes / 4));
                        }));
            });
        add(join("memcpy", bytes), nullptr, 1, [=](benchmark::State &state) {
            unsigned char *const dst = destination(), *const src = source();
            measure(state, bytes, 2 * bytes,
                    loop([=] { std::memcpy(dst, src, bytes); }));
        });
    }
}
