"""The plan of a grouping: tables of few groups, the plan of a sort, moved in scratch, and that of a reduction."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from hsgen.algorithms import group_by
from hsgen.algorithms.group_by import pair_partition_plan
from hsgen.core.errors import Usage
from hsgen.core.flags import FLOAT_SUM
from hsgen.core.interpreter import PLAIN, Launch, Options, launches, offset
from hsgen.core.keys import Signature
from hsgen.core.plan import Plan, Step
from hsgen.core.sort import Sort
from hsgen.targets import target

FORMS = [(key, value) for key in ("u8", "u32", "u64") for value in ("none", "v4")]
UNIT = 1024  # bytes
ROUNDED = Options(reduction=FLOAT_SUM)
"""A call whose sums of floats need a sort."""


@cache
def forms(name: str) -> list[tuple[Sort, Sort, Plan]]:
    """The groupings of a target: each with the sort before it, and with the plan of the reduction alone."""
    found, out = target.find(name), []
    for key, value in FORMS:
        try:
            whole = found.sort("group_by", key, Signature(value=value))
        except Usage:
            continue
        params: Any = whole.parts[0].params
        before = found.default(key, group_by.sorting(whole.signature), whole.plan.max_n)
        out.append((whole, before, group_by.plan(params)))
    return out


def counts(whole: Sort) -> list[int]:
    """Counts at which a step starts or stops to run, and others."""
    guards = [s.guard for s in whole.plan.steps]
    edges = {bound + d for g in guards for bound in (g.min_n, g.max_n) for d in (-1, 0, 1)}
    more = {1, 2, 1000, 1 << 20, (1 << 24) + 77, whole.plan.max_n}
    return sorted(n for n in edges | more if 0 < n <= whole.plan.max_n)


def origin(launch: Launch) -> tuple[object, ...]:
    """What a launch has in common with that of the plan that it comes from."""
    step = launch.step
    return step.kernel, step.argument, step.guard.place


def made(whole: Sort, n: int) -> list[Launch]:
    """The launches of a sum of floats by group that sort and reduce."""
    found = launches(whole.plan, n, whole.groups, in_place=False, how=ROUNDED)
    return [x for x in found if not x.step.kernel.startswith("few_")]


def sorted_arrays(whole: Sort, n: int) -> tuple[int, int, int]:
    """Where the sorted keys begin, their values, and what follows."""
    params: Any = whole.parts[0].params
    item = whole.signature.value_bytes
    keys = params.few.bytes + pair_partition_plan.words_bytes(params.pair_partition) if params.few else 0
    end = keys + n * whole.key.bytes
    values = -(-end // UNIT) * UNIT + UNIT if item else 0
    return keys, values, max(end, values + item * n)


def needed(plan: Plan, n: int) -> int:
    """The scratch that the steps for this count need; `Scratch.bytes` also suffices for lower counts."""
    return max((rule.bytes(n) for rule in plan.scratch.rules if n <= rule.max_n), default=0)


def places(step: Step, n: int) -> list[int]:
    """Where the buffers of a step in scratch memory are."""
    return [offset(b, n) for b in step.bindings if b.role == "scratch"]


@pytest.mark.parametrize("name", target.names())
def test_every_target_groups_the_keys_that_it_sorts_and_reduces(name: str) -> None:
    found = target.find(name)
    for key, value in FORMS:
        signature = Signature(value=value)
        try:
            found.default(key, signature)
            found.sort("reduce_by_key", key, signature)
        except Usage:
            with pytest.raises(Usage, match=f"no group_by for {key} keys"):
                found.sort("group_by", key, signature)
        else:
            whole = found.sort("group_by", key, replace(signature, key_transform=True))
            assert whole.operation == "group_by" and whole.plan.max_n > 1 << 28
            assert len({k.name for k in whole.kernels}) == len(whole.kernels)
            assert len({k.subgroup for k in whole.kernels if k.subgroup > 1}) <= 1


@pytest.mark.parametrize("name", target.names())
def test_buffers_in_scratch_keep_their_room_behind_the_sorted_arrays(name: str) -> None:
    """By numbers: between two buffers of the plan that steps come from is at most the room that they have here."""
    for whole, before, after in forms(name):
        for n in counts(whole):
            end, (keys, values, behind) = whole.plan.scratch.bytes(n), sorted_arrays(whole, n)
            few = whole.parts[0].params.few  # type: ignore[attr-defined]
            own = {0, few.bytes if few else 0, keys, values}
            hows = (PLAIN, ROUNDED)
            every = [x for how in hows for x in launches(whole.plan, n, whole.groups, in_place=False, how=how)]
            assert all(at % UNIT == 0 and (at in own or behind <= at <= end) for x in every for at in places(x.step, n))
            rows = iter(made(whole, n))
            for plan in (before.plan, after):
                pairs: dict[int, int] = {}
                parts = list(launches(plan, n, whole.groups, in_place=False))
                for one, x in zip(parts, islice(rows, len(parts)), strict=True):
                    assert origin(x) == origin(one)
                    step = one.step
                    for old, new in zip(step.bindings, x.step.bindings[: len(step.bindings)], strict=True):
                        if old.role == "scratch":
                            assert pairs.setdefault(offset(old, n), offset(new, n)) == offset(new, n)
                    assert all(offset(b, n) == 0 for b in x.step.bindings[len(step.bindings) :])
                starts = sorted(pairs.items())
                ends = [*starts[1:], (needed(plan, n), end)]
                for (a, b), (c, d) in zip(starts, ends if starts else [], strict=True):
                    assert b not in own and d - b >= c - a, (whole.name, n, a)
            assert next(rows, None) is None, "a step of neither plan"


@pytest.mark.parametrize("name", target.names())
def test_the_first_steps_sort_and_the_last_ones_reduce(name: str) -> None:
    """Out of place: a sort reads the arrays of the call, and a reduction those that are sorted."""
    for whole, before, after in forms(name):
        for n in (1, 100, 1 << 14, 1 << 20):
            steps = [x.step for x in made(whole, n)]
            count = len(list(launches(before.plan, n, whole.groups, in_place=False)))
            assert len(steps) - count == len(list(launches(after, n, whole.groups, in_place=False))) > 0
            written = {b.role for s in steps[:count] for b in s.bindings}
            assert written <= {"source", "values", "scratch"}
            read = {b.role for s in steps[count:] for b in s.bindings}
            assert not read & {"source", "values", "count"} and "destination" in read


@pytest.mark.parametrize("name", target.names())
def test_tables_of_few_groups_are_before_the_sort_and_gate_it(name: str) -> None:
    """All that runs after them reads whether the groups are stored, which the first of them clears."""
    for whole, _, _ in forms(name):
        few = whole.parts[0].params.few  # type: ignore[attr-defined]
        for n in (1, 100, 1 << 14, 1 << 16, (1 << 16) + 1, 1 << 22):
            steps = [x.step for x in launches(whole.plan, n, whole.groups, in_place=False)]
            tables = [s.kernel for s in steps if s.kernel.startswith("few_")]
            gated = {s.kernel for s in steps if whole.kernel(s.kernel).gate}
            if few is None or n <= few.least:
                assert tables in ([], ["few_begin"]) and (not gated or tables)
            else:
                assert tables == [s.kernel for s in steps[:3]] == ["few_begin", "few_tables", "few_close"]
                assert gated == {s.kernel for s in steps[3:] if not s.kernel.startswith(("digit_", "pairs_"))}


@pytest.mark.parametrize("name", target.names())
def test_the_status_of_the_sort_outlives_the_reduction(name: str) -> None:
    for whole, before, after in forms(name):
        status = whole.plan.device_status
        assert (status is None) == (before.plan.device_status is None)
        if status is None:
            continue
        for n in (status.min_n + 1, 2 * status.min_n, 1 << 20, 1 << 24):
            at, size = offset(status.binding, n), after.scratch.bytes(n)
            first = sorted_arrays(whole, n)[2]
            used = [x for s in whole.plan.steps if s.kernel.startswith("reduce_") for x in places(s, n) if x >= first]
            assert min(used) + size <= at < whole.plan.scratch.bytes(n)


@pytest.mark.parametrize("name", target.names())
def test_no_keys_need_no_scratch_and_one_launch(name: str) -> None:
    for whole, _, _ in forms(name):
        (launch,) = launches(whole.plan, 0, in_place=False)
        assert whole.plan.scratch.bytes(0) == 0 and not whole.kernel(launch.step.kernel).gate
        assert not [at for at in places(launch.step, 0) if at], "a part of no scratch memory"
