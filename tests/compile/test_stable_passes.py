"""Passes of radix sorts are stable permutations: all short sequences of digits, on fibers of the host.

The two upper bits of a key are its digit, the lower bits are its index. A single comparison therefore shows that a pass
loses no key, repeats no key, and keeps the order of equal digits. Every ranker, both coordinations, the walks of lanes
and every store are tried. `SEQUENCES` lists the lengths and alphabets, which reach from one key to three tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.radix.shapes import made
from nightly import EVERY, NIGHTLY, thinned
from on_host import OnHost, compiled
from sorts import radix_params, sort_by

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort

BEGIN = 30
"""The first bit that is sorted by: one pass of a digit of 2 bits."""
SMALL: dict[str, Any] = {"bits": 2, "work_group": 4, "groups": 2, "single": 0, "begin": BEGIN, "subgroup": 1}
RANKERS: dict[str, dict[str, Any]] = {
    "ballot": {"ranker": "match_ballot", "subgroup": 4},
    "ballot of 2": {"ranker": "match_ballot", "subgroup": 2},
    "broadcast": {"ranker": "match_broadcast", "subgroup": 2},
    "bitmask": {"ranker": "bitmask"},
    "split1": {"ranker": "radix_split", "split": 1},
    "split2": {"ranker": "radix_split", "split": 2},
}
WALKS: dict[str, dict[str, Any]] = {
    "serial": {"ranker": "serial"},
    "walk": {"ranker": "serial", "subgroup": 4},
    "one lane": {"ranker": "serial", "work_group": 1},
    "lines": {"ranker": "serial", "work_group": 1, "stream_from": 3},
}
VALUES = ("none", "v4", "v8", "index")
"""Each has another store: keys alone; values next to keys or through the tile; values from memory; indices."""


def shapes() -> dict[str, dict[str, Any]]:
    """Return the ways of a pass by name: ranker, coordination and values."""
    ways: dict[str, dict[str, Any]] = {}
    for (name, ranker), way, value in product(RANKERS.items(), ("scan", "lookback"), VALUES):
        ways[f"{name}-{way}-{value}"] = {**ranker, "coordination": way, "signature": Signature(value=value)}
    for (name, walk), value in product(WALKS.items(), VALUES):
        ways[f"{name}-{value}"] = {**walk, "signature": Signature(value=value)}
    for name, value in product(RANKERS, ("none", "v4")):
        ways[f"{name}-single-{value}"] = {**RANKERS[name], "single": None, "signature": Signature(value=value)}
    registers = {"ahead": 64, "signature": Signature(value="v4")}
    ways["ballot-lookback-held"] = {**RANKERS["ballot"], **registers, "coordination": "lookback"}
    ways["ballot-lookback-spread"] = {**RANKERS["ballot"], "spread": True, "coordination": "lookback"}
    return ways


SHAPES = shapes()
SEQUENCES = ((1, 3, 5), (1, 2, 9), *((2, 2, 9),) * NIGHTLY, *((1, 4, 5), (2, 3, 9)) * EVERY)
"""Items of each of 4 lanes, digits, and the greatest length: tiles of 4 keys up to one more and up to two tiles and one
more; tiles of 8 keys up to one more."""
STRETCH = 16
"""Keys of each digit of a sequence for chunks, which have at least 48 keys: a sequence of 9 digits has 3 chunks."""
FAULTS = {
    "ballot-scan-none": ("same & hs_lanemask_lt())", "same & ~hs_lanemask_lt()) - 1"),
    "bitmask-lookback-v4": ("& lanes_before)", "& ~(lanes_before * 2u + 1u))"),
    "split1-scan-v8": ("part0[hs_local_id()] - own0;", "part0[hs_local_id()];"),
    "split2-scan-none": ("firsts[d] + words[HS_GROUP_HISTOGRAMS + d * groups + group]", "firsts[d]"),
    "serial-index": ("hs_to_u32(place + 1)", "hs_to_u32(place)"),
}
"""A fault of the text for some ways: equal digits in reverse, wrong prefixes, no prefix over earlier tiles."""


def sort_of(name: str, items: int) -> Sort:
    """Return the sort of a way, with tiles of 4 * `items` keys."""
    shape = {**SMALL, "items": items, **SHAPES[name]}
    if shape["ranker"] == "serial" and shape["work_group"] == 1:
        shape["items"] = 4 * items
    p = made("u32", {"coordination": "scan", **shape})
    return sort_by("radix", p, p.signature)


def sequences(digits: int, most: int) -> Iterator[Any]:
    """Yield every sequence of 1 to `most` of the greatest `digits` digits."""
    for n in range(1, most + 1):
        for sequence in product(range(4 - digits, 4), repeat=n):
            yield np.array(sequence, np.uint32)


def check(ready: OnHost, digits: Any, number: int) -> None:
    """Run one pass; keys and values must be in the order of a stable sort by the digit."""
    n, size = len(digits), ready.sort.signature.value_bytes
    keys = digits << np.uint32(BEGIN) | np.arange(n, dtype=np.uint32)
    made_here = ready.sort.signature.index
    values = np.arange(n * size // 4, dtype=np.uint32).reshape(n, -1) if size and not made_here else None
    order = np.argsort(digits, kind="stable")
    in_place = number % 2 == 0 and not made_here
    got, along = ready.call(keys, values, Options(), in_place=in_place, seed=number, n=n)
    assert np.array_equal(got, keys[order]), (digits, got & np.uint32(0xFF))
    if size:
        expected = order[:, None] if values is None else values[order]
        assert along is not None and np.array_equal(along, expected), digits


def every(name: str, folder: Path, change: Callable[[str], str] = lambda text: text) -> None:
    """Try all sequences with a way, whose text is changed first."""
    for items in sorted({items for items, _, _ in SEQUENCES}):
        sort = sort_of(name, items)
        assert len(radix_params(sort).digits) == 1
        place = folder / str(items)
        place.mkdir()
        ready = compiled(sort, place, change)
        walks = SHAPES[name]["ranker"] == "serial"
        for digits, most in ((d, m) for i, d, m in SEQUENCES if i == items):
            for number, sequence in enumerate(sequences(digits, most)):
                check(ready, np.repeat(sequence, STRETCH) if walks else sequence, number)


@pytest.mark.parametrize("name", thinned(SHAPES, 11))
def test_every_sequence_of_digits_is_stably_permuted(name: str, tmp_path: Path) -> None:
    every(name, tmp_path)


@pytest.mark.parametrize("name", thinned(FAULTS, 2))
def test_a_pass_that_is_not_stable_is_noticed(name: str, tmp_path: Path) -> None:
    old, new = FAULTS[name]

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    with pytest.raises(AssertionError, match=r"array\("):
        every(name, tmp_path, change)
