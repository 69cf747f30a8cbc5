"""What the tests of the package share."""

import ml_dtypes
import numpy as np
import pytest

FLOATS = {
    "float64": np.float64,
    "float": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}


def codes(array):
    """The bits of an array's elements, as unsigned integers."""
    array = np.asarray(array)
    return array.view(f"u{array.itemsize}")


def all_codes(dtype):
    """Every value of a type of at most 16 bits."""
    dtype = np.dtype(dtype)
    count = 16 if dtype == ml_dtypes.float4_e2m1fn else 1 << 8 * dtype.itemsize
    return np.arange(count).astype(f"u{dtype.itemsize}").view(dtype)


@pytest.fixture(scope="session")
def random_floats():
    """binary32 with random bits, and with every pattern of the upper 16, ties among them."""
    bits = np.random.default_rng(5).integers(0, 1 << 32, 1 << 20, dtype=np.uint32)
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    return np.concatenate([bits, upper, upper + 1, upper - 1]).view(np.float32)
