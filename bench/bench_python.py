"""How fast taper is from Python, beside ndarray.astype. One thread, one run:

    python bench/bench_python.py [--json FILE]

Needs ml_dtypes, and 1 GB of memory. A time is the least of several repetitions, which
alternate between the two sides. Ratios are those of the times in this run.
"""

import argparse
import json
import platform
import sys
import timeit

import ml_dtypes
import numpy as np

import taper

FP8, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16


def least(calls, number, repeat):
    """The least seconds of each call."""
    timers = [timeit.Timer(call) for call in calls]
    rounds = [[t.timeit(number) / number for t in timers] for _ in range(repeat)]
    return [min(times) for times in zip(*rounds)]


def overhead():
    """Nanoseconds for 64 elements."""
    x = np.random.default_rng(1).standard_normal(64).astype(np.float32)
    out = np.empty(64, FP8)
    cast = taper.cast
    calls = {
        "taper.cast(x, float8_e4m3fn)": lambda: cast(x, FP8),
        "taper.cast(x, 'float8_e4m3fn')": lambda: cast(x, "float8_e4m3fn"),
        "taper.cast(x, float8_e4m3fn, out=out)": lambda: cast(x, FP8, out=out),
        "x.astype(float8_e4m3fn)": lambda: x.astype(FP8),
        "taper.cast(x, bfloat16)": lambda: cast(x, BF16),
        "x.astype(bfloat16)": lambda: x.astype(BF16),
        "taper.cast(x, float16)": lambda: cast(x, np.float16),
        "x.astype(float16)": lambda: x.astype(np.float16),
        "an empty lambda": lambda: None,
    }
    times = least(calls.values(), 20_000, 15)
    return {name: round(time * 1e9) for name, time in zip(calls, times)}


def throughput(n):
    """Seconds for `n` elements, with an output that is new and one that was there."""
    x = np.random.default_rng(2).standard_normal(n, np.float32)
    rows = {}
    for dtype in (FP8, BF16, np.float16):
        name = np.dtype(dtype).name
        out = np.zeros(n, dtype)
        calls = [
            lambda: taper.cast(x, dtype),
            lambda: taper.cast(x, dtype, out=out),
            lambda: x.astype(dtype),
        ]
        new, old, astype = least(calls, 1, 3)
        rows[name] = {
            "taper s": new,
            "taper out= s": old,
            "astype s": astype,
            "ratio": astype / new,
            "ratio out=": astype / old,
        }
    codes = np.zeros(n, np.uint32)
    rows["copy"] = {"np.copyto s": least([lambda: np.copyto(codes, x.view("u4"))], 1, 5)[0]}
    return rows


def layouts():
    """Seconds of copies into a contiguous array, and of NumPy's for the same."""
    base = np.arange(32 * 64 * 112 * 112, dtype=np.float32)
    nchw = base.reshape(32, 64, 112, 112)
    square = np.arange(4096 * 4096, dtype=np.float32).reshape(4096, 4096)
    views = {
        "transpose 4096 x 4096, float32": square.T,
        "transpose 4096 x 4096, uint8": square.astype(np.uint8).T,
        "NCHW to NHWC": nchw.transpose(0, 2, 3, 1),
        "NHWC to NCHW": base.reshape(32, 112, 112, 64).transpose(0, 3, 1, 2),
        "a step of 2": nchw[..., ::2],
    }
    rows = {}
    for name, view in views.items():
        out = np.zeros(view.shape, view.dtype)
        calls = [
            lambda: taper.copyto(out, view),
            lambda: np.copyto(out, view),
            lambda: np.ascontiguousarray(view),
        ]
        ours, copyto, new = least(calls, 1, 5)
        rows[name] = {
            "taper.copyto s": ours,
            "np.copyto s": copyto,
            "ascontiguousarray s": new,
            "ratio": copyto / ours,
        }
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--elements", type=int, default=64 << 20)
    arguments = parser.parse_args()
    taper.set_num_threads(1)
    info = taper.info()
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ml_dtypes": ml_dtypes.__version__,
        "taper": info["version"],
        "isa": info["isa"],
    }
    print(", ".join(f"{k} {v}" for k, v in versions.items()))
    small = overhead()
    print("\n64 elements of float32, ns a call")
    for name, time in small.items():
        print(f"  {name:40}{time:8}")
    large = throughput(arguments.elements)
    print(f"\n{arguments.elements} elements of float32, s")
    for name, row in large.items():
        print(f"  {name:16}" + "  ".join(f"{k} {v:.4g}" for k, v in row.items()))
    views = layouts()
    print("\nlayouts, s")
    for name, row in views.items():
        print(f"  {name:32}" + "  ".join(f"{k} {v:.4g}" for k, v in row.items()))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({**versions, "ns": small, "s": large, "layouts": views}, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
