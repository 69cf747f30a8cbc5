// bench_threads.cc - what threads gain, and from which size. Counter `one_thread`: time
// with one thread / time with several, the fastest round of each; a team that is awake.
#include "bench.hh"

using Part = std::function<void(size_t begin, size_t n)>;

// Parts begin at multiples of 64 elements, so at whole bytes of all types.
static Part part_of_cast(taper_dtype to, taper_dtype from, size_t n)
{
    const auto *const src =
        static_cast<const unsigned char *>(source(from, Data::normal, n));
    unsigned char *const dst = destination();
    return [=](size_t begin, size_t count) {
        must(taper_cast(to, dst + bytes_of(to, begin), from,
                        src + bytes_of(from, begin), count, nullptr));
    };
}

static Part part_of_fill()
{
    unsigned char *const dst = destination();
    return [=](size_t begin, size_t count) {
        static const uint32_t value = 0x3f800000;
        must(taper_fill(TAPER_U32, dst + 4 * begin, count, &value));
    };
}

// An operation on elements; `from` is 0 for a fill.
struct Operation {
    std::string name;
    taper_dtype to, from;

    Part part(size_t n) const
    {
        return from == 0 ? part_of_fill() : part_of_cast(to, from, n);
    }
    size_t traffic(size_t n) const
    {
        return bytes_of(to, n) + (from == 0 ? 0 : bytes_of(from, n));
    }
};

static std::vector<Operation> operations()
{
    std::vector<Operation> all = {{"fill/u32", TAPER_U32, taper_dtype(0)},
                                  {"copy/f32", TAPER_F32, TAPER_F32}};
    for (const taper_dtype type : cast_types()) {
        all.push_back({join("narrow", short_name(type)), type, TAPER_F32});
        all.push_back({join("widen", short_name(type)), TAPER_F32, type});
    }
    return all;
}

static Loop with_threads(int threads, const Loop &calls)
{
    return [=](size_t count) {
        must(taper_set_max_threads(threads));
        calls(count);
    };
}

static void measure_threads(benchmark::State &state, const Operation &op, size_t n,
                            int threads)
{
    const Part part = op.part(n);
    const Loop whole = loop([=] { part(0, n); });
    measure(state, n, op.traffic(n), with_threads(threads, whole),
            {{"one_thread", with_threads(1, whole)}}, Estimate::best);
}

#if defined(_OPENMP)
// Two threads whatever the size, which the library would not do: where it should begin.
static void measure_break_even(benchmark::State &state, const Operation &op, size_t n)
{
    const Part part = op.part(n);
    const size_t half = n / 2 / 64 * 64;
    const auto halves = [=] {
#pragma omp parallel for num_threads(2) schedule(static, 1)
        for (int i = 0; i < 2; i++)
            part(i == 0 ? 0 : half, i == 0 ? half : n - half);
    };
    measure(state, n, op.traffic(n), loop(halves),
            {{"one_thread", loop([=] { part(0, n); })}}, Estimate::best);
}

static void add_break_even(const Operation &op)
{
    for (size_t traffic = size_t(32) << 10; traffic <= size_t(4) << 20; traffic *= 2) {
        const size_t n = traffic * 1024 / op.traffic(1024);
        add(join("break_even", op.name, traffic), nullptr, 1,
            [=](benchmark::State &state) { measure_break_even(state, op, n); });
    }
}
#endif

void add_threads()
{
    const int most = taper_max_threads();
    std::vector<int> teams = {2};
    if (most > 2)
        teams.push_back(most);
    for (const Operation &op : operations())
        for (const int threads : teams)
            for (const unsigned log : {12, 17, 18, 20, 22, 27})
                add(join("threads", op.name, threads, size_t(1) << log), nullptr,
                    threads, [=](benchmark::State &state) {
                        measure_threads(state, op, size_t(1) << log, threads);
                    });
#if defined(_OPENMP)
    for (const Operation &op : operations())
        if (op.name == "fill/u32" || op.name == "copy/f32" ||
            op.name == "narrow/bf16" || op.name == "narrow/f8e4m3fn" ||
            op.name == "widen/f8e4m3fn")
            add_break_even(op);
#endif
}
