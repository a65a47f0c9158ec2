"""Radix sorts with signatures other than plain keys, without a device: the numpy model runs every signature and
strategy.

- Values of each kind, argsorts with and without their keys, key-high u64: keys and values equal those of the stable
  sort of `hsgen.operations.oracle`, in and out of place, also if look-backs fail.
- Types and orders, bit ranges chosen per call, device-side counts: drawn at random.
- The model can fail: wrong flags, ranges, passes and buffers are noticed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.radix import model
from models.radix.memory import Fault
from nightly import thinned
from radix_calls import RICH, SIMPLE, check, drawn, sort_of
from radix_shapes import WAYS, boundary, failures, kinds
from sorts import radix_params as params
from steps import changed as step_with

from hsgen.core.flags import DIRECT, DISCARD
from hsgen.core.interpreter import Launch, Options, bit_range, launches, passes
from hsgen.core.keys import PLAIN, VALUES, Signature
from hsgen.core.sort import Sort

CASES = [
    pytest.param(way, value, rich, id=f"{way}-{value}-{'rich' if rich else 'plain'}")
    for way in WAYS
    for value in VALUES
    for rich in (False, True)
]


@pytest.mark.parametrize(("way", "value", "rich"), thinned(CASES, 3))
def test_every_form_is_sorted(way: str, value: str, rich: bool) -> None:
    rng = np.random.default_rng(len(way) + 10 * len(value))
    signature = replace(RICH if rich else PLAIN, value=value)
    for key, bits in (("u32", 8), ("u64", 11), ("u8", 5), ("u16", 8), ("u32", 11))[: 2 if value == "packed" else 5]:
        sort = sort_of(signature, key, way, bits=bits)
        lost = failures(params(sort))
        for number, n in enumerate(boundary(params(sort))[int(rng.integers(5)) :: 5]):
            keys = list(kinds(rng, n, sort.key.name))[number % 7]
            how, count = drawn(rng, sort, n)
            failing = lost[number % len(lost)]
            discard = signature.index and bool(rng.integers(2))
            check(sort, keys, replace(how, discard=discard), count, in_place=False, failing=failing)
            check(sort, keys, how, count, in_place=True, failing=failing)


@pytest.mark.parametrize("way", ["scan", "lookback", "folded", "serial"])
def test_every_bit_range_is_sorted(way: str) -> None:
    """All of a narrow key; for a wide one, all whose limits change the number of passes."""
    rng = np.random.default_rng(7)
    for key, bits in (("u8", 3), ("u32", 8)):
        sort = sort_of(replace(RICH, value="v4"), key, way, bits=bits, single=0)
        keys = rng.integers(0, sort.key.greatest, 101, np.dtype(f"u{sort.key.bytes}"), endpoint=True)
        step = 1 if key == "u8" else 7
        for begin in range(0, sort.plan.bits + 1, step):
            for end in {*range(begin, sort.plan.bits + 1, step), sort.plan.bits}:
                how = Options(begin=begin, end=end, descending=bool(begin & 1), kind=end % 2)
                check(sort, keys, how, None, in_place=bool(end & 2), failing=())


def test_an_empty_range_copies() -> None:
    for way in WAYS:
        for value in ("none", "v8", "index"):
            sort = sort_of(replace(RICH, value=value), "u32", way)
            for n in (0, 1, 19, 400):
                keys = np.random.default_rng(n).integers(0, 2**32, n, np.uint32)
                for at in (0, 13, 32):
                    for in_place in (False, True):
                        check(sort, keys, Options(begin=at, end=at), None, in_place=in_place, failing=())


@pytest.mark.parametrize("way", WAYS)
def test_every_count_on_the_device_is_sorted(way: str) -> None:
    """Each count up to a capacity and beyond, with capacities on both sides of the single work-group's limit."""
    for value, bits in (("index", 8), ("v4", 11)):
        sort = sort_of(Signature(value=value, device_count=True), "u32", way, bits=bits)
        p = params(sort)
        for capacity in (p.alone or p.tile, 5 * p.tile + 3):
            keys = np.random.default_rng(1).integers(0, 50, capacity, np.uint32) << np.uint32(9)
            for count in {*range(0, capacity, 7), p.alone, p.alone + 1, capacity, capacity + 9, 2**32 - 1}:
                check(sort, keys, Options(device_count=True), count, in_place=bool(count & 1), failing=())


def changed(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Apply a change to the launches of the plan."""

    def made(plan: Any, n: int, **how: Any) -> Any:
        for launch in launches(plan, n, **how):
            argument, step = change(launch)
            yield Launch(step, argument, launch.groups, launch.grid)

    monkeypatch.setattr(model, "launches", made)


def noticed(sort: Sort, how: Options = SIMPLE, *, n: int = 300, like: int | None = None) -> bool:
    """Whether some call of a sort fails; `like`: the bits in which keys differ, instead of several kinds of keys."""
    rng = np.random.default_rng(3)
    every = kinds(rng, n, sort.key.name)
    if like is not None:
        every = iter([rng.integers(0, 2**32, n, np.uint32) & np.uint32(like)])
    for keys in every:
        for in_place in (False, True)[: 1 if how.discard else 2]:
            try:
                check(sort, keys, how, None, in_place=in_place, failing=())
            except (AssertionError, Fault, KeyError, ValueError, IndexError):
                return True
    return False


@pytest.mark.parametrize("bits", [8, 11])
@pytest.mark.parametrize("way", ["scan", "folded", "subgroups walk"])
def test_a_wrong_direct_flag_is_noticed(monkeypatch: pytest.MonkeyPatch, way: str, bits: int) -> None:
    """Out of place, exactly the right passes may store to the destination: otherwise the first pass that moves keys
    puts all of them in the wrong buffer."""
    sort = sort_of(PLAIN, "u32", way, bits=bits)
    assert not noticed(sort)
    for number, (shift, _) in enumerate(params(sort).digits):
        changed(monkeypatch, lambda x, q=number: (x.argument ^ (DIRECT if x.step.pass_number == q else 0), x.step))
        assert noticed(sort, like=2**32 - (1 << shift)), number


@pytest.mark.parametrize("value", ["none", "v4", "index"])
@pytest.mark.parametrize("way", ["scan", "lookback", "serial"])
def test_a_bit_range_that_loses_a_bit_is_noticed(monkeypatch: pytest.MonkeyPatch, way: str, value: str) -> None:
    """Its first or its last bit, with a single work-group and with passes."""
    sort = sort_of(replace(RICH, value=value), "u32", way)
    real = model.launches
    for begin, end in ((0, 32), (3, 20), (24, 32), (5, 6)):
        how = Options(begin=begin, end=end)
        for n in (17, 300):
            assert not noticed(sort, how, n=n)
            for less, bit in ((replace(how, end=end - 1), end - 1), (replace(how, begin=begin + 1), begin)):
                monkeypatch.setattr(
                    model, "launches", lambda plan, n, less=less, **k: real(plan, n, **{**k, "how": less})
                )
                assert noticed(sort, how, n=n, like=1 << bit)
                monkeypatch.setattr(model, "launches", real)


@pytest.mark.parametrize("way", ["scan", "lookback", "folded", "serial"])
def test_keys_left_away_before_the_last_pass_are_noticed(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    sort = sort_of(Signature(value="index"), "u32", way)
    how = Options(discard=True)
    assert not noticed(sort, how)
    last = len(params(sort).digits) - 1
    changed(monkeypatch, lambda x: (x.argument | (DISCARD if x.step.pass_number in range(last) else 0), x.step))
    assert noticed(sort, how)


@pytest.mark.parametrize("flag", range(22, 27))
def test_flags_that_a_form_does_not_know_are_noticed(monkeypatch: pytest.MonkeyPatch, flag: int) -> None:
    """DISCARD, COUNTED, SIGNED, FLOAT and DESCENDING, in kernels that support none of them."""
    sort = sort_of(PLAIN)
    changed(monkeypatch, lambda x: (x.argument | 1 << flag, x.step))
    assert noticed(sort)


def test_values_read_from_other_buffers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each binding of a row that moves values, with the offset of the next one."""
    sort = sort_of(Signature(value="v4"), "u32", "scan", bits=11)
    tried = 0
    for i, step in enumerate(sort.plan.steps):
        for j in range(len(step.bindings) - 1):
            swapped = list(step.bindings)
            swapped[j], swapped[j + 1] = swapped[j + 1], swapped[j]
            steps = (*sort.plan.steps[:i], replace(step, bindings=tuple(swapped)), *sort.plan.steps[i + 1 :])
            broken = replace(sort, plan=replace(sort.plan, steps=steps))
            n = 15 if step.kernel == "single" else 300
            assert noticed(broken, n=n), (step.kernel, j)
            tried += 1
    assert tried > 30


@pytest.mark.parametrize("way", WAYS)
def test_steps_that_exclude_the_real_count_do_nothing(way: str) -> None:
    """Without the guards on the real count, the single work-group would spoil larger counts."""
    sort = sort_of(Signature(device_count=True), "u32", way)
    p = params(sort)
    if not p.alone:
        return
    keys = np.random.default_rng(1).integers(0, 2**32, 8 * p.tile, np.uint32)
    how = Options(device_count=True)
    check(sort, keys, how, 6 * p.tile, in_place=False, failing=())
    steps = tuple(step_with(s, max_n=s.guard.max_n if s.kernel == "single" else 4 * p.tile) for s in sort.plan.steps)
    with pytest.raises(AssertionError):
        check(replace(sort, plan=replace(sort.plan, steps=steps)), keys, how, 6 * p.tile, in_place=False, failing=())


def test_passes_of_a_range_are_launched_and_no_others() -> None:
    sort = sort_of(RICH, "u64", "scan", bits=8, single=0)
    for begin in range(0, 65, 5):
        for end in range(begin, 65, 3):
            how = Options(begin=begin, end=end)
            found = [x for x in launches(sort.plan, 1000, in_place=False, how=how) if x.step.kernel == "count"]
            assert [x.argument & 255 for x in found] == list(range(passes(*bit_range(sort.plan, how), 8)))
            at = begin
            for x in found:
                assert x.argument >> 8 & 255 == at
                at += x.argument >> 16 & 15
            assert at == end
    assert sort.plan.steps[0].indirect
