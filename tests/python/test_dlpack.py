"""DLPack tensors: those of PyTorch if it is there, and made ones, honest or not."""

import sys

import ml_dtypes
import numpy as np
import pytest
from conftest import codes
from dlpack import TYPES, Producer

import taper

x = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("name", [n for n in TYPES if "float" in n and n[5] != "4"])
def test_every_float_type(name, versioned):
    a = taper.cast(x / 4, name)
    producer = Producer(a, versioned=versioned)
    got = taper.cast(producer, "float")
    np.testing.assert_array_equal(got, taper.cast(a, "float"))
    assert producer.given == producer.deleted == 1


def test_numpy_as_a_producer():
    class Tensor:
        def __dlpack__(self, **keywords):
            return x.__dlpack__(**keywords)

    assert taper.cast(Tensor(), "float64").tolist() == x.tolist()


@pytest.mark.parametrize("layout", [np.transpose, lambda a: a[::-1, ::2]])
def test_strides(layout):
    a = layout(x)
    assert taper.cast(Producer(a), "float16").tolist() == a.tolist()


def test_no_strides_and_an_offset():
    a = np.arange(8, dtype=np.float32)
    got = taper.cast(Producer(a, strides=None, shape=(2, 3), byte_offset=8), "float16")
    assert got.tolist() == [[2, 3, 4], [5, 6, 7]]


def test_written_to():
    for versioned in (True, False):
        memory = np.zeros((3, 8), np.uint16)
        out = Producer(memory[:, ::2], "bfloat16", versioned=versioned)
        assert taper.cast(x, "bfloat16", out=out) is out
        np.testing.assert_array_equal(memory[:, ::2], codes(taper.cast(x, "bfloat16")))
        assert not memory[:, 1::2].any()
        taper.copyto(out, taper.full(1, 2, "bfloat16"))
        assert (memory[:, ::2] == 0x4000).all()
        assert out.given == out.deleted == 2


PACKED = np.array([0x21, 0x43, 0x65], np.uint8)


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": (6,), "strides": (1,)},
        {"shape": (2, 3), "strides": None},
        {"shape": (3,), "strides": (1,), "lanes": 2},  # as PyTorch has it
        {"shape": (1, 3), "strides": (3, 1), "lanes": 2},
    ],
)
def test_packed_fp4(fields):
    tensor = Producer(PACKED, "float4_e2m1fn", **fields)
    got = taper.cast(tensor, "float")
    assert got.ravel().tolist() == [0.5, 1, 1.5, 2, 3, 4]
    assert codes(taper.cast(tensor, "float4e2m1")).ravel().tolist() == [1, 2, 3, 4, 5, 6]
    assert taper.pack_fp4(tensor).tolist() == PACKED.tolist()
    dst = np.zeros(got.shape, ml_dtypes.float4_e2m1fn)
    taper.copyto(dst, tensor)
    assert codes(dst).ravel().tolist() == [1, 2, 3, 4, 5, 6]


def test_packed_fp4_is_written():
    memory = np.full(3, 255, np.uint8)
    out = Producer(memory, "float4_e2m1fn", shape=(5,), strides=None)
    taper.cast(np.array([0.5, 1, 1.5, 2, 3], np.float32), "float4e2m1", out=out)
    assert memory.tolist() == [0x21, 0x43, 0x05]
    taper.copyto(out, np.zeros(5, ml_dtypes.float4_e2m1fn))
    assert memory.tolist() == [0, 0, 0]
    taper.copyto(out, taper.full(1, 2, "float4e2m1"))
    assert memory.tolist() == [0x44, 0x44, 4]


def test_packed_int4_is_only_moved():
    tensor = Producer(np.array([0xF1, 0x08], np.uint8), "int4", shape=(3,), strides=None)
    assert taper.identity(tensor).tolist() == [1, -1, -8]
    dst = np.zeros(3, ml_dtypes.int4)
    taper.copyto(dst, tensor)
    assert dst.tolist() == [1, -1, -8]
    assert taper.constant_of_shape([2], Producer(np.array([0xF1], np.uint8), "int4"))[1] == 1
    with pytest.raises(TypeError, match="^x: expected elements of a float type, not int4"):
        taper.cast(tensor, "float")


def test_padded_fp4():
    a = np.array([1, 2, 3], np.uint8)
    tensor = Producer(a, "float4_e2m1fn", flags=4)
    assert taper.cast(tensor, "float").tolist() == [0.5, 1, 1.5]


HOSTILE = {
    "on a GPU": ({"device_type": 2}, BufferError, "CPU's memory"),
    "of version 2": ({"major": 2}, BufferError, "version 1"),
    "float8_e4m3 with infinities": ({"code": 8, "bits": 8}, TypeError, "code 8"),
    "of 128 bits": ({"bits": 128}, TypeError, "bits 128"),
    "of vectors": ({"lanes": 4}, TypeError, "lanes 4"),
    "of rank -1": ({"rank": -1}, ValueError, "dimensions"),
    "of rank 65": ({"shape": (1,) * 65, "strides": None}, ValueError, "64 dimensions"),
    "packed, of 2 bits": ({"code": 0, "bits": 2}, TypeError, "bits 2"),
    "strides that overflow": ({"strides": (1 << 62, 1)}, ValueError, "out of range"),
    "negative": ({"shape": (3, -4)}, ValueError, "dimensions are negative"),
    "negative and empty": ({"shape": (0, -4)}, ValueError, "dimensions are negative"),
    "too large": ({"shape": (1 << 40, 1 << 40)}, ValueError, "too large"),
    "without memory": ({"data": None}, ValueError, "no memory"),
    "packed with gaps": (
        {"code": 17, "bits": 4, "strides": (8, 2)},
        ValueError,
        "contiguous",
    ),
    "pairs that overflow": (
        {"code": 17, "bits": 4, "lanes": 2, "shape": (1, (1 << 62) + 1), "strides": None},
        ValueError,
        "too large",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_refused(case):
    fields, error, message = HOSTILE[case]
    tensor = Producer(x, **fields)
    with pytest.raises(error, match="^x: .*" + message):
        taper.cast(tensor, "float16")
    assert tensor.given == tensor.deleted == 1


@pytest.mark.parametrize("flags, error", [(1, ValueError), (2, BufferError)])
def test_not_for_writing(flags, error):
    tensor = Producer(np.zeros(3, np.float32), flags=flags)
    with pytest.raises(error, match="^dst: "):
        taper.copyto(tensor, np.ones(3, np.float32))
    assert not tensor.array.any() and tensor.deleted == 1
    assert taper.cast(tensor, "float16").shape == (3,)


def test_empty_without_memory():
    assert taper.cast(Producer(x, shape=(0, 4), data=None), "float16").shape == (0, 4)


@pytest.mark.parametrize("result", [None, 3, "capsule"])
def test_no_capsule(result):
    class Tensor:
        def __dlpack__(self, **keywords):
            return result

    with pytest.raises(BufferError, match="^x: its __dlpack__"):
        taper.cast(Tensor(), "float")


def test_a_capsule_that_was_used():
    producer = Producer(x)
    capsule = producer.__dlpack__()

    class Tensor:
        def __dlpack__(self, **keywords):
            return capsule

    assert taper.cast(Tensor(), "float16").tolist() == x.tolist()
    with pytest.raises(BufferError, match="^x: its __dlpack__"):
        taper.cast(Tensor(), "float16")
    assert producer.deleted == 1


def test_errors_of_the_producer_are_passed_on():
    class Tensor:
        def __dlpack__(self, **keywords):
            raise RuntimeError("needs a gradient")

    with pytest.raises(RuntimeError, match="gradient"):
        taper.cast(Tensor(), "float")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ came with Python 3.12")
def test_a_buffer_that_is_refused():
    """JAX has both protocols, but the types of ml_dtypes in one only."""

    class Tensor(Producer):
        def __buffer__(self, flags):
            raise BufferError("not this type")

    a = np.ones(3, ml_dtypes.bfloat16)
    assert taper.cast(Tensor(a), "float").tolist() == [1, 1, 1]


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    for name in ("float32", "bfloat16", "float8_e5m2", "float8_e8m0fnu"):
        a = jnp.ones((2, 3)).astype(name)
        assert taper.cast(a, "float").tolist() == [[1] * 3] * 2
        with pytest.raises((ValueError, BufferError, TypeError)):
            taper.copyto(a, np.zeros((2, 3), name))


def test_pytorch():
    torch = pytest.importorskip("torch")
    t = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    got = taper.cast(t.T, "bfloat16")
    assert got.astype(float).tolist() == t.T.tolist()
    out = torch.zeros(3, 4, dtype=torch.bfloat16)
    assert taper.cast(t, "bfloat16", out=out) is out
    assert out.tolist() == t.tolist()
    taper.copyto(out, taper.full((), 3, "bfloat16"))
    assert (out == 3).all()
