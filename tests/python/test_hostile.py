"""Input that is wrong: an exception that names the argument, or the right answer."""

import array
import ctypes
import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from conftest import codes

import taper

x = np.arange(12, dtype=np.float32).reshape(3, 4)


def read_only(a):
    a = np.array(a)
    a.setflags(write=False)
    return a


def f2(*shape):
    return np.zeros(shape, np.float16)


CASES = {
    # ---- what is no array
    "None": (lambda: taper.cast(None, "float"), TypeError, "^x: expected an array"),
    "a list": (lambda: taper.cast([1.0], "float"), TypeError, "^x: expected .* not list"),
    "a number": (lambda: taper.cast(1.0, "float"), TypeError, "^x: expected .* not float"),
    "a str": (lambda: taper.cast("1", "float"), TypeError, "^x: expected .* not str"),
    "a class": (lambda: taper.cast(np.ndarray, "float"), TypeError, "^x: expected"),
    # ---- element types
    "objects": (lambda: taper.cast(x.astype(object), "float"), TypeError, "^x: .* object"),
    "strings": (lambda: taper.cast(np.array(["1"]), "float"), TypeError, "^x: .* <U1"),
    "bytes": (lambda: taper.cast(np.array([b"1"]), "float"), TypeError, r"^x: .* \|S1"),
    "times": (lambda: taper.cast(np.zeros(2, "M8[s]"), "float"), TypeError, "^x: .* dateti"),
    "records": (lambda: taper.cast(np.zeros(2, "f4,i4"), "float"), TypeError, "^x: "),
    "void": (lambda: taper.cast(np.zeros(2, "V2"), "float"), TypeError, r"^x: .* \|V2"),
    "longdouble": (lambda: taper.cast(x.astype("g"), "float"), TypeError, "^x: "),
    "integers": (lambda: taper.cast(x.astype(int), "float"), TypeError, "^x: .* not int64"),
    "bools": (lambda: taper.cast(x > 1, "float"), TypeError, "^x: .* not bool"),
    "complex": (lambda: taper.cast(x.astype("F"), "float"), TypeError, "^x: .* complex64"),
    "a float8 of another kind": (
        lambda: taper.cast(np.zeros(2, ml_dtypes.float8_e3m4), "float"),
        TypeError,
        "^x: expected elements",
    ),
    "big-endian": (lambda: taper.cast(x.astype(">f4"), "float16"), TypeError, "^x: .* native"),
    "big-endian bfloat16": (
        lambda: taper.cast(
            np.zeros(2, np.dtype(ml_dtypes.bfloat16).newbyteorder(">")), "float"
        ),
        TypeError,
        "^x: expected native byte order",
    ),
    "big-endian out": (
        lambda: taper.cast(x, "float16", out=np.zeros((3, 4), ">f2")),
        TypeError,
        "^out: expected native",
    ),
    "big-endian copyto": (lambda: taper.copyto(x, x.astype(">f4")), TypeError, "^src: "),
    "big-endian buffer": (
        lambda: taper.cast(memoryview(x.astype(">f4")), "float16"),
        TypeError,
        "^x: .* buffer format '>f'",
    ),
    "buffer of characters": (
        lambda: taper.cast((ctypes.c_wchar * 3)(), "float"),
        TypeError,
        "^x: expected elements",
    ),
    "buffer of structures": (
        lambda: taper.cast(
            (type("S", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int)]}) * 2)(),
            "float",
        ),
        TypeError,
        "^x: expected elements",
    ),
    # ---- dtype
    "dtype None": (lambda: taper.cast(x, None), TypeError, "^dtype: .* not None"),
    "dtype of a wrong name": (lambda: taper.cast(x, "float9"), TypeError, "^dtype: .*float9"),
    "dtype of a wrong object": (lambda: taper.cast(x, 3.5), TypeError, "^dtype: "),
    "dtype with a surrogate": (lambda: taper.cast(x, "\udcff"), (TypeError, ValueError), None),
    "dtype string": (lambda: taper.cast(x, "string"), TypeError, "^dtype: "),
    "dtype integer": (lambda: taper.cast(x, "int8"), TypeError, "^dtype: .* not int8"),
    "dtype big-endian": (lambda: taper.cast(x, ">f2"), TypeError, "^dtype: .* native"),
    "dtype record": (lambda: taper.cast(x, "f4,f4"), TypeError, "^dtype: "),
    "full of objects": (lambda: taper.full(1, 1, object), TypeError, "^dtype: "),
    "from_dtype of another size": (
        lambda: taper.cast(np.zeros(2, np.uint8), "float", from_dtype="bfloat16"),
        TypeError,
        "^x: expected elements of bfloat16, or of uint16",
    ),
    "from_dtype of floats": (
        lambda: taper.cast(x, "float", from_dtype="float16"),
        TypeError,
        "^x: expected elements of float16",
    ),
    # ---- options
    "round_mode": (lambda: taper.cast(x, "float", round_mode="x"), ValueError, "round_mode"),
    "round_mode type": (lambda: taper.cast(x, "float", round_mode=1), TypeError, "round_mode"),
    "opset type": (lambda: taper.cast(x, "float", opset="9"), TypeError, "^opset: "),
    "opset size": (lambda: taper.cast(x, "float", opset=1 << 70), OverflowError, "^opset: "),
    "saturate": (lambda: taper.cast(x, "float", saturate=x), ValueError, None),
    "too few": (lambda: taper.cast(x), TypeError, r"cast\(\) lacks argument 'dtype'"),
    "too many": (lambda: taper.cast(x, "float", True), TypeError, "2 positional"),
    "unknown": (lambda: taper.cast(x, "float", like=x), TypeError, "no argument 'like'"),
    "twice": (lambda: taper.cast(x, "float", x=x), TypeError, "'x' twice"),
    # ---- out
    "out shape": (
        lambda: taper.cast(x, "float16", out=f2(4, 3)),
        ValueError,
        r"^out: expected shape \(3, 4\), not \(4, 3\)",
    ),
    "out rank": (lambda: taper.cast(x, "float16", out=f2(12)), ValueError, "^out: .*shape"),
    "out type": (lambda: taper.cast(x, "bfloat16", out=f2(3, 4)), TypeError, "^out: .*uint16"),
    "out read-only": (
        lambda: taper.cast(x, "float16", out=read_only(f2(3, 4))),
        ValueError,
        "^out: expected a writable",
    ),
    "out bytes": (
        lambda: taper.cast(x.ravel(), "float8e5m2", out=bytes(12)),
        ValueError,
        "^out: expected a writable",
    ),
    "out list": (lambda: taper.cast(x, "float16", out=[0] * 12), TypeError, "^out: "),
    "out scalar": (
        lambda: taper.cast(x[0, 0], "float", out=np.float32(0)),
        ValueError,
        "^out: expected a writable",
    ),
    "out broadcast": (
        lambda: taper.cast(
            x, "float16", out=np.lib.stride_tricks.as_strided(f2(4), (3, 4), (0, 2))
        ),
        ValueError,
        "^out: two of its indices",
    ),
    "out that meets itself": (
        lambda: taper.cast(
            x, "float16", out=np.lib.stride_tricks.as_strided(f2(6), (3, 4), (2, 2))
        ),
        ValueError,
        "^out: two of its indices",
    ),
    "padded out that meets itself": (
        lambda: taper.cast(
            x,
            "float4e2m1",
            out=np.lib.stride_tricks.as_strided(np.zeros(6, np.uint8), (3, 4), (1, 1)),
        ),
        ValueError,
        "^out: two of its indices",
    ),
    # ---- overlap
    "overlap": (lambda: shifted_cast(), ValueError, "^out: shares memory with x"),
    "overlap of a wider type": (lambda: wider_in_place(), ValueError, "^out: shares memory"),
    "overlap in copyto": (lambda: shifted_copy(), ValueError, "^dst: shares memory with src"),
    # ---- copyto
    "copyto type": (lambda: taper.copyto(f2(3, 4), x), TypeError, "^src: .*float16.*not float"),
    "copyto shape": (lambda: taper.copyto(x.copy(), x[:2]), ValueError, "^src: expected shape"),
    "copyto rank": (lambda: taper.copyto(x[0].copy(), x), ValueError, "^src: expected shape"),
    "copyto read-only": (lambda: taper.copyto(read_only(x), x), ValueError, "^dst: "),
    "copyto to a list": (lambda: taper.copyto([1], x), TypeError, "^dst: "),
    "copyto from a list": (lambda: taper.copyto(x.copy(), [1]), TypeError, "^src: "),
    "copyto of objects": (
        lambda: taper.copyto(np.zeros(1, object), np.zeros(1, object)),
        TypeError,
        "^dst: ",
    ),
    # ---- full
    "full negative": (lambda: taper.full((2, -1), 0, "int8"), ValueError, "^shape: "),
    "full of floats": (lambda: taper.full(2.0, 0, "int8"), TypeError, "^shape: "),
    "full of a float": (lambda: taper.full((2.0,), 0, "int8"), TypeError, "^shape: "),
    "full None": (lambda: taper.full(None, 0, "int8"), TypeError, "^shape: "),
    "full str": (lambda: taper.full("12", 0, "int8"), TypeError, "^shape: "),
    "full huge": (lambda: taper.full(1 << 62, 0, "int64"), (ValueError, MemoryError), None),
    "full overflow": (lambda: taper.full((1 << 40,) * 3, 0, "int8"), ValueError, None),
    "full beyond 64 bits": (lambda: taper.full(1 << 70, 0, "int8"), OverflowError, "^shape: "),
    "full rank": (lambda: taper.full((1,) * 65, 0, "int8"), ValueError, "^shape: "),
    "full value of 2": (lambda: taper.full(1, x[0, :2], "float"), ValueError, "^value: "),
    "full value of 0": (lambda: taper.full(1, x[:0], "float"), ValueError, "^value: "),
    "full str value": (lambda: taper.full(1, "1", "float"), TypeError, "^value: .* number"),
    "full None value": (lambda: taper.full(1, None, "float"), TypeError, "^value: "),
    "full str complex": (lambda: taper.full(1, "1", "complex64"), TypeError, "^value: "),
    "full float to int": (lambda: taper.full(1, 1.5, "int8"), TypeError, "^value: .* integer"),
    "full complex to float": (lambda: taper.full(1, 1j, "float"), TypeError, "^value: "),
    "full float to bool": (lambda: taper.full(1, 1.5, "bool"), TypeError, "^value: "),
    "full huge float": (lambda: taper.full(1, 10**400, "float"), OverflowError, None),
    # ---- packed
    "packed with gaps": (
        lambda: taper.unpack_fp4(np.zeros(8, np.uint8)[::2]),
        ValueError,
        "^packed: expected a contiguous",
    ),
    "packed backwards": (
        lambda: taper.unpack_fp4(np.zeros(8, np.uint8)[::-1], 16),
        ValueError,
        "^packed: ",
    ),
    "packed type": (lambda: taper.unpack_fp4(np.zeros(8, np.int8)), TypeError, "^packed: "),
    "packed too short": (
        lambda: taper.unpack_fp4(np.zeros(1, np.uint8), 3),
        ValueError,
        "^packed: expected 2 bytes for 3 elements, not 1",
    ),
    "packed too long": (lambda: taper.unpack_fp4(bytes(3), (2, 2)), ValueError, "^packed: "),
    "packed shape": (lambda: taper.unpack_fp4(bytes(3), -6), ValueError, "^shape: "),
    "packed dtype": (lambda: taper.unpack_fp4(bytes(3), 6, "int8"), TypeError, "^dtype: "),
    "pack integers": (lambda: taper.pack_fp4(np.zeros(2, int)), TypeError, "^x: "),
    "pack a list": (lambda: taper.pack_fp4([1]), TypeError, "^x: "),
    # ---- operators
    "shape of int32": (
        lambda: taper.constant_of_shape(np.zeros(1, np.int32)),
        TypeError,
        "^shape: expected int64 elements in one dimension, not int32",
    ),
    "shape of rank 0": (lambda: taper.constant_of_shape(np.int64(1)), TypeError, "^shape: "),
    "shape of rank 2": (
        lambda: taper.constant_of_shape(np.zeros((1, 1), np.int64)),
        TypeError,
        "^shape: .* in 2",
    ),
    "shape negative": (lambda: taper.constant_of_shape([0, -1]), ValueError, "^shape: "),
    "shape too large": (lambda: taper.constant_of_shape([1 << 40] * 2), ValueError, "^shape: "),
    "shape too long": (
        lambda: taper.constant_of_shape(np.ones(65, np.int64)),
        ValueError,
        "^shape: ",
    ),
    "shape of floats": (lambda: taper.constant_of_shape([1.0]), TypeError, "^shape: "),
    "value of 2": (lambda: taper.constant_of_shape([1], x[0, :2]), ValueError, "^value: "),
    "value a number": (lambda: taper.constant_of_shape([1], 1.0), TypeError, "^value: "),
    "value a str": (lambda: taper.constant_of_shape([1], np.array("a")), TypeError, "^value: "),
    "identity of objects": (
        lambda: taper.identity(np.array([None])),
        TypeError,
        "^x: expected str or bytes",
    ),
    "identity of a number": (lambda: taper.identity(3), TypeError, "^x: "),
    "identity of lists": (lambda: taper.identity([[1]]), TypeError, "^x: "),
    "identity of times": (lambda: taper.identity(np.zeros(1, "M8[s]")), TypeError, "^x: "),
}


def shifted_cast():
    a = np.zeros(12, np.float32)
    taper.cast(a[:-1], "float16", out=a[1:].view(np.float16)[:11])


def wider_in_place():
    a = np.zeros(12, np.float32)
    taper.cast(a.view(np.float16)[:12], "float", out=a)


def shifted_copy():
    a = np.zeros(12, np.float32)
    taper.copyto(a[1:], a[:-1])


@pytest.mark.parametrize("case", CASES)
def test_refused(case):
    call, error, message = CASES[case]
    before = x.copy()
    with pytest.raises(error, match=message):
        call()
    np.testing.assert_array_equal(x, before)


# ---- right answers


def test_nothing_was_written_by_what_was_refused():
    out = np.full((3, 4), 7, np.float16)
    for call in (
        lambda: taper.cast(x, "float16", out=out[:, ::-1][:2]),
        lambda: taper.cast(x, "float16", round_mode="?", out=out),
        lambda: taper.cast(x.astype(int), "float16", out=out),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    assert (out == 7).all()


def test_overlap_of_padded_elements_is_no_matter():
    """They go through copies."""
    memory = np.random.default_rng(4).integers(0, 16, 64, np.uint8)
    a = memory.view(ml_dtypes.float4_e2m1fn)
    expected = taper.cast(a[:48].copy(), "float8e4m3fn")
    taper.cast(a[:48], "float8e4m3fn", out=memory[16:])
    np.testing.assert_array_equal(memory[16:], codes(expected))


def test_interleaved_views():
    a = np.arange(16, dtype=np.float32)
    taper.copyto(a[::2], a[1::2])
    assert a.tolist() == [n | 1 for n in range(16)]


def test_empty():
    for shape in ((0,), (3, 0), (0, 3), (2, 0, 5)):
        a = np.zeros(shape, np.float32)
        for name in ("float16", "float4e2m1", "float"):
            assert taper.cast(a, name).shape == shape
            assert taper.cast(a[::-1], name).shape == shape
        assert taper.full(shape, 1, "int4").shape == shape
        taper.copyto(a, a)
        assert taper.identity(a).shape == shape
        assert taper.pack_fp4(a).shape == (0,)
    assert taper.unpack_fp4(b"").shape == (0,)
    assert taper.cast(array.array("f"), "float16").shape == (0,)


def test_rank_0():
    a = np.array(1.5, np.float32)
    for name in ("bfloat16", "float4e2m1"):
        got = taper.cast(a, name)
        assert isinstance(got, np.ndarray) and got.shape == () and got == 1.5
    out = np.zeros((), np.float16)
    assert taper.cast(a, "float16", out=out) is out and out == 1.5
    taper.copyto(out, np.float16(2))
    assert out == 2


def test_one_byte_elements_have_no_byte_order():
    dtype = np.dtype(ml_dtypes.float8_e5m2).newbyteorder(">")
    assert taper.cast(np.ones(2, dtype), "float").tolist() == [1, 1]


def test_an_exporter_is_free_again():
    buffer = bytearray(16)
    taper.cast(buffer, "float", from_dtype="float8e5m2")
    with pytest.raises(TypeError):
        taper.cast(buffer, "float")
    with pytest.raises(ValueError):
        taper.cast(np.zeros(3, np.float32), "float8e5m2", out=buffer)
    buffer.append(0)  # a BufferError if a view were left


def test_an_array_is_freed():
    a = np.zeros(8, np.float32)
    r = weakref.ref(a)
    taper.cast(a, "float16")
    taper.cast(a[::2], "bfloat16", out=np.zeros(4, np.uint16))
    del a
    gc.collect()
    assert r() is None


def test_dtypes_that_raise():
    class Evil:
        @property
        def dtype(self):
            raise RuntimeError("no")

        def __index__(self):
            raise RuntimeError("no")

        def __float__(self):
            raise RuntimeError("no")

        def __len__(self):
            return 1 << 40

        def __getitem__(self, i):
            raise RuntimeError("no")

    for call in (
        lambda: taper.cast(x, Evil()),
        lambda: taper.cast(Evil(), "float"),
        lambda: taper.full(Evil(), 1, "float"),
        lambda: taper.full(1, Evil(), "float"),
        lambda: taper.full(1, Evil(), "int8"),
        lambda: taper.set_num_threads(Evil()),
        lambda: taper.constant_of_shape([Evil()]),
        lambda: taper.identity(Evil()),
    ):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            call()
