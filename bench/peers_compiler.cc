// peers_compiler.cc - what the compiler makes of a plain loop: the language's own type
// for float16, else the usual arithmetic on bits, one element at a time and without
// branches, so that it can be turned into vectors.
#include <cstdint>
#include <cstring>

#include "peers.hh"

static uint32_t bits_of(float x)
{
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

template <class To, class From, To convert(From)>
static void each(void *dst, const void *src, size_t n)
{
    auto *const to = static_cast<To *>(dst);
    const auto *const from = static_cast<const From *>(src);
    for (size_t i = 0; i < n; i++)
        to[i] = convert(from[i]);
}

// ---- bfloat16

static uint16_t bf16_from_f32(float x)
{
    const uint32_t bits = bits_of(x), odd = bits >> 16 & 1;
    const uint32_t nan = bits >> 16 | 0x40;
    return uint16_t(x != x ? nan : (bits + 0x7fff + odd) >> 16);
}

static float f32_from_bf16(uint16_t code)
{
    return float_of(uint32_t(code) << 16);
}

// ---- small floats: sign, exponent, `mantissa` bits

template <int mantissa, int bias, uint32_t largest, bool has_inf, bool unsigned_zero>
struct Small {
    static constexpr int shift = 23 - mantissa;
    static constexpr uint32_t nan = unsigned_zero ? 0x80 : has_inf ? 0x7e : 0x7f;

    // The code of a magnitude. Below the normal numbers, an addition makes the FPU
    // round: the last place of the sum is the step between subnormal numbers.
    static uint32_t magnitude_from_f32(uint32_t bits)
    {
        constexpr uint32_t rebias = uint32_t(127 - bias) << 23;
        constexpr uint32_t magic = uint32_t(127 - bias + shift + 1) << 23;
        const uint32_t subnormal = bits_of(float_of(bits) + float_of(magic)) - magic;
        const uint32_t odd = bits >> shift & 1, half = (1u << (shift - 1)) - 1;
        const uint32_t normal = (bits + half + odd - rebias) >> shift;
        const uint32_t code = bits < rebias + (1u << 23) ? subnormal : normal;
        return code > largest ? largest : code;
    }

    static uint8_t from_f32(float x)
    {
        const uint32_t bits = bits_of(x), magnitude = bits & 0x7fffffff;
        const uint32_t code = magnitude_from_f32(magnitude);
        const uint32_t sign = unsigned_zero && code == 0 ? 0 : bits >> 24 & 0x80;
        const uint32_t nan_sign = unsigned_zero ? 0 : bits >> 24 & 0x80;
        return uint8_t(magnitude > 0x7f800000 ? nan | nan_sign : code | sign);
    }

    static float to_f32(uint8_t code)
    {
        const uint32_t sign = uint32_t(code & 0x80) << 24;
        const float scale = float_of(uint32_t(254 - bias) << 23); // 2^(127 - bias)
        const uint32_t bits = bits_of(float_of(uint32_t(code & 0x7f) << shift) * scale);
        constexpr uint32_t inf = 0x7f800000, quiet = 0x7fc00000;
        uint32_t special = bits;
        if (unsigned_zero)
            special = code == 0x80 ? quiet : bits;
        else if (has_inf)
            special = (code & 0x7f) > 0x7c ? quiet : (code & 0x7f) == 0x7c ? inf : bits;
        else
            special = (code & 0x7f) == 0x7f ? quiet : bits;
        return float_of(special | sign);
    }
};

using E4M3FN = Small<3, 7, 0x7e, false, false>;
using E4M3FNUZ = Small<3, 8, 0x7f, false, true>;
using E5M2 = Small<2, 15, 0x7b, true, false>;
using E5M2FNUZ = Small<2, 16, 0x7f, false, true>;
using E2M1 = Small<1, 1, 0x7, false, false>;

// ---- float4e2m1, two a byte

static uint32_t f4_from_f32(float x)
{
    const uint32_t bits = bits_of(x), magnitude = bits & 0x7fffffff;
    const uint32_t code = E2M1::magnitude_from_f32(magnitude) | (bits >> 28 & 8);
    return magnitude > 0x7f800000 ? 7 : code;
}

static void f4_from_floats(void *dst, const void *src, size_t n)
{
    auto *const to = static_cast<uint8_t *>(dst);
    const auto *const from = static_cast<const float *>(src);
    for (size_t i = 0; i < n / 2; i++)
        to[i] = uint8_t(f4_from_f32(from[2 * i]) | f4_from_f32(from[2 * i + 1]) << 4);
    if (n % 2 != 0)
        to[n / 2] = uint8_t(f4_from_f32(from[n - 1]));
}

static float f32_from_f4(uint32_t code)
{
    constexpr float scale = 0x1p126f;
    return float_of(bits_of(float_of((code & 7) << 22) * scale) | (code & 8) << 28);
}

static void floats_from_f4(void *dst, const void *src, size_t n)
{
    auto *const to = static_cast<float *>(dst);
    const auto *const from = static_cast<const uint8_t *>(src);
    for (size_t i = 0; i < n / 2; i++) {
        to[2 * i] = f32_from_f4(from[i] & 15);
        to[2 * i + 1] = f32_from_f4(from[i] >> 4);
    }
    if (n % 2 != 0)
        to[n - 1] = f32_from_f4(from[n / 2] & 15);
}

// ---- float8e8m0, rounded up

static uint8_t e8m0_from_f32(float x)
{
    const uint32_t bits = bits_of(x) & 0x7fffffff;
    const uint32_t up = (bits + 0x7fffff) >> 23;
    const uint32_t finite = bits <= 0x00400000 ? 0 : up > 0xfe ? 0xfe : up;
    return uint8_t(bits > 0x7f800000 ? 0xff : finite);
}

static float f32_from_e8m0(uint8_t code)
{
    const uint32_t bits = code == 0 ? 0x00400000 : uint32_t(code) << 23;
    return float_of(code == 0xff ? 0x7fc00000 : bits);
}

// ---- float16

#if defined(__FLT16_MAX__)
static _Float16 f16_from_f32(float x)
{
    return static_cast<_Float16>(x);
}

static float f32_from_f16(_Float16 x)
{
    return static_cast<float>(x);
}
#endif

template <class Type> static void add_small(std::vector<Peer> &list, taper_dtype type)
{
    list.push_back(
        {"compiler", {Op::narrow, type}, each<uint8_t, float, Type::from_f32>});
    list.push_back({"compiler", {Op::widen, type}, each<float, uint8_t, Type::to_f32>});
}

void add_compiler(std::vector<Peer> &list)
{
    const auto add = [&list](Op op, taper_dtype type, Function *run) {
        list.push_back({"compiler", {op, type}, run});
    };
    add(Op::narrow, TAPER_BF16, each<uint16_t, float, bf16_from_f32>);
    add(Op::widen, TAPER_BF16, each<float, uint16_t, f32_from_bf16>);
#if defined(__FLT16_MAX__)
    add(Op::narrow, TAPER_F16, each<_Float16, float, f16_from_f32>);
    add(Op::widen, TAPER_F16, each<float, _Float16, f32_from_f16>);
#endif
    add_small<E4M3FN>(list, TAPER_F8E4M3FN);
    add_small<E4M3FNUZ>(list, TAPER_F8E4M3FNUZ);
    add_small<E5M2>(list, TAPER_F8E5M2);
    add_small<E5M2FNUZ>(list, TAPER_F8E5M2FNUZ);
    add(Op::narrow, TAPER_F4E2M1, f4_from_floats);
    add(Op::widen, TAPER_F4E2M1, floats_from_f4);
    add(Op::narrow, TAPER_F8E8M0, each<uint8_t, float, e8m0_from_f32>);
    add(Op::widen, TAPER_F8E8M0, each<float, uint8_t, f32_from_e8m0>);
}
