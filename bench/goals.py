#!/usr/bin/env python3
"""goals.py - prints what a run of taper_bench measured beside the goals of goals.json.

    goals.py RUN.json...

The files are written by --benchmark_out; later ones add rows, or replace them. The tables
are Markdown, and a missed goal is bold. A value is the median of the repetitions,
or the best of them for threads, which need several idle cores at once.
"""
import json
import pathlib
import statistics
import sys


def summary(counter, values):
    return max(values) if counter == "one_thread" else statistics.median(values)


def read_runs(paths):
    """{benchmark: {counter: median}} of all files."""
    medians = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
        # With --benchmark_report_aggregates_only the medians are all there is.
        wanted = [row for row in rows if row["run_type"] == "iteration"] or [
            row for row in rows if row["aggregate_name"] == "median"
        ]
        repeated = {}
        for row in wanted:
            name = row["run_name"].removesuffix("/manual_time")
            repeated.setdefault(name, []).append(row)
        for name, group in repeated.items():
            medians[name] = {
                key: summary(key, [row[key] for row in group])
                for key, value in group[0].items()
                if isinstance(value, float)
            }
    return medians


def met(value, goal, sense):
    return value >= goal if sense == "at least" else value <= goal


def show(value, goal, sense):
    if value is None:
        return "not run"
    text = f"{value:.3g}"
    if goal is None:
        return text
    return f"{text} / {goal:g}" if met(value, goal, sense) else f"**{text}** / {goal:g}"


def print_table(table, medians):
    """Prints one table; returns how many goals were met, and those missed."""
    columns, sense = table["columns"], table["goal"]
    print(f"\n### {table['title']}\n\nMeasured / goal ({sense}).\n")
    print("| |", " | ".join(title for title, _, _ in columns), "|")
    print("|---|" + "---|" * len(columns))
    count, missed = 0, []
    for row, goals in table["rows"].items():
        cells = []
        for (title, suffix, counter), goal in zip(columns, goals, strict=True):
            value = medians.get(row + suffix, {}).get(counter)
            cells.append(show(value, goal, sense))
            if value is None or goal is None:
                continue
            count += met(value, goal, sense)
            if not met(value, goal, sense):
                missed.append(f"{table['title']}: {row}, {title}: "
                              f"{value:.4g}, {value / goal:.2f} of {goal:g}")
        print(f"| {row} |", " | ".join(cells), "|")
    return count, missed


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    medians = read_runs(sys.argv[1:])
    goals = json.loads(pathlib.Path(__file__).with_name("goals.json").read_text("utf-8"))
    count, missed = 0, []
    for table in goals["tables"]:
        table_count, table_missed = print_table(table, medians)
        count += table_count
        missed += table_missed
    print(f"\n{count} of {count + len(missed)} goals met.")
    if missed:
        print("\nMissed:\n")
        print("\n".join(f"- {line}" for line in missed))


if __name__ == "__main__":
    main()
