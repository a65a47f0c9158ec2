"""Sorts of every signature on Mesa's lavapipe, under the validation layers: types, orders, values, ranges, counts.

Device-side counts reach kernels by indirect dispatches.  The start of arrays shifts by an element from call to call,
which is less than lavapipe's binding alignment of 16 bytes.  The nightly run has every width with every kind of values.
"""

from __future__ import annotations

from typing import Any

import pytest
from every import WHOLE, hows, sort_of
from lavapipe import Lavapipe, calls_of_worker, lanes, lavapipe
from nightly import NIGHTLY, nightly_except

from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.engines import native
from hsgen.targets import target

# lanes of a subgroup; kernels without subgroups run in any
LANES = {"forms1": 4, "forms8": 8, "several8": 8, "buckets8": 8, "pairs8": 8, "mixed8": 8}
__all__ = ["lavapipe"]  # a fixture

SOME = [
    ("forms8", "auto", "u64", "v16"),
    ("forms8", "auto", "u8", "index64"),
    ("forms8", "auto", "u32", "packed"),
    ("forms8", "radix-walk", "u32", "none"),
    ("several8", "auto", "u32", "v4"),
    ("buckets8", "auto", "u64", "none"),
    ("pairs8", "auto", "u32", "index"),
    ("pairs8", "auto", "u64", "v4"),
    ("forms1", "auto", "u16", "v8"),
    ("forms1", "radix-split", "u32", "index"),
    ("mixed8", "auto", "u32", "none"),
]
"""(target, algorithm, width, value) that most tests use: every target, width and kind of values."""

FAST = [s for s in SOME if s[3] == "packed" or s[0] == "forms1" or s[1] == "radix-walk"]
"""The ones that lavapipe compiles quickly: narrow keys, key-high u64, single lanes with and without splits, and
chunks."""


def combinations() -> list[Any]:
    """Return what to compile: some, and nightly every width with every kind of values, and every variant with some."""
    kinds = ("none", "v4", "v8", "v16", "index", "index64")
    every = [(t, "auto", k, v) for t in LANES for k in KEYS for v in kinds]
    every += [(t, "auto", "u32", "packed") for t in LANES]
    variants = [("forms8", "radix-walk"), ("forms1", "radix-split"), ("forms1", "radix-serial")]
    every += [(t, a, "u32", v) for t, a in variants for v in ("none", "v8", "index")]
    return nightly_except(SOME, FAST) + [x for x in every if x not in SOME] * NIGHTLY


@pytest.mark.device
@pytest.mark.parametrize(("name", "algorithm", "key", "value"), combinations())
def test_every_way_to_call_a_sort(lavapipe: Lavapipe, name: str, algorithm: str, key: str, value: str) -> None:
    lavapipe(LANES[name])
    signature = Signature(value=value, **WHOLE)
    library = native.library("vulkan", [target.find(lanes(name))], key, algorithms=[algorithm], signature=signature)
    more = [f"{name}.toml", algorithm, key, value, "validation=1", "each" if NIGHTLY else "some"]
    assert calls_of_worker(library, *more) >= 2 * len(list(hows(sort_of(f"{name}.toml", algorithm, key, signature))))


def test_some_of_the_combinations_hold_everything_once() -> None:
    some: list[Any] = [set(column) for column in zip(*SOME, strict=True)]
    assert some[0] == set(LANES) and some[2] == set(KEYS) and some[3] == set(VALUES)
