// bench_stream.cc - from which size streaming stores pay, one thread. Counter
// `ordinary`: time with ordinary stores / time with streaming ones, in the same rounds.
#include "bench.hh"

static Loop with_stream(taper_threshold which, bool stream, const Loop &calls)
{
    return [=](size_t count) {
        must(taper_set_threshold_bytes(which, stream ? 1 : SIZE_MAX));
        calls(count);
        must(taper_set_threshold_bytes(which, 0));
    };
}

static void compare(benchmark::State &state, taper_threshold which, size_t n,
                    size_t traffic, const Loop &calls)
{
    measure(state, n, traffic, with_stream(which, true, calls),
            {{"ordinary", with_stream(which, false, calls)}});
}

static void compare_casts(benchmark::State &state, taper_dtype to, taper_dtype from,
                          size_t n)
{
    const void *const src = source(from, Data::normal, n);
    unsigned char *const dst = destination();
    compare(state, TAPER_STREAM_BYTES, n, bytes_of(to, n) + bytes_of(from, n),
            loop([=] { must(taper_cast(to, dst, from, src, n, nullptr)); }));
}

static void compare_fills(benchmark::State &state, size_t n)
{
    unsigned char *const dst = destination();
    compare(state, TAPER_STREAM_FILL_BYTES, n, 4 * n, loop([=] {
                static const uint32_t value = 0x3f800000;
                must(taper_fill(TAPER_U32, dst, n, &value));
            }));
}

void add_stream()
{
    static const taper_dtype casts[][2] = {
        {TAPER_BF16, TAPER_F32}, {TAPER_F8E4M3FN, TAPER_F32},
        {TAPER_F32, TAPER_BF16}, {TAPER_F32, TAPER_F8E4M3FN},
        {TAPER_F32, TAPER_F32},
    };
    for (size_t mib = 1; mib <= 256; mib *= 2) { // written
        const size_t bytes = mib << 20;
        for (const auto &pair : casts) {
            const taper_dtype to = pair[0], from = pair[1];
            const size_t n = bytes * 8 / taper_dtype_bits(to);
            if (bytes_of(from, n) > buffer_bytes)
                continue;
            add(join("stream", cast_name(to, from), bytes), nullptr, 1,
                [=](benchmark::State &state) { compare_casts(state, to, from, n); });
        }
        add(join("stream/fill", bytes), nullptr, 1,
            [=](benchmark::State &state) { compare_fills(state, bytes / 4); });
    }
}
