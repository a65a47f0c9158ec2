"""Small packs for tests and scripts: tiles of a few rows, of many lanes or of one."""

from __future__ import annotations

from dataclasses import replace

from sorts import sort_by

from hsgen.algorithms import pack
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort
from hsgen.operations.pack import SIGNATURE

SHAPES = {"together": (16, 48), "uneven": (4, 18), "alone": (1, 10)}
"""Lanes of a work-group, and rows of a tile, by name."""


def sort_of(key: str, shape: str) -> Sort:
    """Return a pack into keys."""
    lanes, tile = SHAPES[shape]
    return replace(sort_by("pack", pack.Params(key=KEYS[key], work_group=lanes, tile=tile)), signature=SIGNATURE)
