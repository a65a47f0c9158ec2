"""Draws the throughput of sorts against the number of keys, with matplotlib; no other module needs matplotlib.

Lines differ by marker and dashes as well as by colour, so that prints in black and white are readable.  With the same
version of matplotlib, equal rows give byte-identical pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any

from hsgen import operations
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.quantities import power_of_two
from hsgen.system import extras
from hsgen.tools.bench.rows import candidate

PAPER, INK, ROOF, SHADE, RULE = "#ffffff", "#1b1b1b", "#737373", "#ebebeb", "#d9d9d9"
LINES = ("#111111", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3c8d")
DARK = {
    PAPER: "#16181a",
    INK: "#e6e6e3",
    ROOF: "#9a9a95",
    SHADE: "#26292c",
    RULE: "#3c4044",
    "#111111": "#f4f4f0",
    "#d55e00": "#ff8a3d",
    "#0072b2": "#4aa3ea",
    "#009e73": "#3ecf9f",
    "#cc79a7": "#f0a6d0",
    "#8c6d00": "#d3b03a",
    "#56b4e9": "#a6e0ff",
    "#7f3c8d": "#c68ad6",
}
"""The colour in dark mode for each colour of the light picture."""


def _style() -> str:
    """Return a style element with the colours of dark mode.

    matplotlib writes colours into style attributes, which only rules with `!important` override.
    """
    rules = [
        f'[style*="{attribute}: {light}"]{{{attribute}:{dark}!important}}'
        for light, dark in DARK.items()
        for attribute in ("fill", "stroke")
    ]
    text = f"text{{fill:{INK}}}"
    dark = "".join([f"text{{fill:{DARK[INK]}}}", *rules])
    return f"<style>:root{{color-scheme:light dark}}{text}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def themed(svg: str) -> str:
    """Add the style rules for dark mode to the text of an SVG document."""
    at = svg.index("</defs>")
    return f"{svg[:at]}{_style()}\n {svg[at:]}"


SUFFIXES = ("svg", "png")
_STYLE = {
    "svg.fonttype": "none",  # write text as text, not as paths
    "svg.hashsalt": "hsgen",  # makes ids the same in each run
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.axisbelow": True,
    "legend.fontsize": 7.5,
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
}
_MARKERS = "os^Dv<>pX*"
_DASHES = ("-", (5, 1.5), (1.5, 1.5), (6, 1.5, 1.5, 1.5), (3, 1, 1, 1, 1, 1), (9, 3), (1, 3), (9, 2, 1, 2, 1, 2, 1, 2))
_CHARACTERS = 72  # per line of a title
_WIDTH, _HEIGHT = 6.0, 4.2  # inches of a panel
_WIDEST = 24  # characters of a legend's label; three labels of this length fit side by side
_ROOF = "roof: a copy's bandwidth"

Rows = Sequence[Mapping[str, Any]]


def throughput(rows: Rows) -> str:
    """Return the plot of a benchmark's rows (`hsgen.tools.bench.Row.record`) as the text of an SVG element.

    Each panel shows one call of one sort for one kind of input.  There is a line for the sort and for each baseline:
    the median rates by the wall clock in Mkeys/s, with the quartiles as error bars.  A further line shows the roof,
    `roof_mkeys_per_s`.

    Raises:
        Unavailable: matplotlib is not installed.
        Usage: there are no rows.
    """
    text = _drawn(rows, "svg").decode()
    return text[text.index("<svg") :]


def check(path: str) -> None:
    """Check that a plot can be written to a file, before anything is measured.

    Raises:
        Usage: the name ends in neither .svg nor .png, or the folder does not exist.
        Unavailable: matplotlib is not installed.
    """
    if Path(path).suffix[1:] not in SUFFIXES:
        raise Usage(f"plot {path}: is not an SVG or PNG file; give a name that ends in .svg or .png")
    if not Path(path).parent.is_dir():
        raise Usage(f"plot {path}: there is no folder {Path(path).parent}; make it first")
    _matplotlib()


def save(rows: Rows, path: str) -> None:
    """Write the plot of `throughput` to a file, in the format of its suffix.

    Raises:
        Usage: the file cannot be written.
        Unavailable: matplotlib is not installed.
    """
    data = _drawn(rows, Path(path).suffix[1:])
    try:
        Path(path).write_bytes(data)
    except OSError as e:
        raise Usage(f"plot {path}: cannot be written ({e.strerror}); name another file") from None


def _matplotlib() -> Any:
    """Import matplotlib and the submodules that plots need; return it.

    Raises:
        Unavailable: matplotlib is not installed.
    """
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.ticker
    except ImportError:
        raise Unavailable(f"plots need matplotlib; install it with {extras.command('plot')}") from None
    return matplotlib


def _drawn(rows: Rows, suffix: str) -> bytes:
    if not rows:
        raise Usage("plot: there are no rows to draw; measure something")
    matplotlib = _matplotlib()
    panels = _grouped(rows, _panel)
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    out = BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure = matplotlib.figure.Figure(figsize=(_WIDTH * across, _HEIGHT * down), layout="constrained")
        axes = list(figure.subplots(down, across, squeeze=False).flat)
        styles = _styles(rows)
        for rows_of_panel, ax in zip(panels.values(), axes, strict=False):
            _fill(matplotlib, ax, rows_of_panel, styles)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        metadata = {"Date": None} if suffix == "svg" else {"Software": None}
        vectors = suffix == "svg"  # an SVG file is transparent, and adapts to dark mode
        figure.savefig(out, format=suffix, dpi=150, metadata=metadata, transparent=vectors)
    return themed(out.getvalue().decode()).encode() if vectors else out.getvalue()


def _grouped(rows: Rows, by: Any) -> dict[Any, list[Mapping[str, Any]]]:
    """Group rows by the result of `by`; the groups are in the order of their first rows."""
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(by(row), []).append(row)
    return groups


def _panel(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the fields that are equal in all rows of a panel."""
    same = ("target", "api", "device", "key", "value", "order", "device_count", "kind")
    more = ("task", "segments", "layout", "run_boundaries", "epilogue", "take")
    return (*(row[name] for name in same), *row["bits"], *(row.get(name) for name in more))


def _styles(rows: Rows) -> dict[str, dict[str, Any]]:
    """Return the style of each line by name, the same in all panels; lines of hsgen's sorts are thicker."""
    names = [n for n in dict.fromkeys(map(candidate, rows)) if n != "copy"]
    sorts = {candidate(row) for row in rows if row["baseline"] is None}
    return {
        name: {
            "color": LINES[i % len(LINES)],
            "marker": _MARKERS[i % len(_MARKERS)],
            "linestyle": (0, _DASHES[i % len(_DASHES)]) if i % len(_DASHES) else "-",
            "linewidth": 2 if name in sorts else 1.2,
            "zorder": 4 if name in sorts else 3,
            "markerfacecolor": LINES[i % len(LINES)] if name in sorts else PAPER,
        }
        for i, name in enumerate(names)
    }


def _fill(matplotlib: Any, ax: Any, rows: Rows, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw one panel."""
    for name, points in _grouped(sorted(rows, key=lambda r: r["n"]), candidate).items():
        if name != "copy":
            _line(ax, points, name, styles[name])
    roof = [(r["n"], r["roof_mkeys_per_s"]) for r in rows if r["baseline"] is None and r["roof_mkeys_per_s"]]
    if roof:
        ax.plot(*zip(*sorted(roof), strict=True), color=ROOF, linewidth=1, label=_ROOF, zorder=1)
        ax.fill_between(*zip(*sorted(roof), strict=True), ax.get_ylim()[1] * 1e3, color=SHADE, zorder=0)
    _scales(matplotlib, ax, rows)
    ax.set_title(_title(rows[0]), loc="left")
    ax.set_xlabel("keys")
    ax.set_ylabel("Mkeys/s")
    ax.grid(True, which="major", color=RULE, linewidth=0.6)
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i] == _ROOF)  # the roof is the last entry of the legend
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "borderaxespad": 0, "frameon": False}
    columns = 2 if max(map(len, labels)) > _WIDEST else 3
    ax.legend([handles[i] for i in order], [labels[i] for i in order], ncols=columns, handlelength=3.5, **below)


def _line(ax: Any, rows: Rows, name: str, style: Mapping[str, Any]) -> None:
    x, y = [r["n"] for r in rows], [r["mkeys_per_s"] for r in rows]
    spread = [[r["mkeys_per_s"] - r["q1"] for r in rows], [r["q3"] - r["mkeys_per_s"] for r in rows]]
    ax.errorbar(x, y, yerr=spread, label=name, markersize=5, elinewidth=0.8, capsize=2, **style)


def _scales(matplotlib: Any, ax: Any, rows: Rows) -> None:
    """Set logarithmic axes and their ticks.

    The x axis has ticks at powers of two, and the y axis at powers of ten.  If the rates span less than four powers of
    ten, there are also ticks at 2 and 5 times the powers of ten.
    """
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ticker = matplotlib.ticker
    low, high = min(r["n"] for r in rows), max(r["n"] for r in rows)
    first, last = low.bit_length() - 1, (high - 1).bit_length()
    step = max(1, -(-(last - first) // 9))
    ax.set_xticks([2.0**i for i in range(first, last + 1, step)])
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: power_of_two(round(x).bit_length() - 1)))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    shown = [r for r in rows if r["baseline"] != "copy"]
    most = max(max(r["q3"], r["roof_mkeys_per_s"] or 0) for r in shown)
    least = min(max(r["q1"], r["mkeys_per_s"] / 4) for r in shown)
    ax.set_ylim(least / 1.5, most * 1.6)
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if most / least < 1e4 else (1,)))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:g}" if y < 1000 else f"{y:,.0f}"))
    ax.yaxis.set_minor_formatter(ticker.NullFormatter())


def _title(row: Mapping[str, Any]) -> str:
    """Return the title of a panel: sort, input and device."""
    words: Iterable[str] = [f"{row['key']} keys{', descending' * (row['order'] == 'descending')}"]
    words = [*words, "no values" if row["value"] is None else f"values {row['value']}"]
    words += [row["kind"]]
    words += [f"bits {row['bits'][0]} to {row['bits'][1]}"] if row["bits"] != [0, int(row["key"][1:])] else []
    words += ["device-side count"] * row["device_count"] + ["run boundaries"] * bool(row.get("run_boundaries"))
    words += ["an epilogue"] * bool(row.get("epilogue"))
    operation = operations.EVERY.get(row.get("task", ""))
    words += [operation.noun] if operation and operation.workload else []
    if row.get("segments"):
        words += [f"{row['segments']} {'rows' if row['layout'] == 'equal' else 'segments'}"]
    words += [f"the first {row['take']} of each"] if row.get("take") else []
    head = f"{row['target']}: {', '.join(words)}"
    return "\n".join(fill(line, _CHARACTERS) for line in (head, f"{row['api']} on {row['device']}"))
