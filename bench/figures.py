"""figures.py - the kinds of figure that report.py is made of, as SVG that follows the
reader's dark or light setting."""

import dataclasses
import io
import math
import re
from xml.sax.saxutils import escape

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# Hues of Okabe and Ito, which colour-blind people tell apart, each a little darker on
# white, or lighter on black, where the contrast would be below 3.
LIGHT_AND_DARK = {
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "grid": ("#d8dee4", "#2b323b"),
    "paper": ("#fefefe", "#0d1117"),
    "blue": ("#0072b2", "#56b4e9"),
    "green": ("#008a64", "#00b384"),
    "vermillion": ("#d55e00", "#f07a2b"),
    "purple": ("#b4588c", "#cc79a7"),
    "orange": ("#b07700", "#e69f00"),
}
LIGHT = {name: light for name, (light, _) in LIGHT_AND_DARK.items()}
COLOURS = ("blue", "vermillion", "green", "purple", "orange", "ink")
WIDTH = 4.5  # inches: at the width of a phone letters keep about the size given below
MARKERS = "osD^vP*X<>"
DASHES = ((0, ()), (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (7, 2)))

# What is in every figure looks the same in all.
FIXED = {
    "avx512": ("blue", "o", DASHES[0], 2.0),
    "avx2": ("green", "s", DASHES[0], 2.0),
    "neon": ("blue", "o", DASHES[0], 2.0),
    "scalar": ("muted", "v", DASHES[0], 1.2),
    "taper": ("blue", "o", DASHES[0], 2.0),
    "taper-python": ("blue", "o", DASHES[0], 2.0),
    "memcpy": ("ink", "", DASHES[1], 1.4),
    "memset": ("ink", "", DASHES[2], 1.4),
}

plt.rcParams.update(
    {
        "svg.fonttype": "none",  # text stays text: to be searched, read aloud, resized
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": LIGHT["muted"],
        "axes.labelcolor": LIGHT["ink"],
        "axes.titlecolor": LIGHT["ink"],
        "xtick.color": LIGHT["muted"],
        "ytick.color": LIGHT["muted"],
        "xtick.labelcolor": LIGHT["ink"],
        "ytick.labelcolor": LIGHT["ink"],
        "text.color": LIGHT["ink"],
        "grid.color": LIGHT["grid"],
        "grid.linewidth": 0.6,
        "hatch.linewidth": 0.8,
    }
)


@dataclasses.dataclass
class Line:
    label: str
    points: list  # (x, y, least y, largest y)


@dataclasses.dataclass
class Bar:
    group: str
    label: str
    value: float
    note: str = ""
    wrong: bool = False
    colour: str = "blue"


def dark_style(scope="svg"):
    """CSS rules that exchange the colours for those on black."""
    return "\n".join(
        f'{scope} [style*="{property}: {light}"] {{ {property}: {dark} !important }}'
        for light, dark in LIGHT_AND_DARK.values()
        for property in ("fill", "stroke")
    )


def styles(labels):
    """{label: (colour, marker, dash, width)}"""
    chosen = {label: FIXED[label] for label in labels if label in FIXED}
    taken = {colour for colour, *_ in chosen.values()}
    free = [colour for colour in COLOURS if colour not in taken]
    for k, label in enumerate(label for label in labels if label not in FIXED):
        dash = DASHES[1 + k % (len(DASHES) - 1)]
        chosen[label] = (free[k % len(free)], MARKERS[k % len(MARKERS)], dash, 1.2)
    return chosen


def room(labels, more, width=WIDTH, letter=4.9):
    """The part of a figure's width that the longest label takes, and `more` points."""
    return (max(map(len, labels), default=0) * letter + more) / (width * 72)


def si_bytes(count):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} PiB"


def number(value):
    """Three digits, never an exponent: 0.054, 1.36, 48.1, 340."""
    value = float(f"{value:.3g}")
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def between(values):
    """1.24 to 1.36, or one number if both are the same."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def svg(figure, name, title):
    """The figure as SVG whose ids no other figure has, without date or version."""
    with plt.rc_context({"svg.hashsalt": name}):
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, count=1, flags=re.S)
    view = re.search(r'viewBox="[^"]*"', text).group()
    width = re.search(r'width="([\d.]+)pt"', text).group(1)
    start = (
        f'<svg {view} width="{width}pt" role="img" aria-labelledby="title-{name}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'style="stroke-linejoin: round">\n<title id="title-{name}">{escape(title)}</title>'
    )
    return re.sub(r"<svg[^>]*>", lambda _: start, text, count=1)


def alone(text):
    """An SVG file of its own: it brings its background and both sets of colours."""
    paper = (
        "<style>*{stroke-linejoin:round}\n@media (prefers-color-scheme: dark) {\n"
        f"{dark_style()}\n}}</style>\n"
        f'<rect width="100%" height="100%" rx="6" style="fill: {LIGHT["paper"]}"/>\n'
    )
    end = text.index("</title>") + len("</title>")
    return f"{text[:end]}\n{paper}{text[end:]}"


def spread_labels(wanted, distance, bottom, top):
    """Positions near the wanted ones, in the same order, at least `distance` apart."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    at = [min(max(wanted[i], bottom), top) for i in order]
    for _ in range(100):
        moved = False
        for k in range(len(at) - 1):
            lack = distance - (at[k + 1] - at[k])
            if lack > 1e-6:
                at[k] -= lack / 2
                at[k + 1] += lack / 2
                moved = True
        shift = max(0, bottom - at[0]) if at else 0
        shift = shift or (min(0, top - at[-1]) if at else 0)
        at = [a + shift for a in at]
        if not moved and not shift:
            break
    result = [0.0] * len(wanted)
    for k, i in enumerate(order):
        result[i] = at[k]
    return result


def log_ticks(low, high, steps):
    """step x 10^k between the limits."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [s * 10.0**k for k in range(first, last + 1) for s in steps]
    return [t for t in ticks if low * 0.999 <= t <= high * 1.001]


def lines(
    name, title, series, x_label, y_label, log_y=False, bytes_x=True, marks=(), one=False
):
    """Lines over a logarithmic axis, each with its name at its end and the range of its
    repetitions as a band. `marks` are (x, text) of vertical lines; `one` draws y = 1."""
    series = [line for line in series if line.points]
    look = styles([line.label for line in series])
    figure, axes = plt.subplots(figsize=(WIDTH, 3.2))
    right = 1 - room([line.label for line in series], 22)
    figure.subplots_adjust(left=0.105, right=right, bottom=0.15, top=0.79)
    edge = -0.09 / (right - 0.105)  # of the figure, as the axes count
    axes.set_title(title, loc="left", pad=31, x=edge)
    axes.set_xscale("log", base=2)
    if log_y:
        axes.set_yscale("log")

    xs = [p[0] for line in series for p in line.points]
    ys = [p[k] for line in series for p in line.points for k in (1, 2, 3)]
    if log_y:
        bottom, top = min(ys) / 1.2, max(ys) * 1.25
        steps = (1, 2, 5) if top / bottom < 1e3 else (1, 3)
        axes.yaxis.set_major_locator(FixedLocator(log_ticks(bottom, top, steps)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        bottom, top = 0, max(ys + [1.0] if one else ys) * 1.08
    axes.set_ylim(bottom, top)
    axes.set_xlim(min(xs) / 1.3, max(xs) * 1.3)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    if bytes_x:
        low, high = math.log2(min(xs)), math.log2(max(xs))
        step = next(step for step in (2, 4, 6, 8, 16) if step * 4 > high - low)
        exponents = range(math.ceil(low / step) * step, math.floor(high) + 1, step)
        axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in exponents]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: si_bytes(x)))
    else:
        axes.xaxis.set_major_locator(FixedLocator(sorted(set(xs))))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(True, axis="y")
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label)
    # Above the axis, where it needs no turned head and no room at the side.
    axes.text(edge, 1.1, y_label, transform=axes.transAxes, color=LIGHT["muted"])
    if one:
        axes.axhline(1, color=LIGHT["muted"], linewidth=0.8)
    for x, text in marks:
        if axes.get_xlim()[0] < x < axes.get_xlim()[1]:
            axes.axvline(x, color=LIGHT["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
            axes.annotate(
                text,
                (x, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-3, 3),
                textcoords="offset points",
                color=LIGHT["muted"],
                fontsize=8,
                ha="center",
            )

    for line in series:
        colour, marker, dash, width = look[line.label]
        x, y, low, high = zip(*sorted(line.points))
        axes.fill_between(x, low, high, color=LIGHT[colour], alpha=0.18, linewidth=0)
        axes.plot(
            x, y, color=LIGHT[colour], linestyle=dash, linewidth=width, marker=marker,
            markersize=4,
        )  # fmt: skip
    figure.canvas.draw()
    ends = [axes.transData.transform(max(line.points)[:2]) for line in series]
    box = axes.get_window_extent()
    points = figure.dpi / 72
    places = spread_labels([y for _, y in ends], 10.5 * points, box.y0 + 3, box.y1)
    for line, (x, y), place in zip(series, ends, places):
        colour = look[line.label][0]
        right = box.x1 + 9 * points
        to_figure = figure.transFigure.inverted().transform
        axes.annotate(
            line.label,
            xy=to_figure((x + 3 * points, y)),
            xytext=to_figure((right, place)),
            xycoords="figure fraction",
            textcoords="figure fraction",
            color=LIGHT[colour],
            fontsize=8.5,
            va="center",
            arrowprops={"arrowstyle": "-", "color": LIGHT[colour], "linewidth": 0.5,
                        "shrinkA": 1, "shrinkB": 0},
            annotation_clip=False,
        )  # fmt: skip
    return svg(figure, name, title)


def bars(name, title, groups, x_label, log=True, beside=False, one=False):
    """Horizontal bars in named groups, with a note at the end of each. They begin at 1 if
    the axis is logarithmic; hatched ones give other bits. Names of groups are above their
    bars, or beside them; `one` draws a line at 1."""
    names = list(dict.fromkeys(bar.group for bar in groups))
    width = WIDTH * (1.3 if beside else 1)
    above = 0 if beside else 0.95
    height = 0.85 + 0.18 * (len(groups) + (above + 0.55) * len(names))
    figure, axes = plt.subplots(figsize=(width, height))
    left = room([bar.label for bar in groups], 14, width)
    left += room(names, 4, width, letter=6) if beside else 0  # bold
    right = 1 - room([bar.note for bar in groups], 6, width)
    figure.subplots_adjust(
        left=left, right=right, bottom=0.42 / height, top=1 - 0.34 / height
    )
    edge = (0.02 - left) / (right - left)  # of the figure, as the axes count
    axes.set_title(title, loc="left", x=edge, pad=8)
    values = [bar.value for bar in groups] + [1.0 if log else 0.0]
    start = 1.0 if log else 0.0
    behind = {"facecolor": LIGHT["paper"], "linewidth": 0, "pad": 1}  # no line through text
    y = 0.0
    for group in names:
        axes.text(
            edge, y, group, transform=axes.get_yaxis_transform(), va="center",
            fontweight="bold", fontsize=9,
            bbox=behind,
        )  # fmt: skip
        y += above
        for bar in [bar for bar in groups if bar.group == group]:
            axes.barh(
                y, bar.value - start, left=start, height=0.75,
                color="none" if bar.wrong else LIGHT[bar.colour],
                edgecolor=LIGHT[bar.colour], linewidth=0.8,
                hatch="////" if bar.wrong else None,
            )  # fmt: skip
            axes.annotate(
                bar.note, (max(bar.value, start), y), xytext=(4, 0),
                textcoords="offset points", va="center", fontsize=8,
                annotation_clip=False, bbox=behind,
            )  # fmt: skip
            axes.annotate(
                bar.label, (0, y), xytext=(-4, 0), xycoords=axes.get_yaxis_transform(),
                textcoords="offset points", fontsize=8.5, va="center", ha="right",
                annotation_clip=False,
            )  # fmt: skip
            y += 1
        y += 0.55
    axes.set_ylim(y - 0.9, -0.7)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    if log:
        axes.set_xscale("log")
        low, high = min(values) / 1.15, max(values) * 1.1
        steps = (1, 1.2, 1.5, 2, 3, 5, 7) if high / low < 4 else (1, 2, 5)
        if high / low > 100:
            steps = (1,)
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(FixedLocator(log_ticks(low, high, steps)))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(0, max(values) * 1.02)
    if log or one:
        axes.axvline(1, color=LIGHT["ink"], linewidth=1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label)
    return svg(figure, name, title)


def dots(name, title, rows, x_label):
    """For each (label, {kind: value}) of `rows` a line with one mark for each kind."""
    kinds = list(dict.fromkeys(kind for _, values in rows for kind in values))
    height = 1.15 + 0.22 * len(rows)
    figure, axes = plt.subplots(figsize=(WIDTH, height))
    left = room([label for label, _ in rows], 14)
    figure.subplots_adjust(left=left, right=0.96, bottom=0.42 / height, top=1 - 0.62 / height)
    edge = (0.02 - left) / (0.96 - left)  # of the figure, as the axes count
    axes.set_title(title, loc="left", x=edge, pad=24)
    for k, kind in enumerate(kinds):
        at = [(values[kind], y) for y, (_, values) in enumerate(rows) if kind in values]
        axes.plot(
            [x for x, _ in at], [y for _, y in at], linestyle="none", label=kind,
            marker=MARKERS[k], color=LIGHT[COLOURS[k % len(COLOURS)]], markersize=5,
            fillstyle="none" if k % 2 else "full",
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.axvline(1, color=LIGHT["muted"], linewidth=0.8)
    axes.grid(True)
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label)
    axes.legend(
        loc="lower left", bbox_to_anchor=(edge - 0.03, 1), ncols=len(kinds), frameon=False,
        handletextpad=0, columnspacing=1, fontsize=8.5,
    )  # fmt: skip
    return svg(figure, name, title)
