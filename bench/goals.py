#!/usr/bin/env python3
"""goals.py - prints what a run of taper_bench measured beside the goals of goals.json.

    goals.py RUN.json...

The files are written by --benchmark_out, or have the same form; later ones add rows, or
replace them. The tables are Markdown, and a missed goal is bold. A value is runs.Row.value().

Programs import rows().
"""
import json
import pathlib
import sys

import runs
from subjects import OURS, bytes_per_element, faster

GOALS = pathlib.Path(__file__).with_name("goals.json")

# ---- peers


def peer_row(row, peer):
    """The row of a peer, which may not be there, for a row of taper."""
    parts = row.split("/")
    if parts[0] == "call":  # beside the function that moves the same bytes
        return f"call/{'fill' if peer == 'memset' else 'copy'}/float/{peer}/{parts[-1]}"
    if parts[0] == "layout":
        return "/".join([*parts[:-1], peer])
    if parts[0] == "threads":
        _, op, kind, threads, n = parts
        return f"{op}/{kind}/{peer}/{n}/threads:{threads}"
    parts[-2] = peer
    return "/".join(parts)


def peers_of(row, run):
    """{peer: how many times as fast as it taper is, and how many of 2^20 elements it
    gives other bits, of random patterns and of ordinary numbers}."""
    if row not in run.rows or row.split("/")[0] in ("call", "data"):
        return {}
    before, after = peer_row(row, "\0").split("\0")
    found = {}
    for other, theirs in run.rows.items():
        if other.startswith(before) and other.endswith(after):
            peer = other[len(before) : len(other) - len(after)]
            if peer not in OURS and not peer.isdigit() and "/" not in peer:
                found[peer] = {
                    "ratio": faster(run.rows[row], theirs),
                    "differ": theirs.value("differ"),
                    "differ_normal": theirs.value("differ_normal"),
                }
    return found


# ---- measures


def least_ratio(peers, exact):
    ratios = [p["ratio"] for p in peers.values() if p["differ"] == 0 or not exact]
    return min(ratios, default=None)


def measured(name, measure, run):
    """A counter of the row, or, in the words of goals.json:

    B/cycle        bytes read and written per cycle
    x peer         how many times as fast as the fastest peer
    x exact peer   the same of those whose bits are ours
    x NAME         how many times as fast as this one
    ns over NAME   how much longer a call takes
    """
    row = run.rows.get(name)
    if row is None:
        return None
    if measure == "B/cycle":
        per_cycle = row.value("el/cycle")
        return per_cycle and per_cycle * bytes_per_element(row)
    if measure in ("x peer", "x exact peer"):
        return least_ratio(peers_of(name, run), "exact" in measure)
    if measure.startswith("x "):
        other = run.rows.get(peer_row(name, measure[2:]))
        return other and faster(row, other)
    if measure.startswith("ns over "):
        other = run.rows.get(peer_row(name, measure[8:]))
        return other and row.value("real_time") - other.value("real_time")
    return row.value(measure)


def spread(row, measure):
    """(largest - least) / median of the repetitions: of M if it is a ratio."""
    counter = "M" if measure.startswith("x ") else measure
    counter = "el/cycle" if measure == "B/cycle" else counter
    return row.spread(counter) if row is not None and counter in row.values else None


def met(value, goal, sense):
    return value >= goal if sense == "at least" else value <= goal


def rows(run):
    """One dict for each goal and each figure that stands beside them, in order:

    table    title of the table
    sense    "at least" or "at most"
    row      name of the benchmark
    label    that without what the column says
    column   title of the column
    measure  what `value` is: a counter, or see measured()
    value    None: not run
    goal     None: none, the value is shown only
    met      True, False, or None if there is no value or no goal
    spread   see spread(); None for differences
    peers    see peers_of()

    `run` is a parsed file of --benchmark_out. "benchmarks" of several may be joined.
    """
    run = runs.parse(run)
    result = []
    for table in json.loads(GOALS.read_text("utf-8"))["tables"]:
        sense = table["goal"]
        for label, goals in table["rows"].items():
            for (column, suffix, measure), goal in zip(table["columns"], goals, strict=True):
                row = label + suffix
                value = measured(row, measure, run)
                judged = value is not None and goal is not None
                result.append(
                    {
                        "table": table["title"],
                        "sense": sense,
                        "row": row,
                        "label": label,
                        "column": column,
                        "measure": measure,
                        "value": value,
                        "goal": goal,
                        "met": met(value, goal, sense) if judged else None,
                        "spread": spread(run.rows.get(row), measure),
                        "peers": peers_of(row, run),
                    }
                )
    return result


# ---- text


def show(cell):
    value, goal = cell["value"], cell["goal"]
    if value is None:
        return "not run" if goal is None else f"not run / {goal:g}"
    text = f"{value:.3g}"
    if goal is None:
        return text
    return f"{text} / {goal:g}" if cell["met"] else f"**{text}** / {goal:g}"


def show_peers(peers):
    """Fastest first; a star: not our bits."""
    ordered = sorted(peers.items(), key=lambda item: item[1]["ratio"])
    return ", ".join(
        f"{name}{'*' if peer['differ'] else ''} {peer['ratio']:.3g}" for name, peer in ordered
    )


def print_line(first, cells):
    print(f"| {first} |", " | ".join(cells), "|")


def print_table(title, cells):
    """Prints the measured figures, and below them the peers of each row."""
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    lines = {}
    for cell in cells:
        lines.setdefault(cell["label"], []).append(cell)
    print(f"\n### {title}\n\nMeasured / goal ({cells[0]['sense']}).\n")
    print_line("", columns)
    print("|---|" + "---|" * len(columns))
    for label, line in lines.items():
        print_line(label, map(show, line))
    if any(cell["peers"] for cell in cells):
        print("\nTimes as fast as (a star: other bits than ours)\n")
        for cell in {cell["row"]: cell for cell in cells}.values():
            if cell["peers"]:
                print(f"- {cell['row']}: {show_peers(cell['peers'])}")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    joined = []
    for path in sys.argv[1:]:
        new = runs.read_json(path).get("benchmarks", [])
        names = {runs.name_of(entry) for entry in new}
        joined = [entry for entry in joined if runs.name_of(entry) not in names] + new
    cells = rows({"benchmarks": joined})
    for title in dict.fromkeys(cell["table"] for cell in cells):
        print_table(title, [cell for cell in cells if cell["table"] == title])
    judged = [cell for cell in cells if cell["met"] is not None]
    missed = [cell for cell in judged if not cell["met"]]
    print(f"\n{len(judged) - len(missed)} of {len(judged)} goals met.")
    if missed:
        print("\nMissed:\n")
    for cell in missed:
        value, goal = cell["value"], cell["goal"]
        print(f"- {cell['table']}: {cell['label']}, {cell['column']}: {value:.4g}, "
              f"{value / goal:.2f} of {goal:g}")


if __name__ == "__main__":
    main()
