// bench_call.cc - what a call costs when there is little to do: all public functions,
// each table, the same few elements over and over.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench.hh"

static const size_t counts[] = {1, 4, 16, 32, 64};

// The exception flags decide whether a kernel that works with them has to write MXCSR
// to leave them as they were. After any inexact operation of the program they are set,
// which is the usual state.
enum class Flags { set, clear };

static Loop with_flags(Flags flags, const Loop &calls)
{
#if defined(__x86_64__)
    return [=](size_t count) {
        const unsigned host = _mm_getcsr(), all = 0x3f;
        _mm_setcsr(flags == Flags::set ? host | all : host & ~all);
        calls(count);
        _mm_setcsr(host);
    };
#else
    (void)flags;
    return calls;
#endif
}

static void measure_cast(benchmark::State &state, taper_dtype to, taper_dtype from,
                         size_t n, Flags flags)
{
    const void *const src = source(from, Data::normal, n);
    unsigned char *const dst = destination();
    const Loop narrow = loop([=] { must(taper_narrow(to, dst, src, n, nullptr)); });
    const Loop widen = loop([=] { must(taper_widen(from, dst, src, n)); });
    measure(state, n, bytes_of(to, n) + bytes_of(from, n),
            with_flags(flags, from == TAPER_F32 ? narrow : widen));
}

static void add_casts(taper_dtype type, const char *isa, size_t n)
{
    const std::string narrow = join("call/narrow", short_name(type), isa, n);
    const std::string widen = join("call/widen", short_name(type), isa, n);
    add(narrow, isa, 1, [=](benchmark::State &state) {
        measure_cast(state, type, TAPER_F32, n, Flags::set);
    });
    add(widen, isa, 1, [=](benchmark::State &state) {
        measure_cast(state, TAPER_F32, type, n, Flags::set);
    });
    if (std::string(isa) != "avx2") // the others leave the flags alone
        return;
    add(narrow + "/clear", isa, 1, [=](benchmark::State &state) {
        measure_cast(state, type, TAPER_F32, n, Flags::clear);
    });
    add(widen + "/clear", isa, 1, [=](benchmark::State &state) {
        measure_cast(state, TAPER_F32, type, n, Flags::clear);
    });
}

void add_call()
{
    for (const size_t n : counts) {
        for (const char *const isa : isas()) {
            for (const taper_dtype type : cast_types())
                add_casts(type, isa, n);
            add(join("call/fill/u32", isa, n), isa, 1, [=](benchmark::State &state) {
                static const uint32_t value = 0x3f800000;
                unsigned char *const dst = destination();
                measure(state, n, 4 * n,
                        loop([=] { must(taper_fill(TAPER_U32, dst, n, &value)); }));
            });
            add(join("call/copy/u32", isa, n), isa, 1, [=](benchmark::State &state) {
                unsigned char *const dst = destination(), *const src = source();
                measure(state, n, 8 * n,
                        loop([=] { must(taper_copy(TAPER_U32, dst, src, n)); }));
            });
        }
    }
}
