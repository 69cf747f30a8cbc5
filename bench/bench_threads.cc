// bench_threads.cc - what threads gain, and from which size. Counter `one_thread`: time
// with one thread / time with several, the fastest round of each; a team that is awake.
#include "bench.hh"

static std::vector<Operation> operations()
{
    std::vector<Operation> all = {{Op::fill, TAPER_F32}, {Op::copy, TAPER_F32}};
    for (const taper_dtype type : cast_types()) {
        all.push_back({Op::narrow, type});
        all.push_back({Op::widen, type});
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
    const Loop whole = op.loop(n, nullptr);
    measure(state, n, op.traffic(n), with_threads(threads, whole),
            {{"one_thread", with_threads(1, whole)}}, Estimate::best);
}

#if defined(_OPENMP)
// Two threads whatever the size, which the library would not do: where it should begin.
static void measure_break_even(benchmark::State &state, const Operation &op, size_t n)
{
    const auto *const src = static_cast<const unsigned char *>(op.source(n));
    unsigned char *const dst = destination();
    const size_t half = n / 2 / 64 * 64; // so a whole byte of all types
    const size_t read = op.bytes_read(half), written = op.bytes_written(half);
    const Loop halves = loop_of(op, [=](auto call) {
        return loop([=] {
#pragma omp parallel for num_threads(2) schedule(static, 1)
            for (int i = 0; i < 2; i++)
                if (i == 0)
                    call(dst, src, half);
                else
                    call(dst + written, src + read, n - half);
        });
    });
    measure(state, n, op.traffic(n), halves, {{"one_thread", op.loop(n, nullptr)}},
            Estimate::best);
}

static void add_break_even(const Operation &op)
{
    for (size_t traffic = size_t(32) << 10; traffic <= size_t(4) << 20; traffic *= 2) {
        const size_t n = traffic * 1024 / op.traffic(1024);
        add(join("break_even", op.name(), traffic), nullptr, 1,
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
                add(join("threads", op.name(), threads, size_t(1) << log), nullptr,
                    threads, [=](benchmark::State &state) {
                        measure_threads(state, op, size_t(1) << log, threads);
                    });
#if defined(_OPENMP)
    for (const Operation op :
         {Operation{Op::fill, TAPER_F32}, Operation{Op::copy, TAPER_F32},
          Operation{Op::narrow, TAPER_BF16}, Operation{Op::narrow, TAPER_F8E4M3FN},
          Operation{Op::widen, TAPER_F8E4M3FN}})
        add_break_even(op);
#endif
}
