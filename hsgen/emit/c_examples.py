"""Completion of a bundle's example programs, whose call must be of a sort that the bundle's targets have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from hsgen import operations
from hsgen.algorithms import EVERY
from hsgen.core.keys import KEYS, VALUES
from hsgen.system import resources

PLACE = "/* HSGEN_EXAMPLE */\n"
"""The line in an example program that `completed` replaces.

The replacement selects the sort, and is host code that fills and checks arrays of its keys and values.
"""
COUNT = 100003
_WIDTHS = ("u32", "u64", "u16", "u8")
"""The key widths, in the order in which examples prefer them."""


class Sorting(Protocol):
    """The facts about a target on which an example program depends."""

    @property
    def sorts(self) -> tuple[str, ...]:
        """The file names of the sorts, without suffix."""

    @property
    def max_n(self) -> int:
        """The greatest number of keys that a call of the sorts may have."""


def _is_sort(algorithm: str) -> bool:
    return algorithm == "auto" or (algorithm in EVERY and operations.EVERY[EVERY[algorithm].OPERATION].by_count)


def _sorted(target: Sorting) -> set[tuple[str, str]]:
    """Return the pairs (key width, kind of values) for which a target has sorts."""
    sorts = set()
    for file in target.sorts:
        named = re.fullmatch(rf"([a-z_]+)(?:-\w[\w-]*)?_({'|'.join(_WIDTHS)})(?:_({'|'.join(VALUES)}))?", file)
        if named and _is_sort(named[1]):
            sorts.add((named[2], named[3] or "none"))
    return sorts


def _chosen(targets: Sequence[Sorting]) -> tuple[str, str]:
    """Return the pair (key width, kind of values) that most targets have a sort for.

    If no target has a sort, return ("u32", "none").
    """
    sets = [_sorted(target) for target in targets]
    every = sorted(set().union(*sets), key=lambda row: (_WIDTHS.index(row[0]), list(VALUES).index(row[1])))
    return max(every, key=lambda row: sum(row in one for one in sets), default=("u32", "none"))


def completed(text: str, targets: Iterable[Sorting]) -> str:
    """Return the text of an example program, with its placeholder replaced, for a bundle with these targets."""
    listed = list(targets)
    key, value = _chosen(listed)
    sizes = {
        "KEY_BYTES": 2 * KEYS[key].bytes if value == "packed" else KEYS[key].bytes,
        "VALUE_BYTES": VALUES[value],
        "MAKES_INDICES": int(value.startswith("index")),
        "COUNT": min([COUNT, *(target.max_n for target in listed)]),
    }
    words = {"KEY": key, "VALUE": "NULL" if value == "none" else f'"{value}"', **{k: str(v) for k, v in sizes.items()}}
    common = (resources.templates() / "bundle/example.c").read_text(encoding="utf-8")
    return text.replace(PLACE, re.sub(r"HSGEN_(\w+)", lambda match: words[match[1]], common))
