"""Parts of scratch are disjoint and within the checked size, for every count: proved by the SMT solver z3.

Between two counts at which a plan changes, all counts have the same launches.  The solver finds no count of such a
range at which two parts overlap, or a part ends beyond scratch.  Tables of buckets are not among the parts: see
test_radix_key_buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scratch_parts import INTEGERS, RICH, Numbers, layout, part_of, parts_of_scratch, shipped
from shipped import sampled

from hsgen.core.interpreter import offset
from hsgen.core.plan import Step
from hsgen.core.scratch import ScratchRule
from hsgen.core.sort import Sort
from hsgen.targets.target import find

z3 = pytest.importorskip("z3", reason="z3 is not installed (pip install z3-solver)")

PATIENCE = 60_000
"""The milliseconds after which the solver gives up on a condition.

Each condition takes far less; their disjunction may take hours.
"""


class Terms(Numbers):
    """Arithmetic of a count that is a term of z3; counts are not negative."""

    @staticmethod
    def up(x: Any, by: int) -> Any:
        return (x + by - 1) / by if z3.is_expr(x) else INTEGERS.up(x, by)

    @staticmethod
    def choose(condition: Any, a: Any, b: Any) -> Any:
        return z3.If(condition, a, b) if z3.is_expr(condition) else INTEGERS.choose(condition, a, b)


def ranges(sort: Sort) -> Iterator[tuple[int, int, bool, list[Step]]]:
    """Yield ranges of counts (above the first, up to the second), whether counts are on the device, and their steps."""
    ends = {n for s in sort.plan.steps for n in (s.guard.min_n, s.guard.max_n)} | {0, sort.plan.max_n}
    for low, high in pairwise(sorted(n for n in ends if n <= sort.plan.max_n)):
        for device in {False, sort.signature.device_count}:
            steps = [s for s in sort.plan.steps if s.guard.min_n <= low and (device or s.guard.max_n >= high)]
            yield low, high, device, [s for s in steps if device or not s.indirect]


def wrong(sort: Sort) -> list[str]:
    """Return the ranges for which there is a count with overlapping parts, or with a part beyond scratch."""
    faults = []
    by, n = Terms(), z3.Int("n")
    for low, high, device, steps in ranges(sort):
        for kind in {layout(sort, s) for s in steps if not s.indirect}:
            parts: dict[str, tuple[int, list[tuple[Any, Any]]]] = {}
            for step in (s for s in steps if s.indirect or layout(sort, s) == kind):
                at_high = [begin for _, begin, _ in parts_of_scratch(sort, step, high)]
                for place, (name, begin, size) in zip(at_high, parts_of_scratch(sort, step, n, by), strict=True):
                    parts.setdefault(part_of(sort, step, name, place), (place, []))[1].append((begin, size))
            placed = [uses for _, uses in sorted(parts.values(), key=lambda part: part[0])]
            if not placed:
                continue
            terms = [uses[0][0] != begin for uses in placed for begin, _ in uses[1:] if not begin.eq(uses[0][0])]
            after = [uses[0][0] for uses in placed[1:]] + [by.bytes(sort.plan.scratch, n)]
            terms += [begin + size > end for uses, end in zip(placed, after, strict=True) for begin, size in uses]
            for term in terms:
                if found := refuted(z3.And(n > low, n <= high, term)):
                    faults.append(f"{sort.name} {low} to {high} {device}: {found}")
    return faults


@cache
def refuted(condition: Any) -> str:
    """Return "" if no count meets the condition, else a count that does, or "unknown"."""
    solver = z3.Solver()
    solver.set("timeout", PATIENCE)
    solver.add(condition)
    result = solver.check()
    return "" if result == z3.unsat else f"{result} {result == z3.sat and solver.model()}"


@pytest.mark.nightly
@pytest.mark.parametrize("name", sampled())
def test_no_parts_of_scratch_overlap_for_any_count(name: str) -> None:
    assert [text for sort in shipped(name) for text in wrong(sort)] == []


def narrow(change: Callable[[ScratchRule], ScratchRule]) -> Sort:
    """Return the sort of 8-bit keys of `nvidia-hopper` with a device-side count, and other rules for scratch."""
    sort = find("nvidia-hopper").sort("auto", "u8", RICH)
    rules = tuple(change(rule) for rule in sort.plan.scratch.rules)
    return replace(sort, plan=replace(sort.plan, scratch=replace(sort.plan.scratch, rules=rules)))


def test_a_narrow_sort_and_its_faults() -> None:
    assert wrong(narrow(lambda rule: rule)) == []
    assert wrong(narrow(lambda rule: replace(rule, plus=rule.plus - 1024)))
    assert wrong(narrow(lambda rule: replace(rule, per_unit=0)))
    assert wrong(narrow(lambda rule: replace(rule, per_n=0)))
    # without room for the states of all tiles of the most keys that are one portion
    (most,) = (rule.min_n for rule in narrow(lambda rule: rule).plan.scratch.rules if rule.unit > 11264)
    assert wrong(narrow(lambda rule: rule if rule.min_n < most or rule.per_unit else replace(rule, plus=0)))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from(["u8", "u32"]))
def test_terms_have_the_values_of_numbers(count: int, key: str) -> None:
    sort = find("nvidia-hopper").sort("auto", key, RICH)
    by, n = Terms(), z3.Int("n")
    binding = next(b for s in sort.plan.steps for b in s.bindings if b.role == "scratch" and b.per_n)
    for term, number in (
        (by.bytes(sort.plan.scratch, n), sort.plan.scratch.bytes(count)),
        (by.offset(binding, n), offset(binding, count)),
    ):
        assert z3.simplify(z3.substitute(term, (n, z3.IntVal(count)))).as_long() == number
