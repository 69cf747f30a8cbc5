"""taper verify: what it tries, what it prints, and that it notices what is wrong."""

import os
import re
import resource
from pathlib import Path

import pytest

HASHES = Path(__file__).parent.parent / "hashes.txt"
SHORT = ("--from", "0x43e7f000", "--count", "0x3000")  # around 464, which is halfway to overflow


def rows(done):
    """The lines about sweeps, in words, with the verdict as the last one."""
    return [
        line.split(maxsplit=8)
        for line in done.stdout.splitlines()
        if line.startswith(("narrow ", "widen ", "cast "))
    ]


@pytest.fixture
def isas(taper):
    (line,) = re.findall(r"can be used here +(.*)", taper("info").stdout)
    return line.split()


def test_slice(taper, isas):
    """One line for each instruction set, scalar first, with the same hash."""
    done = taper("verify", "--op", "narrow", "--to", "f8_e4m3", *SHORT)
    lines = rows(done)
    assert [line[4] for line in lines] == 2 * isas[::-1]
    assert {line[3] for line in lines} == {"saturate", "no-saturate"}
    assert {line[5] for line in lines} == {str(0x3000)}
    assert {line[8] for line in lines} == {"ok"}
    assert len({line[6] for line in lines}) == 2
    assert done.stdout.splitlines()[0].split()[0] == "op"
    assert re.search(r"^2 casts, .* default state: 0 failed", done.stdout, re.MULTILINE)
    assert done.stderr == ""


def test_names_of_types(taper):
    """The spelling of safetensors, in any case, and that of ONNX."""
    one = [row[:7] for row in rows(taper("verify", "--op", "narrow", "--to", "bf16", *SHORT))]
    for name in ("BF16", "bfloat16"):
        other = taper("verify", "--op", "narrow", "--to", name, *SHORT)
        assert [row[:7] for row in rows(other)] == one


def test_choices(taper):
    """Every option narrows the choice down."""

    def chosen(*arguments):
        lines = rows(taper("verify", "--isa", "scalar", "--count", 1000, *arguments))
        assert {line[4] for line in lines} == {"scalar"}
        return [tuple(line[:4]) for line in lines]

    everything = chosen()
    lines = [line for line in HASHES.read_text().splitlines() if line[0] != "#"]
    assert everything == [tuple(line.split()[:4]) for line in lines]
    assert len(chosen("--op", "narrow", "--to", "all", "--saturate", "both")) == 17
    assert chosen("--op", "widen", "--to", "f16") == [("widen", "float16", "float", "-")]
    assert len(chosen("--op", "widen", "--to", "f32")) == 8
    assert chosen("--op", "cast", "--to", "f32") == [("cast", "double", "float", "-")]
    to_f64 = chosen("--to", "f64")
    assert {line[1] for line in to_f64} >= {"float", "float16", "float4e2m1"}
    scale = ("--op", "narrow", "--to", "f8_e8m0")
    assert [line[3] for line in chosen(*scale)] == [
        f"{overflow},{rounding}"
        for overflow in ("saturate", "no-saturate")
        for rounding in ("up", "down", "nearest")
    ]
    one = chosen(*scale, "--saturate", "off", "--round", "down")
    assert [line[3] for line in one] == ["no-saturate,down"]


def test_ranges(taper):
    """A range ends where the patterns do, and may lie across both signs."""

    def inputs(*arguments):
        lines = rows(taper("verify", "--op", "narrow", "--to", "f4", "--isa", "scalar", *arguments))
        return [(int(line[5]), line[6]) for line in lines]

    whole = inputs("--from", "0x7ffff801", "--count", 0x1001)
    assert whole[0][0] == 0x1001
    assert whole == inputs("--from", 0x7FFFF801, "--count", 0x1001, "--threads", 3)
    assert whole == inputs("--from", 0x7FFFF801, "--count", 0x1001, "--hostile")
    assert whole != inputs("--from", "0x7ffff800", "--count", 0x1001)
    assert inputs("--from", "0xffffffff")[0][0] == 1
    assert inputs("--count", 5)[0][0] == 5


def test_quiet(taper):
    assert taper("verify", "-q", "--op", "widen").stdout == ""


def test_stored_hashes(taper, isas):
    """The file says what comes out, and the program which lines it has looked at."""
    lines = HASHES.read_text().splitlines()
    for more in ((), ("--no-oracle",), ("--hostile", "--no-oracle")):
        done = taper("verify", "--op", "widen", "--hashes", HASHES, *more)
        for row in rows(done):
            line = int(row[8].removeprefix("ok line "))
            assert lines[line - 1].split() == [*row[:4], *row[5:7]]
        assert len(rows(done)) == 8 * len(isas)
        total = sum(line[0] != "#" for line in lines)
        assert f"{HASHES}: 8 of {total} lines checked" in done.stdout


def test_written_hashes(taper, tmp_path):
    """--write-hashes writes the lines that are stored."""
    path = tmp_path / "new.txt"
    taper("verify", "--op", "widen", "--write-hashes", path)
    new = [line for line in path.read_text().splitlines() if line[0] != "#"]
    stored = [line for line in HASHES.read_text().splitlines() if line.startswith("widen")]
    assert new == stored


def test_written_hashes_replace_a_file(taper, tmp_path):
    """Only with --force, and only if there is no difference."""
    path = tmp_path / "new.txt"
    path.write_text("mine")
    short = ("verify", "--op", "widen", "--to", "f4", "--write-hashes", path)
    done = taper(*short, code=2)
    assert done.stderr == f"taper: {path}: exists; --force replaces it\n" and done.stdout == ""
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("widen float4e2m1 float - 256 0123\n")
    taper(*short, "--force", "--hashes", wrong, code=1)
    assert path.read_text() == "mine"
    taper(*short, "--force")
    assert path.read_text().splitlines()[-1] in HASHES.read_text().splitlines()
    assert sorted(tmp_path.iterdir()) == [path, wrong]


def test_written_hashes_that_cannot_be(taper, tmp_path):
    """Said before the work: a link is not followed, and neither it nor a pipe is replaced."""
    link, pipe, target = (tmp_path / name for name in ("link", "pipe", "target"))
    link.symlink_to(target)
    os.mkfifo(pipe)
    target.write_text("mine")
    faults = {
        "": (2, "the name of the output is empty: give one"),
        link: (2, f"{link}: is a symbolic link: name the file itself"),
        pipe: (2, f"{pipe}: exists and is no file, as the output is: choose another name"),
        f"{tmp_path}/.": (2, f"{tmp_path}/.: ends without a name: add the one that the file is to"),
        tmp_path / "none" / "new": (3, f"{tmp_path}/none/new: there is no folder {tmp_path}/none"),
    }
    for path, (code, fault) in faults.items():
        for force in ([], ["--force"]):
            done = taper("verify", "--op", "widen", "--write-hashes", path, *force, code=code)
            assert done.stderr.startswith(f"taper: {fault}") and done.stdout == ""
    assert link.readlink() == target and pipe.is_fifo() and target.read_text() == "mine"


def test_written_hashes_without_room(taper, tmp_path):
    """What is there stays."""
    path = tmp_path / "new.txt"
    path.write_text("mine")
    done = taper(
        *("verify", "--op", "widen", "--to", "f4", "--write-hashes", path, "--force"),
        code=3,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert done.stderr == f"taper: {path}: cannot be written: File too large\n"
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("more", [(), ("--no-oracle",), ("-q",)])
def test_wrong_hash(taper, tmp_path, isas, more):
    """The conversion is named, the others are fine, and nothing is written."""
    path = tmp_path / "wrong.txt"
    lines = HASHES.read_text().splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.startswith("widen float8e5m2 ")]
    lines[place] = lines[place][:-1] + ("0" if lines[place][-1] != "0" else "1")
    path.write_text("\n".join(lines))
    new = tmp_path / "new.txt"
    options = ("--op", "widen", "--hashes", path, "--write-hashes", new, *more)
    done = taper("verify", *options, code=1)
    failed = [row for row in rows(done) if row[8].startswith("FAILED")]
    assert [row[:5] for row in failed] == [
        ["widen", "float8e5m2", "float", "-", isa] for isa in isas[::-1]
    ]
    assert all(f"{path}:{place + 1} has 256 {lines[place].split()[-1]}" in row[8] for row in failed)
    assert len(rows(done)) == (1 if "-q" in more else 8) * len(isas)
    assert not new.exists()


def test_missing_line(taper, tmp_path):
    """A conversion that the file leaves out has not been checked by it."""
    path = tmp_path / "short.txt"
    path.write_text("# nothing\n\n")
    done = taper("verify", "--op", "widen", "--to", "f4", "--hashes", path, code=1)
    assert {row[8] for row in rows(done)} == {f"FAILED it has no line in {path}"}


@pytest.mark.parametrize(
    "text, fault",
    [
        ("widen float16 float - 65536", 'is not "OP FROM TO OPTIONS INPUTS HASH"'),
        ("widen float16 float - 65536 0123 4", "is not"),
        ("widen float17 float - 65536 0123", "names no conversion"),
        ("widen float16 float saturate 65536 0123", "names no conversion"),
    ],
)
def test_bad_file(taper, tmp_path, text, fault):
    path = tmp_path / "bad.txt"
    path.write_text(f"# first\n{text}\n")
    done = taper("verify", "--op", "widen", "--hashes", path, code=3)
    assert f"{path}: line 2 {fault}" in done.stderr and done.stdout == ""


def test_file_with_a_line_twice(taper, tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text(2 * "widen float16 float - 65536 0123\n")
    done = taper("verify", "--hashes", path, code=3)
    assert "line 2 names a conversion again" in done.stderr


def test_no_file(taper, tmp_path):
    done = taper("verify", "--hashes", tmp_path / "none", code=3)
    assert "none: cannot be opened: No such file" in done.stderr


@pytest.mark.parametrize(
    "arguments, fault",
    [
        (["x"], "takes no argument, but got 'x'"),
        (["--op", "fill"], "--op 'fill' is not an operation: narrow, widen, cast or all"),
        (["--to", "f17"], "--to 'f17'"),
        (["--to", "int8"], "--to 'int8'"),
        (["--isa", "sse9"], "--isa 'sse9' is not an instruction set that can be used here"),
        (["--saturate", "maybe"], "--saturate 'maybe' is not on, off or both"),
        (["--round", "even"], "--round 'even' is not up, down, nearest or all"),
        (["--from", "0x100000000"], "--from '0x100000000'"),
        (["--from", "-1"], "--from '-1' is not a pattern from 0 to 0xffffffff"),
        (["--from", "1.5"], "--from '1.5'"),
        (["--count", "0"], "--count '0' is not a number from 1 to 4294967296"),
        (["--count", "4294967297"], "--count '4294967297'"),
        (["--from", "1", "--count", "4294967296"], "reach past the last pattern"),
        (["--threads", "0"], "--threads '0'"),
        (["--threads", "two"], "--threads 'two' is not a number of threads from 1 to 256"),
        (["--no-oracle"], "--no-oracle needs --hashes"),
        (["--count", "5", "--hashes", "f"], "leave out --from and --count"),
        (["--from", "5", "--write-hashes", "f"], "leave out --from and --count"),
        (["--op", "narrow", "--to", "f64"], "leave no cast"),
        (["--force"], "--force is for --write-hashes"),
        (["--nonsense"], "unrecognized option '--nonsense'"),
        (["--op"], "requires an argument"),
    ],
)
def test_wrong_usage(taper, tmp_path, arguments, fault):
    done = taper("verify", *arguments, code=2, cwd=tmp_path)
    assert fault in done.stderr and "'taper verify --help' tells how" in done.stderr
    assert done.stderr.count("\n") == 2
    assert done.stdout == ""
