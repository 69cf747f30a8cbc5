// bench_fill.cc - fill with elements of every width, beside memset() and std::fill().
#include <algorithm>
#include <cstring>

#include "bench.hh"

static const size_t byte_sizes[] = {size_t(16) << 10, size_t(512) << 10,
                                    size_t(16) << 20, size_t(512) << 20};

static void measure_fill(benchmark::State &state, taper_dtype type, size_t bytes)
{
    static const unsigned char value[16] = {0x07, 0x12, 0x34, 0x3f, 0x56, 0x78,
                                            0x9a, 0xbc, 0xde, 0xf0, 0x11, 0x22,
                                            0x33, 0x44, 0x55, 0x66};
    unsigned char *const dst = destination();
    const size_t n = bytes * 8 / taper_dtype_bits(type);
    std::vector<Rival> rivals = {{"memset", loop([=] { std::memset(dst, 7, bytes); })}};
    if (type == TAPER_U32) {
        uint32_t *const words = reinterpret_cast<uint32_t *>(dst);
        rivals.push_back({"std_fill", loop([=] {
                              std::fill(words, words + n, uint32_t(0x3f341207));
                          })});
    }
    measure(state, n, bytes, loop([=] { must(taper_fill(type, dst, n, value)); }),
            rivals);
}

static void add_sizes(taper_dtype type, const char *isa)
{
    for (const size_t bytes : byte_sizes)
        add(join("fill", short_name(type), isa, bytes), isa, 1,
            [=](benchmark::State &state) { measure_fill(state, type, bytes); });
}

void add_fill()
{
    // Tables differ in storing a pattern; the width only decides what the pattern is.
    for (const char *const isa : isas())
        add_sizes(TAPER_U32, isa);
    for (const taper_dtype type :
         {TAPER_U4, TAPER_U8, TAPER_U16, TAPER_U64, TAPER_C128})
        add_sizes(type, taper_isa_name(0));

    for (const size_t bytes : byte_sizes)
        add(join("memset", bytes), nullptr, 1, [=](benchmark::State &state) {
            unsigned char *const dst = destination();
            measure(state, bytes, bytes, loop([=] { std::memset(dst, 7, bytes); }));
        });
}
