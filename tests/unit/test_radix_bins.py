"""The buffers of a radix sort with look-back: keys end in the destination, with as few moves as possible.

All digits are known before a key moves.  Constant digits are skipped, except as many as make the keys end in the
destination; only in place, after an odd number of passes, are keys copied.  The model executes every set of constant
digits; any wrong rule is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from models.radix import model
from models.radix.memory import Fault
from radix_calls import RICH, SIMPLE, check, sort_of
from radix_shapes import WAYS, shape
from sorts import radix_params as params

from hsgen.algorithms import radix
from hsgen.algorithms.radix.words import words
from hsgen.core.flags import REDO
from hsgen.core.interpreter import Options, launches
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort

LOOKING = ("lookback", "endless", "a tile alone")
FORMS = (
    Signature(),
    Signature(value="v4"),
    Signature(value="index"),
    replace(RICH, value="v8"),
    replace(RICH, value="index64"),
)
N = 300


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of passes that move keys."""
    for size in range(count + 1):
        yield from combinations(range(count), size)


def keys_of(sort: Sort, moving: Collection[int]) -> Any:
    """Return keys that differ in the digits of exactly these passes."""
    p = params(sort)
    mask = sum((1 << width) - 1 << shift for number, (shift, width) in enumerate(p.digits) if number in moving)
    keys = np.random.default_rng(3).integers(0, p.key.greatest, N, np.dtype(f"u{p.key.bytes}"), endpoint=True)
    return keys & keys.dtype.type(mask) | keys.dtype.type(0x5A & ~mask)


def runs(total: int, left: int, *, in_place: bool, index: bool) -> int:
    """Return the passes that must move keys: out of place one or more; in place an even number, and not zero if indices
    are generated on the way; as few as possible, or just those that sort, if no such number exists."""
    fits = [m for m in range(left, total + 1) if (m % 2 == 0 and (m or not index) if in_place else m > 0)]
    return fits[0] if fits else left


@pytest.mark.parametrize("signature", FORMS, ids=str)
@pytest.mark.parametrize("bits", [8, 11])
@pytest.mark.parametrize("way", LOOKING)
def test_keys_end_in_the_destination_by_as_few_passes_as_that_takes(
    monkeypatch: pytest.MonkeyPatch, way: str, bits: int, signature: Signature
) -> None:
    """(The model raises a fault at an unnecessary copy.)"""
    sort = sort_of(signature, "u32", way, bits=bits)
    total = len(params(sort).digits)
    real, moved = model.PLAY["starts"], []

    def starts(p: Any, m: Any, at: Any, failing: Collection[int]) -> None:
        real(p, m, at, failing)
        moved.append(max(m.order.values()))

    monkeypatch.setitem(model.PLAY, "starts", starts)
    for moving in subsets(total):
        keys = keys_of(sort, moving)
        for in_place in (False, True):
            for failing in [(), (0,), (total - 1,), tuple(range(total))][: 4 if params(sort).redo else 1]:
                check(sort, keys, SIMPLE, None, in_place=in_place, failing=failing)
            assert set(moved) == {runs(total, len(moving), in_place=in_place, index=signature.index)}, (
                moving,
                in_place,
            )
            moved.clear()


def no_more(p: Any, m: Any, at: Any, failing: Collection[int]) -> None:
    """Constant digits never move keys."""
    model.PLAY["right"](p, m, at, failing)
    place = 0
    live = [not (h == at.n).any() for h in m.histogram[: len(p.digits)]]
    first = 1 if at.direct and sum(live) % 2 else 2
    for q, lives in enumerate(live):
        m.where[q], m.order[q] = place, sum(live[: q + 1]) if lives else 0
        place = place if not lives else first if place == 0 else 3 - place
    m.where[len(live)] = place


def other_place(p: Any, m: Any, at: Any, failing: Collection[int]) -> None:
    """Out of place the first pass goes to the other buffer."""
    model.PLAY["right"](p, m, at, failing)
    if at.direct:
        m.where = {q: place and 3 - place for q, place in m.where.items()}


def one_turn(p: Any, m: Any, at: Any, failing: Collection[int]) -> None:
    """One constant digit that should move the keys does not: later ones read the wrong buffer."""
    model.PLAY["right"](p, m, at, failing)
    for q in range(len(p.digits)):
        if m.order[q] and (m.histogram[q] == at.n).any():
            m.order[q] = 0
            return


@pytest.mark.parametrize("bits", [8, 11])
@pytest.mark.parametrize("wrong", [no_more, other_place, one_turn], ids=lambda f: f.__name__)
def test_a_wrong_rule_is_noticed(monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., None], bits: int) -> None:
    sort = sort_of(Signature(value="v4"), "u32", "endless", bits=bits)
    monkeypatch.setitem(model.PLAY, "right", model.PLAY["starts"])
    monkeypatch.setitem(model.PLAY, "starts", wrong)
    noticed = 0
    for moving in subsets(len(params(sort).digits)):
        for in_place in (False, True):
            try:
                check(sort, keys_of(sort, moving), SIMPLE, None, in_place=in_place, failing=())
            except (AssertionError, Fault, KeyError, ValueError, IndexError):
                noticed += 1
    assert noticed > 0


def names(sort: Sort, how: Options = SIMPLE, *, in_place: bool) -> list[str]:
    return [x.step.kernel for x in launches(sort.plan, N, in_place=in_place, how=how)]


def test_what_is_launched() -> None:
    """Three launches and one per pass; a copy only in place with an odd number of passes."""
    before = ["begin", "histogram", "starts"]
    for key, passes in (("u32", 4), ("u64", 8), ("u16", 2), ("u8", 1)):
        sort = sort_of(Signature(), key, "endless")
        assert names(sort, in_place=False) == before + ["onesweep"] * passes
        assert names(sort, in_place=True) == before + ["onesweep"] * passes + ["copy"] * (passes % 2)
        assert {k.name for k in sort.kernels} == {"single", *before, "onesweep", *(["copy"] if passes % 2 else [])}
        again = sort_of(Signature(), key, "lookback")
        assert names(again, in_place=True).count("scatter") == passes and again.plan.device_status
        assert names(again, in_place=False).count("copy") == 0
        assert sort.plan.device_status is None and not any(s.argument.flags & REDO for s in sort.plan.steps)
    bit_range = sort_of(replace(Signature(), bit_range=True), "u32", "endless")
    assert "copy" not in names(bit_range, in_place=True)
    assert "copy" in names(bit_range, Options(begin=0, end=20), in_place=True)
    assert "copy" not in names(bit_range, Options(begin=0, end=20), in_place=False)


def test_sorts_that_wait_without_bound_count_only_from_2_to_the_30_keys_on() -> None:
    p = shape(large=True, **WAYS["endless"])
    names = {k.name for k in radix.kernels(p)}
    assert {"count_wide", "rows_wide", "scatter_wide", "copy_wide"} < names and not {"count", "scatter"} & names
    assert words(p).buffers.start == 0 and words(replace(p, redo=True)).buffers.start == 4
