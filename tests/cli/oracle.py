"""What a cast must give, by another way than the library: decode every code of the
target, pick the nearest value, on a tie the even code. Values are doubles, which hold all
of this exactly, sums of neighbours included; nothing is compared with a tolerance."""

import numpy as np

# exponent bits, mantissa bits, bias, largest finite code, code of infinity (or None)
FORMATS = {
    "F16": (5, 10, 15, 0x7BFF, 0x7C00),
    "BF16": (8, 7, 127, 0x7F7F, 0x7F80),
    "F8_E4M3": (4, 3, 7, 0x7E, None),
    "F8_E4M3FNUZ": (4, 3, 8, 0x7F, None),
    "F8_E5M2": (5, 2, 15, 0x7B, 0x7C),
    "F8_E5M2FNUZ": (5, 2, 16, 0x7F, None),
    "F4": (2, 1, 1, 0x7, None),
}
NAN = {"F8_E4M3": 0x7F, "F8_E4M3FNUZ": 0x80, "F8_E5M2": 0x7E, "F8_E5M2FNUZ": 0x80, "F4": 7}


def positive(dtype):
    """The values of the codes from 0 to the largest finite one, and of one step more."""
    _, m, bias, last, _ = FORMATS[dtype]
    code = np.arange(last + 2)
    exponent, fraction = code >> m, code & ((1 << m) - 1)
    normal = np.ldexp(1.0 + fraction / 2.0**m, exponent - bias)
    return np.where(exponent == 0, np.ldexp(fraction / 2.0**m, 1 - bias), normal)


def nearest(values, x):
    """The index of the value nearest to each x >= 0; past the last one, the last."""
    high = np.clip(np.searchsorted(values, x), 1, len(values) - 1)
    low = high - 1
    twice, middle = 2 * x, values[low] + values[high]
    up = (twice > middle) | ((twice == middle) & (high % 2 == 0))
    return np.where(up, high, low)


def e8m0(x, saturate):
    """Rounds the magnitude up to a power of two, the default."""
    x = np.abs(x)
    powers = np.ldexp(1.0, np.arange(-127, 129))  # one step more than there are codes
    code = np.searchsorted(powers, x)
    code = np.where(code > 0xFE, 0xFE if saturate else 0xFF, code)
    if not saturate:
        tiny = (x == 0) | (x <= 2.0**-128)  # rounded up, these are still below 2^-127
        code = np.where(tiny, 0xFF, code)
    return np.where(np.isnan(x), 0xFF, code).astype(np.uint8)


def codes(dtype, x, saturate=True):
    """The codes for the values `x`, an array of doubles; of F4 one in each byte."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        x = np.asarray(x, np.float64)
    if dtype == "F8_E8M0":
        return e8m0(x, saturate)
    e, m, _, last, infinity = FORMATS[dtype]
    sign = np.signbit(x).astype(np.int64) << (e + m)
    nan = np.isnan(x)
    code = nearest(positive(dtype), np.where(nan, 0, np.abs(x)))
    over = code > last
    if dtype == "F4" or (saturate and e + m == 7):
        code = np.where(over, last, code) | sign
    elif infinity is not None:
        code = np.where(over, infinity, code) | sign
    else:
        code = np.where(over, NAN[dtype] & 0x7F, code) | sign
        if NAN[dtype] == 0x80:
            code = np.where(over, 0x80, code)
    if dtype.endswith("FNUZ"):
        code = np.where(x == 0, 0, code)
        code = np.where((code == 0x80) & ~over, 0, code)  # -0, by rounding
    if dtype in ("F16", "BF16"):
        bits = x.astype(np.float32).view(np.uint32)
        quiet, shift = (0x7E00, 13) if dtype == "F16" else (0x7FC0, 16)
        code = np.where(nan, sign | quiet | ((bits & 0x7FFFFF) >> shift), code)
    else:
        keeps_sign = dtype in ("F8_E4M3", "F8_E5M2")
        code = np.where(nan, NAN[dtype] | (sign if keeps_sign else 0), code)
    return code.astype(np.uint16 if e + m == 15 else np.uint8)


def pack(dtype, code):
    """Codes as the bytes of a tensor: two of F4 to a byte, the first in the low half."""
    if dtype == "F4":
        return (code[0::2] | code[1::2] << 4).astype(np.uint8).tobytes()
    return code.tobytes()


def unpack(dtype, data):
    if dtype == "F4":
        both = np.frombuffer(data, np.uint8)
        return np.stack([both & 15, both >> 4], axis=1).reshape(-1)
    return np.frombuffer(data, np.uint16 if dtype in ("F16", "BF16") else np.uint8)


def values(dtype, code):
    """The values of codes, as doubles."""
    code = np.asarray(code, np.int64)
    if dtype == "F8_E8M0":
        return np.where(code == 0xFF, np.nan, np.ldexp(1.0, code - 127))
    e, m, _, last, infinity = FORMATS[dtype]
    magnitude = code & ((1 << (e + m)) - 1)
    value = positive(dtype)[np.minimum(magnitude, last)]
    value = np.where(magnitude > last, np.nan, value)
    if infinity is not None:
        value = np.where(magnitude == infinity, np.inf, value)
    value = np.where(code >> (e + m), -value, value)
    return np.where(code == 0x80, np.nan, value) if dtype.endswith("FNUZ") else value
