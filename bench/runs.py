"""runs.py - reads what --benchmark_out wrote: every repetition of every row."""

import dataclasses
import json
import statistics


@dataclasses.dataclass
class Row:
    """One benchmark: the values of each counter, one for each repetition."""

    name: str
    values: dict

    def median(self, counter):
        values = self.values.get(counter)
        return statistics.median(values) if values else None

    def range(self, counter):
        values = self.values[counter]
        return min(values), max(values)

    def spread(self, counter):
        """(largest - smallest) / median of the repetitions."""
        low, high = self.range(counter)
        middle = self.median(counter)
        return (high - low) / middle if middle else 0.0

    @property
    def gbps(self):
        value = self.median("bytes_per_second")
        return None if value is None else value * 1e-9

    @property
    def traffic(self):
        """Bytes read and written by one call."""
        rate = self.median("bytes_per_second")
        return None if rate is None else rate * self.median("real_time") * 1e-9


@dataclasses.dataclass
class Run:
    context: dict
    rows: dict  # name: Row


NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
NOT_COUNTERS = {
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "cpu_time",
}


def numbers(entry):
    """The counters of one entry of a file, times in nanoseconds."""
    scale = NANOSECONDS[entry.get("time_unit", "ns")]
    return {
        key: value * (scale if key == "real_time" else 1)
        for key, value in entry.items()
        if isinstance(value, (int, float))
        and not isinstance(value, bool)
        and key not in NOT_COUNTERS
    }


def parse(content):
    """The Run in a parsed file."""
    entries = [e for e in content.get("benchmarks", []) if not e.get("error_occurred")]
    # With --benchmark_report_aggregates_only the medians are all there is.
    wanted = [e for e in entries if e.get("run_type", "iteration") == "iteration"] or [
        e for e in entries if e.get("aggregate_name") == "median"
    ]
    rows = {}
    # Runs come in random order; families are numbered as they were registered.
    for entry in sorted(wanted, key=lambda entry: entry.get("family_index", 0)):
        name = entry.get("run_name", entry["name"]).removesuffix("/manual_time")
        row = rows.setdefault(name, Row(name, {}))
        for key, value in numbers(entry).items():
            row.values.setdefault(key, []).append(value)
    return Run(content.get("context", {}), rows)


def read(path):
    with open(path, encoding="utf-8") as file:
        return parse(json.load(file))
