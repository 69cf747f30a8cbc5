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
import pathlib
import sys

import figures
import goals
import runs
from figures import Bar, Line, between, number
from page import Page, details, escape, grid, row_name, table
from subjects import (
    ISAS,
    KEYS,
    LEVELS,
    LIMITS,
    OURS_IN_PYTHON,
    Machine,
    Subjects,
    faster,
    faster_range,
    key_rows,
    label_of,
    wrong,
)

# ---- the sections --------------------------------------------------------------------------


def line_of(label, rows):
    return Line(
        label,
        [
            (row.traffic, row.gbps, *(v * 1e-9 for v in row.range("bytes_per_second")))
            for row in rows
            if row.gbps and row.median("real_time")
        ],
    )


def draw_throughput(page, prefix, data, subject, machine):
    implementations = data.subjects[subject]
    order = [n for n in (*ISAS, OURS_IN_PYTHON) if n in implementations] + data.peers(subject)
    series = [line_of(n, [point.row for point in implementations[n]]) for n in order]
    series.append(line_of(*data.copies(subject[0])))
    marks = [(size, level) for level, size in machine.caches.items()]
    return page.draw(
        figures.lines, f"{prefix}-{'-'.join(subject)}", label_of(subject), series,
        "bytes read and written by a call", "GB/s, one thread", log_y=True, marks=marks,
    )  # fmt: skip


def add_throughput(page, data, machine, title, prefix, intro):
    shown, folded = [], []
    for subject in data.subjects:
        made = draw_throughput(page, prefix, data, subject, machine)
        (shown if subject in KEYS.values() else folded).append(made)
    more = details(f"{len(folded)} more types", grid(folded)) if folded else ""
    if shown or folded:
        page.add(title, f"<p>{intro}</p>", grid(shown), more)


def speedup_bars(data, subject, machine):
    """Bars of how much faster we are than each peer; hatched if its bits are not ours."""
    ours = data.ours(subject)
    points = data.subjects[subject].get(ours, [])
    made = []
    for peer in data.peers(subject):
        for level in LEVELS:
            point = machine.largest(points, level)
            other = point and data.row(subject, peer, point.n)
            if not other:
                continue
            ratio = faster(point.row, other)
            note = f"{number(ratio)}×"
            extremes = between(faster_range(point.row, other))
            if extremes != number(ratio):
                note += f" ({extremes})"
            count = wrong(other)
            group = f"{peer}: {count:,.0f} of 2²⁰ differ" if count else peer
            colour = {"L2": "purple", "L3": "orange", "memory": "blue"}[level]
            made.append(Bar(group, level, ratio, note, bool(count), colour))
    return made


def add_peers(page, tables, machine):
    parts = []
    for prefix, title, data in tables:
        charts = {subject: speedup_bars(data, subject, machine) for subject in data.subjects}
        made = [
            page.draw(
                figures.bars, f"{prefix}-{'-'.join(subject)}", label_of(subject), chart,
                "times as fast as the peer; right of 1 is faster",
            )
            for subject, chart in charts.items()
            if chart
        ]  # fmt: skip
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
    """How many elements each peer makes otherwise, by type."""
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
        return (
            f'{text}<br><span class="note">{escape(row.label)}</span>' if row.label else text
        )

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
    data = Subjects(run, "cold/")
    made = [
        draw_throughput(page, "cold", data, subject, machine) for subject in data.subjects
    ]
    if made:
        page.add(
            "From cold memory",
            "<p>The same when no call finds in a cache what the one before it left "
            "there.</p>",
            grid(made[:3]),
            details(f"{len(made) - 3} more types", grid(made[3:])) if made[3:] else "",
        )


def add_first_touch(page, run):
    """Rows first_touch/<pages>/<op>/<type>/<implementation>/<n>."""
    charts = collections.defaultdict(list)
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == "first_touch":
            pages, op, kind, who, _ = parts[1:]
            group = f"{label_of((op, kind))}, {figures.si_bytes(row.traffic)}"
            colour = "blue" if who in ISAS else "orange"
            charts[pages].append(Bar(group, who, row.gbps, number(row.gbps), False, colour))
    made = []
    for pages, chart in charts.items():
        title = pages.replace("_", " ").capitalize()
        name = f"first-touch-{pages}"
        made.append(page.draw(figures.bars, name, title, chart, "GB/s", log=False))
    if made:
        page.add(
            "First touch",
            "<p>Into pages that nobody has written before, which the system makes when "
            "they are written.</p>",
            grid(made),
        )


def thread_gains(run, kind, group_and_label):
    """{group: [lines]} of the rows of a kind: times as fast as one thread, by bytes."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == kind and "one_thread" in row.values:
            group, label = group_and_label(parts)
            low, high = row.range("one_thread")
            groups[group][label].append((row.traffic, high, low, high))
    return {
        group: [Line(label, points) for label, points in labels.items()]
        for group, labels in groups.items()
    }


def add_threads(page, run):
    """Rows threads/<op>/<type>/<threads>/<n> and break_even/<op>/<type>/<bytes>."""

    def by_team(parts):
        _, op, kind, team, _ = parts
        moves = op in ("fill", "copy")
        return ("fill and copy" if moves else op, team), op if moves else kind

    traffic = "bytes read and written by a call"
    made = [
        page.draw(
            figures.lines, f"threads-{op}-{team}", f"{op}: {team} threads", series, traffic,
            "times as fast as one thread", one=True,
        )
        for (op, team), series in thread_gains(run, "threads", by_team).items()
    ]  # fmt: skip
    made += [
        page.draw(
            figures.lines, "break-even", "From which size two threads pay", series, traffic,
            "two threads whatever the size: times as fast as one", one=True,
        )
        for series in thread_gains(
            run, "break_even", lambda parts: ("", "/".join(parts[1:-1]))
        ).values()
    ]  # fmt: skip
    if made:
        page.add(
            "Threads",
            "<p>How many times as fast several threads are, the best of the repetitions. Two "
            "cores that share nothing give 2.</p>",
            grid(made),
        )


def add_calls(page, run):
    """Rows call/<op>/<type>/<instruction set, memcpy or memset>/<n>."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    libc = collections.defaultdict(list)
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] != "call" or len(parts) != 5 or not parts[4].isdigit():
            continue
        _, op, kind, who, n = parts
        moves = op in ("fill", "copy")
        point = (int(n), row.median("real_time"), *row.range("real_time"))
        if who in ISAS:
            labels = groups["fill and copy" if moves else op, who]
            labels[op if moves else kind].append(point)
        else:
            libc[who].append(point)
    made = []
    for (op, isa), labels in groups.items():
        labels |= {k: v for k, v in libc.items() if k == "memcpy" or op == "fill and copy"}
        series = [Line(label, points) for label, points in labels.items()]
        made.append(
            page.draw(
                figures.lines, f"call-{op}-{isa}", f"{op}: {isa}", series,
                "elements of a call", "ns a call", bytes_x=False,
            )
        )  # fmt: skip
    if made:
        page.add(
            "Tiny calls",
            "<p>What a call costs when there is little to do; beside <code>memcpy</code> and "
            "<code>memset</code> of as many floats.</p>",
            grid(made),
        )


def add_data(page, run):
    """Rows data/<type>/<instruction set>/<data>/<n>."""
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == "data" and parts[3] != "normal" and "normal" in row.values:
            _, kind, isa, data, n = parts
            groups[int(n), isa][kind][data] = row.median("normal")
    smallest = min((n for n, _ in groups), default=0)
    made = [
        page.draw(
            figures.dots, f"data-{isa}", f"{isa}: {n:,} elements", list(rows.items()),
            "time on normal numbers / time on these",
        )
        for (n, isa), rows in groups.items()
        if n == smallest
    ]  # fmt: skip
    if made:
        page.add(
            "Does the data matter?",
            "<p>Narrowing of other numbers than normally distributed ones: at 1 they take "
            "as long, left of it longer. <code>nan</code>: one element in 16 is a NaN; "
            "<code>bits</code>: random bit patterns.</p>",
            grid(made),
        )


def layout_bars(run, python):
    """Bars of rows layout/<change>/<type>/1, and layout/<change>/<type>/<implementation> of
    Python, without those that say nothing."""
    made = []

    def add(parts, label, value, colour, differs=False):
        group = " ".join(parts).replace("_", " ")
        made.append(Bar(group, label, value, f"{number(value)}×", differs, colour))

    for name, row in run.rows.items():
        kind, *change, end = name.split("/")
        if kind == "layout" and end == "1":
            if "plain loop" in row.values:
                add(change, "plain loop", row.median("plain loop"), "orange")
            if "M" in row.values:
                add(change, "memcpy", row.median("M"), "ink")
    for name, row in python.rows.items() if python else ():
        kind, *change, who = name.split("/")
        ours = python.rows.get("/".join(["layout", *change, OURS_IN_PYTHON]))
        if kind == "layout" and ours and row is not ours and not who.startswith("threads:"):
            add(change, who, faster(ours, row), "purple", bool(wrong(row)))
    return made


def add_layouts(page, run, python):
    chart = layout_bars(run, python)
    groups = list(dict.fromkeys(bar.group for bar in chart))
    middle = (len(groups) + 1) // 2
    halves = [half for half in (groups[:middle], groups[middle:]) if half]
    made = [
        page.draw(
            figures.bars, f"layouts-{part}", "Layouts",
            [bar for group in half for bar in chart if bar.group == group],
            "times as fast as these; right of 1 is faster",
        )
        for part, half in enumerate(halves, 1)
    ]  # fmt: skip
    if made:
        page.add(
            "Layouts",
            "<p>A tensor copied into a contiguous one, one thread, beside the loop one would "
            "write, <code>memcpy</code> of as many bytes, and other libraries.</p>",
            grid(made),
        )


def add_streams(page, run):
    """Rows stream/<cast>/<bytes written>."""
    labels = collections.defaultdict(list)
    for name, row in run.rows.items():
        parts = name.split("/")
        if parts[0] == "stream" and "ordinary" in row.values:
            point = (int(parts[-1]), row.median("ordinary"), *row.range("ordinary"))
            labels[parts[1].replace("_from_", " from ")].append(point)
    if labels:
        figure = page.draw(
            figures.lines, "stream", "Stores past the caches",
            [Line(label, points) for label, points in labels.items()],
            "bytes written by a call", "time of ordinary stores / time of these", one=True,
        )  # fmt: skip
        page.add(
            "Streaming stores",
            "<p>From which size stores that go past the caches pay: above 1.</p>",
            grid([figure]),
        )


# ---- the first screen ----------------------------------------------------------------------


def picture(keys, machine):
    """Speed in memory: ours, and that of the fastest peer and of the fastest with our bits.
    In units of memcpy(), which every row was compared with in its own rounds: so a machine
    that is busy now and then does not favour one of them."""
    chart = []

    def add(title, name, row, colour, note="", differs=False):
        speed = row.median("M")
        chart.append(Bar(title, name, speed, number(speed) + note, differs, colour))

    for key in keys:
        add(key.title, "taper", key.row, "blue", f", {number(key.row.gbps)} GB/s")
        if key.memset:
            add(key.title, "memset", key.memset, "muted")
        if key.exact:
            add(key.title, *key.exact[:2], "orange")
        if key.fastest and key.fastest != key.exact:
            add(key.title, *key.fastest[:2], "orange", ", other bits", True)
    if not chart:
        return None
    return figures.bars(
        "picture", "Arrays in memory, one thread: speed beside memcpy", chart,
        f"times the speed of memcpy; {machine.name}", log=False, beside=True, one=True,
    )  # fmt: skip


def beginning(page, keys, machine, missed):
    """The first screen: what was found."""
    if not keys:
        return '<p class="lead">This run has no rows of arrays in memory.</p>'
    ratios = [key.row.median("M") for key in keys]
    found = (
        f"On arrays that no cache holds, one thread of taper is {between(ratios)} times "
        "as fast as <code>memcpy</code> of as many bytes"
    )
    beside = [key for key in keys if key.fastest]
    if beside:
        gains = [faster(key.row, key.fastest[1]) for key in beside]
        found += (
            f", and {between(gains)} times as fast as the fastest peer of each row, a "
            "library or the compiler's loop"
        )
        exact = [faster(key.row, key.exact[1]) for key in beside if key.exact]
        if exact:
            found += f" ({between(exact)} beside those that give the same bits)"
    body = []
    for key in keys:
        speed = number(key.row.gbps)
        if key.row.repeated:
            speed += f' <span class="muted">{key.row.spread("bytes_per_second"):.0%}</span>'
        cells = [escape(key.title), speed, number(key.row.median("M"))]
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
        "second. <b>M</b> is the time of <code>memcpy</code> for as many bytes divided by the "
        f"time of taper, so above 1 is faster than plain copying.</p>{goal}"
        + table("One thread, arrays in memory", head, body)
        + "</div>"
        + page.figure("picture", picture(keys, machine))
        + "</div>"
    )


def add_rows(page, named_runs):
    """All that was measured."""
    first = ("real_time", "bytes_per_second", "items_per_second", "rounds")
    parts = []
    for title, run in named_runs:
        counters = dict.fromkeys(key for row in run.rows.values() for key in row.values)
        others = [key for key in counters if key not in first]
        body = []
        for row in run.rows.values():
            items = row.median("items_per_second")
            values = [row.median("real_time"), row.gbps, items and items * 1e-9]
            shown = ["" if value is None else number(value) for value in values]
            shown.append(f"{row.spread('real_time'):.1%}" if row.repeated else "")
            shown += [
                "" if key not in row.values else number(row.median(key)) for key in others
            ]
            body.append([row_name(row.name), *shown])
        head = ["row", "ns", "GB/s", "10⁹ elements/s", "spread", *others]
        everything = table(title, head, body, tall=True)
        parts.append(details(f"{title}: {len(body)} rows", everything))
    page.add(
        "Every row",
        "<p>Medians of the repetitions. Spread: the slowest repetition less the fastest, as a "
        "part of the median. Ratios such as <code>one_thread</code> and "
        "<code>ordinary</code> are explained in bench/README.md.</p>",
        *parts,
    )


def goal_cell(cell):
    """What was measured, the goal, and below them the fastest peer."""
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
        text += f'<br><span class="note">{number(peer["ratio"])}× {escape(name)}{star}</span>'
    return text


def add_goals(page, paths):
    """All goals, met or missed; returns a sentence about them."""
    entries = [entry for path in paths for entry in runs.read_json(path).get("benchmarks", [])]
    cells = goals.rows({"benchmarks": entries})
    judged = [cell for cell in cells if cell["met"] is not None]
    if not judged:
        return ""
    there = {(cell["table"], cell["label"]) for cell in cells if cell["value"] is not None}
    left_out = len({(cell["table"], cell["label"]) for cell in cells} - there)
    cells = [cell for cell in cells if (cell["table"], cell["label"]) in there]
    parts = []
    for title in dict.fromkeys(cell["table"] for cell in cells):
        here = [cell for cell in cells if cell["table"] == title]
        columns = list(dict.fromkeys(cell["column"] for cell in here))
        lines = collections.defaultdict(list)
        for cell in here:
            lines[cell["label"]].append(goal_cell(cell))
        caption = f"{title}: measured / goal ({here[0]['sense']})"
        body = [[row_name(label), *line] for label, line in lines.items()]
        parts.append(table(caption, ["", *columns], body))
    sentence = f"{sum(cell['met'] for cell in judged)} of {len(judged)} goals are met."
    more = f" Lines of which nothing was run are left out: {left_out}." if left_out else ""
    page.add(
        "Goals",
        f"<p>{sentence} They were set on another machine, see bench/README.md. Below a "
        "figure: how many times as fast as the fastest peer; a star: its bits are not "
        f"ours.{more}</p>",
        *parts,
    )
    return f'{sentence} <a href="#goals">Which</a>'


def footer(machine, python, command):
    """Where the figures are from."""
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
    data, python_data = Subjects(run), python and Subjects(python)
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
    add_first_touch(page, run)
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
        data, *rest = [Subjects(runs.read(path)) for path in paths]
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
