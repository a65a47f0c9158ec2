"""Draws prefix sums: the tile, and the sequence of launches."""

from __future__ import annotations

from hsgen.algorithms import scan
from hsgen.algorithms.scan.params import Params
from hsgen.tools.report.drawing import Drawing, Figure, count, plural
from hsgen.tools.report.tiles import lanes_by_items


def figures(p: Params, most: int) -> list[Figure]:
    """Return the drawings of a shape; the drawings do not depend on `most`, the greatest count of rows."""
    return [_tile(p), _launches(p)]


def _tile(p: Params) -> Figure:
    d = Drawing(f"a tile of {p.work_group} lanes x {p.items} rows = {p.tile} rows")
    lanes_by_items(d, p.work_group, p.items, 1, "rows")
    kind = "exclusive (a row's sums exclude the row itself)" if p.exclusive else "inclusive"
    caption = (
        f"Tile: {plural(p.work_group, 'lane')} x {p.items} = {count(p.tile)} rows of {plural(p.columns, 'element')}. "
        f"Every column has sums of its own, {kind}."
    )
    return Figure(d.markup(), caption)


def _launches(p: Params) -> Figure:
    kernels = {k.name: k for k in scan.kernels(p)}
    steps = [s for s in scan.plan(p).steps if s.kernel != "single"]
    d = Drawing(f"{plural(len(steps), 'launch')}: {', '.join(s.kernel for s in steps)}")
    top, w = 12, 120
    for at, step in enumerate(steps):
        x = 8 + at * (w + 36)
        d.box(x, top, w, 30, "light", kernels[step.kernel].summary)
        d.text(x + w / 2, top + 19, step.kernel, kind="code")
        if at:
            d.line(x - 34, top + 15, x - 4, top + 15, "arrow")
    caption = f"More than {count(p.tile)} rows: {plural(len(steps), 'launch')}. {_coordination(p)}"
    return Figure(d.markup(), caption)


def _coordination(p: Params) -> str:
    """Return a sentence that says how a tile gets the sums of earlier tiles."""
    if p.sections:
        return (
            f"Look-back in sections of {p.section_tiles} tiles: a tile waits for the sums of those before it in its "
            "section and that of all sections before."
        )
    waits = "Look-back: tiles wait for the sums of those before them"
    if p.forward_progress:
        return f"{waits}."
    if p.looks:
        return f"{waits}; the launches after it end at once unless one gave up."
    return "Reduced and scanned: tiles are summed first, then scanned from the sums of those before them."
