"""Made-up runs, in the form that Google Benchmark writes."""

import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

CONTEXT = {
    "date": "2026-01-02T03:04:05+00:00",
    "num_cpus": 2,
    "cpu": "Imagined & Sons <9000>",
    "compiler": "GNU 12.2.0",
    "flags": "-O3",
    "commit": "0123abc",
    "command": "taper_bench --benchmark_filter=narrow",
    "caches": [
        {"type": "Data", "level": 1, "size": 32 << 10, "num_sharing": 1},
        {"type": "Instruction", "level": 1, "size": 64 << 10, "num_sharing": 1},
        {"type": "Unified", "level": 2, "size": 1 << 20, "num_sharing": 1},
        {"type": "Unified", "level": 3, "size": 32 << 20, "num_sharing": 2},
    ],
}


def entries(name, n, traffic, times, label="", **counters):
    """The repetitions of a row, `times` in nanoseconds, and the median of them, which no
    reader should count as one more."""
    made = []
    for index, time in enumerate(times):
        made.append(
            {
                "name": f"{name}/manual_time",
                "run_name": f"{name}/manual_time",
                "run_type": "iteration",
                "repetitions": len(times),
                "repetition_index": index,
                "threads": 1,
                "iterations": 1,
                "real_time": float(time),
                "cpu_time": 1.0,
                "time_unit": "ns",
                "bytes_per_second": traffic / time * 1e9,
                "items_per_second": n / time * 1e9,
                "label": label,
                **{
                    key: float(value[index] if isinstance(value, tuple) else value)
                    for key, value in counters.items()
                },
            }
        )
    median = {
        **made[0],
        "run_type": "aggregate",
        "aggregate_name": "median",
        "real_time": 7e9,
    }
    return [*made, median]


def write_run(path, *rows, **context):
    content = {"context": {**CONTEXT, **context}, "benchmarks": sum(rows, [])}
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def write(tmp_path):
    """Writes a run; returns its path."""
    return lambda name, *rows, **context: write_run(tmp_path / name, *rows, **context)
