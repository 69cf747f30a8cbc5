"""bench/goals.py on made-up runs."""

import goals
import pytest
import runs
import subjects
from conftest import entries


def row(name, time, n=4096, traffic=24576, **counters):
    return entries(name, n, traffic, (time, time, time), **counters)


def cells(*parts):
    """{(row, measure): cell} of a run made of these rows."""
    benchmarks = [entry for part in parts for entry in part]
    return {
        (cell["row"], cell["measure"]): cell for cell in goals.rows({"benchmarks": benchmarks})
    }


OURS = "narrow/bfloat16/avx512/4096"


def test_nothing_run_is_neither_met_nor_missed():
    found = goals.rows({})
    assert len(found) > 500
    assert all(cell["value"] is None and cell["met"] is None for cell in found)
    assert all(cell["peers"] == {} for cell in found)


def test_met_and_missed():
    found = cells(row(OURS, 100, M=1.0, **{"el/cycle": (5.5, 4.0, 5.1)}))
    cell = found[OURS, "el/cycle"]
    assert (cell["value"], cell["goal"], cell["met"]) == (5.1, 5, True)
    assert cell["spread"] == pytest.approx(1.5 / 5.1)
    slow = cells(row(OURS, 100, M=1.0, **{"el/cycle": 4.9}))
    assert slow[OURS, "el/cycle"]["met"] is False


def test_calls_are_to_take_at_most_so_long():
    name = "call/narrow/bfloat16/avx512/16"
    assert cells(row(name, 6))[name, "real_time"]["met"] is True
    assert cells(row(name, 6.1))[name, "real_time"]["met"] is False


def test_the_fastest_peer_and_the_fastest_exact_one():
    found = cells(
        row(OURS, 100, M=1.0),
        row("narrow/bfloat16/avx2/4096", 50, M=2.0),
        row("narrow/bfloat16/highway/4096", 80, M=1.25, differ=7, differ_normal=0),
        row("narrow/bfloat16/compiler/4096", 200, M=0.5, differ=0, differ_normal=0),
        row("narrow/bfloat16/taper-python/4096", 10, M=10, differ=0, differ_normal=0),
        row("narrow/bfloat16/eigen/8192", 10, M=10, differ=0, differ_normal=0),
    )
    cell = found[OURS, "x peer"]
    assert cell["value"] == pytest.approx(0.8)
    assert set(cell["peers"]) == {"highway", "compiler"}
    assert cell["peers"]["highway"]["differ"] == 7
    assert found[OURS, "x exact peer"]["value"] == pytest.approx(2)


def test_ratios_are_of_what_each_is_beside_memcpy():
    busy = cells(
        row(OURS, 100, M=1.0), row("narrow/bfloat16/eigen/4096", 300, M=0.5, differ=0)
    )
    assert busy[OURS, "x peer"]["value"] == pytest.approx(2)
    other_traffic = cells(
        row(OURS, 100, M=1.0),
        row("narrow/bfloat16/eigen/4096", 300, traffic=20480, M=0.5, differ=0),
    )
    assert other_traffic[OURS, "x peer"]["value"] == pytest.approx(3)


def test_ratios_of_rows_that_are_noisy_or_have_other_sizes():
    theirs = entries("narrow/bfloat16/eigen/4096", 4096, 24576, (100, 900), M=0.5)
    noisy = cells(row(OURS, 100, M=1.0), theirs)
    assert noisy[OURS, "x peer"]["value"] == pytest.approx(2)
    ours = row("narrow/bfloat16/avx512/8192", 100, n=8192, traffic=49152, M=1.0)
    both = list(runs.parse({"benchmarks": ours + theirs}).rows.values())
    assert subjects.faster(*both) == pytest.approx(2)


def test_peers_of_rows_that_are_named_otherwise():
    found = cells(
        row("threads/narrow/float8e4m3fn/2/4194304", 100, M=3.0),
        row("narrow/float8e4m3fn/torch/4194304/threads:2", 300, M=1.0, differ=9),
        row("narrow/float8e4m3fn/torch/4194304", 500, M=0.5, differ=9),
        row("layout/step_2/uint32/1", 100, M=1.0),
        row("layout/step_2/uint32/2", 50, M=2.0),
        row("layout/step_2/uint32/numpy", 400, M=0.25),
        row("call/fill/float/avx512/16", 5.0),
        row("call/fill/float/memset/16", 1.0),
        row("call/narrow/bfloat16/avx512/16", 5.5),
        row("call/copy/float/memcpy/16", 1.5),
    )
    threads = found["threads/narrow/float8e4m3fn/2/4194304", "x peer"]
    assert threads["value"] == pytest.approx(3)
    assert found["layout/step_2/uint32/1", "x numpy"]["value"] == pytest.approx(4)
    assert set(found["layout/step_2/uint32/1", "x numpy"]["peers"]) == {"numpy"}
    assert found["call/fill/float/avx512/16", "ns over memset"]["value"] == 4
    assert found["call/narrow/bfloat16/avx512/16", "ns over memcpy"]["value"] == 4


def test_rows_of_several_threads_count_by_their_best():
    name = "threads/narrow/bfloat16/2/134217728"
    found = cells(row(name, 100, M=(1.0, 1.2, 1.7), one_thread=(1.1, 1.2, 1.8)))
    assert found[name, "M"]["value"] == 1.7
    assert found[name, "one_thread"]["value"] == 1.8
