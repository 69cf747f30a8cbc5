// measure.cc - rounds that alternate between a subject and what it is compared with.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "bench.hh"

namespace
{

using Clock = std::chrono::steady_clock;

// Long beside what a look at the clock takes, short beside a time slice.
constexpr double batch_seconds = 150e-6;
constexpr double row_seconds = 0.1;  // enough; large arrays take longer for 3 rounds
constexpr double best_seconds = 0.5; // until some rounds are undisturbed
constexpr size_t most_rounds = 31, least_rounds = 3;
constexpr double cached_bytes = 128 << 20; // from here on no cache remembers

double seconds(const Loop &loop, size_t calls)
{
    const Clock::time_point start = Clock::now();
    loop(calls);
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Cycles per second of this core now, by a chain of multiplications that wait for each
// other, 3 cycles each on all x86-64 of this century; 0 elsewhere. Of additions a chain
// would not do: some cores add at rename.
double core_clock()
{
#if defined(__x86_64__)
    constexpr size_t links = 30000;
    const Loop chain = [](size_t calls) {
        unsigned long long x = 3;
        for (size_t i = 0; i < calls; i += 4)
            __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
                             : "+r"(x));
    };
    return 3.0 * links / seconds(chain, links);
#else
    return 0;
#endif
}

double median(std::vector<double> v)
{
    const size_t half = v.size() / 2;
    std::nth_element(v.begin(), v.begin() + long(half), v.end());
    if (v.size() % 2 != 0)
        return v[half];
    return (v[half] + *std::max_element(v.begin(), v.begin() + long(half))) / 2;
}

// One side of the comparison: what it finds in the caches, how often it runs in a
// round, and how long each call took.
struct Side {
    const char *counter;
    Loop loop;
    Memory memory;
    size_t calls = 1;
    std::vector<double> times = {};
};

bool is_fresh(Memory memory)
{
    return memory == Memory::fresh_huge || memory == Memory::fresh_small;
}

// Sides that take longer than the shortest batch whatever happens are not tried first.
void set_calls(Side &side, double traffic)
{
    side.calls = 1;
    if (is_fresh(side.memory) || traffic >= cached_bytes)
        return;
    side.loop(0);
    double time = seconds(side.loop, 1);
    if (time <
        batch_seconds) // the first call may find cold code, and no team of threads
        time = seconds(side.loop, 1);
    while (time < batch_seconds / 4) {
        side.calls *= 4;
        time = seconds(side.loop, side.calls);
    }
    side.calls = std::max(size_t(1), size_t(double(side.calls) * batch_seconds / time));
}

Loop memcpy_loop(size_t bytes, Memory memory)
{
    const unsigned char *const from = source();
    unsigned char *const to = destination();
    if (memory != Memory::cold)
        return loop([=] { std::memcpy(to, from, bytes); });
    const Places places(bytes, bytes);
    return loop([=] {
        const Places::Place place = places.next();
        std::memcpy(to + place.written, from + place.read, bytes);
    });
}

} // namespace

size_t Places::turn = 0;

static size_t whole_pages(size_t bytes)
{
    constexpr size_t page = 4096;
    return (bytes + page - 1) / page * page;
}

Places::Places(size_t bytes_read, size_t bytes_written)
    : read(whole_pages(bytes_read)), written(whole_pages(bytes_written)), count(1)
{
    while (2 * count * read <= buffer_bytes && 2 * count * written <= 2 * buffer_bytes)
        count *= 2;
}

void measure(benchmark::State &state, double n, double traffic, const Loop &subject,
             const std::vector<Rival> &rivals, Estimate estimate, Memory memory)
{
    const auto is_m = [](const Rival &rival) {
        return rival.counter == std::string("M");
    };
    std::vector<Side> sides = {{"", subject, memory}};
    if (std::none_of(rivals.begin(), rivals.end(), is_m))
        sides.push_back({"M", memcpy_loop(size_t(traffic / 2), memory),
                         is_fresh(memory) ? Memory::warm : memory});
    for (const Rival &rival : rivals)
        sides.push_back({rival.counter, rival.loop, memory});

    for (auto _ : state) {
        std::vector<double> per_cycle;
        for (Side &side : sides)
            set_calls(side, traffic);
        const double most = estimate == Estimate::best ? best_seconds : row_seconds;
        const Clock::time_point end =
            Clock::now() + std::chrono::microseconds(long(most * 1e6));
        for (size_t round = 0; round < most_rounds; round++) {
            if (round >= least_rounds && Clock::now() >= end)
                break;
            for (Side &side : sides) {
                side.loop(0);
                if (side.memory == Memory::warm &&
                    (traffic < cached_bytes || is_fresh(memory)))
                    side.loop(1); // each finds the caches as it leaves them
                side.times.push_back(seconds(side.loop, side.calls) /
                                     double(side.calls));
            }
            per_cycle.push_back(n / (sides[0].times.back() * core_clock()));
        }

        const auto time = [&](const Side &side) {
            return estimate == Estimate::best
                       ? *std::min_element(side.times.begin(), side.times.end())
                       : median(side.times);
        };
        const auto ratio = [&](const Side &rival) {
            if (estimate == Estimate::best)
                return time(rival) / time(sides[0]);
            std::vector<double> ratios;
            for (size_t round = 0; round < rival.times.size(); round++)
                ratios.push_back(rival.times[round] / sides[0].times[round]);
            return median(ratios);
        };
        state.SetIterationTime(time(sides[0]));
        state.counters["rounds"] = double(per_cycle.size());
#if defined(__x86_64__)
        state.counters["el/cycle"] = median(per_cycle);
#endif
        for (size_t i = 1; i < sides.size(); i++)
            state.counters[sides[i].counter] = ratio(sides[i]);
    }
    // SetItemsProcessed() takes whole numbers only.
    state.counters["items_per_second"] = {n, benchmark::Counter::kIsRate};
    state.counters["bytes_per_second"] = {traffic, benchmark::Counter::kIsRate,
                                          benchmark::Counter::kIs1024};
}
