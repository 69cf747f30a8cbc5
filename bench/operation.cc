// operation.cc - what is done to arrays: by taper or a peer, to memory in any state.
#include <algorithm>
#include <map>
#include <memory>

#include <sys/mman.h>

#include "bench.hh"

namespace
{

constexpr size_t huge_page = size_t(2) << 20;

// An array on pages that the system gives out when they are first written.
class FreshPages
{
  public:
    FreshPages(size_t bytes, bool huge)
        : length((bytes / huge_page + 2) * huge_page),
          start(mmap(nullptr, length, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {
        if (start == MAP_FAILED) {
            std::perror("taper_bench");
            std::exit(1);
        }
        madvise(start, length, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    }
    FreshPages(const FreshPages &) = delete;
    FreshPages &operator=(const FreshPages &) = delete;
    ~FreshPages()
    {
        munmap(start, length);
    }

    // Aligned as the arrays that all benchmarks use.
    void *array() const
    {
        const auto address = reinterpret_cast<uintptr_t>(start);
        return reinterpret_cast<void *>((address + huge_page - 1) / huge_page *
                                        huge_page);
    }

  private:
    size_t length;
    void *start;
};

template <class Call> Loop fresh_loop(size_t bytes, bool huge, Call call)
{
    const auto pages = std::make_shared<std::unique_ptr<FreshPages>>();
    return [=](size_t calls) {
        if (calls == 0) {
            pages->reset();
            *pages = std::make_unique<FreshPages>(bytes, huge);
        }
        for (size_t i = 0; i < calls; i++)
            call((*pages)->array());
    };
}

// Calls call(destination, source) on memory in such a state.
template <class Call>
Loop loop_on(Memory memory, const Operation &operation, size_t n, Call call)
{
    const size_t read = operation.bytes_read(n), written = operation.bytes_written(n);
    unsigned char *const dst = destination();
    if (memory == Memory::warm) {
        const void *const src = operation.source(n);
        return loop([=] { call(dst, src); });
    }
    if (memory == Memory::cold) {
        const Places places(read, written);
        const size_t all = read == 0 ? n : places.bytes_read() / read * n;
        const auto *const src =
            static_cast<const unsigned char *>(operation.source(all));
        return loop([=] {
            const Places::Place place = places.next();
            call(dst + place.written, src + place.read);
        });
    }
    const void *const src = operation.source(n);
    return fresh_loop(written, memory == Memory::fresh_huge,
                      [=](void *pages) { call(pages, src); });
}

} // namespace

std::string Operation::name() const
{
    static const char *const names[] = {"fill", "copy", "narrow", "widen"};
    return join(names[int(op)], taper_dtype_name(type));
}

size_t Operation::bytes_read(size_t n) const
{
    return op == Op::fill ? 0 : bytes_of(op == Op::narrow ? TAPER_F32 : type, n);
}

size_t Operation::bytes_written(size_t n) const
{
    return bytes_of(op == Op::widen ? TAPER_F32 : type, n);
}

size_t Operation::traffic(size_t n) const
{
    return bytes_read(n) + bytes_written(n);
}

const void *Operation::source(size_t n) const
{
    static const unsigned char element[16] = {0x07, 0x12, 0x34, 0x3f, 0x56, 0x78,
                                              0x9a, 0xbc, 0xde, 0xf0, 0x11, 0x22,
                                              0x33, 0x44, 0x55, 0x66};
    if (op == Op::fill)
        return element;
    return ::source(op == Op::narrow ? TAPER_F32 : type, Data::normal, n);
}

Loop Operation::loop(size_t n, Function *peer, Memory memory) const
{
    const auto with = [=, self = *this](auto call) {
        return loop_on(memory, self, n,
                       [=](void *dst, const void *src) { call(dst, src, n); });
    };
    return peer != nullptr ? with(peer) : loop_of(*this, with);
}

// ---- the bits of a peer

// Data of which nothing repeats: random bits, or normally distributed numbers.
static std::vector<unsigned char> data_for(const Operation &operation, Data data)
{
    const size_t bytes = operation.bytes_read(differ_n);
    if (operation.op == Op::fill) {
        const auto *const element =
            static_cast<const unsigned char *>(operation.source(1));
        return std::vector<unsigned char>(element, element + 16);
    }
    if (data == Data::bits)
        return random_bytes(bytes);
    const taper_dtype from = operation.op == Op::narrow ? TAPER_F32 : operation.type;
    const std::vector<float> numbers = floats(data, differ_n);
    std::vector<unsigned char> bits(bytes);
    must(taper_cast(from, bits.data(), TAPER_F32, numbers.data(), differ_n, nullptr));
    return bits;
}

static size_t count_different(const std::vector<unsigned char> &a,
                              const std::vector<unsigned char> &b, size_t bits)
{
    size_t count = 0;
    if (bits < 8) {
        const unsigned mask = (1u << bits) - 1;
        for (size_t i = 0; i < a.size(); i++)
            for (unsigned shift = 0; shift < 8; shift += unsigned(bits))
                count += ((a[i] ^ b[i]) >> shift & mask) != 0;
        return count;
    }
    const size_t bytes = bits / 8;
    for (size_t i = 0; i < a.size(); i += bytes)
        count += !std::equal(&a[i], &a[i] + bytes, &b[i]);
    return count;
}

size_t differ(const Peer &peer, Data data)
{
    using Key = std::pair<Function *, Data>;
    static std::map<Key, size_t> counts; // the same in each repetition
    const auto found = counts.find({peer.run, data});
    if (found != counts.end())
        return found->second;

    const Operation &operation = peer.operation;
    const std::vector<unsigned char> src = data_for(operation, data);
    std::vector<unsigned char> theirs(operation.bytes_written(differ_n)), ours = theirs;
    peer.run(theirs.data(), src.data(), differ_n);
    loop_of(operation, [&](auto call) {
        return [&, call](size_t) { call(ours.data(), src.data(), differ_n); };
    })(1);
    const taper_dtype to = operation.op == Op::widen ? TAPER_F32 : operation.type;
    return counts[{peer.run, data}] =
               count_different(theirs, ours, taper_dtype_bits(to));
}
