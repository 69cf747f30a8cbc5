// bench.hh - what the benchmarks share: source data, destinations, and one way to
// measure.
#ifndef TAPER_BENCH_HH
#define TAPER_BENCH_HH

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

extern "C" {
#include "kernels.h"
}

// Elements in L1, L2 and L3 caches and in memory.
constexpr size_t sizes[] = {size_t(1) << 12, size_t(1) << 17, size_t(1) << 22,
                            size_t(1) << 27};

// ---- data (source.cc) ---------------------------------------------------------------

// Both arrays are on huge pages where there are any, touched, and used by all
// benchmarks. The second one has twice the bytes.
constexpr size_t buffer_bytes = size_t(512) << 20;
unsigned char *source();
unsigned char *destination();

enum class Data { normal, zeros, subnormal, bits, nan };
constexpr Data all_data[] = {Data::normal, Data::zeros, Data::subnormal, Data::bits,
                             Data::nan};
const char *data_name(Data data);

// The source with `n` elements of `type` in it. There are two places for them, 0 and 1,
// of half of the source each; place 0 may run over into the other.
const void *source(taper_dtype type, Data data, size_t n, int place = 0);

// Numbers of one kind, always the same ones, and random bytes, likewise.
std::vector<float> floats(Data data, size_t n);
std::vector<unsigned char> random_bytes(size_t n);

// ---- names --------------------------------------------------------------------------

std::string cast_name(taper_dtype to, taper_dtype from); // "float_from_bfloat16"
size_t bytes_of(taper_dtype type, size_t n);

// Instruction sets to measure: what stands behind scalar is another CPU's, emulated.
std::vector<const char *> isas();

// The types that narrow and widen take: not binary64, which needs taper_cast().
std::vector<taper_dtype> cast_types();

template <class... Parts> std::string join(const Parts &...parts)
{
    std::string name;
    const auto add = [&name](const auto &part) {
        if (!name.empty())
            name += '/';
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>)
            name += std::to_string(part);
        else
            name += part;
    };
    (add(parts), ...);
    return name;
}

// ---- measuring (measure.cc) ---------------------------------------------------------

// Does the same thing `calls` times. 0 calls come before others, and are not timed:
// they may prepare something.
using Loop = std::function<void(size_t calls)>;

template <class Call> Loop loop(Call call)
{
    return [call](size_t calls) {
        for (size_t i = 0; i < calls; i++) {
            call();
            benchmark::ClobberMemory();
        }
    };
}

// Something else to do in the same rounds; `counter` becomes its time / the subject's.
struct Rival {
    const char *counter;
    Loop loop;
};

// Times `subject`, which treats `n` elements and reads and writes `traffic` bytes, in
// rounds that alternate with the rivals and with a memcpy() that reads and writes as
// much, in whose place a rival "M" stands if there is one. The time is the median of
// the rounds, and so is each ratio: what disturbs the machine for longer than a round
// takes disturbs both sides of it. Sets real_time, items_per_second, bytes_per_second
// and the counters
//
//     M         time of that memcpy() / time of subject: above 1 is faster than memcpy
//     el/cycle  elements per cycle of the core clock, where that can be found
//     rounds    as many as there was time for
//
// Several threads need as many idle cores at once, which a busy machine has in few
// rounds: Estimate::best compares the fastest rounds of each side instead.
enum class Estimate { median, best };

// What a call finds in the caches: what the call before it left there; nothing, since
// every call has other lines of large arrays; pages that no one has written before,
// fresh from the system, of 2 MiB or of 4 KiB. Rivals find the same as the subject; the
// memcpy() is cold if the subject is, else warm.
enum class Memory { warm, cold, fresh_huge, fresh_small };

void measure(benchmark::State &state, double n, double traffic, const Loop &subject,
             const std::vector<Rival> &rivals = {},
             Estimate estimate = Estimate::median, Memory memory = Memory::warm);

// Where cold calls read and write, each somewhere else in the two arrays. Calls that
// follow each other are far apart, so that no prefetch of one serves another.
class Places
{
  public:
    Places(size_t bytes_read, size_t bytes_written);

    struct Place {
        size_t read, written; // offsets in bytes
    };
    Place next() const
    {
        const size_t at = turn++ * 0x9e3779b1 % count; // an odd step comes to each
        return {at * read, at * written};
    }

    size_t bytes_read() const // by all of them
    {
        return count * read;
    }

  private:
    static size_t turn; // goes on from row to row: what was last used is in a cache
    size_t read, written, count;
};

// A status that the benchmark does not expect ends the program: there is nothing to
// time.
inline void must(taper_status status)
{
    if (status != TAPER_OK) {
        std::fprintf(stderr, "taper_bench: %s\n", taper_status_text(status));
        std::exit(1);
    }
}

// ---- operations (operation.cc) ------------------------------------------------------

enum class Op { fill, copy, narrow, widen };

// Does an operation to `n` elements; a fill finds its element at `src`.
using Function = void(void *dst, const void *src, size_t n);

// Narrows to `type`, widens from it, fills or copies elements of it.
struct Operation {
    Op op;
    taper_dtype type;

    std::string name() const; // "narrow/bfloat16"
    size_t bytes_read(size_t n) const;
    size_t bytes_written(size_t n) const;
    size_t traffic(size_t n) const;
    const void *source(size_t n) const; // normally distributed numbers

    // By the public function, or by `peer`, if that is not NULL.
    Loop loop(size_t n, Function *peer, Memory memory = Memory::warm) const;
};

// The loop that `make` makes of the public function of an operation, as something to
// call with (dst, src, n). No pointer stands between: it would take longer than some of
// the calls.
template <class Make> Loop loop_of(const Operation &operation, Make make)
{
    const taper_dtype type = operation.type;
    switch (operation.op) {
    case Op::fill:
        return make([=](void *dst, const void *src, size_t n) {
            must(taper_fill(type, dst, n, src));
        });
    case Op::copy:
        return make([=](void *dst, const void *src, size_t n) {
            must(taper_copy(type, dst, src, n));
        });
    case Op::narrow:
        return make([=](void *dst, const void *src, size_t n) {
            must(taper_narrow(type, dst, src, n, nullptr));
        });
    case Op::widen:
        break;
    }
    return make([=](void *dst, const void *src, size_t n) {
        must(taper_widen(type, dst, src, n));
    });
}

// ---- peers (peers.cc and one file for each library) ---------------------------------

// Someone else's function for an operation, with one thread.
struct Peer {
    const char *name;
    Operation operation;
    Function *run;
};

const std::vector<Peer> &peers();

// How many of `differ_n` elements get other bits from a peer than from taper.
constexpr size_t differ_n = size_t(1) << 20;
size_t differ(const Peer &peer, Data data);

// Registers a benchmark: `run` calls measure(), with `isa` in use (NULL: the best) and
// at most `threads` threads.
void add(const std::string &name, const char *isa, int threads,
         std::function<void(benchmark::State &)> run);

// ---- subjects (bench_*.cc) ----------------------------------------------------------

void add_array();
void add_call();
void add_cast();
void add_data();
void add_first_touch();
void add_layout();
void add_stream();
void add_threads();

#endif
