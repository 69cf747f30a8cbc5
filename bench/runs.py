"""runs.py - reads what --benchmark_out wrote: every repetition of every row.

python runs.py RUN.json... >ALL.json    makes one run of several, as its repetitions
"""

import dataclasses
import json
import statistics
import sys


@dataclasses.dataclass
class Row:
    """One benchmark: the values of each counter, one for each repetition."""

    name: str
    values: dict
    label: str = ""

    def median(self, counter):
        values = self.values.get(counter)
        return statistics.median(values) if values else None

    def value(self, counter):
        """The median, or the best repetition of ratios of threads, which need several idle
        cores at once."""
        if "threads" in self.name and counter in ("M", "one_thread"):
            return max(self.values.get(counter, ()), default=None)
        return self.median(counter)

    def range(self, counter):
        values = self.values[counter]
        return min(values), max(values)

    def spread(self, counter):
        """(largest - smallest) / median of the repetitions."""
        low, high = self.range(counter)
        middle = self.median(counter)
        return (high - low) / middle if middle else 0.0

    @property
    def repeated(self):
        return len(self.values["real_time"]) > 1

    @property
    def gbps(self):
        value = self.median("bytes_per_second")
        return None if value is None else value * 1e-9

    @property
    def traffic(self):
        """Bytes read and written by one call: the same in every repetition."""
        rates = self.values.get("bytes_per_second")
        return rates[0] * self.values["real_time"][0] * 1e-9 if rates else None


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


def name_of(entry):
    """The name of the row that an entry of a file belongs to."""
    return entry.get("run_name", entry["name"]).removesuffix("/manual_time")


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
        name = name_of(entry)
        row = rows.setdefault(name, Row(name, {}, entry.get("label", "")))
        for key, value in numbers(entry).items():
            row.values.setdefault(key, []).append(value)
    return Run(content.get("context", {}), rows)


def read_json(path):
    """What is in a file. Ends the program, with one line and 2, if that is not a run."""

    def stop(reason):
        print(f"{path}: {reason}", file=sys.stderr)
        sys.exit(2)

    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        stop(error.strerror)
    except ValueError as error:
        stop(f"not JSON: {error}")
    entries = content.get("benchmarks", []) if isinstance(content, dict) else [None]
    if not all(isinstance(entry, dict) and "name" in entry for entry in entries):
        stop("not the results of a benchmark")
    return content


def read(path):
    return parse(read_json(path))


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    contents = [read_json(path) for path in sys.argv[1:]]
    entries = [entry for content in contents for entry in content.get("benchmarks", [])]
    context = contents[0].get("context", {})
    json.dump({"context": context, "benchmarks": entries}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
