/* elements.c - see elements.h. */
#include "elements.h"

#include <string.h>

size_t array_bytes(unsigned bits, size_t n)
{
    return (n * bits + 7) / 8;
}

uint64_t get_element(const void *array, unsigned bits, size_t i)
{
    const unsigned char *const at = (const unsigned char *)array + i * bits / 8;
    uint64_t x64;
    uint32_t x32;
    uint16_t x16;
    switch (bits) {
    case 64:
        memcpy(&x64, at, sizeof x64);
        return x64;
    case 32:
        memcpy(&x32, at, sizeof x32);
        return x32;
    case 16:
        memcpy(&x16, at, sizeof x16);
        return x16;
    case 8:
        return *at;
    default:
        return *at >> i * bits % 8 & ((1u << bits) - 1);
    }
}

void set_element(void *array, unsigned bits, size_t i, uint64_t element)
{
    unsigned char *const at = (unsigned char *)array + i * bits / 8;
    const uint32_t x32 = (uint32_t)element;
    const uint16_t x16 = (uint16_t)element;
    unsigned shift, mask;
    switch (bits) {
    case 64:
        memcpy(at, &element, sizeof element);
        break;
    case 32:
        memcpy(at, &x32, sizeof x32);
        break;
    case 16:
        memcpy(at, &x16, sizeof x16);
        break;
    case 8:
        *at = (unsigned char)element;
        break;
    default:
        shift = (unsigned)(i * bits % 8);
        mask = ((1u << bits) - 1) << shift;
        *at = (unsigned char)((*at & ~mask) | (unsigned)element << shift);
    }
}

const taper_dtype cast_types[] = {
    TAPER_F32,        TAPER_F64,    TAPER_F16,        TAPER_BF16,   TAPER_F8E4M3FN,
    TAPER_F8E4M3FNUZ, TAPER_F8E5M2, TAPER_F8E5M2FNUZ, TAPER_F4E2M1, TAPER_F8E8M0,
};

bool next_options(taper_dtype to, taper_cast_options *options)
{
    if (oracle_bits(to) == 8 && options->overflow == TAPER_SATURATE) {
        options->overflow = TAPER_NO_SATURATE;
        return true;
    }
    options->overflow = TAPER_SATURATE;
    if (to == TAPER_F8E8M0 && options->rounding != TAPER_ROUND_NEAREST) {
        options->rounding = (taper_rounding)(options->rounding + 1);
        return true;
    }
    return false;
}

uint64_t next_random(uint64_t *seed) /* splitmix64 */
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
