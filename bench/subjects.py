"""subjects.py - the rows of a run by what they are of: an operation on a type, in a cache or
in memory, by taper or by a peer."""

import collections
import dataclasses

import runs

ISAS = ("avx512", "avx2", "neon", "scalar")
OURS_IN_PYTHON = "taper-python"
OURS = (*ISAS, OURS_IN_PYTHON)
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


@dataclasses.dataclass
class Point:
    n: int
    row: runs.Row


class Subjects:
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
        return next((name for name in OURS if name in there), None)

    def peers(self, subject):
        return [
            name
            for name in self.subjects.get(subject, {})
            if name not in (*OURS, *LIMITS)
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
        """The cache that holds the bytes of a call with a fifth to spare, or "memory" if
        they are twice what the last one holds."""
        for name, size in sorted(self.caches.items()):
            if traffic <= 0.8 * size:
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


def bytes_per_element(row):
    return row.median("bytes_per_second") / row.median("items_per_second")


def speed_counter(ours, theirs):
    """What tells how many times as fast one row is as another. Each was compared with
    memcpy() in its own rounds, which leaves out what else the machine was doing; but of
    other bytes, if an element of one has more of them."""
    same = abs(bytes_per_element(ours) / bytes_per_element(theirs) - 1) < 0.01
    return "M" if same and "M" in ours.values and "M" in theirs.values else "items_per_second"


def faster(ours, theirs):
    """How many times as fast ours is."""
    counter = speed_counter(ours, theirs)
    return ours.value(counter) / theirs.value(counter)


def faster_range(ours, theirs):
    """The least and the most that the repetitions give."""
    counter = speed_counter(ours, theirs)
    low, high = zip(ours.range(counter), theirs.range(counter))
    return low[0] / high[1], high[0] / low[1]


def label_of(subject):
    op, kind = subject
    numpy = {"float": "float32", "double": "float64"}
    kind, *source = [numpy.get(name, name) for name in kind.split("_from_")]
    if op == "narrow":
        return f"float32 to {kind}"
    if op == "widen":
        return f"{kind} to float32"
    if op == "cast":
        return f"{source[0]} to {kind}"
    return f"{op} {kind}"


@dataclasses.dataclass
class Key:
    """One line of the first screen."""

    title: str
    row: runs.Row  # ours
    memset: runs.Row  # for fills
    exact: tuple  # (name, row, elements that differ) of the fastest peer with our bits
    fastest: tuple  # of the fastest peer


def key_rows(data, python, machine):
    """What is shown of each key subject, as far as this run has it."""
    found = []
    for title, subject in KEYS.items():
        isa = data.ours(subject)
        point = isa and machine.largest(data.subjects[subject][isa], "memory")
        if not point or "M" not in point.row.values:
            continue
        peers = []
        for source in filter(None, (data, python)):
            for peer in source.peers(subject):
                row = source.in_memory(subject, peer, point.n, machine)
                if row and "M" in row.values:
                    peers.append((peer, row, wrong(row)))
        peers.sort(key=lambda peer: -peer[1].median("M"))
        exact = next((peer for peer in peers if not peer[2]), None)
        fastest = peers[0] if peers else None
        memset = data.row(subject, "memset", point.n)
        found.append(Key(title, point.row, memset, exact, fastest))
    return found
