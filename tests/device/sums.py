"""Small prefix sums: tiles of a few rows, of work-groups or of lanes alone, in 5 work-groups."""

from __future__ import annotations

from typing import Any

from sorts import sort_by

from hsgen.algorithms import scan
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort

SHAPES: dict[str, dict[str, Any]] = {
    "scan": {"work_group": 32, "items": 3, "coordination": "scan"},
    "lookback": {"work_group": 32, "items": 2, "coordination": "lookback", "spins": 1 << 24},
    "endless": {"work_group": 32, "items": 2, "coordination": "lookback", "redo": False, "withhold": 3},
    "sections": {"work_group": 32, "items": 4, "coordination": "sections", "subgroup": 8, "section": 7, "withhold": 3},
    "local": {
        "work_group": 32,
        "items": 4,
        "coordination": "sections",
        "subgroup": 8,
        "section": 7,
        "withhold": 3,
        "local": True,
        "ahead": 2,
    },
    "alone-endless": {"work_group": 1, "items": 50, "coordination": "lookback", "redo": False, "withhold": 3},
    "alone": {"work_group": 1, "items": 50, "coordination": "scan"},
    "alone-lookback": {"work_group": 1, "items": 50, "coordination": "lookback", "spins": 1 << 24},
}
"""Parameters by name."""


def sum_of(key: str, **values: Any) -> Sort:
    """Return the sum of a shape."""
    p = scan.Params(key=KEYS[key], **{"groups": 5, "exclusive": False, "columns": 1, **values})
    return sort_by("scan", p, columns=p.columns)
