"""What the programs of bench/ say of files that they cannot read."""

import subprocess
import sys

import pytest
from conftest import BENCH, entries


@pytest.fixture
def unreadable(tmp_path):
    """{path: what is said of it}"""
    texts = {
        "text.json": ("no JSON", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        "list.json": ("[1]", "not the results of a benchmark"),
        "other.json": ('{"benchmarks": [1]}', "not the results of a benchmark"),
    }
    for name, (text, _) in texts.items():
        (tmp_path / name).write_text(text)
    said = {tmp_path / name: reason for name, (_, reason) in texts.items()}
    return {
        **said,
        tmp_path / "none.json": "No such file or directory",
        tmp_path: "Is a directory",
    }


@pytest.mark.parametrize("program", ["compare", "goals.py", "report.py", "runs.py"])
def test_one_line_and_2(program, unreadable, write, tmp_path):
    good = write("good.json", entries("narrow/bfloat16/scalar/4096", 4096, 24576, (100,)))
    none = tmp_path / "none.json"
    calls = [([path, good], path) for path in unreadable] + [([good, none], none)]
    for files, path in calls:
        done = subprocess.run(
            [sys.executable, str(BENCH / program), *map(str, files)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = f"{path}: {unreadable[path]}\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
