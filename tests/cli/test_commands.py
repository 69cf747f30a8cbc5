"""The command line itself: help, versions, listings, and wrong usage."""

import json
import os
import re
import subprocess

import pytest

import checkpoint
from conftest import PROGRAM

COMMANDS = ["bench", "convert", "info", "ls", "verify"]


def test_help(taper):
    shown = taper("--help").stdout
    assert taper(code=2).stderr == shown
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\w", shown, re.MULTILINE)
        text = taper(command, "--help").stdout
        assert taper(command, "-h").stdout == text
        assert text.startswith(f"usage: taper {command}")
        assert max(map(len, text.splitlines())) <= 90


def test_version(taper):
    assert re.fullmatch(r"taper \d+\.\d+\.\d+\n", taper("--version").stdout)


def test_info(taper):
    lines = dict(re.split(r"  +", line, maxsplit=1) for line in
                 taper("info", env={"TAPER_ISA": "scalar"}).stdout.splitlines())  # fmt: skip
    assert lines["in use"] == "scalar"
    assert "scalar" in lines["built for"].split()
    assert "scalar" in lines["can be used here"].split()
    assert int(lines["threads of a call"]) >= 1
    assert "features" in lines and "taper" in lines


def test_unknown_isa(taper):
    """What the library ignores in TAPER_ISA is told, and what it heeds is not."""
    bench = ("bench", "--op", "fill", "--size", "1K")
    built = re.findall(r"built for +(.*)", taper("info").stdout)[0].split()
    for limit in ("sse", built[0].upper(), f"{built[0]} ", "a\nb"):
        env = {"TAPER_ISA": limit}
        shown = limit.replace("\n", "?")
        said = f"TAPER_ISA={shown}: not known, ignored\n"
        assert f"\n                   {said}" in taper("info", env=env).stdout
        assert taper(*bench, env=env).stderr.startswith(f"taper: {said}")
    for limit in ("", *built):
        env = {"TAPER_ISA": limit}
        assert "TAPER_ISA" not in taper("info", env=env).stdout
        assert "TAPER_ISA" not in taper(*bench, env=env).stderr


def test_ls(taper, tmp_path):
    one, two = tmp_path / "one.safetensors", tmp_path / "two.safetensors"
    checkpoint.write(
        one,
        {
            "layer.0.weight": ("F32", [2, 3], bytes(24)),
            "s": ("F8_E4M3FNUZ", [], b"1"),
            "p": ("F4", [2, 8], bytes(8)),
        },
    )
    checkpoint.write(two, {"bell\7": ("U8", [0], b"")})
    rows = [line.split() for line in taper("ls", one).stdout.splitlines()]
    assert rows == [
        ["layer.0.weight", "F32", "[2,3]", "24"],
        ["s", "F8_E4M3FNUZ", "[]", "1"],
        ["p", "F4", "[2,8]", "8"],
        ["3", "tensors,", "33", "bytes"],
    ]
    done = taper("ls", one, tmp_path / "none", two, code=3)
    assert f"{one}:\n" in done.stdout and f"{two}:\nbell?" in done.stdout
    assert done.stderr == f"taper: {tmp_path}/none: cannot be opened: No such file or directory\n"


def test_ls_of_no_file(taper, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = taper("ls", tmp_path, pipe, code=3)
    assert done.stderr == (
        f"taper: {tmp_path}: is a folder: name the files in it\n"
        f"taper: {pipe}: is not a regular file\n"
    )


NARROW = "bf16, f16, f8_e4m3, f8_e5m2, f8_e4m3fnuz, f8_e5m2fnuz, f8_e8m0, f4"


@pytest.mark.parametrize(
    "command, option, names",
    [
        ("convert", "--to", f"{NARROW}, f32"),
        ("bench", "--to", f"{NARROW} or all"),
        ("bench", "--from", f"{NARROW} or all"),
        ("verify", "--to", f"f64, f32, {NARROW} or all"),
        ("bench", "--isa", "{isas} or all"),
        ("verify", "--isa", "{isas} or all"),
    ],
)
def test_names_are_listed(taper, command, option, names):
    """A wrong name brings all that can be; each can, in any case."""
    (isas,) = re.findall(r"can be used here +(.*)", taper("info").stdout)
    names = names.format(isas=isas.replace(" ", ", "))
    done = taper(command, option, "sse9", code=2)
    assert re.search(rf": {re.escape(names)}$", done.stderr, re.MULTILINE)
    for name in re.split(", | or ", names):
        for spelled in {name, name if name == "all" else name.upper()}:
            taper(command, option, spelled, "--help")  # which comes to its turn


def without_output(arguments, way):
    """Runs the program with a standard output that is full, or closed. Returns the standard
    error, and demands the exit code of an output error."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=(lambda: os.close(1)) if way == "closed" else None,
        )
    assert done.returncode == 3
    return done.stderr


@pytest.mark.parametrize("way", ["full", "closed"])
def test_no_standard_output(tmp_path, way):
    """What was written stays, and holds nothing of what was to be printed."""
    assert without_output(["info"], way) == "taper: the standard output cannot be written\n"
    src, out, run, new = (tmp_path / name for name in ("in", "out", "run", "new"))
    checkpoint.write(src, {"x": ("F32", [2], bytes(8))})
    said = "taper: {}: is complete, but the standard output cannot be written\n"
    arguments = ["convert", src, out, "--to", "f16"]
    assert without_output(arguments, way) == said.format(out)
    assert checkpoint.read(out)[0] == {"x": ("F16", [2], bytes(4))}
    arguments = ["bench", "--op", "fill", "--size", "1K", "--json", run]
    assert said.format(run) in without_output(arguments, way)
    assert json.loads(run.read_text())["benchmarks"][0]["size"] == 1024
    arguments = ["verify", "--op", "widen", "--to", "f4", "--write-hashes", new]
    assert without_output(arguments, way) == said.format(new)
    assert new.read_text().startswith("# What ") and new.read_text().count("\n") == 4


def test_no_standard_stream(tmp_path):
    """No file takes the place of one."""
    src, out = tmp_path / "in", tmp_path / "out"
    checkpoint.write(src, {"x": ("F32", [2], bytes(8))})
    done = subprocess.run(
        [PROGRAM, "convert", src, out, "--to", "f16"],
        preexec_fn=lambda: [os.close(fd) for fd in range(3)],
    )
    assert done.returncode == 3
    assert checkpoint.read(out)[0] == {"x": ("F16", [2], bytes(4))}


@pytest.mark.parametrize(
    "arguments, fault",
    [
        (["nonsense"], "no command 'nonsense'"),
        (["--nonsense"], "no command '--nonsense'"),
        (["ls"], "which file?"),
        (["ls", "--nonsense"], "unrecognized option '--nonsense'"),
        (["info", "x"], "takes no argument, but got 'x'"),
        (["convert"], "takes two names, IN and OUT, but got 0"),
        (["convert", "a", "b"], "--to is missing"),
        (["convert", "a", "--to", "f16"], "but got 1"),
        (["convert", "a", "b", "c", "--to", "f16"], "but got 3"),
        (["convert", "a", "b", "--to", "f17"], "--to 'f17'"),
        (["convert", "a", "b", "--to", "f64"], "--to 'f64'"),
        (["convert", "a", "b", "--to", "i8"], "--to 'i8'"),
        (["convert", "a", "b", "--to", "f8_e4m3_and_more_than_fits"], "--to 'f8_e4m3_and"),
        (["convert", "a", "b", "--to"], "requires an argument"),
        (["convert", "a", "b", "--to", "f16", "-j", "0"], "-j '0'"),
        (["convert", "a", "b", "--to", "f16", "-j", "2x"], "-j '2x'"),
        (["convert", "a", "b", "--to", "f16", "--match", "("], "--match '('"),
        (["convert", "a", "b", "--to", "f16", "--keep", "["], "--keep '['"),
        (["convert", "a", "b", "--to", "f16", "-x"], "invalid option -- 'x'"),
    ],
)
def test_wrong_usage(taper, tmp_path, arguments, fault):
    done = taper(*arguments, code=2, cwd=tmp_path)
    assert fault in done.stderr and "--help' tells how" in done.stderr
    assert done.stderr.count("\n") == 2
    assert done.stdout == "" and os.listdir(tmp_path) == []
