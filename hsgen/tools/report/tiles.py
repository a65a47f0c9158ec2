"""Draws a tile of a radix sort or of prefix sums: a grid of lanes by items."""

from __future__ import annotations

from hsgen.tools.report.drawing import Drawing, count, plural

_WIDE, _HIGH = 512, 150
_CELLS = 64  # up to this number of lanes, each lane gets a column


def lanes_by_items(d: Drawing, lanes: int, items: int, subgroup: int, noun: str) -> None:
    """Draw a tile as a grid.

    A column stands for a lane, or for several lanes.  There is a row for each of the `items` of a lane; if there are
    more than 16, a row stands for several items.  If `subgroup` exceeds 1, subgroups are marked.  `noun` is the name of
    the items.
    """
    left, top = 96, 42
    columns = lanes if lanes <= _CELLS else lanes // subgroup if subgroup > 1 else min(lanes, 16)
    rows = min(items, 16)
    w, h = min(40.0, _WIDE / columns), min(14.0, _HIGH / rows)
    d.grid(left, top, columns, rows, w, h)
    bottom = top + rows * h
    d.text(left, top - 24, f"tile: {lanes} x {items} = {count(lanes * items)} {noun}", anchor="start")
    d.text(left, top - 8, plural(lanes, "lane"), anchor="start", kind="small")
    d.text(left - 8, (top + bottom) / 2 + 4, f"{count(items)} a lane", anchor="end", kind="small")
    each = lanes // columns
    cell = "a column is a lane" if each == 1 else f"a column is {each} lanes"
    if subgroup > 1 and each == subgroup:
        cell = f"a column is a subgroup of {subgroup} lanes"
    elif subgroup > 1 and each == 1:
        for edge in range(subgroup, columns, subgroup):
            d.line(left + edge * w, top - 4, left + edge * w, bottom + 4, "thick")
        cell += f", {plural(lanes // subgroup, 'subgroup')} of {subgroup}" if lanes > subgroup else ", all a subgroup"
    if rows < items:
        cell += f"; a row is {items / rows:g} of its {noun}"
    d.text(left, bottom + 18, cell, anchor="start", kind="small")
