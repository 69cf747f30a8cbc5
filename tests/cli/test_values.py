"""Every byte that `taper convert` writes, against ml_dtypes and against the oracle."""

import ml_dtypes
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import checkpoint
import oracle

TARGETS = {
    "bf16": "BF16", "f16": "F16", "f32": "F32", "f8_e4m3": "F8_E4M3",
    "f8_e5m2": "F8_E5M2", "f8_e4m3fnuz": "F8_E4M3FNUZ", "f8_e5m2fnuz": "F8_E5M2FNUZ",
    "f8_e8m0": "F8_E8M0", "f4": "F4",
}  # fmt: skip
EIGHT_BIT = [t for t in TARGETS if t.startswith("f8")]
ML_DTYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8_e4m3": ml_dtypes.float8_e4m3fn,
    "f8_e5m2": ml_dtypes.float8_e5m2,
    "f8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}


def expected(dtype, array, saturate=True):
    return oracle.pack(dtype, oracle.codes(dtype, array.reshape(-1), saturate))


@pytest.mark.parametrize("to", ML_DTYPES)
def test_published_file_equals_ml_dtypes(taper, published, tmp_path, to):
    out = tmp_path / "out.safetensors"
    taper("convert", published, out, "--to", to, "--no-saturate")
    source = load_file(published)
    got, _ = checkpoint.read(out)
    assert list(got) == list(checkpoint.read(published)[0])
    for name, (dtype, shape, data) in got.items():
        with np.errstate(over="ignore"):
            want = source[name].astype(ML_DTYPES[to])
        assert (dtype, shape) == (TARGETS[to], list(want.shape)), name
        assert data == want.tobytes(), name


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("to", TARGETS)
def test_published_file_equals_oracle(taper, published, tmp_path, to, saturate):
    out = tmp_path / "out.safetensors"
    options = [] if saturate else ["--no-saturate"]
    summary = taper("convert", published, out, "--to", to, *options).stdout
    source = load_file(published)
    got, _ = checkpoint.read(out)
    assert list(got) == list(checkpoint.read(published)[0])
    for name, (dtype, shape, data) in got.items():
        array = source[name]
        assert shape == list(array.shape)
        if to == "f32" or (to == "f4" and array.size % 2):
            assert dtype == "F32" and data == array.tobytes()
            assert to == "f32" or f'"{name}"' in summary
        else:
            assert dtype == TARGETS[to]
            assert data == expected(dtype, array, saturate), name


@pytest.mark.parametrize("to", TARGETS)
def test_published_file_reads_back(taper, published, tmp_path, to):
    out = tmp_path / "out.safetensors"
    taper("convert", published, out, "--to", to, "-q")
    with safe_open(out, framework="numpy") as file, safe_open(published, "numpy") as source:
        assert set(file.keys()) == set(source.keys())
        assert file.metadata() == source.metadata()
        for name in file.keys():
            view = file.get_slice(name)
            assert view.get_shape() == source.get_slice(name).get_shape()
            assert view.get_dtype() in (TARGETS[to], "F32")
            if to in ("f16", "f32"):  # what NumPy itself can hold
                want = source.get_tensor(name).astype(np.dtype(to.replace("f", "float")))
                assert file.get_tensor(name).tobytes() == want.tobytes()


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("to", [t for t in TARGETS if t != "f32"])
def test_edges_equal_oracle(taper, edges, tmp_path, to, saturate):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    checkpoint.write(src, {"x": ("F32", [len(edges)], edges.tobytes())})
    taper("convert", src, out, "--to", to, *([] if saturate else ["--no-saturate"]))
    dtype, _, data = checkpoint.read(out)[0]["x"]
    assert dtype == TARGETS[to]
    got = oracle.unpack(dtype, data)
    want = oracle.codes(dtype, edges, saturate)
    wrong = np.flatnonzero(got != want)
    assert not len(wrong), [
        (edges[i : i + 1].view(np.uint32)[0].item(), got[i], want[i]) for i in wrong[:5]
    ]


@pytest.mark.parametrize("to", [t for t in TARGETS if t != "f32"])
@pytest.mark.parametrize("source", ["F64", *oracle.FORMATS, "F8_E8M0"])
def test_any_source_is_rounded_once(taper, edges, tmp_path, source, to):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    if source == "F64":
        # Just off the middle between two codes, by less than binary32 can tell.
        middle = oracle.positive("F16")
        middle = (middle[1:] + middle[:-1]) / 2
        x = np.concatenate([middle, np.nextafter(middle, 0), np.nextafter(middle, 1e9)])
        x = np.concatenate([x, -x, edges[np.isfinite(edges)]])
        x = x[: len(x) // 2 * 2]
        data = x.tobytes()
    else:
        code = np.arange(1 << checkpoint.BITS[source])
        x = oracle.values(source, code)
        code = code[~np.isnan(x)]  # of NaN, the payloads are the library's tests' matter
        x = x[~np.isnan(x)]
        code, x = code[: len(x) // 2 * 2], x[: len(x) // 2 * 2]
        data = oracle.pack(source, code.astype("u2" if source in ("F16", "BF16") else "u1"))
    checkpoint.write(src, {"x": (source, [len(x)], data)})
    taper("convert", src, out, "--to", to)
    dtype, _, got = checkpoint.read(out)[0]["x"]
    assert dtype == TARGETS[to]
    assert got == (data if dtype == source else expected(dtype, x))


@pytest.mark.parametrize("source", ["F64", *oracle.FORMATS, "F8_E8M0"])
def test_widening_to_f32(taper, edges, tmp_path, source):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    if source == "F64":
        x = edges[~np.isnan(edges)].astype(np.float64) * 1.0000000123
        data = x.tobytes()
    else:
        code = np.arange(1 << checkpoint.BITS[source])
        data = oracle.pack(source, code.astype("u2" if source in ("F16", "BF16") else "u1"))
        x = oracle.values(source, code)
    checkpoint.write(src, {"x": (source, [len(x)], data)})
    taper("convert", src, out, "--to", "f32")
    dtype, _, got = checkpoint.read(out)[0]["x"]
    got = np.frombuffer(got, np.float32)
    with np.errstate(over="ignore", under="ignore"):
        want = x.astype(np.float32)
    number = ~np.isnan(x)
    assert dtype == "F32"
    assert got[number].tobytes() == want[number].tobytes()
    assert np.isnan(got[~number]).all()


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("to", [t for t in TARGETS if t != "f32"])
@pytest.mark.parametrize("wide", ["F32", "F64"])
def test_losses_are_counted(taper, edges, tmp_path, wide, to, saturate):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        edges = edges.astype(np.float64 if wide == "F64" else np.float32)
    checkpoint.write(src, {"x": (wide, [len(edges)], edges.tobytes())})
    options = [] if saturate else ["--no-saturate"]
    lines = taper("convert", src, out, "--to", to, *options).stdout.splitlines()
    dtype, _, data = checkpoint.read(out)[0]["x"]
    a = np.abs(edges)
    b = np.abs(oracle.values(dtype, oracle.unpack(dtype, data))).astype(a.dtype)
    top = oracle.FORMATS[dtype][3] if dtype in oracle.FORMATS else 0xFE
    top = oracle.values(dtype, np.array([top]))[0]

    saturated = (a > top) & (b == top)
    plain = ~saturated & np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    want = [
        saturated.sum(),
        (np.isfinite(a) & np.isinf(b)).sum(),
        (~np.isnan(a) & np.isnan(b)).sum(),
        ((a != 0) & (b == 0)).sum(),
    ]
    worst = (np.abs(b[plain] - a[plain]) / a[plain]).max()
    row = next(line.split() for line in lines if line.startswith(f"{wide} to {dtype}"))
    assert [int(n) for n in row[6:10]] == want
    assert row[10] == f"{worst:.3g}"
    lost = (np.isnan(a) & ~np.isnan(b)).sum()
    note = f"NaN that became numbers, as {dtype} has no NaN: {lost}"
    assert (note in lines) == (to == "f4")


@pytest.mark.parametrize("to", ["bf16", "f8_e4m3", "f4"])
def test_threads_and_instruction_sets_change_nothing(taper, tmp_path, to):
    src = tmp_path / "in.safetensors"
    bits = np.random.default_rng(3).integers(0, 1 << 32, 1_500_002, dtype=np.uint32)
    checkpoint.write(
        src,
        {
            "odd": ("U8", [3], b"abc"),  # nothing after it is aligned
            "x": ("F32", [2, 750_001], bits.tobytes()),
            "y": ("F16", [1000], bits[:500].tobytes()),
        },
    )
    outputs, tables = set(), set()
    for n, env in ((1, {}), (4, {}), (7, {}), (4, {"TAPER_ISA": "scalar"})):
        out = tmp_path / f"{n}{len(env)}.safetensors"
        lines = taper("convert", src, out, "--to", to, "-j", n, env=env).stdout
        outputs.add(out.read_bytes())
        tables.add(lines[: lines.index(str(out))])
    assert len(outputs) == 1 and len(tables) == 1
