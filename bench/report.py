#!/usr/bin/env python3
"""report.py - makes a page, and figures as files, of what taper_bench and peers.py measured.

    bench/report.py RUN.json [PEERS.json] [--out FOLDER] [--picture FILE]

FOLDER gets report.html, which needs no other file, and an SVG file of each figure; FILE
gets one small figure, for README. RUN.json is written by taper_bench --benchmark_out,
PEERS.json by peers.py --json. Rows that are missing leave out what is made of them. Needs
matplotlib.
"""

import argparse
import collections
import dataclasses
import html
import pathlib
import re
import sys

import figures
import goals
import runs
from figures import Bar, Line, number

ISAS = ("avx512", "avx2", "neon", "scalar")
OURS_IN_PYTHON = "taper-python"
SUBJECTS = ("narrow", "widen", "cast", "fill", "copy")
LIMITS = ("memcpy", "memset")  # which do something else: no peers
LEVELS = ("L2", "L3", "memory")

# What the first screen and the picture show.
KEYS = {
    "float32 to bfloat16": ("narrow", "bfloat16"),
    "float32 to float16": ("narrow", "float16"),
    "float32 to float8e4m3fn": ("narrow", "float8e4m3fn"),
    "bfloat16 to float32": ("widen", "bfloat16"),
    "float8e4m3fn to float32": ("widen", "float8e4m3fn"),
    "fill, 4 bytes": ("fill", "float"),
    "copy, 4 bytes": ("copy", "float"),
}


# ---- rows by what they are of --------------------------------------------------------------


@dataclasses.dataclass
class Point:
    n: int
    row: runs.Row


class Table:
    """Rows `<op>/<type>/<implementation>/<n>` of one thread, as
    {(op, type): {implementation: [points, by n]}}. Such rows may have a prefix."""

    def __init__(self, run, prefix=""):
        self.run = run
        self.subjects = collections.defaultdict(dict)
        for name, row in run.rows.items():
            parts = name.removeprefix(prefix).split("/") if name.startswith(prefix) else ()
            if len(parts) == 4 and parts[0] in SUBJECTS and parts[3].isdigit():
                points = self.subjects[parts[0], parts[1]].setdefault(parts[2], [])
                points.append(Point(int(parts[3]), row))
        for implementations in self.subjects.values():
            for points in implementations.values():
                points.sort(key=lambda point: point.n)
        first = list(KEYS.values()) + [
            (op, kind) for op in SUBJECTS for o, kind in self.subjects if o == op
        ]
        self.subjects = {key: self.subjects[key] for key in first if key in self.subjects}

    def row(self, subject, implementation, n):
        for point in self.subjects.get(subject, {}).get(implementation, []):
            if point.n == n:
                return point.row
        return None

    def in_memory(self, subject, implementation, n, machine):
        """The row of `n` elements, or else the largest whose bytes no cache holds."""
        points = self.subjects.get(subject, {}).get(implementation, [])
        largest = machine.largest(points, "memory")
        return self.row(subject, implementation, n) or (largest and largest.row)

    def ours(self, subject):
        """The best instruction set that was measured, or the Python package."""
        there = self.subjects.get(subject, {})
        return next((name for name in (*ISAS, OURS_IN_PYTHON) if name in there), None)

    def peers(self, subject):
        return [
            name
            for name in self.subjects.get(subject, {})
            if name not in (*ISAS, OURS_IN_PYTHON, *LIMITS)
        ]

    def copies(self, op):
        """The name and the rows of the memset() or memcpy() that every figure shows."""
        name, subject = ("memset", "fill") if op == "fill" else ("memcpy", "copy")
        points = self.subjects.get((subject, "float"), {}).get(name, [])
        return name, [point.row for point in points]


class Machine:
    def __init__(self, context):
        self.context = context
        self.caches = {}
        for cache in context.get("caches", []):
            if cache["type"] != "Instruction":
                self.caches.setdefault(f"L{cache['level']}", cache["size"])
        self.name = context.get("cpu", "this machine")

    def level(self, traffic):
        """The cache that holds the bytes of a call, or "memory" if they are twice what the
        last one holds."""
        for name, size in sorted(self.caches.items()):
            if traffic <= size:
                return name
        largest = max(self.caches.values(), default=64 << 20)
        return "memory" if traffic >= 2 * largest else None

    def largest(self, points, level):
        """Of the points whose bytes are in this level, the last."""
        there = [point for point in points if self.level(point.row.traffic) == level]
        return there[-1] if there else None


def wrong(row):
    """Elements of 2^20 whose bits are not ours, of random bits or of normal numbers."""
    return max(row.median("differ") or 0, row.median("differ_normal") or 0)


def has_m(*rows):
    return all("M" in row.values for row in rows)


def faster(ours, theirs):
    """How many times as fast ours is. Each was compared with memcpy() in its own rounds,
    which leaves out what else the machine was doing."""
    return (
        ours.median("M") / theirs.median("M")
        if has_m(ours, theirs)
        else ours.gbps / theirs.gbps
    )


def faster_range(ours, theirs):
    """The least and the most that the repetitions give."""
    counter = "M" if has_m(ours, theirs) else "bytes_per_second"
    low, high = zip(ours.range(counter), theirs.range(counter))
    return low[0] / high[1], high[0] / low[1]


# ---- HTML ----------------------------------------------------------------------------------


def escape(text):
    return html.escape(str(text))


def cell(content, tag="td", **attributes):
    extra = "".join(f' {key.rstrip("_")}="{value}"' for key, value in attributes.items())
    return f"<{tag}{extra}>{content}</{tag}>"


def table(caption, head, body, tall=False):
    """A table in a box of its own that scrolls. Cells are HTML; the first of each row is
    its heading."""
    heads = "".join(cell(escape(h), "th", scope="col") for h in head)
    lines = "\n".join(
        "<tr>" + cell(first, "th", scope="row") + "".join(cell(c) for c in rest) + "</tr>"
        for first, *rest in body
    )
    return (
        f'<div class="scroll{" tall" if tall else ""}" tabindex="0" role="region" '
        f'aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )


def details(summary, content):
    return f"<details><summary>{escape(summary)}</summary>\n{content}\n</details>"


class Page:
    """Sections in order, and the figures that they show."""

    def __init__(self):
        self.sections = []  # (id, title, HTML)
        self.files = {}

    def figure(self, name, text, caption=""):
        if text is None:
            return ""
        name = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        self.files[f"{name}.svg"] = figures.alone(text)
        under = f"<figcaption>{caption}</figcaption>" if caption else ""
        return f"<figure>{text}{under}</figure>"

    def add(self, title, *content):
        content = [part for part in content if part]
        if content:
            name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
            self.sections.append((name, title, "\n".join(content)))


def grid(parts):
    parts = [part for part in parts if part]
    return f'<div class="figures">\n{"".join(parts)}\n</div>' if parts else ""


# ---- the parts -----------------------------------------------------------------------------


def label_of(subject):
    op, kind = subject
    kind = "float32" if kind == "float" else kind
    if op == "narrow":
        return f"float32 to {kind}"
    if op == "widen":
        return f"{kind} to float32"
    if op == "cast":
        to, _, of = kind.partition("_from_")
        return f"{of} to {to}"
    return f"{op} {kind}"


def line_of(label, rows):
    return Line(
        label,
        [
            (row.traffic, row.gbps, *(v * 1e-9 for v in row.range("bytes_per_second")))
            for row in rows
            if row.gbps and row.median("real_time")
        ],
    )


def throughput_figure(name, data, subject, machine):
    implementations = data.subjects[subject]
    order = [n for n in (*ISAS, OURS_IN_PYTHON) if n in implementations] + data.peers(subject)
    series = [line_of(n, [point.row for point in implementations[n]]) for n in order]
    copy, rows = data.copies(subject[0])
    if copy not in order:
        series.append(line_of(copy, rows))
    marks = [(size, level) for level, size in machine.caches.items()]
    return figures.lines(
        name, label_of(subject), series, "bytes read and written by a call",
        "GB/s, one thread", log_y=True, marks=marks,
    )  # fmt: skip


def add_throughput(page, data, machine, title, prefix, intro):
    shown, folded = [], []
    for subject in data.subjects:
        name = f"{prefix}-{subject[0]}-{subject[1]}"
        made = page.figure(name, throughput_figure(name, data, subject, machine))
        (shown if subject in KEYS.values() else folded).append(made)
    more = details(f"{len(folded)} more types", grid(folded)) if folded else ""
    if shown or folded:
        page.add(title, f"<p>{intro}</p>", grid(shown), more)


def speedup_bars(data, subject, machine, levels=LEVELS):
    """Bars of how much faster we are than each peer; hatched if its bits are not ours."""
    ours = data.ours(subject)
    made = []
    if ours is None:
        return made
    points = data.subjects[subject][ours]
    for peer in data.peers(subject):
        for level in levels:
            point = machine.largest(points, level)
            other = point and data.row(subject, peer, point.n)
            if other:
                low, high = faster_range(point.row, other)
                note = f"{number(faster(point.row, other))}×"
                if len(other.values["real_time"]) > 1:
                    note += f" ({number(low)} to {number(high)})"
                count = wrong(other)
                made.append(
                    Bar(
                        f"{peer}: {count:,.0f} of 2²⁰ differ" if count else peer,
                        level,
                        faster(point.row, other),
                        note,
                        bool(count),
                        {"L2": "purple", "L3": "orange", "memory": "blue"}[level],
                    )  # fmt: skip
                )
    return made


def add_peers(page, tables, machine):
    parts = []
    for prefix, title, data in tables:
        made = []
        for subject in data.subjects:
            chart = speedup_bars(data, subject, machine)
            if chart:
                name = f"{prefix}-{subject[0]}-{subject[1]}"
                text = figures.bars(
                    name,
                    label_of(subject),
                    chart,
                    "times as fast as the peer; right of 1 is faster",
                )
                made.append(page.figure(name, text))
        if made:
            parts += [f"<h3>{escape(title)}</h3>", grid(made)]
    if parts:
        page.add(
            "Beside other libraries",
            "<p>Same data, same run. A bar to the right of 1 means that taper is faster, by "
            "the number at its end; in brackets the least and the most that the "
            "repetitions give. A hatched bar belongs to a library whose bits are not "
            "those of the rounding that ONNX prescribes.</p>",
            *parts,
            exactness(tables),
        )


def exactness(tables):
    counts = {}  # subject: {peer: row}
    peers = []
    for _, _, data in tables:
        for subject in data.subjects:
            for peer in data.peers(subject):
                row = next(
                    (p.row for p in data.subjects[subject][peer] if "differ" in p.row.values),
                    None,
                )
                if row is not None:
                    counts.setdefault(subject, {})[peer] = row
                    peers += [peer] if peer not in peers else []
    if not counts:
        return ""

    def show(row):
        if row is None:
            return "–"
        both = [row.median("differ"), row.median("differ_normal") or 0]
        text = "equal"
        if any(both):
            text = f'<span class="wrong">{both[0]:,.0f}; {both[1]:,.0f}</span>'
        return f"{text}, {escape(row.label)}" if row.label else text

    body = [
        [escape(label_of(subject)), *(show(row.get(peer)) for peer in peers)]
        for subject, row in counts.items()
    ]
    return (
        "<h3>Whose bits are the same</h3><p>Elements of 2<sup>20</sup> that differ from "
        "what taper makes: of random bit patterns; of normally distributed numbers. Where "
        "a library may choose what becomes of large numbers, or how to round, it is held "
        "to the choice that it is nearest to, which is named. A dash: the library has no "
        "such conversion, or was not there.</p>"
        + table("Elements that differ, of 1,048,576", ["", *peers], body)
    )


def add_cold(page, run, machine):
    """Rows cold/..., and first_touch/<pages>/<op>/<type>/<implementation>/<n>."""
    data = Table(run, "cold/")
    made = []
    for subject in data.subjects:
        name = f"cold-{subject[0]}-{subject[1]}"
        made.append(page.figure(name, throughput_figure(name, data, subject, machine)))
    if made:
        page.add(
            "From cold memory",
            "<p>The same when no call finds in a cache what the one before it left "
            "there.</p>",
            grid(made[:2]),
            details(f"{len(made) - 2} more", grid(made[2:])) if made[2:] else "",
        )
    groups = collections.defaultdict(list)
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == "first_touch" and row.gbps:
            pages, op, kind, who, n = parts[1:]
            size = figures.si_bytes(row.traffic)
            groups[pages].append(
                Bar(
                    f"{label_of((op, kind))}, {size}",
                    who,
                    row.gbps,
                    number(row.gbps),
                    False,
                    "blue" if who in ISAS else "orange",
                )  # fmt: skip
            )
    made = [
        page.figure(
            f"first-touch-{pages}",
            figures.bars(
                f"first-touch-{pages}",
                pages.replace("_", " ").capitalize(),
                chart,
                "GB/s",
                log=False,
            ),
        )  # fmt: skip
        for pages, chart in groups.items()
    ]
    if made:
        page.add(
            "First touch",
            "<p>Into pages that nobody has written before, which the system makes when "
            "they are written.</p>",
            grid(made),
        )


def add_threads(page, run):
    def series(kind, select):
        groups = collections.defaultdict(lambda: collections.defaultdict(list))
        for name, row in run.rows.items():
            parts = name.split("/")
            if parts[0] == kind and "one_thread" in row.values:
                group, label = select(parts)
                low, high = row.range("one_thread")
                x = row.traffic
                groups[group][label].append((x, high, low, high))
        return groups

    made = []

    def by_team(parts):
        group = "fill and copy" if parts[1] in ("fill", "copy") else parts[1]
        return (parts[3], group), parts[1] if group == "fill and copy" else parts[2]

    for (team, group), labels in series("threads", by_team).items():
        name = f"threads-{group.replace(' ', '-')}-{team}"
        made.append(
            page.figure(
                name,
                figures.lines(
                    name,
                    f"{group}: {team} threads",
                    [Line(k, v) for k, v in labels.items()],
                    "bytes read and written by a call",
                    "times as fast as one thread",
                    one=True,
                ),
            )  # fmt: skip
        )
    even = series("break_even", lambda parts: ("", "/".join(parts[1:-1])))
    for labels in even.values():
        made.append(
            page.figure(
                "break-even",
                figures.lines(
                    "break-even",
                    "From which size two threads pay",
                    [Line(k, v) for k, v in labels.items()],
                    "bytes read and written by a call",
                    "two threads whatever the size: times as fast as one",
                    one=True,
                ),
            )  # fmt: skip
        )
    if made:
        page.add(
            "Threads",
            "<p>How many times as fast several threads are, the fastest round of each. Two "
            "cores that share nothing give 2.</p>",
            grid(made),
        )


def add_calls(page, run):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    libc = collections.defaultdict(list)
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] != "call" or len(parts) != 5 or not parts[4].isdigit():
            continue
        op, kind, who, n = parts[1:]
        moves = op in ("fill", "copy")
        labels = groups["fill and copy" if moves else op, who] if who in ISAS else libc
        label = who if who not in ISAS else op if moves else kind
        labels[label].append((int(n), row.median("real_time"), *row.range("real_time")))
    made = []
    for (op, isa), labels in groups.items():
        name = f"call-{op.replace(' ', '-')}-{isa}"
        labels |= {k: v for k, v in libc.items() if k == "memcpy" or op == "fill and copy"}
        series = [Line(label, points) for label, points in labels.items()]
        text = figures.lines(
            name, f"{op}: {isa}", series, "elements of a call", "ns a call", bytes_x=False
        )
        made.append(page.figure(name, text))
    if made:
        page.add(
            "Tiny calls",
            "<p>What a call costs when there is little to do; beside <code>memcpy</code> and "
            "<code>memset</code> of as many floats.</p>",
            grid(made),
        )


def add_data(page, run):
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == "data" and len(parts) == 5 and "normal" in row.values:
            kind, isa, data, n = parts[1:]
            if data != "normal":
                groups[int(n), isa][kind][data] = row.median("normal")
    made = []
    smallest = min((n for n, _ in groups), default=0)
    for (n, isa), rows in groups.items():
        if n == smallest:
            name = f"data-{isa}"
            text = figures.dots(
                name, f"{isa}: {n:,} elements", list(rows.items()),
                "time on normal numbers / time on these",
            )  # fmt: skip
            made.append(page.figure(name, text))
    if made:
        page.add(
            "Does the data matter?",
            "<p>Narrowing of other numbers than normally distributed ones: at 1 they take "
            "as long, left of it longer. <code>nan</code>: one element in 16 is a NaN; "
            "<code>bits</code>: random bit patterns.</p>",
            grid(made),
        )


def add_layouts(page, run, python):
    """Layouts have rows layout/<change>/<type>/<threads>, of Python .../<implementation>."""
    chart = []
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] != "layout" or parts[-1] != "1":
            continue
        group = "/".join(parts[1:-1]).replace("_", " ")
        for label, counter, colour in (
            ("plain loop", "plain loop", "orange"),
            ("memcpy", "M", "ink"),
        ):
            value = row.median(counter)
            if value:
                chart.append(Bar(group, label, value, f"{number(value)}×", False, colour))
    for name, row in python.rows.items() if python else ():
        parts = name.split("/")
        ours = python.rows.get("/".join([*parts[:3], OURS_IN_PYTHON]))
        if parts[0] != "layout" or len(parts) != 4 or parts[3] == OURS_IN_PYTHON or not ours:
            continue
        value = faster(ours, row)
        group = "/".join(parts[1:3]).replace("_", " ")
        chart.append(
            Bar(group, parts[3], value, f"{number(value)}×", bool(wrong(row)), "purple")
        )
    if chart:
        order = list(dict.fromkeys(bar.group for bar in chart))
        chart.sort(key=lambda bar: order.index(bar.group))
        half = (len(order) + 1) // 2
        made = [
            page.figure(
                f"layouts-{k + 1}",
                figures.bars(
                    f"layouts-{k + 1}",
                    "Layouts",
                    [b for b in chart if b.group in some],
                    "times as fast as these; right of 1 is faster",
                ),
            )  # fmt: skip
            for k, some in enumerate((order[:half], order[half:]))
            if some
        ]
        page.add(
            "Layouts",
            "<p>A tensor copied into a contiguous one, one thread, beside the loop one would "
            "write, <code>memcpy</code> of as many bytes, and other libraries.</p>",
            grid(made),
        )


def add_streams(page, run):
    labels = collections.defaultdict(list)
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == "stream" and "ordinary" in row.values:
            low, high = row.range("ordinary")
            labels[parts[1].replace("_from_", " from ")].append(
                (int(parts[-1]), row.median("ordinary"), low, high)
            )
    if labels:
        text = figures.lines(
            "stream", "Stores past the caches", [Line(k, v) for k, v in labels.items()],
            "bytes written by a call", "time of ordinary stores / time of these", one=True,
        )  # fmt: skip
        page.add(
            "Streaming stores",
            "<p>From which size stores that go past the caches pay: above 1.</p>",
            grid([page.figure("stream", text)]),
        )


@dataclasses.dataclass
class Key:
    """One line of the first screen."""

    title: str
    row: runs.Row  # ours
    copy: str  # memcpy or memset
    ratio: float  # its time / ours
    exact: tuple  # (name, row, elements that differ) of the fastest peer with our bits
    fastest: tuple  # of the fastest peer


def key_rows(data, python, machine):
    """What is shown of each key subject, as far as this run has it."""
    found = []
    for title, subject in KEYS.items():
        isa = data.ours(subject)
        point = isa and machine.largest(data.subjects[subject][isa], "memory")
        if not point:
            continue
        peers = []
        for source in filter(None, (data, python)):
            for peer in source.peers(subject):
                other = source.in_memory(subject, peer, point.n, machine)
                if other:
                    peers.append((peer, other, wrong(other)))
        peers.sort(key=lambda peer: -peer[1].gbps)
        memset = data.row(subject, "memset", point.n)
        found.append(
            Key(
                title, point.row,
                "memset" if memset else "memcpy",
                # M is measured in the same rounds: what disturbs one side disturbs both.
                faster(point.row, memset) if memset else point.row.median("M"),
                next((peer for peer in peers if not peer[2]), None),
                peers[0] if peers else None,
            )
        )  # fmt: skip
    return found


def picture(keys, machine):
    """GB/s in memory: we, memcpy, the fastest peer, and the fastest with the same bits."""
    chart = []
    for key in keys:
        gbps = key.row.gbps
        chart.append(Bar(key.title, "taper", gbps, number(gbps), False, "blue"))
        copy = gbps / key.ratio
        chart.append(Bar(key.title, key.copy, copy, number(copy), False, "muted"))
        if key.exact:
            name, row, _ = key.exact
            chart.append(Bar(key.title, name, row.gbps, number(row.gbps), False, "orange"))
        if key.fastest and key.fastest != key.exact:
            name, row, _ = key.fastest
            note = f"{number(row.gbps)}, other bits"
            chart.append(Bar(key.title, name, row.gbps, note, True, "orange"))
    if not chart:
        return None
    return figures.bars(
        "picture", "One thread, arrays in memory", chart,
        f"GB/s of bytes read and written; {machine.name}", log=False, beside=True,
    )  # fmt: skip


def beginning(page, keys, machine, missed):
    """The first screen: what was found."""
    if not keys:
        return "<p class=lead>This run has no rows of arrays in memory.</p>"
    ratios = [key.ratio for key in keys]
    found = (
        f"On arrays that no cache holds, one thread of taper moves {number(min(ratios))} to "
        f"{number(max(ratios))} times as many bytes a second as the C library's "
        "<code>memcpy</code> and <code>memset</code>"
    )
    beside = [key for key in keys if key.fastest]
    if beside:
        gains = [faster(key.row, key.fastest[1]) for key in beside]
        found += (
            f", and {number(min(gains))} to {number(max(gains))} times as many as the "
            "fastest peer of each row, a library or the compiler's loop"
        )
        exact = [faster(key.row, key.exact[1]) for key in beside if key.exact]
        if exact:
            found += (
                f" ({number(min(exact))} to {number(max(exact))} beside those that give the "
                "same bits)"
            )
    body = []
    for key in keys:
        spread = key.row.spread("bytes_per_second")
        speed = f'{number(key.row.gbps)} <span class="muted">{spread:.0%}</span>'
        cells = [escape(key.title), speed, number(key.ratio)]
        for peer in (key.exact, key.fastest) if beside else ():
            if peer is None:
                cells.append("–")
                continue
            name, row, count = peer
            text = f"{number(faster(key.row, row))}× {escape(name)}"
            if count:
                text += f'<br><span class="wrong">{count:,.0f} differ</span>'
            cells.append(text)
        body.append(cells)
    head = ["", "GB/s, spread", "M"]
    head += ["fastest peer with the same bits", "fastest peer"] if beside else []
    goal = f"<p>{missed}</p>" if missed else ""
    return (
        f'<p class="lead">{found}.</p>\n<div class="top"><div>'
        "<p><b>GB/s</b> counts the bytes that a call reads and writes, in thousand millions a "
        "second. <b>M</b> is the time of <code>memcpy</code> (of <code>memset</code> for "
        "fills) for as many bytes divided by the time of taper, so above 1 is faster than "
        f"plain copying.</p>{goal}"
        + table("One thread, arrays in memory", head, body)
        + "</div>"
        + page.figure("picture", picture(keys, machine))
        + "</div>"
    )


def add_rows(page, data_runs):
    parts = []
    for title, run in data_runs:
        known = ("real_time", "bytes_per_second", "items_per_second", "spread", "rounds")
        others = list(
            dict.fromkeys(
                k for row in run.rows.values() for k in row.values if k not in known
            )
        )
        body = []
        for row in run.rows.values():
            repeated = len(row.values.get("real_time", ())) > 1
            spread = row.spread("real_time") if repeated else row.median("spread")
            items = row.median("items_per_second")
            body.append(
                [
                    f"<code>{escape(row.name)}</code>",
                    *(
                        "" if value is None else number(value)
                        for value in (
                            row.median("real_time"),
                            row.gbps,
                            None if items is None else items * 1e-9,
                        )
                    ),
                    "" if spread is None else f"{spread:.1%}",
                    *("" if row.median(k) is None else number(row.median(k)) for k in others),
                ]
            )
        head = ["row", "ns", "GB/s", "10⁹ elements/s", "spread", *others]
        parts.append(
            details(f"{title}: {len(body)} rows", table(title, head, body, tall=True))
        )
    page.add(
        "Every row",
        "<p>Medians of the repetitions. Spread: the slowest repetition less the fastest, as a "
        "part of the median; of rows that were not repeated, the range of half of the "
        "rounds. Ratios such as <code>one_thread</code> and <code>ordinary</code> are "
        "explained in bench/README.md.</p>",
        *parts,
    )


def goal_cell(cell):
    value, goal, peers = cell["value"], cell["goal"], cell["peers"]
    if value is None:
        text = '<span class="muted">not run</span>' + (f" / {goal:g}" if goal else "")
    elif goal is None:
        text = number(value)
    else:
        word = "met" if cell["met"] else "missed"
        text = f'{number(value)} / {goal:g} <span class="{word}">{word}</span>'
    peers = {name: peer for name, peer in peers.items() if peer["ratio"]}
    named = cell["measure"].startswith("x ") and not cell["measure"].endswith("peer")
    if peers and value is not None and not named:
        name, peer = min(peers.items(), key=lambda item: item[1]["ratio"])
        star = "*" if peer["differ"] and name not in LIMITS else ""
        text += (
            f'<br><span class="muted">{number(peer["ratio"])}× {escape(name)}{star}</span>'
        )
    return text


def add_goals(page, paths):
    """All goals, met or missed; returns a sentence about them."""
    entries = [entry for path in paths for entry in runs.read_json(path)["benchmarks"]]
    cells = goals.rows({"benchmarks": entries})
    judged = [cell for cell in cells if cell["met"] is not None]
    if not judged:
        return ""
    parts = []
    for title in dict.fromkeys(cell["table"] for cell in cells):
        here = [cell for cell in cells if cell["table"] == title]
        columns = list(dict.fromkeys(cell["column"] for cell in here))
        lines = collections.defaultdict(list)
        for cell in here:
            lines[cell["label"]].append(goal_cell(cell))
        caption = f"{title}: measured / goal ({here[0]['sense']})"
        body = [[f"<code>{escape(label)}</code>", *line] for label, line in lines.items()]
        parts.append(table(caption, ["", *columns], body))
    sentence = f"{sum(cell['met'] for cell in judged)} of {len(judged)} goals are met."
    page.add(
        "Goals",
        f"<p>{sentence} They were set on another machine, see bench/README.md. Below a "
        "figure: how many times as fast as the fastest peer; a star: its bits are not "
        "ours.</p>",
        *parts,
    )
    return f'{sentence} <a href="#goals">Which</a>'


def footer(machine, python, command):
    context = machine.context
    python_context = python.context if python else {}
    versions = python_context.get("versions", {})
    facts = {
        "Machine": f"{machine.name}, {context.get('num_cpus', '?')} CPUs",
        "Caches": ", ".join(f"{k} {figures.si_bytes(v)}" for k, v in machine.caches.items()),
        "Instruction set": context.get("isa"),
        "Compiler": context.get("compiler"),
        "Flags": context.get("flags", "") + " and those of each instruction set",
        "Peers": context.get("peers"),
        "Commit": context.get("commit"),
        "Date": context.get("date"),
        "Command": command or context.get("command"),
        "Python": ", ".join(
            f"{k} {v}"
            for k, v in {"python": python_context.get("python"), **versions}.items()
            if v
        ),
    }
    items = "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in facts.items() if v)
    return f"<footer><dl>{items}</dl></footer>"


# ---- the whole -----------------------------------------------------------------------------


def build(paths, command=None):
    """(HTML of the page, {name: text of a figure})"""
    run = runs.read(paths[0])
    python = runs.read(paths[1]) if len(paths) > 1 else None
    machine = Machine(run.context)
    data, python_data = Table(run), python and Table(python)
    page = Page()
    add_throughput(
        page, data, machine, "Speed by size", "speed",
        "Each line is one implementation; dotted verticals show where the caches end. Bands: "
        "all repetitions.",
    )  # fmt: skip
    tables = [("peers", "From C and C++", data)]
    if python:
        tables.append(("python", "From Python", python_data))
    add_peers(page, tables, machine)
    if python:
        add_throughput(
            page, python_data, machine, "Speed by size, from Python", "python-speed",
            "Through the public calls of each package, into outputs that are there already.",
        )  # fmt: skip
    add_cold(page, run, machine)
    add_threads(page, run)
    add_calls(page, run)
    add_data(page, run)
    add_layouts(page, run, python)
    add_streams(page, run)
    missed = add_goals(page, paths)
    add_rows(page, [("taper_bench", run)] + ([("peers.py", python)] if python else []))

    first = beginning(page, key_rows(data, python_data, machine), machine, missed)
    links = "".join(f'<li><a href="#{n}">{escape(t)}</a></li>' for n, t, _ in page.sections)
    sections = "\n".join(
        f'<section><h2 id="{n}">{escape(t)}</h2>\n{content}</section>'
        for n, t, content in page.sections
    )
    css = pathlib.Path(__file__).with_name("report.css").read_text("utf-8")
    dark = f"@media (prefers-color-scheme: dark) {{\n{figures.dark_style('figure')}\n}}"
    title = f"taper on {machine.name}"
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}: how fast</title>
<style>
{css}{dark}
</style>
</head>
<body>
<header><h1>{escape(title)}</h1></header>
<main>
{first}
<nav aria-label="Contents"><ul>{links}</ul></nav>
{sections}
</main>
{footer(machine, python, command)}
</body>
</html>
"""
    return text, page.files


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", help="of taper_bench")
    parser.add_argument("peers", nargs="?", help="of peers.py")
    parser.add_argument("--out", metavar="FOLDER", help="default: the folder of the run")
    parser.add_argument("--picture", metavar="FILE", help="write only the picture for README")
    parser.add_argument("--command", metavar="TEXT", help="what the page says it is made by")
    arguments = parser.parse_args()
    paths = [path for path in (arguments.run, arguments.peers) if path]
    if arguments.picture:
        data, *rest = [Table(runs.read(path)) for path in paths]
        machine = Machine(data.run.context)
        text = picture(key_rows(data, rest[0] if rest else None, machine), machine)
        if text is None:
            sys.exit("report.py: this run has no rows of arrays in memory")
        pathlib.Path(arguments.picture).write_text(figures.alone(text), "utf-8")
        return
    text, files = build(paths, arguments.command)
    out = pathlib.Path(arguments.out or pathlib.Path(arguments.run).parent)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in {"report.html": text, **files}.items():
        (out / name).write_text(content, "utf-8")
    print(f"{out / 'report.html'}, and {len(files)} figures beside it")


if __name__ == "__main__":
    main()
