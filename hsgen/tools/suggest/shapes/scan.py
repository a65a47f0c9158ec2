"""Suggests shapes of prefix sums: four variants for each element width.

The rule gives a lane 64 to 256 bytes of rows.  In work-groups of one lane, it gives the lane 4096 elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.core.networks import pow2_floor
from hsgen.tools.suggest.facts import Choice, Facts, Table, lessened
from hsgen.tools.suggest.shapes.radix import groups

VARIANTS = {"x1": (1, False), "x1ex": (1, True), "x4": (4, False), "x4ex": (4, True)}
"""The variants by name, as (columns of a row, sums are exclusive)."""


def tables(f: Facts, size: int, width: int) -> dict[str, Table]:
    """Return the tables ``[scan.KEY.NAME]`` for elements of `size` bytes, by variant.

    The result is empty for 64-bit elements on devices without 64-bit integers.
    """
    if size == 8 and not f.device.int64:
        return {}
    return {name: _table(f, size, *sums) for name, sums in VARIANTS.items()}


def _table(f: Facts, size: int, columns: int, exclusive: bool) -> Table:
    """Return the table ``[scan.KEY.NAME]`` for rows of `columns` elements of `size` bytes."""
    looks = False
    if f.cpu and f.lone_lanes:
        lanes, items, why = 1, 4096 // columns, "a lane a core walks its rows"
        many = Choice(min(64, f.device.groups), "from some chunks a core on their number makes no difference")
    elif f.cpu:
        lanes, items, why = 64, 256 // (size * columns), "a core runs one work-group at a time"
        many = Choice(min(64, f.device.groups), "from some work-groups a core on their number makes no difference")
    else:
        looks = f.device.forward_progress and f.device.local == "chip"
        share = 128 if looks else 64
        lanes, items, why = 256, max(1, share // (size * columns)), f"{share} bytes of rows a lane"
        width = max(f.widths, default=32)
        many = groups(f, 256 // width, 1)
    return {
        "columns": Choice(columns, ""),
        "exclusive": Choice(exclusive, ""),
        "items": Choice(items, why),
        "work_group": Choice(pow2_floor(min(lanes, f.device.work_group)), ""),
        "groups": many,
        "coordination": Choice(
            "lookback" if looks else "scan",
            "work-groups go on once started: rows are read once" if looks else "no work-group waits for another",
        ),
    }


def smaller(table: Table) -> Iterator[Table]:
    """Yield smaller tables: first with fewer rows of a lane, then with fewer lanes."""
    now = dict(table)
    while True:
        name = next((n for n in ("items", "work_group") if now[n].value > 1), None)
        if name is None:
            return
        value = now[name].value // 2
        now[name] = lessened(table, name, value)
        yield dict(now)
