"""First shapes of prefix sums: the same four tables for every width, by bytes of a lane's rows."""

from __future__ import annotations

from hsgen.core.networks import pow2_floor
from hsgen.tools.suggest.facts import Choice, Facts, Table
from hsgen.tools.suggest.radix import groups

VARIANTS = {"x1": (1, False), "x1ex": (1, True), "x4": (4, False), "x4ex": (4, True)}
"""Names of variants: columns of a row, and whether sums leave out their own row."""


def scan(f: Facts, size: int, columns: int, exclusive: bool) -> Table:
    """Return the table ``[scan.KEY.NAME]`` for rows of `columns` elements of `size` bytes."""
    looks = False
    if f.cpu and f.lone_lanes:
        lanes, items, why = 1, 4096 // columns, "a lane a core walks its rows"
        many = Choice(min(64, f.device.groups), "from some chunks a core on their number makes no difference")
    elif f.cpu:
        lanes, items, why = 64, 256 // (size * columns), "a core runs one work-group at a time"
        many = Choice(min(64, f.device.groups), "from some work-groups a core on their number makes no difference")
    else:
        looks = f.device.goes_on and f.device.local == "chip"
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
