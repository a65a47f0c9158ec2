"""Small gathers for tests and scripts: tiles of a few items, of lanes together or of one lane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sorts import sort_by

from hsgen.algorithms import gather
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort

SHAPES: dict[str, dict[str, Any]] = {
    "together": {"work_group": 16, "tile": 48, "batch": 2},
    "batches": {"work_group": 4, "tile": 20, "batch": 3},
    "alone": {"work_group": 1, "tile": 10, "whole_items": True},
    "lanes alone": {"work_group": 8, "tile": 40, "whole_items": True},
}
"""Parameters by name."""


def sort_of(value: str, shape: str) -> Sort:
    """Return a gather of items of a kind of values."""
    signature = Signature(value=value, rows=True)
    p = gather.Params(key=KEYS["u32"], signature=signature, **SHAPES[shape])
    return replace(sort_by("gather", p), signature=signature)
