"""Groupings by tables on the OpenCL CPU devices, of few groups and of each value of a digit, and by buckets.

Small tables and buckets, with work-groups that wait for others, ahead of a sort.  Each way is seen to be taken, by what
kernels leave in scratch memory and by plans without the kernels of other ways.  Faults are planted in the text of the
kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import digit_shapes
import numpy as np
import pytest
from digit_shapes import (
    BUCKETED,
    FEW,
    LEAST,
    MOST,
    OVER,
    SORTED,
    TABLES,
    Make,
    grouping,
    lowest,
    spread,
    taken,
)
from every import direct
from group_table_checks import BY_BUCKETS, BY_PASSES, BY_TABLES, FLOAT_SUM, HOWS, Device, N, check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import NIGHTLY, nightly
from planted import all_caught
from table_faults import DEALT, FAULTS, WIDE

from hsgen.algorithms.group_by import pair_partition
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.engines.hosts import Host
from hsgen.operations.group_by import OPERATION
from hsgen.operations.reduce_by_key import COUNTS, FIRSTS
from hsgen.targets import target

pytestmark = pytest.mark.device
EXAMPLES = settings(
    max_examples=120 if NIGHTLY else 40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def turns(step: int, first: int = 0) -> list[Options]:
    """Every `step`th way to call a grouping; all of them in the nightly run."""
    return HOWS if NIGHTLY else HOWS[first::step]


@pytest.fixture(scope="module")
def digits(embedded: Host) -> Device:
    return Device(direct(embedded, grouping("digits")))


@pytest.mark.parametrize("name", TABLES)
def test_every_reduction_by_tables_of_digits(digits: Device, name: str) -> None:
    """7 is coprime to the numbers of types, orders, reductions and what is stored."""
    digits.all_right({name: TABLES[name]}, N, turns(7, list(TABLES).index(name) % 7), BY_TABLES)


@pytest.mark.parametrize("name", BUCKETED)
def test_every_reduction_by_buckets(digits: Device, name: str) -> None:
    digits.all_right({name: BUCKETED[name]}, N, turns(11, list(BUCKETED).index(name)), BY_BUCKETS)


@pytest.mark.parametrize("name", SORTED)
def test_other_keys_are_sorted(digits: Device, name: str) -> None:
    digits.all_right({name: SORTED[name]}, N, turns(19, list(SORTED).index(name)), BY_PASSES)


def test_counts_at_which_ways_begin(digits: Device) -> None:
    """Of tables of few groups, tiles, one more bit of buckets, the larger sample, and the most that are partitioned."""
    shape = digit_shapes.DEALT
    for at in (LEAST, 1920, shape.bucket.limit << 6, shape.sample.above, shape.bucket.limit << 8):
        for n, how in product((at - 1, at, at + 1), turns(61, at % 61)):
            for name, make in {**TABLES, **BUCKETED, **SORTED}.items():
                assert (problem := digits.problem(make, n, how)) is None, (name, n, how, problem)
                done, way = taken(digits.made)
                assert n <= LEAST or done == (way == pair_partition.TABLES), (name, n)


@EXAMPLES
@given(data=st.data())
def test_any_numbers_of_groups(digits: Device, data: st.DataObject) -> None:
    """Values of the digit with any number of groups, at the capacity of a table or far beyond."""
    shift = data.draw(st.sampled_from([8, 16, 24]), "shift")
    count = st.integers(1, 300) | st.integers(MOST - 2, MOST + 2)
    chosen = data.draw(st.lists(st.tuples(st.integers(0, 255), count), max_size=8, unique_by=lambda x: x[0]), "groups")
    n, bits = data.draw(st.integers(8000, N), "n"), data.draw(st.integers(min(shift, 16) - 5, shift), "bits")
    seed, above = data.draw(st.integers(0, 2**32 - 1), "seed"), data.draw(st.booleans(), "ones above")

    def make(rng: np.random.Generator, n: int) -> Any:
        own = [(v, rng.choice(1 << bits, min(c, n // 64, 1 << bits), replace=False)) for v, c in chosen]
        own = [(v, (low if above else ~low & (1 << shift) - 1).astype(np.uint32)) for v, low in own]
        return spread(rng, n, shift, 2, own)

    digits.rng = np.random.default_rng(seed)
    how = data.draw(st.sampled_from([h for h in HOWS if h.reduction & 15 != FLOAT_SUM]), "how")
    assert digits.problem(make, n, how) is None
    assert taken(digits.made) == BY_TABLES


@EXAMPLES
@given(data=st.data())
def test_any_keys_in_buckets(digits: Device, data: st.DataObject) -> None:
    """Keys of any width with any bits in common, some of them repeated, and a few beyond the others."""
    n, width = data.draw(st.integers(LEAST + 1, N), "n"), data.draw(st.integers(5, 32), "bits")
    base, repeated = (
        data.draw(st.integers(0, 2**32 - 1), "base"),
        data.draw(st.integers(1, 60), "of which each is repeated"),
    )
    beyond = data.draw(st.lists(st.integers(0, 2**32 - 1), max_size=3), "beyond")
    seed = data.draw(st.integers(0, 2**32 - 1), "seed")

    def make(rng: np.random.Generator, n: int) -> Any:
        keys = rng.integers(0, 1 << width, n, np.uint64).astype(np.uint32) | np.uint32(
            base >> width << width if width < 32 else 0
        )
        keys = np.repeat(keys, repeated)[:n]
        keys[: len(beyond)] = beyond
        return rng.permutation(keys)

    digits.rng = np.random.default_rng(seed)
    assert digits.problem(make, n, data.draw(st.sampled_from(HOWS), "how")) is None


def test_tables_are_divided_by_all_bits(embedded: Host) -> None:
    """Each table has eight slots."""
    Device(direct(embedded, grouping("tiny"))).all_right({"lowest": lowest}, N, turns(19), BY_TABLES)


@pytest.mark.parametrize(("shape", "host"), [nightly("few", "pocl"), ("few", "embedded"), ("both", "embedded")])
def test_tables_of_few_groups(shape: str, host: str, request: pytest.FixtureRequest) -> None:
    """Those that overflow leave the keys to tables of digits or the sort."""
    device = Device(direct(request.getfixturevalue(host), grouping(shape)))
    for n in (LEAST + 1, 2001, N):
        device.all_right(FEW, n, turns(37, n % 37), (True, pair_partition.SORTED))
        if shape == "few":
            device.all_right(OVER, n, turns(37, n % 37), BY_PASSES)
        else:
            assert not [name for name in OVER if device.problem(OVER[name], n, turns(37)[0])]
    for how in turns(37):
        assert device.problem(FEW["some"], LEAST, how) is None
        assert taken(device.made)[0] is False
    if shape == "both":
        device.all_right(TABLES, N, turns(37), BY_TABLES)


_COUNTED = ("few_", "pairs_count", "pairs_starts")


@pytest.mark.parametrize(
    ("shape", "makes", "kept", "way"),
    [
        ("digits", TABLES, (*_COUNTED, "pairs_deal", "digit_"), BY_TABLES),
        ("digits", BUCKETED, (*_COUNTED, "pairs_deal", "pairs_again", "pairs_bucket", "reduce_"), BY_BUCKETS),
        ("digits", SORTED, (*_COUNTED, "pairs_rest", "reduce_"), BY_PASSES),
        ("both", FEW, ("few_",), (True, pair_partition.SORTED)),
    ],
)
def test_other_ways_are_not_needed(
    embedded: Host, shape: str, makes: Mapping[str, Make], kept: tuple[str, ...], way: tuple[bool, int]
) -> None:
    """Without the kernels of the other ways the results of one are right, and others are not."""
    sort = grouping(shape)
    steps = tuple(s for s in sort.plan.steps if s.kernel.startswith(kept))
    device = Device(direct(embedded, replace(sort, plan=replace(sort.plan, steps=steps))))
    device.all_right(makes, N, [Options(reduction=COUNTS | FIRSTS)], way)
    for others in (TABLES, BUCKETED, SORTED):
        if others is not makes:
            assert device.problem(next(iter(others.values())), N, Options(reduction=COUNTS)) is not None


@pytest.mark.parametrize(("name", "has"), [("nvidia-hopper", True), ("cpu", False), ("generic", False)])
def test_targets_with_tables_of_digits(name: str, has: bool) -> None:
    """Where work-groups may wait for others and hold many pairs."""
    sort = target.find(name).sort("group_by", "u32", OPERATION.signature(Signature(value="v4")))
    assert [k.params.shape.table.slots for k in sort.kernels if k.name == "digit_tables"] == [8192] * has  # type: ignore[attr-defined]


@pytest.mark.parametrize("shape", ["digits", "few"])
def test_the_grouping_without_faults_passes(embedded: Host, shape: str) -> None:
    check(direct(embedded, grouping(shape)))


def test_planted_faults_are_caught(embedded: Host) -> None:
    all_caught("group_table_checks", embedded, len(WIDE) + len(DEALT) + len(FAULTS) if NIGHTLY else 4)
