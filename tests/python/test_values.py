"""Casts beside those of ml_dtypes and NumPy, wherever the rules of ONNX and theirs agree."""

import ml_dtypes
import numpy as np
import pytest
from conftest import FLOATS, all_codes, codes

import taper

FP8 = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]


@pytest.mark.parametrize("name", FP8)
def test_fp8_without_saturation_is_ml_dtypes(name, random_floats):
    """Also for infinities and NaNs."""
    with np.errstate(all="ignore"):
        expected = random_floats.astype(FLOATS[name])
    got = taper.cast(random_floats, name, saturate=False)
    np.testing.assert_array_equal(codes(got), codes(expected))


@pytest.mark.parametrize("name", FP8)
def test_fp8_with_saturation_is_ml_dtypes_of_what_was_clipped(name, random_floats):
    largest = np.float32(ml_dtypes.finfo(FLOATS[name]).max)
    with np.errstate(all="ignore"):
        expected = np.clip(random_floats, -largest, largest).astype(FLOATS[name])
    got = taper.cast(random_floats, name)
    np.testing.assert_array_equal(codes(got), codes(expected))


def test_fp4_is_ml_dtypes_but_for_nans(random_floats):
    x = random_floats[~np.isnan(random_floats)]
    expected = x.astype(ml_dtypes.float4_e2m1fn)
    np.testing.assert_array_equal(codes(taper.cast(x, "float4e2m1")), codes(expected))
    nans = random_floats[np.isnan(random_floats)]
    assert (codes(taper.cast(nans, "float4e2m1")) == 7).all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_16_bits_are_numpy_and_ml_dtypes(name, random_floats):
    with np.errstate(all="ignore"):
        expected = random_floats.astype(FLOATS[name])
    got = taper.cast(random_floats, name)
    numbers = ~np.isnan(random_floats)
    np.testing.assert_array_equal(codes(got)[numbers], codes(expected)[numbers])
    assert np.isnan(got[~numbers].astype(np.float32)).all()


def test_e8m0_to_nearest_is_ml_dtypes_where_both_have_a_power_of_two(random_floats):
    x = random_floats[random_floats >= 2.0**-126]
    with np.errstate(all="ignore"):
        expected = x.astype(ml_dtypes.float8_e8m0fnu)
    got = taper.cast(x, "float8e8m0", round_mode="nearest", saturate=False)
    np.testing.assert_array_equal(codes(got), codes(expected))


@pytest.mark.parametrize("mode, code", [("up", 128), ("down", 127), ("nearest", 128)])
def test_e8m0_rounds_as_asked(mode, code):
    got = taper.cast(np.array([1, 1.5], np.float32), "float8e8m0", round_mode=mode)
    assert codes(got).tolist() == [127, code]


@pytest.mark.parametrize("name", [n for n in FLOATS if n not in ("float64", "float")])
def test_widening_all_codes(name):
    x = all_codes(FLOATS[name])
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32)
    got = taper.cast(x, np.float32)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(codes(got)[numbers], codes(expected)[numbers])
    assert np.isnan(got[~numbers]).all()
    back = taper.cast(got, name)
    keep = numbers & ~np.isinf(expected)
    np.testing.assert_array_equal(codes(back)[keep], codes(x)[keep])


NARROW = [name for name in FLOATS if name not in ("float64", "float")]


@pytest.mark.parametrize(
    "source, target", [(s, t) for s in NARROW for t in FLOATS if s != t]
)
def test_between_any_two_types_is_through_binary32(source, target):
    """Which every type but float64 widens to exactly."""
    x = all_codes(FLOATS[source])
    wide = taper.cast(x, np.float32)
    expected = wide if target == "float" else taper.cast(wide, target)
    np.testing.assert_array_equal(codes(taper.cast(x, FLOATS[target])), codes(expected))


def test_float64_is_rounded_once():
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8], np.float64)
    assert codes(taper.cast(x, "bfloat16")).tolist() == [0x3F81, 0x3F80]
    y = np.random.default_rng(2).standard_normal(10000)
    np.testing.assert_array_equal(taper.cast(y, np.float32), y.astype(np.float32))


@pytest.mark.parametrize("name", FLOATS)
def test_to_itself_is_a_copy(name):
    x = np.random.default_rng(3).integers(0, 256, 64, np.uint8)
    x = (x & 15 if name == "float4e2m1" else x).view(FLOATS[name])
    got = taper.cast(x, FLOATS[name])
    np.testing.assert_array_equal(codes(got), codes(x))
    assert not np.shares_memory(got, x)
