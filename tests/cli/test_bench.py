"""taper bench: its rows, its file and its refusals. How fast anything is depends on the
machine, and is not tested."""

import itertools
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import PROGRAM

NARROW = [
    "float16",
    "bfloat16",
    "float8e4m3fn",
    "float8e5m2",
    "float8e4m3fnuz",
    "float8e5m2fnuz",
    "float8e8m0",
    "float4e2m1",
]
BITS = {"float": 32, "float16": 16, "bfloat16": 16, "float4e2m1": 4}  # of the rest, 8


def traffic(op, kind, n):
    """Bytes read and written, from the definition of the operations."""
    bits = BITS.get(kind, 8)
    return n * (bits + {"fill": 0, "copy": bits, "narrow": 32, "widen": 32}[op]) / 8


def rows(done):
    """The lines of the table, in words."""
    ops = ("fill ", "copy ", "narrow ", "widen ")
    return [line.split() for line in done.stdout.splitlines() if line.startswith(ops)]


def check_spreads(stdout, stderr):
    """There is one warning if rounds were far apart, and nothing else on the standard
    error. Returns how many rows it counts."""
    lines = [line.split() for line in stdout.splitlines() if " x mem" in line]
    spreads = [float(line[6].rstrip("%")) for line in lines]
    if stderr == "":
        assert max(spreads) <= 20
        return 0
    (apart, count) = re.fullmatch(
        r"taper: (\d+) of (\d+) rows have a spread above 20 %: this machine is busy "
        r"with other things, and may be faster than these figures\n",
        stderr,
    ).groups()
    assert int(count) == len(lines) and int(apart) > 0
    assert sum(s > 20 for s in spreads) <= int(apart) <= sum(s >= 20 for s in spreads)
    return int(apart)


@pytest.fixture
def isas(taper):
    (line,) = re.findall(r"can be used here +(.*)", taper("info").stdout)
    return line.split()


def test_everything(taper):
    """Without a choice it is all operations and types, with the best instruction set."""
    done = taper("bench", "--size", "4K")
    casts = [(op, kind) for op in ("narrow", "widen") for kind in NARROW]
    found = [tuple(row[:5]) for row in rows(done)]
    best = found[0][2]
    assert found == [
        (op, kind, best, "1", "4K") for op, kind in [("fill", "float"), ("copy", "float"), *casts]
    ]
    first, second = done.stdout.splitlines()[:2]
    (version,) = re.findall(r"taper (.*)", taper("--version").stdout)
    assert first.startswith(f"taper {version}, ")
    # 960 floats to read for float4e2m1, 4096 bytes to fill
    assert first.endswith(f", {best}, threads 1, 7.94 kB of memory")
    assert second.split() == ["op", "type", "isa", "threads", "size", "GB/s", "spread", "el/cycle"]
    assert done.stdout.splitlines()[-1].startswith("18 rows, ")
    check_spreads(done.stdout, done.stderr)


def test_busy_machine():
    """A process that is stopped again and again measures rounds that are far apart."""
    arguments = [PROGRAM, "bench", "--op", "fill", "--size", "256M"]
    for _ in range(10):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(arguments, **pipes) as process:
            while process.poll() is None:
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.05)
                process.send_signal(signal.SIGCONT)
                time.sleep(random.uniform(0.005, 0.04))
            if check_spreads(*process.communicate()) > 0:
                return
    pytest.fail("no row had a spread above 20 %")


def test_columns(taper):
    for row in rows(taper("bench", "--op", "fill,copy,narrow", "--to", "bf16", "--size", "64K")):
        assert float(row[5]) > 0 and row[6][-1] == "%" and float(row[6][:-1]) >= 0
        assert row[7] == "-" or 0 < float(row[7]) < 1000
        assert float(row[8]) > 0
        assert row[9:] == ["x", "memset" if row[0] == "fill" else "memcpy"]


def test_choices(taper, isas):
    """--to alone narrows, --from alone widens; types are spelled as everywhere."""

    def chosen(*arguments):
        return [tuple(row[:2]) for row in rows(taper("bench", "--size", "4K", *arguments))]

    assert chosen("--to", "F8_E4M3") == [("narrow", "float8e4m3fn")]
    assert chosen("--from", "bfloat16,f4") == [("widen", "bfloat16"), ("widen", "float4e2m1")]
    assert chosen("--to", "f16", "--from", "bf16") == [("narrow", "float16"), ("widen", "bfloat16")]
    assert chosen("--op", "copy,narrow", "--to", "f16") == [
        ("copy", "float"),
        ("narrow", "float16"),
    ]
    assert [kind for _, kind in chosen("--op", "widen")] == NARROW
    done = taper("bench", "--op", "fill", "--size", "4K", "--isa", "all")
    assert [row[2] for row in rows(done)] == isas
    done = taper("bench", "--op", "fill", "--size", "4K", env={"TAPER_ISA": "scalar"})
    assert [row[2] for row in rows(done)] == ["scalar"]


def test_sizes(taper):
    done = taper("bench", "--op", "copy", "--size", "1536,2K:40K,1M")
    assert [row[4] for row in rows(done)] == ["1536", "2K", "8K", "32K", "1M"]


def test_repeated_values(taper):
    """What is asked for twice is measured once."""

    def run(*arguments):
        return rows(taper("bench", "--op", "fill", *arguments))

    assert [row[4] for row in run("--size", "4K,4K,4096,1K:4K", "--size", "1K")] == ["4K", "1K"]
    assert len(run("--size", "4K", "--isa", "scalar,scalar,all", "--isa", "all")) == len(
        run("--size", "4K", "--isa", "all")
    )
    assert len(run("--size", "4K", "--threads", "1,1", "--threads", "1")) == 1


@pytest.mark.parametrize("size, memory", [("1K", "1.02 kB"), ("1M", "1.05 MB"), ("1G", "1.07 GB")])
def test_memory_told(taper, size, memory):
    """One byte is read from, and as many as asked for are filled."""
    done = taper("bench", "--op", "fill", "--size", size)
    assert done.stdout.splitlines()[0].endswith(f", {memory} of memory")


def test_threads(taper):
    """As many as there are CPUs, or one if the library was built without."""
    assert "OMP_PROC_BIND=true" in taper("bench", "--help").stdout
    has_threads = "threads of a call  2\n" in taper("info", env={"OMP_NUM_THREADS": "2"}).stdout
    most = os.cpu_count() if has_threads else 1
    done = taper("bench", "--threads", str(most + 1), code=2)
    assert f"--threads '{most + 1}' is not a number of threads from 1 to {most}\n" in done.stderr
    threads = [str(n + 1) for n in range(min(most, 2))]
    done = taper("bench", "--op", "copy", "--size", "4M", "--threads", ",".join(threads))
    assert [row[3] for row in rows(done)] == threads
    assert f", threads {'+'.join(threads)}, " in done.stdout
    check_spreads(done.stdout, done.stderr)


def check_repetitions(entries, best):
    """The repetitions of a row, and after them what all rounds gave, as `best` sums it up."""
    *parts, entry = entries
    assert [p["run_type"] for p in parts] == ["iteration"] * len(parts)
    assert [p["repetition_index"] for p in parts] == list(range(len(parts)))
    assert {p["name"] for p in parts} == {entry["run_name"]}
    assert {e["repetitions"] for e in entries} == {len(parts)}
    assert entry["run_type"] == "aggregate" and entry["aggregate_name"] == best
    assert entry["name"] == f"{entry['run_name']}_{best}"
    rounds = [p["iterations"] for p in parts]
    assert sum(rounds) == entry["iterations"] >= 3
    assert len(rounds) == min(10, sum(rounds)) and max(rounds) - min(rounds) <= 1
    times = [p["real_time"] for p in parts]
    if best == "fastest":
        assert entry["real_time"] == min(times)
    else:  # at least half of the rounds of some part are no faster, and of some no slower
        assert min(times) <= entry["real_time"] <= max(times)


def by_row(entries):
    """The entries of each row, in the order of the file."""
    return [list(group) for _, group in itertools.groupby(entries, lambda e: e["run_name"])]


def test_json(taper, tmp_path, isas):
    """The file has every row of the table, and figures that agree with each other."""
    path = tmp_path / "run.json"
    done = taper("bench", "--size", "4K,1M", "--isa", isas[0], "--json", path)
    content = json.loads(path.read_text())
    context, groups = content["context"], by_row(content["benchmarks"])
    assert context["executable"] == "taper bench" and context["num_cpus"] == os.cpu_count()
    assert f"taper {context['taper']}, {context['cpu']}, " in done.stdout
    assert all(cache["size"] > 0 and cache["level"] > 0 for cache in context["caches"])
    assert len(groups) == len(rows(done)) == 36
    for group, row in zip(groups, rows(done), strict=True):
        check_repetitions(group, "median")
        op, kind, isa, n = group[-1]["run_name"].split("/")
        assert [op, kind, isa] == row[:3]
        asked = {"4K": 4096, "1M": 1 << 20}[row[4]]
        assert int(n) % 64 == 0  # and no more of them than it takes
        assert traffic(op, kind, int(n) - 64) < asked <= traffic(op, kind, int(n))
        ratio = "memset" if op == "fill" else "M"
        for entry in group:
            assert entry["size"] == asked and entry["threads"] == 1
            seconds = entry["real_time"] * 1e-9
            assert entry["bytes_per_second"] * seconds == pytest.approx(traffic(op, kind, int(n)))
            assert entry["items_per_second"] * seconds == pytest.approx(int(n))
            assert entry["spread"] >= 0 and entry.get("el/cycle", 1) > 0 and entry[ratio] > 0
        assert entry["bytes_per_second"] * 1e-9 == pytest.approx(float(row[5]), abs=0.006)
        assert entry[ratio] == pytest.approx(float(row[8]), abs=0.006)
    assert os.listdir(tmp_path) == ["run.json"]


def test_json_of_few_rounds(taper, tmp_path):
    """A row too large for ten rounds has a repetition for each."""
    path = tmp_path / "run.json"
    taper("bench", "--op", "copy", "--size", "512M", "--isa", "scalar", "--json", path)
    (group,) = by_row(json.loads(path.read_text())["benchmarks"])
    check_repetitions(group, "median")


def test_json_of_threads(taper, tmp_path):
    """What counts is the fastest round, in each part too."""
    if "threads of a call  2\n" not in taper("info", env={"OMP_NUM_THREADS": "2"}).stdout:
        pytest.skip("one thread is all there is")
    path = tmp_path / "run.json"
    taper("bench", "--op", "copy", "--size", "4M", "--threads", "1,2", "--json", path)
    groups = by_row(json.loads(path.read_text())["benchmarks"])
    assert [group[0]["threads"] for group in groups] == [1, 2]
    for group in groups:
        check_repetitions(group, "fastest")


def test_json_is_compared(taper, tmp_path):
    """bench/compare has a range for every row."""
    paths = [tmp_path / name for name in ("old.json", "new.json")]
    for path in paths:
        taper("bench", "--op", "narrow", "--size", "4K", "--json", path)
    compare = Path(__file__).parents[2] / "bench" / "compare"
    command = [sys.executable, str(compare), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("\nnarrow/") == 8 and "cannot" not in done.stdout


def test_json_is_not_replaced(taper, tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    short = ("bench", "--op", "fill", "--size", "4K", "--json", path)
    assert taper(*short, code=2).stderr == f"taper: {path}: exists; --force replaces it\n"
    assert path.read_text() == "mine"
    taper(*short, "--force")
    assert len(by_row(json.loads(path.read_text())["benchmarks"])) == 1


def test_json_that_cannot_be(taper, tmp_path):
    """--force is for files: a link, a pipe and a folder stay, and nothing is measured."""
    link, pipe, folder = (tmp_path / name for name in ("link", "pipe", "folder"))
    link.symlink_to(pipe)
    os.mkfifo(pipe)
    folder.mkdir()
    faults = {
        link: "is a symbolic link: name the file itself",
        pipe: "exists and is no file, as the output is: choose another name",
        folder: "is a folder, and the output is a file: add its name",
        f"{folder}/": "is the name of a folder, and the output is a file: add its name",
        f"{folder}/.": "ends without a name: add the one that the file is to have",
    }
    for path, fault in faults.items():
        for force in ([], ["--force"]):
            done = taper("bench", "--op", "fill", "--size", "4K", "--json", path, *force, code=2)
            assert done.stderr == f"taper: {path}: {fault}\n" and done.stdout == ""
    assert link.readlink() == pipe and pipe.is_fifo() and list(folder.iterdir()) == []


def test_json_cannot_be_written(taper, tmp_path):
    path = tmp_path / "none" / "run.json"
    done = taper("bench", "--op", "fill", "--size", "4K", "--json", path, code=3)
    assert f"{path}: there is no folder {path.parent}: make it first" in done.stderr
    assert done.stdout == ""


def test_no_memory(taper):
    """Said before anything is measured."""
    done = taper("bench", "--size", "4K:4096G", code=3)
    assert re.search(
        r"^taper: these sizes need \d{4}\.\d\d GB of memory, and [\d.]+ GB are available: "
        r"choose a smaller --size$",
        done.stderr,
    )
    assert done.stdout == ""


def test_memory_limit(taper):
    """What the system has and does not give."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    if b"__asan_init" in Path(PROGRAM).read_bytes():
        pytest.skip("the address sanitizer needs more address space than this")
    done = taper("bench", "--size", "512M", code=3, preexec_fn=limit)
    assert "GB of memory: Cannot allocate memory: choose a smaller --size" in done.stderr


def test_interrupt(tmp_path):
    """Ends by the signal, and leaves no file."""
    path = tmp_path / "run.json"
    arguments = [PROGRAM, "bench", "--size", "4K:64K", "--json", path]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        while not process.stdout.readline().startswith(b"fill"):
            pass
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and time.monotonic() - start < 20
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments, fault",
    [
        (["x"], "takes no argument, but got 'x'"),
        (["--op", "cast"], "--op 'cast' is not an operation: fill, copy, narrow, widen or all"),
        (["--op", "fill,"], "--op '' is not an operation"),
        (["--op", ""], "--op '' is not an operation"),
        (["--to", "f17"], "--to 'f17' is not a type to narrow to: bf16, f16, f8_e4m3"),
        (["--to", "bf16,f64"], "--to 'f64' is not a type to narrow to"),
        (["--from", "float"], "--from 'float' is not a type to widen from"),
        (["--from", "i8"], "--from 'i8'"),
        (["--size", "4"], "--size '4' is not a size from 1K to 4096G"),
        (["--size", "1023"], "--size '1023'"),
        (["--size", "4097G"], "--size '4097G'"),
        (["--size", "4KB"], "--size '4KB'"),
        (["--size", "4T"], "--size '4T'"),
        (["--size", "-4K"], "--size '-4K'"),
        (["--size", "1.5M"], "--size '1.5M'"),
        (["--size", "4K:"], "--size '4K:'"),
        (["--size", ":4K"], "--size ':4K'"),
        (["--size", "8K:4K"], "--size '8K:4K'"),
        (["--size", "4K:8K:16K"], "--size '4K:8K:16K'"),
        (["--size", "18446744073709551617K"], "--size '18446744073709551617K'"),
        (["--isa", "sse9"], "--isa 'sse9' is not an instruction set that can be used here"),
        (["--threads", "0"], "--threads '0' is not a number of threads"),
        (["--threads", "two"], "--threads 'two'"),
        (["--threads", "1x"], "--threads '1x'"),
        (["--op", "fill", "--to", "bf16"], "--to is for --op narrow"),
        (["--op", "narrow", "--from", "bf16"], "--from is for --op widen"),
        (["--force"], "--force is for --json"),
        (["--nonsense"], "unrecognized option '--nonsense'"),
        (["--json"], "requires an argument"),
    ],
)
def test_wrong_usage(taper, tmp_path, arguments, fault):
    done = taper("bench", *arguments, code=2, cwd=tmp_path)
    assert fault in done.stderr and "'taper bench --help' tells how" in done.stderr
    assert done.stderr.count("\n") == 2
    assert done.stdout == ""
