// source.cc - the arrays that all benchmarks use, what is in them, and the names and
// lists of types and instruction sets.
#include <cstdint>
#include <cstring>

#include <sys/mman.h>

#include "bench.hh"

namespace
{

constexpr size_t huge_page = size_t(2) << 20;
constexpr size_t period = size_t(1) << 16; // elements after which the data repeats

// Memory is asked for once and kept: the program ends before it would be given back.
unsigned char *touched(size_t bytes)
{
    void *const p = std::aligned_alloc(huge_page, bytes);
    if (p == nullptr) {
        std::perror("taper_bench");
        std::exit(1);
    }
    madvise(p, bytes, MADV_HUGEPAGE); // only advice: without it figures are a bit lower
    std::memset(p, 1, bytes);
    return static_cast<unsigned char *>(p);
}

struct Random {
    uint64_t x = 88172645463325252;

    uint64_t next()
    {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        return x;
    }
};

float float_from_bits(uint32_t bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// About N(0, 1): a sum of four uniform numbers.
float next_normal(Random &random)
{
    const uint64_t r = random.next();
    const uint64_t sum =
        (r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48);
    return (float(sum) / 65536.0f - 2.0f) * 1.732f;
}

float next(Data data, bool make_nan, Random &random)
{
    switch (data) {
    case Data::zeros:
        return 0;
    case Data::subnormal:
        return float_from_bits(uint32_t(random.next()) & 0x807fffff);
    case Data::bits:
        return float_from_bits(uint32_t(random.next()));
    case Data::nan:
        return make_nan ? float_from_bits(0x7fc00000) : next_normal(random);
    case Data::normal:
        break;
    }
    return next_normal(random);
}

void make(unsigned char *out, taper_dtype type, Data data, size_t n)
{
    const size_t first = n < period ? n : period;
    const std::vector<float> x = floats(data, first);
    must(taper_cast(type, out, TAPER_F32, x.data(), first, nullptr));
    const size_t bytes = bytes_of(type, n);
    for (size_t done = bytes_of(type, first); done < bytes;) {
        const size_t part = done < bytes - done ? done : bytes - done;
        std::memcpy(out + done, out, part);
        done += part;
    }
}

// What a place holds, so that it is not made again for the next benchmark.
struct Held {
    taper_dtype type = taper_dtype(0);
    Data data = Data::normal;
    size_t n = 0;

    size_t bytes() const
    {
        return bytes_of(type, n);
    }
};

} // namespace

std::vector<float> floats(Data data, size_t n)
{
    std::vector<float> x(n);
    Random random;
    size_t nan = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0)
            nan = i + random.next() % 16;
        x[i] = next(data, i == nan, random);
    }
    return x;
}

std::vector<unsigned char> random_bytes(size_t n)
{
    Random random;
    std::vector<unsigned char> bytes(n);
    for (unsigned char &byte : bytes)
        byte = static_cast<unsigned char>(random.next() >> 32);
    return bytes;
}

unsigned char *source()
{
    static unsigned char *const buffer = touched(buffer_bytes);
    return buffer;
}

// Normally distributed binary32 numbers, which half of all benchmarks read, are made
// once: it takes longer than to narrow them.
static const void *normal_floats(size_t n)
{
    static unsigned char *const buffer = touched(buffer_bytes);
    static size_t made = 0;
    if (made < n) {
        make(buffer, TAPER_F32, Data::normal, n);
        made = n;
    }
    return buffer;
}

unsigned char *destination()
{
    static unsigned char *const buffer = touched(2 * buffer_bytes);
    return buffer;
}

const void *source(taper_dtype type, Data data, size_t n, int place)
{
    static Held held[2];
    if (type == TAPER_F32 && data == Data::normal && place == 0)
        return normal_floats(n);

    unsigned char *const out = source() + size_t(place) * (buffer_bytes / 2);
    Held &has = held[place], &other = held[1 - place];
    if (has.type == type && has.data == data && has.n >= n)
        return out;

    make(out, type, data, n);
    has = {type, data, n};
    if (place == 0 ? has.bytes() > buffer_bytes / 2 : other.bytes() > buffer_bytes / 2)
        other = {};
    return out;
}

const char *data_name(Data data)
{
    switch (data) {
    case Data::normal:
        return "normal";
    case Data::zeros:
        return "zeros";
    case Data::subnormal:
        return "subnormal";
    case Data::bits:
        return "bits";
    case Data::nan:
        return "nan";
    }
    return "";
}

std::string cast_name(taper_dtype to, taper_dtype from)
{
    return std::string(taper_dtype_name(to)) + "_from_" + taper_dtype_name(from);
}

size_t bytes_of(taper_dtype type, size_t n)
{
    return (n * taper_dtype_bits(type) + 7) / 8;
}

std::vector<const char *> isas()
{
    std::vector<const char *> names;
    for (size_t i = 0; const char *name = taper_isa_name(i); i++) {
        names.push_back(name);
        if (names.back() == std::string("scalar"))
            break;
    }
    return names;
}

std::vector<taper_dtype> cast_types()
{
    std::vector<taper_dtype> types;
    for (int to = 0; to < TAPER_DTYPE_COUNT; to++)
        if (taper_usable(0)->narrow[to] != nullptr && to != TAPER_F64)
            types.push_back(taper_dtype(to));
    return types;
}
