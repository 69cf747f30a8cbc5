"""bench/compare, on runs whose answers are known by hand."""

import re
import subprocess
import sys

import pytest
from conftest import BENCH, entries


def compare(*arguments):
    return subprocess.run(
        [sys.executable, str(BENCH / "compare"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def cells(output):
    """{row: (median, least, largest, verdict)}"""
    lines = output.split("\n\n")[0].splitlines()[1:]
    return {name: tuple(rest) for name, *rest in (re.split("  +", line) for line in lines)}


@pytest.fixture
def files(write):
    old = write(
        "old.json",
        entries("slower", 1, 1000, (100, 110, 105)),
        entries("faster", 1, 1000, (100, 110, 105)),
        entries("overlaps", 1, 1000, (100, 130, 110)),
        entries("little", 1, 1000, (1000, 1001, 1002)),
        entries("gone", 1, 1000, (1,)),
    )
    new = write(
        "new.json",
        entries("slower", 1, 1000, (210, 220, 200)),
        entries("faster", 1, 1000, (50, 55, 52.5)),
        entries("overlaps", 1, 1000, (129, 150, 140)),
        entries("little", 1, 1000, (1003, 1004, 1005)),
        entries("fresh", 1, 1000, (1,)),
        entries("fresh too", 1, 1000, (1,)),
    )
    return old, new


def test_ratios(files):
    done = compare(*files)
    assert done.returncode == 0, done.stderr
    assert cells(done.stdout) == {
        # speeds: medians 1000/210 and 1000/105; least 100/220, largest 110/200
        "slower": ("0.500", "0.455", "0.550", "WORSE"),
        "faster": ("2.000", "1.818", "2.200", "better"),
        # ranges 100 to 130 and 129 to 150 share 129 to 130
        "overlaps": ("0.786", "0.667", "1.008"),
        # apart, but by 0.3 %
        "little": ("0.997", "0.995", "0.999"),
    }
    assert "1 better, 1 worse, 2 the same" in done.stdout
    assert "1 rows only in the old file, 2 only in the new" in done.stdout


def test_a_lower_time_is_better(files):
    found = cells(compare(*files, "--counter", "real_time").stdout)
    assert found["slower"] == ("2.000", "1.818", "2.200", "WORSE")
    assert found["faster"] == ("0.500", "0.455", "0.550", "better")


def test_the_floor(files):
    found = cells(compare(*files, "--floor", "0.2", "--changed").stdout)
    assert found.keys() == {"slower", "faster", "little"}
    assert found["little"][-1] == "WORSE"
    assert cells(compare(*files, "--floor", "150", "--changed").stdout) == {}


def test_fails_only_if_asked_and_only_if_worse(files):
    assert compare(*files, "--fail").returncode == 1
    assert compare(*files, "--fail", "--rows", "[!s]*").returncode == 0
    assert compare(*files, "--fail", "--floor", "150").returncode == 0


def test_a_run_beside_itself_is_the_same(files):
    done = compare(files[0], files[0], "--fail")
    assert done.returncode == 0
    assert "0 better, 0 worse, 4 the same" in done.stdout
    assert "1 that cannot be told" in done.stdout  # "gone", done once


def test_of_one_repetition_nothing_can_be_told(write):
    old = write(
        "old.json", entries("one", 1, 1000, (100,)), entries("three", 1, 1000, (100,) * 3)
    )
    new = write(
        "new.json", entries("one", 1, 1000, (900,)), entries("three", 1, 1000, (100,) * 3)
    )
    done = compare(old, new, "--fail")
    assert done.returncode == 0
    assert cells(done.stdout)["one"] == ("0.111", "cannot tell")
    assert "0 better, 0 worse, 1 the same within noise or 5 %, 1 that" in done.stdout
    assert cells(compare(old, new, "--changed").stdout) == {}
    assert compare(old, new, "--rows", "one").returncode == 0
    assert compare(old, new, "--rows", "one", "--fail").returncode == 2


@pytest.mark.parametrize("fail", [(), ("--fail",)])
def test_nothing_to_compare(files, write, fail):
    old, new = files
    other = write("other.json", entries("elsewhere", 1, 1000, (1,)))
    nothing = write("nothing.json")
    nothing.write_text("{}")
    zeros = write("zeros.json", entries("slower", 1, 1000, (1, 1), differ=0))
    for arguments, said in (
        ((old, other), "no rows in common"),
        ((nothing, nothing), "no rows in common"),
        ((old, new, "--rows", "zzz*"), "no rows in common that match 'zzz*'"),
        (
            (old, new, "--counter", "nonsense"),
            "no counter 'nonsense'; there are: bytes_per_second, items_per_second, real_time",
        ),
        (
            (zeros, zeros, "--counter", "differ"),
            "no row whose 'differ' is above 0 in both files",
        ),
    ):
        done = compare(*arguments, *fail)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"compare: {said}\n")


def test_passes_become_the_repetitions_of_one_run(write):
    passes = [
        write(f"{time}.json", entries("row", 1, 1000, (time,))) for time in (100, 125, 110)
    ]
    done = subprocess.run(
        [sys.executable, str(BENCH / "runs.py"), *map(str, passes)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    joined = write("joined.json")
    joined.write_text(done.stdout)
    steady = write("steady.json", entries("row", 1, 1000, (110, 110)))
    # 10, 8 and 9.09 bytes a ns, beside 9.09: the medians are the same
    assert cells(compare(steady, joined).stdout) == {"row": ("1.000", "0.880", "1.100")}
