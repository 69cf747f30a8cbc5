"""bench/peers.py: that it counts the bits that differ, and writes the rows that readers of
its file look for. Speeds are not tested."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taper

PROGRAM = Path(__file__).parents[2] / "bench" / "peers.py"


@pytest.fixture(scope="module")
def peers():
    spec = importlib.util.spec_from_file_location("peers", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules["peers"] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module


def count(peers, name, call):
    """What is counted of a library that narrows by `call`, which takes dst and src."""

    class Library(peers.Peer):
        package = "library"

        def calls(self, op, dst, src, threads):
            return {"library": lambda: call(dst, src)}

    (case,) = (c for c in peers.CASES if (c.op, c.name) == ("narrow", name))
    buffers = peers.Buffers(8 * peers.EXACT_ELEMENTS)
    working, exact = peers.count_cast(case, [peers.Taper(), Library()], buffers)
    assert exact["taper-python"]["differ"] == exact["taper-python"]["differ_normal"] == 0
    assert len(working) == len(exact)
    return exact.get("library")


def test_counts(peers):
    """One element is wrong by one bit, in random bits and in numbers."""

    def almost(dst, src):
        taper.cast(src, dst.dtype, out=dst)
        dst.view(np.uint16)[77] ^= 1

    assert count(peers, "bfloat16", almost) == {"differ": 1, "differ_normal": 1, "label": ""}


def test_nothing_written(peers):
    """What was there before, such as the right answer by another call, is no result."""
    found = count(peers, "float8e4m3fn", lambda dst, src: None)
    assert found["differ"] > 0.99 * peers.EXACT_ELEMENTS
    assert found["differ_normal"] > 0.95 * peers.EXACT_ELEMENTS


def test_other_choices(peers):
    """The choice of options that a library has made is found."""

    def infinite(dst, src):
        taper.cast(src, dst.dtype, saturate=False, out=dst)

    def down(dst, src):
        taper.cast(src, dst.dtype, round_mode="down", saturate=False, out=dst)

    found = count(peers, "float8e5m2", infinite)
    assert found == {"differ": 0, "differ_normal": 0, "label": "saturate=False"}
    found = count(peers, "float8e8m0", down)
    assert found["differ"] == 0 and found["label"] == "round_mode=down, saturate=False"


def test_refusal(peers):
    """A library that has no such cast is left out."""

    def refuse(dst, src):
        raise RuntimeError("no such cast")

    assert count(peers, "float16", refuse) is None


def test_rows(tmp_path):
    """The file is in the form of Google Benchmark, with every row that was asked for."""
    path = tmp_path / "peers.json"
    wanted = "narrow/float8e4m3fn$|fill/uint8|copy|layout/rows_apart"
    options = ["--filter", wanted, "--sizes", "64,4096", "--threads", "1", "--seconds", "0.001"]
    done = subprocess.run(
        [sys.executable, PROGRAM, *options, "--json", path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(path.read_text())
    assert content["context"]["versions"]["taper"] == taper.__version__
    rows = {}
    for entry in content["benchmarks"]:
        rows.setdefault(entry["name"], []).append(entry)
    expected = {
        f"{case}/{row}/{n}"
        for case, row, n in [
            ("narrow/float8e4m3fn", "ml_dtypes", 64),
            ("narrow/float8e4m3fn", "ml_dtypes", 4096),
            ("narrow/float8e4m3fn", "taper-python", 4096),
            ("fill/uint8", "numpy", 256),
            ("fill/uint8", "taper-python", 16384),
            ("copy/float", "numpy", 4096),
            ("copy/float", "taper-python", 64),
        ]
    } | {
        f"layout/rows_apart/uint32/{row}"
        for row in ("numpy", "ascontiguousarray", "taper-python")
    }
    assert expected <= rows.keys()
    bits = {"narrow": 40, "fill": 8, "copy": 64, "layout": 64}
    for name, entries in rows.items():
        assert [entry["repetition_index"] for entry in entries] == list(range(len(entries)))
        for entry in entries:
            assert entry["run_type"] == "iteration" and entry["run_name"] == name
            assert entry["repetitions"] == len(entries) and entry["threads"] == 1
            assert entry["real_time"] > 0 and entry["M"] > 0
            elements = entry["items_per_second"] * entry["real_time"] * 1e-9
            if not name.startswith("layout"):
                assert elements == pytest.approx(int(name.split("/")[-1]))
            traffic = entry["bytes_per_second"] * entry["real_time"] * 1e-9
            assert traffic == pytest.approx(elements * bits[name.split("/")[0]] / 8)
            if "taper-python" in name:
                assert entry["differ"] == entry["differ_normal"] == 0
    assert list(tmp_path.iterdir()) == [path]


def test_wrong_filter():
    done = subprocess.run(
        [sys.executable, PROGRAM, "--filter", "nothing"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "leaves nothing to measure" in done.stderr
