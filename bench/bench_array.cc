// bench_array.cc - arrays filled, copied, narrowed and widened: by each table and each
// peer, one thread, warm and cold.
#include "bench.hh"

// Who does it: taper with an instruction set, or a peer.
struct Implementation {
    std::string name;
    const char *isa; // NULL: a peer
    const Peer *peer;
};

static std::vector<Implementation> implementations(const Operation &operation)
{
    std::vector<Implementation> all;
    for (const char *const isa : isas())
        all.push_back({isa, isa, nullptr});
    for (const Peer &peer : peers())
        if (peer.operation.op == operation.op && peer.operation.type == operation.type)
            all.push_back({peer.name, nullptr, &peer});
    return all;
}

static void add_row(const std::string &name, const Operation &operation,
                    const Implementation &by, size_t n, Memory memory)
{
    add(name, by.isa, 1, [=](benchmark::State &state) {
        Function *const run = by.peer == nullptr ? nullptr : by.peer->run;
        measure(state, n, operation.traffic(n), operation.loop(n, run, memory), {},
                Estimate::median, memory);
        if (by.peer != nullptr) {
            state.counters["differ"] = double(differ(*by.peer, Data::bits));
            state.counters["differ_normal"] = double(differ(*by.peer, Data::normal));
        }
    });
}

// ---- sizes

// Operations that the figures show, so that they have more sizes, and cold rows.
static bool in_figures(const Operation &operation)
{
    switch (operation.type) {
    case TAPER_F32:
    case TAPER_BF16:
    case TAPER_F16:
    case TAPER_F8E4M3FN:
    case TAPER_F4E2M1:
        return true;
    default:
        return false;
    }
}

static std::vector<size_t> sizes_of(const Operation &operation,
                                    const Implementation &by)
{
    std::vector<size_t> all;
    if (in_figures(operation)) {
        const bool slow = by.name == "scalar";
        for (int log = 8; log <= 28; log++) {
            const size_t n = size_t(1) << log;
            const bool large = log > 22 && log != 27; // beyond caches, but for a goal
            if (operation.traffic(n) <= size_t(1) << 30 && !(slow && large))
                all.push_back(n);
        }
        return all;
    }
    all.assign(std::begin(sizes), std::end(sizes));
    if (operation.op == Op::fill) // as many bytes whatever the type
        for (size_t &n : all)
            n = n * 32 / taper_dtype_bits(operation.type);
    return all;
}

// ---- rows

static void add_rows(const Operation &operation, const Implementation &by)
{
    for (const size_t n : sizes_of(operation, by))
        add_row(join(operation.name(), by.name, n), operation, by, n, Memory::warm);
    if (in_figures(operation) && by.name != "scalar")
        for (const int log : {12, 15, 17, 20, 22})
            add_row(join("cold", operation.name(), by.name, size_t(1) << log),
                    operation, by, size_t(1) << log, Memory::cold);
}

void add_array()
{
    for (const Implementation &by : implementations({Op::fill, TAPER_F32}))
        add_rows({Op::fill, TAPER_F32}, by);
    for (const Implementation &by : implementations({Op::copy, TAPER_F32}))
        add_rows({Op::copy, TAPER_F32}, by);
    for (const taper_dtype type : cast_types())
        for (const Op op : {Op::narrow, Op::widen})
            for (const Implementation &by : implementations({op, type}))
                add_rows({op, type}, by);
    // Tables differ in storing a pattern; the width only decides what the pattern is.
    for (const taper_dtype type :
         {TAPER_U4, TAPER_U8, TAPER_U16, TAPER_U64, TAPER_C128})
        for (const Implementation &by : implementations({Op::fill, type}))
            if (by.isa == nullptr || by.isa == std::string(taper_isa_name(0)))
                add_rows({Op::fill, type}, by);
}

// ---- first touch

// Counter `ordinary`: time with ordinary stores / time.
static void measure_first_touch(benchmark::State &state, const Operation &operation,
                                const Implementation &by, size_t n, Memory memory)
{
    const Loop calls =
        operation.loop(n, by.peer == nullptr ? nullptr : by.peer->run, memory);
    const Loop ordinary = [=](size_t count) {
        must(taper_set_threshold_bytes(TAPER_STREAM_BYTES, SIZE_MAX));
        must(taper_set_threshold_bytes(TAPER_STREAM_FILL_BYTES, SIZE_MAX));
        calls(count);
        must(taper_set_threshold_bytes(TAPER_STREAM_BYTES, 0));
        must(taper_set_threshold_bytes(TAPER_STREAM_FILL_BYTES, 0));
    };
    std::vector<Rival> rivals;
    if (by.peer == nullptr)
        rivals.push_back({"ordinary", ordinary});
    measure(state, n, operation.traffic(n), calls, rivals, Estimate::median, memory);
}

void add_first_touch()
{
    for (const Operation operation :
         {Operation{Op::fill, TAPER_F32}, Operation{Op::copy, TAPER_F32},
          Operation{Op::narrow, TAPER_BF16}})
        for (const Implementation &by : implementations(operation))
            if (by.isa == nullptr || by.isa == std::string(taper_isa_name(0)))
                for (const Memory memory : {Memory::fresh_huge, Memory::fresh_small})
                    for (const int log : {20, 25}) {
                        const size_t n = size_t(1) << log;
                        const char *const pages =
                            memory == Memory::fresh_huge ? "huge_pages" : "small_pages";
                        add(join("first_touch", pages, operation.name(), by.name, n),
                            by.isa, 1, [=](benchmark::State &state) {
                                measure_first_touch(state, operation, by, n, memory);
                            });
                    }
}
