"""bench/report.py, on a small run whose figures are known by hand."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from conftest import entries, write_run
import report

N = 1 << 27
TRAFFIC = 6 * N  # narrowing to bfloat16 reads 4 bytes an element and writes 2


class Tables(HTMLParser):
    """{caption: {heading of the row: cells}}, all ids, and what is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.ids, self.loaded = {}, [], []
        self.row, self.inside, self.text = [], None, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        for name in ("src", "href", "xlink:href"):
            if attributes.get(name) and not attributes[name].startswith("#"):
                self.loaded.append(attributes[name])
        if tag in ("caption", "th", "td"):
            self.inside, self.text = tag, ""
        if tag == "tr":
            self.row = []

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.current = self.tables[self.text] = {}
        elif tag in ("th", "td"):
            self.row.append(self.text)
        elif tag == "tr":
            self.current[self.row[0]] = self.row[1:]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with one row of each kind, and more of the narrowing to bfloat16 in memory."""
    narrow = "narrow/bfloat16"
    return write_run(
        tmp_path_factory.mktemp("run") / "run.json",
        entries(f"{narrow}/avx512/{N}", N, TRAFFIC, (20e6, 22e6, 21e6), M=(1.2, 1.3, 1.25)),
        entries(f"{narrow}/avx512/{1 << 17}", 1 << 17, 6 << 17, (4000,) * 3, M=0.9),
        entries(f"{narrow}/scalar/{N}", N, TRAFFIC, (200e6,) * 3, M=0.1),
        entries(
            f"{narrow}/fast/{N}",
            N,
            TRAFFIC,
            (42e6,) * 3,
            M=0.625,
            differ=1234,
            differ_normal=5,
        ),
        entries(
            f"{narrow}/exact/{N}", N, TRAFFIC, (63e6,) * 3, M=0.5, differ=0, differ_normal=0
        ),
        entries(f"fill/float/avx512/{N}", N, 4 * N, (10e6,) * 3, M=1.5),
        entries(
            f"fill/float/memset/{N}", N, 4 * N, (20e6,) * 3, M=0.75, differ=7, differ_normal=7
        ),
        entries(f"cold/{narrow}/avx512/4096", 4096, 24576, (500,) * 3, M=1),
        entries(
            f"first_touch/small_pages/{narrow}/avx512/4096", 4096, 24576, (900,) * 3, M=1
        ),
        entries(
            "threads/narrow/bfloat16/2/4096", 4096, 24576, (100,) * 3, M=1, one_thread=1.75
        ),
        entries("break_even/copy/float/65536", 8192, 65536, (100,) * 3, M=1, one_thread=0.75),
        entries("call/narrow/bfloat16/avx512/16", 16, 96, (6.25,) * 3, M=1),
        entries("data/bfloat16/avx512/nan/4096", 4096, 24576, (100,) * 3, M=1, normal=0.65),
        entries(
            "layout/transpose/uint8/1",
            1 << 24,
            2 << 24,
            (2e6,) * 3,
            M=0.5,
            **{"plain loop": 40},
        ),
        entries("stream/fill/1048576", 1 << 18, 1 << 20, (9e4,) * 3, M=1, ordinary=0.3),
    )


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    return write_run(
        tmp_path_factory.mktemp("peers") / "peers.json",
        entries(
            f"narrow/bfloat16/taper-python/{N}",
            N,
            TRAFFIC,
            (21e6,),
            M=1.25,
            differ=0,
            differ_normal=0,
        ),
        entries(
            f"narrow/bfloat16/snake/{N}",
            N,
            TRAFFIC,
            (210e6,),
            M=0.125,
            differ=9,
            differ_normal=0,
            label="saturate=False",
        ),
        entries("layout/transpose/uint8/taper-python", 1 << 24, 2 << 24, (2e6,), M=0.5),
        entries("layout/transpose/uint8/snake", 1 << 24, 2 << 24, (8e6,), M=0.125),
    )


@pytest.fixture(scope="module")
def built(run, peers):
    return report.build([run, peers])


def test_first_screen(built):
    text, _ = built
    keys = Tables(text).tables["One thread, arrays in memory"]
    # 805306368 bytes in 21 ms; speeds from 36.6 to 40.3; 1.25 / 0.5 and 1.25 / 0.625
    assert keys["float32 to bfloat16"] == [
        "38.3 10%", "1.25", "2.50× exact", "2.00× fast1,234 differ",
    ]  # fmt: skip
    assert keys["fill, 4 bytes"] == ["53.7 0%", "1.50", "–", "–"]
    assert "is 1.25 to 1.50 times as fast as" in text
    # The CPU has characters that mean something in HTML.
    assert "taper on Imagined &amp; Sons &lt;9000&gt;" in text


def test_every_row_is_in_the_page(built):
    text, _ = built
    tables = Tables(text).tables
    assert len(tables["taper_bench"]) == 16 and len(tables["peers.py"]) == 5  # with the heads
    heads = tables["taper_bench"]["row"]
    found = dict(zip(heads, tables["taper_bench"][f"narrow/bfloat16/avx512/{N}"]))
    assert found["ns"] == "21000000"
    assert found["GB/s"] == "38.3"
    assert found["10⁹ elements/s"] == "6.39"
    assert found["spread"] == "9.5%"  # 2 of 21
    assert found["M"] == "1.25"
    assert found["differ"] == ""
    shown = dict(zip(heads, tables["taper_bench"]["threads/narrow/bfloat16/2/4096"]))
    assert shown["one_thread"] == "1.75"


def test_exactness(built):
    tables = Tables(built[0]).tables
    (counts,) = [
        rows for title, rows in tables.items() if title.startswith("Elements that differ")
    ]
    assert counts[""] == ["fast", "exact", "snake"]
    assert counts["float32 to bfloat16"] == ["1,234; 5", "equal", "9; 0saturate=False"]
    assert "fill float32" not in counts  # memset() repeats one byte: it is no peer


def test_goals(run, peers, tmp_path, monkeypatch):
    columns = [["memory, M", f"/avx512/{N}", "M"], ["L1, M", "/avx512/4096", "M"]]
    wanted = {
        "narrow/bfloat16": [1.2, 5],
        "fill/float": [1.6, None],
        "fill/never": [1, 1],
    }
    made = {
        "tables": [
            {"title": "Made up", "goal": "at least", "columns": columns, "rows": wanted}
        ]
    }
    monkeypatch.setattr(report.goals, "GOALS", tmp_path / "goals.json")
    report.goals.GOALS.write_text(json.dumps(made))
    text, _ = report.build([run, peers])
    table = Tables(text).tables["Made up: measured / goal (at least)"]
    assert table == {
        "": ["memory, M", "L1, M"],
        "narrow/bfloat16": ["1.25 / 1.2 met2.00× fast*", "not run / 5"],
        "fill/float": ["1.50 / 1.6 missed2.00× memset", "not run"],
    }
    assert "1 of 2 goals are met." in text
    assert "Lines of which nothing was run are left out: 1." in text


def test_figures(built):
    text, files = built
    assert {
        "picture.svg", "speed-narrow-bfloat16.svg", "peers-narrow-bfloat16.svg",
        "python-narrow-bfloat16.svg", "python-speed-narrow-bfloat16.svg",
        "cold-narrow-bfloat16.svg", "first-touch-small-pages.svg", "threads-narrow-2.svg",
        "break-even.svg", "call-narrow-avx512.svg", "data-avx512.svg", "layouts-1.svg",
        "stream.svg",
    } <= files.keys()  # fmt: skip
    for content in files.values():
        root = ElementTree.fromstring(content)
        assert root.find("{http://www.w3.org/2000/svg}title").text
    words = re.findall(r">([^<>]+)</text>", files["peers-narrow-bfloat16.svg"])
    assert "2.00× (1.92 to 2.08)" in words  # 1.2 to 1.3, of 0.625
    assert "fast: 1,234 of 2²⁰ differ" in words
    assert "exact" in words
    assert "url(#" in files["peers-narrow-bfloat16.svg"]  # the hatching of the wrong one
    assert "38.3" in files["picture.svg"] and "38.3" in text


def test_the_page_stands_alone(built):
    text, _ = built
    page = Tables(text)
    assert page.loaded == []
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in text and "url(http" not in text
    for fact in (
        "GNU 12.2.0",
        "-O3",
        "0123abc",
        "2026-01-02",
        "--benchmark_filter=narrow",
        "32 MiB",
    ):
        assert fact in text


def test_a_run_of_any_one_row_makes_a_page(run, write):
    everything = json.loads(run.read_text())["benchmarks"]
    for name in {entry["name"] for entry in everything}:
        rows = [entry for entry in everything if entry["name"] == name]
        text, _ = report.build([write("one.json", rows)])
        name = name.removesuffix("/manual_time")
        assert name in text.replace("<wbr>", "")


def test_one_value_is_one_number(write):
    ours = entries(f"narrow/bfloat16/avx512/{N}", N, TRAFFIC, (20e6,) * 3, M=1.25)
    exact = entries(f"narrow/bfloat16/exact/{N}", N, TRAFFIC, (50e6,) * 3, M=0.5, differ=0)
    text, files = report.build([write("one.json", ours, exact)])
    assert "is 1.25 times as fast as <code>memcpy" in text
    assert "2.50 times as fast as the fastest peer" in text
    assert "(2.50 beside those that give the same bits)" in text
    words = re.findall(r">([^<>]+)</text>", files["peers-narrow-bfloat16.svg"])
    assert "2.50×" in words


def test_a_machine_that_does_not_tell_its_caches(run, write):
    everything = json.loads(run.read_text())["benchmarks"]
    text, _ = report.build([write("no caches.json", everything, caches=[])])
    assert "One thread, arrays in memory" in Tables(text).tables


def test_sizes_of_two_repetitions_that_differ_much(write):
    name = f"narrow/bfloat16/avx512/{N}"
    run = report.runs.read(write("two.json", entries(name, N, TRAFFIC, (1e6, 9e6), M=1)))
    assert run.rows[name].traffic == pytest.approx(TRAFFIC)


def test_an_empty_run_makes_a_page(write):
    text, files = report.build([write("empty.json", context={})])
    assert "no rows of arrays in memory" in text
    assert files == {}
