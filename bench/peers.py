#!/usr/bin/env python3
"""peers.py - taper from Python beside what else does the same there, in one run.

    PYTHONPATH=build/release/python python bench/peers.py [--json FILE] [--filter REGEX]

The peers are NumPy, ml_dtypes, ONNX Runtime, PyTorch and NumKong, through their public
calls, with outputs that were there before where the call can be given one. Those that
cannot be imported are left out. bench/requirements.txt lists them, and README.md tells
what the rows are.
"""

import argparse
import contextlib
import dataclasses
import datetime
import functools
import gc
import importlib
import itertools
import json
import math
import mmap
import os
import pathlib
import platform
import random
import re
import statistics
import sys
import time
from collections.abc import Callable

CPUS = os.sched_getaffinity(0)  # before OpenMP comes, which may bind this thread to one
try:
    import ml_dtypes
    import numpy as np

    import taper
except ImportError as error:
    sys.exit(f"peers.py: {error}: bench/README.md tells what it needs")

TYPES = {  # by ONNX's names
    "bfloat16": ml_dtypes.bfloat16,
    "float16": np.float16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float4e2m1": ml_dtypes.float4_e2m1fn,  # one element a byte: NumPy has no packed types
    "float": np.float32,
    "double": np.float64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
}
TYPES = {name: np.dtype(dtype) for name, dtype in TYPES.items()}
FLOAT, FLOAT4, SCALE = TYPES["float"], TYPES["float4e2m1"], TYPES["float8e8m0"]
NARROW = list(TYPES)[:8]

REPETITIONS = 3
BATCH_SECONDS = 500e-6  # long beside a look at the clock
MOST_ROUNDS = 25
SLOW_SECONDS = 0.3  # what takes longer is not repeated
CACHED_BYTES = 128 << 20  # from here on no cache remembers
ASLEEP_SECONDS = 0.01  # after which the threads of a library have stopped spinning,
AWAKE_SECONDS = 0.02  # and those of another have found a CPU of their own
EXACT_ELEMENTS = 1 << 20


# ---- buffers and what is in them ---------------------------------------------------------


class Buffers:
    """A source and a destination: touched, and on huge pages where there are any."""

    def __init__(self, size):
        self.size = size
        self.source, self.destination = self._touched(size), self._touched(size)
        self.held = None  # what is in the source

    @staticmethod
    def _touched(size):
        memory = mmap.mmap(-1, size)
        with contextlib.suppress(AttributeError, OSError):  # only advice
            memory.madvise(mmap.MADV_HUGEPAGE)
        array = np.frombuffer(memory, np.uint8)
        array.fill(1)
        return array

    def arrays(self, dst_shape, dst_type, src_shape, src_type, data):
        """Views of both; what the source shall hold is made if it is not there yet."""
        dst, src = (
            memory[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
            for memory, shape, dtype in (
                (self.destination, dst_shape, dst_type),
                (self.source, src_shape, src_type),
            )
        )
        if self.held != (data, src_type, src.size):
            fill_with(src.reshape(-1), data)
            self.held = (data, src_type, src.size)
        return dst, src


def fill_with(array, data):
    """Puts random bits, or numbers from N(0, 1), into an array."""
    rng = np.random.default_rng(1)
    if data == "bits" or array.dtype.kind == "u":
        raw = array.view(np.uint8)
        piece = np.frombuffer(rng.bytes(min(raw.size, 4 << 20)), np.uint8)
        if array.dtype == FLOAT4:
            piece = piece & 15
    else:
        normal = rng.standard_normal(min(array.size, 1 << 20), np.float32)
        raw = array.view(np.uint8)
        piece = taper.cast(normal, array.dtype).view(np.uint8)
    for begin in range(0, raw.size, piece.size):
        part = raw[begin : begin + piece.size]
        part[:] = piece[: part.size]


def codes(array):
    return np.asarray(array).view(f"u{array.itemsize}")


# ---- what is measured --------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """An operation from one type to another, on contiguous arrays."""

    op: str
    name: str
    dst: np.dtype
    src: np.dtype

    def arrays(self, buffers, n, data):
        return buffers.arrays((n,), self.dst, (1 if self.op == "fill" else n,), self.src, data)

    def elements(self, n):
        """A fill is of as many bytes whatever the type."""
        return n * 4 // self.dst.itemsize if self.op == "fill" else n

    def traffic(self, n):
        return n * self.dst.itemsize + (0 if self.op == "fill" else n * self.src.itemsize)

    def expected(self, src, n):
        """{options: what taper makes}: several where libraries may choose."""
        if self.op == "fill":
            return {"": taper.full(n, src[0], self.dst)}
        if self.op == "copy":
            return {"": src}
        chosen = [{}]
        if self.dst == SCALE:
            modes = ("up", "down", "nearest")
            chosen = [{"round_mode": m, "saturate": s} for m in modes for s in (True, False)]
        elif self.dst.itemsize == 1 and self.dst != FLOAT4:
            chosen = [{"saturate": True}, {"saturate": False}]
        return {
            ", ".join(f"{key}={value}" for key, value in options.items()): taper.cast(
                src, self.dst, **options
            )
            for options in chosen
        }


CASES = [
    *(Case("narrow", name, TYPES[name], FLOAT) for name in NARROW),
    *(Case("widen", name, FLOAT, TYPES[name]) for name in NARROW),
    Case("cast", "float_from_double", FLOAT, TYPES["double"]),
    Case("cast", "bfloat16_from_float16", TYPES["bfloat16"], TYPES["float16"]),
    *(Case("fill", name, TYPES[name], TYPES[name]) for name in ("float", "uint8", "uint64")),
    Case("copy", "float", FLOAT, FLOAT),
]


@dataclasses.dataclass
class Layout:
    """A copy of a view into a contiguous array."""

    name: str
    dtype: np.dtype
    shape: tuple  # of the memory
    change: Callable

    op = "layout"

    def arrays(self, buffers):
        shape = self.change(np.empty(self.shape, np.uint8)).shape
        dst, src = buffers.arrays(shape, self.dtype, self.shape, self.dtype, "bits")
        return dst, self.change(src)


SQUARE, IMAGES, PIXELS = (4096, 4096), (32, 64, 112, 112), (32, 112, 112, 64)
LAYOUTS = [
    *(
        Layout(f"transpose/uint{bits}", TYPES[f"uint{bits}"], SQUARE, lambda a: a.T)
        for bits in (8, 16, 32, 64)
    ),
    Layout(
        "nhwc_from_nchw/uint32", TYPES["uint32"], IMAGES, lambda a: a.transpose(0, 2, 3, 1)
    ),
    Layout(
        "nchw_from_nhwc/uint32", TYPES["uint32"], PIXELS, lambda a: a.transpose(0, 3, 1, 2)
    ),
    Layout("step_2/uint32", TYPES["uint32"], IMAGES, lambda a: a[..., ::2]),
    Layout("rows_apart/uint32", TYPES["uint32"], SQUARE, lambda a: a[:, :2048]),
]


# ---- implementations ---------------------------------------------------------------------
#
# Each has calls(op, dst, src, threads): {name of the row: what to time}, empty if it has no
# such thing. Some types it learns about only when a call fails.


class Peer:
    def use_threads(self, threads):
        """For calls that are not bound to a number of threads when they are made."""


class Taper(Peer):
    package = "taper"

    def use_threads(self, threads):
        taper.set_num_threads(threads)

    def calls(self, op, dst, src, threads):
        if op in ("fill", "copy", "layout"):
            return {"taper-python": lambda: taper.copyto(dst, src)}
        return {"taper-python": lambda: taper.cast(src, dst.dtype, out=dst)}


class NumPy(Peer):
    package = "numpy"

    def calls(self, op, dst, src, threads):
        if threads != 1:
            return {}
        if op == "fill":
            value = src[0]
            return {"numpy": lambda: dst.fill(value)}
        extended = "ml_dtypes" in (dst.dtype.type.__module__, src.dtype.type.__module__)
        row = "ml_dtypes" if extended else "numpy"
        rows = {row: lambda: np.copyto(dst, src, casting="unsafe")}
        if op == "layout":
            rows["ascontiguousarray"] = lambda: np.ascontiguousarray(src)
        return rows


class OnnxRuntime(Peer):
    package = "onnxruntime"
    OPSET, IR_VERSION = 25, 11

    def __init__(self, module):
        self.ort = module
        self.onnx = importlib.import_module("onnx")
        self.session = functools.cache(self.make_session)

    def number(self, dtype):
        (name,) = (name for name, known in TYPES.items() if known == dtype)
        return self.onnx.TensorProto.DataType.Value(name.upper())

    def make_session(self, op, to, of, value, threads):
        """A model of one node."""
        helper = self.onnx.helper
        if op == "fill":
            constant = helper.make_tensor("value", to, [1], value, raw=True)
            node = helper.make_node("ConstantOfShape", ["x"], ["y"], value=constant)
        elif op == "copy":
            node = helper.make_node("Identity", ["x"], ["y"])
        else:
            node = helper.make_node("Cast", ["x"], ["y"], to=to)
        x = helper.make_tensor_value_info("x", of, ["n"])
        y = helper.make_tensor_value_info("y", to, ["m"])
        model = helper.make_model(
            helper.make_graph([node], op, [x], [y]),
            opset_imports=[helper.make_opsetid("", self.OPSET)],
            ir_version=self.IR_VERSION,
        )
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # what fails is an exception, too
        # Its threads may run where the one may that makes them: not only where OpenMP has
        # bound this one.
        bound = os.sched_getaffinity(0)
        os.sched_setaffinity(0, CPUS)
        try:
            return self.ort.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        finally:
            os.sched_setaffinity(0, bound)

    def calls(self, op, dst, src, threads):
        if op == "layout":
            return {}
        value = None
        if op == "fill":
            value, src = src.tobytes(), np.array([dst.size], np.int64)
        to = self.number(dst.dtype)
        of = self.onnx.TensorProto.INT64 if op == "fill" else self.number(src.dtype)
        session = self.session(op, to, of, value, threads)
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, of, src.shape, src.ctypes.data)
        binding.bind_output("y", "cpu", 0, to, dst.shape, dst.ctypes.data)

        def run(alive=src):  # the binding has its address only
            session.run_with_iobinding(binding)

        return {"onnxruntime": run}


class Torch(Peer):
    package = "torch"

    def __init__(self, module):
        self.torch = module
        spellings = ["bfloat16", "float16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                     "float8_e5m2fnuz", "float8_e8m0fnu", None, "float32", "float64",
                     "uint8", "int16", "int32", "int64"]  # fmt: skip
        # Old versions have few of these; integers are moved only, so the sign is no matter.
        self.types = {
            dtype: getattr(module, spelling)
            for dtype, spelling in zip(TYPES.values(), spellings, strict=True)
            if spelling is not None and hasattr(module, spelling)
        }

    def use_threads(self, threads):
        self.torch.set_num_threads(threads)

    def tensor(self, array):
        """The same memory. from_numpy() would need the NumPy that PyTorch was built for."""
        memory = array
        while isinstance(memory.base, np.ndarray):
            memory = memory.base
        flat = self.torch.frombuffer(memory, dtype=self.types[array.dtype])
        strides = [stride // array.itemsize for stride in array.strides]
        return flat.as_strided(array.shape, strides)

    def calls(self, op, dst, src, threads):
        if not {dst.dtype, src.dtype} <= self.types.keys():
            return {}
        to, of = self.tensor(dst), self.tensor(src)
        if op == "fill":
            value = of.item()
            return {"torch": lambda: to.fill_(value)}
        rows = {"torch": lambda: to.copy_(of)}
        if op == "layout":
            rows["torch.contiguous"] = of.contiguous
        return rows


class NumKong(Peer):
    package = "numkong"

    def __init__(self, module):
        self.astype = module.astype
        names = {
            "bfloat16": "bfloat16",
            "float16": "float16",
            "float8e4m3fn": "float8_e4m3",
            "float8e5m2": "float8_e5m2",
            "float": "float32",
            "double": "float64",
        }
        self.types = {TYPES[name]: spelling for name, spelling in names.items()}

    def calls(self, op, dst, src, threads):
        casts = op in ("narrow", "widen", "cast") and threads == 1
        if not casts or not {dst.dtype, src.dtype} <= self.types.keys():
            return {}
        spelling = self.types[dst.dtype]
        return {"numkong": lambda: self.astype(src, spelling, out=dst)}


@functools.cache  # once
def say(message):
    print(f"peers.py: {message}", file=sys.stderr)


def find_peers():
    """Objects and versions of what can be imported."""
    peers = [Taper(), NumPy()]
    versions = {"taper": taper.__version__, "numpy": np.__version__}
    versions["ml_dtypes"] = ml_dtypes.__version__
    for peer in (OnnxRuntime, Torch, NumKong):
        try:
            module = importlib.import_module(peer.package)
            peers.append(peer(module))
            versions[peer.package] = module.__version__
        except ImportError as error:
            say(f"{peer.package} is left out: {error}")
    return peers, versions


def working_peers(peers, op, dst, src):
    """Those that have the operation on these types, each tried once: {peer: its calls}."""
    working = {}
    for peer in peers:
        peer.use_threads(1)
        try:
            calls = peer.calls(op, dst, src, 1)
            for call in calls.values():
                call()
        except Exception as error:  # each library has its own kind
            reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
            say(f"{peer.package} has no {op} from {src.dtype} to {dst.dtype}: {reason}")
        else:
            working[peer] = calls
    return working


# ---- whose bits are the same -------------------------------------------------------------


def count_cast(case, peers, buffers):
    """The peers that work, and {row: counts} of elements whose bits are not what taper makes,
    of random bits and of numbers from N(0, 1). Where libraries choose differently how to
    round or what becomes of large numbers, the count is the least that any choice of
    taper's gives for random bits, and the label tells which."""
    exact = {}
    for data, key in (("bits", "differ"), ("normal", "differ_normal")):
        dst, src = case.arrays(buffers, EXACT_ELEMENTS, data)
        working = working_peers(peers, case.op, dst, src)
        expected = case.expected(src, EXACT_ELEMENTS)
        for row, call in all_rows(working):
            dst.view(np.uint8).fill(0xA5)
            call()
            counts = {
                label: float(np.count_nonzero(codes(dst) != codes(want)))
                for label, want in expected.items()
            }
            found = exact.setdefault(row, {"label": min(counts, key=counts.get)})
            found[key] = counts[found["label"]]
    return list(working), exact


def count_layout(layout, peers, buffers):
    """The same of a layout, where all bits are random."""
    exact = {}
    dst, src = layout.arrays(buffers)
    working = working_peers(peers, layout.op, dst, src)
    for row, call in all_rows(working):
        dst.view(np.uint8).fill(0xA5)
        made = call()
        if row == "torch.contiguous":
            made = np.from_dlpack(made)
        elif row != "ascontiguousarray":
            made = dst
        differ = float(np.count_nonzero(codes(made) != src))
        exact[row] = {"differ": differ, "differ_normal": differ}
    return list(working), exact


def all_rows(working):
    for calls in working.values():
        yield from calls.items()


# ---- measuring ---------------------------------------------------------------------------


def timed(call, count):
    repeat = itertools.repeat(None, count)
    start = time.perf_counter()
    for _ in repeat:
        call()
    return (time.perf_counter() - start) / count


def warm(call, traffic, threads):
    """Calls until caches and threads are as this one leaves them."""
    if threads > 1:
        time.sleep(ASLEEP_SECONDS)
        end = time.perf_counter() + AWAKE_SECONDS
        while time.perf_counter() < end:
            call()
    elif traffic < CACHED_BYTES:
        call()


def batch(call):
    """How many calls make a batch."""
    count = 1
    while timed(call, count) * count < BATCH_SECONDS / 4:
        count *= 4
    return max(1, int(BATCH_SECONDS / timed(call, count)))  # the last one may have been disturbed


@dataclasses.dataclass
class Subject:
    """What is measured in the same rounds: every row of a case at one size, or of a layout,
    and np.copyto(), which is memcpy(), of the same traffic."""

    op: str
    name: str  # with {} for the implementation
    n: int
    traffic: int
    threads: int
    arrays: Callable
    peers: list
    exact: dict
    counts: dict = dataclasses.field(default_factory=dict)  # {row: calls of a batch}
    slow: set = dataclasses.field(default_factory=set)

    def calls(self, buffers):
        """{row: call}; the row of np.copyto() has no name."""
        dst, src = self.arrays()
        half = max(1, self.traffic // 2)
        to, of = buffers.destination[:half], buffers.source[:half]
        calls = {"": lambda: np.copyto(to, of)}
        for peer in self.peers:
            peer.use_threads(self.threads)
            calls |= peer.calls(self.op, dst, src, self.threads)
        return {row: call for row, call in calls.items() if row not in self.slow}

    def rounds(self, calls, seconds):
        """{row: seconds of a call in each round}. In a round each has its turn, in random
        order."""
        times = {row: [] for row in calls}
        end = time.perf_counter() + seconds
        for _ in range(MOST_ROUNDS):
            for row in random.sample(list(calls), len(calls)):
                warm(calls[row], self.traffic, self.threads)
                if row not in self.counts:
                    large = self.traffic >= CACHED_BYTES
                    self.counts[row] = 1 if large else batch(calls[row])
                times[row].append(timed(calls[row], self.counts[row]))
            if time.perf_counter() >= end:
                break
        return times

    def measure(self, buffers, seconds):
        """{name of a row: entry} of one repetition."""
        times = self.rounds(self.calls(buffers), seconds)
        copy = times.pop("")
        self.slow |= {row for row, taken in times.items() if min(taken) > SLOW_SECONDS}
        end = f"/threads:{self.threads}" if self.threads > 1 else ""
        return {
            self.name.format(row) + end: self.entry(taken, copy) | self.exact.get(row, {})
            for row, taken in times.items()
        }

    def entry(self, times, copy):
        """What Google Benchmark writes about a repetition."""
        # Several threads need as many idle CPUs at once, which a busy machine has in few
        # rounds only: the fastest ones are compared.
        if self.threads > 1:
            taken, ratio = min(times), min(copy) / min(times)
        else:
            taken = statistics.median(times)
            ratio = statistics.median(c / t for c, t in zip(copy, times, strict=True))
        return {
            "run_type": "iteration",
            "threads": self.threads,
            "iterations": len(times),
            "real_time": taken * 1e9,
            "cpu_time": taken * 1e9,
            "time_unit": "ns",
            "bytes_per_second": self.traffic / taken,
            "items_per_second": self.n / taken,
            "M": ratio,
            "rounds": float(len(times)),
        }


def make_subjects(arguments, peers, buffers):
    subjects = []
    for case in arguments.cases:
        working, exact = count_cast(case, peers, buffers)
        for size, threads in itertools.product(arguments.sizes, arguments.threads):
            n = case.elements(size)
            traffic = case.traffic(n)
            if traffic > 2 * buffers.size or (threads > 1 and traffic < 1 << 20):
                continue  # no library makes parts of less
            arrays = functools.partial(case.arrays, buffers, n, "normal")
            name = f"{case.op}/{case.name}/{{}}/{n}"
            subjects.append(Subject(case.op, name, n, traffic, threads, arrays, working, exact))
    for layout in arguments.layouts:
        working, exact = count_layout(layout, peers, buffers)
        for threads in arguments.threads:
            arrays = functools.partial(layout.arrays, buffers)
            n = arrays()[0].size
            traffic = 2 * n * layout.dtype.itemsize
            name = f"layout/{layout.name}/{{}}"
            subjects.append(Subject("layout", name, n, traffic, threads, arrays, working, exact))
    return subjects


def run(subjects, buffers, seconds):
    """{name of a row: its repetitions}, in the order of the subjects."""
    found = [{} for _ in subjects]
    total, done = REPETITIONS * len(subjects), 0
    for _ in range(REPETITIONS):
        for i in random.sample(range(len(subjects)), len(subjects)):
            for name, entry in subjects[i].measure(buffers, seconds).items():
                found[i].setdefault(name, []).append(entry)
            done += 1
            if sys.stderr.isatty():
                end = "\n" if done == total else ""
                print(f"\r{done} of {total} runs", end=end, file=sys.stderr, flush=True)
    return functools.reduce(dict.__or__, found, {})


# ---- what comes out ----------------------------------------------------------------------


def entries(rows):
    """The list that Google Benchmark writes."""
    listed = []
    for family, (name, repetitions) in enumerate(rows.items()):
        for index, entry in enumerate(repetitions):
            about = {"name": name, "run_name": name, "family_index": family,
                     "per_family_instance_index": 0, "repetitions": len(repetitions),
                     "repetition_index": index}  # fmt: skip
            listed.append(about | entry)
    return listed


def print_rows(rows):
    """Medians of the repetitions; the spread is (most - least) / median."""
    print(f"{'':52}{'ns':>12}{'GB/s':>8}{'M':>8}{'spread':>8}{'differ':>9}{'normal':>9}")
    for name, repetitions in rows.items():
        times = [entry["real_time"] for entry in repetitions]
        ns = statistics.median(times)
        speed = statistics.median(entry["bytes_per_second"] for entry in repetitions) * 1e-9
        ratio = statistics.median(entry["M"] for entry in repetitions)
        spread = (max(times) - min(times)) / ns
        bits = repetitions[0]
        print(f"{name:52}{ns:12.0f}{speed:8.2f}{ratio:8.3f}{spread:8.3f}"
              f"{bits['differ']:9.0f}{bits['differ_normal']:9.0f}  "
              f"{bits.get('label', '')}")  # fmt: skip


# ---- the program -------------------------------------------------------------------------


def read_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def caches():
    """Those of the first CPU, in the form of Google Benchmark."""
    found = []
    for folder in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        size = read_text(folder / "size")
        if size.endswith("K"):
            found.append(
                {
                    "type": read_text(folder / "type"),
                    "level": int(read_text(folder / "level")),
                    "size": int(size[:-1]) << 10,
                }
            )
    return found


def cpu_name():
    match = re.search(r"^model name\s*: (.*)$", read_text("/proc/cpuinfo"), re.MULTILINE)
    return match[1] if match else platform.machine()


def write_json(path, content):
    """The file appears whole or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
    os.replace(temporary, path)


def numbers(text):
    values = [int(word) for word in text.split(",")]
    if min(values) < 1:
        raise ValueError("not a number from 1 on")
    return values


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="also write the rows to this file")
    parser.add_argument("--filter", type=re.compile, default="", metavar="REGEX",
                        help="only what it is found in, such as narrow/bfloat16")  # fmt: skip
    parser.add_argument("--sizes", type=numbers, default="64,4096,131072,4194304,134217728",
                        metavar="N,...", help="elements (default: %(default)s)")  # fmt: skip
    parser.add_argument("--threads", type=numbers, default="1,2", metavar="N,...",
                        help="default: %(default)s")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=0.1,
                        help="rounds of one repetition (default: %(default)s)")  # fmt: skip
    arguments = parser.parse_args()
    wanted = arguments.filter.search
    arguments.cases = [case for case in CASES if wanted(f"{case.op}/{case.name}")]
    arguments.layouts = [layout for layout in LAYOUTS if wanted(f"layout/{layout.name}")]
    if not arguments.cases and not arguments.layouts:
        parser.error(f"--filter '{arguments.filter.pattern}' leaves nothing to measure")
    return arguments


def main():
    arguments = parse_arguments()
    np.seterr(all="ignore")  # that numbers do not fit is no news here
    gc.disable()
    peers, versions = find_peers()
    context = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "executable": "peers.py",
        "cpu": cpu_name(),
        "num_cpus": os.cpu_count(),
        "caches": caches(),
        "isa": taper.info()["isa"],
        "python": platform.python_version(),
        "versions": versions,
        "environment": {k: v for k, v in os.environ.items() if k.startswith(("OMP_", "TAPER_"))},
    }
    print(context["cpu"], *(f"{k} {v}" for k, v in versions.items()), sep=", ")

    largest = max(arguments.sizes) if arguments.cases else 0
    layouts = max((8 * math.prod(layout.shape) for layout in arguments.layouts), default=0)
    buffers = Buffers(max(4 * largest, 8 * EXACT_ELEMENTS, layouts))
    subjects = make_subjects(arguments, peers, buffers)
    rows = run(subjects, buffers, arguments.seconds)
    print_rows(rows)
    if arguments.json:
        write_json(arguments.json, {"context": context, "benchmarks": entries(rows)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
