// bench_call.cc - what a call costs when there is little to do: all public functions,
// each table, beside memset() and memcpy().
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench.hh"

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

// So many elements, over and over, or 1 to 64 of them as it comes, which no branch
// prediction gets right.
struct Count {
    std::string name;
    size_t n; // 0: random

    double mean() const
    {
        return n == 0 ? 32.5 : double(n);
    }
};

// Calls call(size(n)) for a count n.
template <class Size, class Call>
static Loop repeat(const Count &count, Size size, Call call)
{
    if (count.n != 0) {
        const size_t one = size(count.n);
        return loop([=] { call(one); });
    }
    constexpr size_t period = size_t(1) << 16; // of 2^12 some CPUs learn every branch
    std::vector<uint16_t> random;
    for (const unsigned char byte : random_bytes(period))
        random.push_back(uint16_t(size(size_t(1 + byte % 64))));
    return [=](size_t calls) {
        for (size_t i = 0; i < calls; i++) {
            call(random[i % period]);
            benchmark::ClobberMemory();
        }
    };
}

// Beside a memcpy() that cannot foresee its sizes either.
static void measure_calls(benchmark::State &state, const Operation &operation,
                          const Count &count, const Loop &calls)
{
    unsigned char *const dst = destination(), *const src = source();
    const Loop copies = repeat(
        count, [=](size_t n) { return operation.traffic(n) / 2; },
        [=](size_t bytes) { std::memcpy(dst, src, bytes); });
    measure(state, count.mean(), count.mean() * double(operation.traffic(64)) / 64,
            calls, {{"M", copies}});
}

static void measure_taper(benchmark::State &state, const Operation &operation,
                          const Count &count, Flags flags)
{
    const void *const src = operation.source(64);
    unsigned char *const dst = destination();
    const Loop calls = loop_of(operation, [=](auto call) {
        return repeat(
            count, [](size_t n) { return n; }, [=](size_t n) { call(dst, src, n); });
    });
    measure_calls(state, operation, count, with_flags(flags, calls));
}

static void add_calls(const Operation &operation, const Count &count)
{
    for (const char *const isa : isas()) {
        const std::string name = join("call", operation.name(), isa, count.name);
        add(name, isa, 1, [=](benchmark::State &state) {
            measure_taper(state, operation, count, Flags::set);
        });
        const bool cast = operation.op == Op::narrow || operation.op == Op::widen;
        if (cast && isa == std::string("avx2")) // the others leave the flags alone
            add(name + "/clear", isa, 1, [=](benchmark::State &state) {
                measure_taper(state, operation, count, Flags::clear);
            });
    }
}

// Of as many bytes.
static void add_libc(const Count &count)
{
    const auto bytes = [](size_t n) { return 4 * n; };
    add(join("call/fill/float/memset", count.name), nullptr, 1,
        [=](benchmark::State &state) {
            unsigned char *const dst = destination();
            measure_calls(
                state, {Op::fill, TAPER_F32}, count,
                repeat(count, bytes, [=](size_t size) { std::memset(dst, 7, size); }));
        });
    add(join("call/copy/float/memcpy", count.name), nullptr, 1,
        [=](benchmark::State &state) {
            unsigned char *const dst = destination(), *const src = source();
            measure_calls(state, {Op::copy, TAPER_F32}, count,
                          repeat(count, bytes,
                                 [=](size_t size) { std::memcpy(dst, src, size); }));
        });
}

void add_call()
{
    std::vector<Count> counts = {{"random", 0}};
    for (const size_t n : {1, 2, 4, 8, 16, 32, 64})
        counts.push_back({std::to_string(n), n});
    for (const Count &count : counts) {
        for (const taper_dtype type : cast_types()) {
            add_calls({Op::narrow, type}, count);
            add_calls({Op::widen, type}, count);
        }
        add_calls({Op::fill, TAPER_F32}, count);
        add_calls({Op::copy, TAPER_F32}, count);
        add_libc(count);
    }
}
