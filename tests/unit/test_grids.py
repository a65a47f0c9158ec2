"""Grids stay within the limits of devices, for every count that a sort takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from drawing import Bounds, drawn, sorts_of
from nightly import EVERY, NIGHTLY

from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, launched_up_to, launches
from hsgen.core.keys import Signature
from hsgen.core.plan import Grid, Guard, Step
from hsgen.core.sort import Sort
from hsgen.targets import target

PARTS = 2**31 - 1
"""The greatest value of a call's arguments other than n."""


def decisive(sort: Sort) -> list[int]:
    """Counts with the largest grids: the limits of steps' guards, and those of the sort."""
    ends = {
        1,
        sort.plan.max_n,
        *(s.guard.max_n for s in sort.plan.steps),
        *(s.guard.min_n + 1 for s in sort.plan.steps),
    }
    return sorted(n for n in ends if 0 < n <= sort.plan.max_n)


def assert_launched(sort: Sort, limit: int) -> None:
    """At each count, every grid has at most `limit` work-groups in each of two dimensions, and in total no more than an
    int can number."""
    numbers = {"segmented_sort": "segment_count", "digest": "capacity"}
    ways = [Options()]
    if sort.operation in numbers:
        ways.append(Options(**{numbers[sort.operation]: PARTS}))
    ways += [Options(device_count=True)] * sort.signature.device_count
    for number, n in enumerate(decisive(sort)):
        for how in ways:
            for launch in launches(sort.plan, n, limit, in_place=number % 2 == 0, how=how):
                wide, high = launch.grid
                assert 0 < wide <= limit and 0 < high <= limit, (sort.name, n, launch)
                assert launch.groups <= wide * high < 2**31, (sort.name, n, launch)


def signatures() -> Iterator[Signature]:
    """Plain keys, and signatures with other kernels and steps."""
    yield Signature()
    yield Signature(value="v8", key_transform=True, bit_range=True, device_count=True)
    if NIGHTLY:
        yield Signature(value="index", run_boundaries=True)


@pytest.mark.parametrize("name", target.names())
def test_no_sort_of_a_target_that_ships_exceeds_its_grids(name: str) -> None:
    found, tried = target.find(name), 0
    for key in ("u32", "u64"):
        for label in [*found.labels(key), *found.implicit(key)]:
            for signature in signatures():
                try:
                    sort = found.sort(label, key, signature)
                except Usage:
                    continue  # no sort of this signature
                assert_launched(sort, found.device.groups)
                tried += 1
    assert tried > 3


@pytest.mark.parametrize("seed", range(400 if EVERY else 100 if NIGHTLY else 6))
def test_no_sort_of_a_random_target_exceeds_its_grids(seed: int) -> None:
    rng = np.random.default_rng([20, seed])
    _, found = drawn(rng, Bounds())
    for sort in sorts_of(rng, found):
        assert_launched(sort, found.device.groups)


def test_a_device_of_small_grids_sorts_fewer_keys() -> None:
    """Blocks of 256 keys on a device that launches 100 x 100 work-groups: 2^29 keys are too many."""
    text = (target.resources.targets() / "generic.toml").read_text(encoding="utf-8")
    few = text.replace('name = "generic"', 'name = "few"').replace("groups = 4294967295", "groups = 100")
    found = target.parse(few, "few", "here")
    sort = found.sort("bitonic", "u32")
    block = sort.parts[0].params.block
    assert block < sort.plan.max_n < 10_000 * block
    greatest = list(launches(sort.plan, sort.plan.max_n, 100, in_place=False))
    assert max(x.groups for x in greatest) > 9000
    with pytest.raises(Usage, match="this plan sorts 0 to"):
        list(launches(sort.plan, sort.plan.max_n + 1, 100, in_place=False))
    assert "segmented_sort" not in found.implicit("u32") and "segmented_sort" in target.find("generic").implicit("u32")


def test_a_crossover_beyond_what_grids_allow_is_refused() -> None:
    text = (target.resources.targets() / "generic.toml").read_text(encoding="utf-8")
    few = text.replace('name = "generic"', 'name = "few"').replace("groups = 4294967295", "groups = 2")
    with pytest.raises(
        Usage, match=r"here: sort\.u32\.ranges: bitonic sorts up to \d+ keys; give no crossover beyond it"
    ):
        target.parse(few, "few", "here")


@pytest.mark.parametrize(("limit", "up_to"), [(3, 10 * 9), (2, 10 * 4), (1, 10)])
def test_the_greatest_count_by_hand(limit: int, up_to: int) -> None:
    """One work-group for every ten keys."""
    step = Step(kernel="k", bindings=(), guard=Guard(max_n=1000), grid=Grid(add=9, div=10))
    assert launched_up_to([step], 1000, limit) == up_to
    assert launched_up_to([step], 15, limit) == min(15, up_to)
