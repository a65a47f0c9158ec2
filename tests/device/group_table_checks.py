"""Groups keys of every kind by tables, plants faults in the kernels and checks results and ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from digit_shapes import (
    BUCKETED,
    FEW,
    OVER,
    SORTED,
    TABLES,
    Make,
    Untried,
    colliding_few,
    grouping,
    raw,
    taken,
)
from nightly import NIGHTLY
from planted import Planted
from table_faults import DEALT, FAULTS, WIDE

from hsgen.algorithms.group_by import pair_partition
from hsgen.core.errors import Wrong
from hsgen.core.interpreter import Options
from hsgen.emit.kernels import render
from hsgen.engines.builds import build, options
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.operations.reduce_by_key import COUNTS, FIRSTS, REDUCTIONS, VALUE_TYPES, number
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import SHIFTS, Frame

N = 20_000
BY_TABLES, BY_BUCKETS, BY_PASSES = (
    (True, pair_partition.TABLES),
    (False, pair_partition.BUCKETS),
    (False, pair_partition.SORTED),
)
STORED = (COUNTS | FIRSTS, COUNTS, FIRSTS, 0)
FLOAT_SUM = number("sum", "f32")
HOWS = [
    Options(kind=kind, descending=descending, reduction=number(reduction, value) | stored)
    for stored, reduction, value, kind, descending in product(STORED, REDUCTIONS, VALUE_TYPES, range(3), (False, True))
]
"""Every reduction of every type of values, for keys of every type and order, and what is stored."""


class Device:
    """A grouping on a device, with arrays between guards."""

    def __init__(self, made: Direct, seed: int = 1) -> None:
        self.made, self.frame, self.rng, self.calls = made, Frame(made, N), np.random.default_rng(seed), 0

    def problem(self, make: Make, n: int, how: Options) -> str | None:
        """Group keys; return what is wrong."""
        keys = raw(make(self.rng, n), how)
        call = validation.call(self.made.sort, keys, how, in_place=False, count=None, rng=self.rng)
        self.calls += 1
        return self.frame.run(call, (self.calls % SHIFTS, self.calls * 7 % SHIFTS))

    def all_right(self, makes: Mapping[str, Make], n: int, hows: list[Options], way: tuple[bool, int]) -> None:
        """Group each kind of keys in each of these ways; way: what `taken` says, except of sums of floats."""
        for name, how in product(makes, hows):
            assert (problem := self.problem(makes[name], n, how)) is None, (
                f"{problem}, should be right: {name}, {n}, {how}"
            )
            found = taken(self.made)
            wanted = (False, pair_partition.SORTED) if how.reduction & 15 == FLOAT_SUM else way
            assert found == wanted, f"{name}, {n} keys: {found} should be {wanted}"


def planted(host: Host) -> Iterator[Planted]:
    """Yield every fault, or one in 24; kernels without it are compiled once."""
    for shape, faults in (("digits", WIDE), ("digits", DEALT), ("few", FAULTS)):
        context, source = context_for(host), render(grouping(shape), "opencl")
        whole = Compiled(context, grouping(shape), source)
        for name, fault in [*faults.items()][:: 1 if NIGHTLY else 24]:
            yield name, partial(_faulty, context, whole, fault)


def _faulty(context: Any, whole: Compiled, fault: tuple[str, str]) -> Direct:
    """The grouping with a fault, a text of kernels and its replacement, in those of tables or else in all."""
    source, own = whole.source, ("digit_tables", "few_begin", "few_tables", "few_close")
    found = [k for k, text in source.parts.items() if fault[0] in text]
    changed = [k for k in found if k in own or k.startswith("pairs_")] or found
    if not changed:
        raise KeyError(fault[0])
    text = source.prelude + "".join(source.parts[k].replace(*fault) for k in changed)
    option = options(context, source.option, lanes=whole.sort.lanes > 1, optimized=source.optimized)
    kernels = {**whole._kernels, **build(context, text, source.path, changed, option)}
    return Direct(context, Compiled(context, whole.sort, source, kernels))


def check(made: Direct) -> None:
    """Assert that groupings of every kind of keys are right, and that each way is taken."""
    wide = isinstance(made.sort.parts[0].params.few, Untried)  # type: ignore[attr-defined]
    device, hows = Device(made, 3), [*HOWS[::23], Options(reduction=FLOAT_SUM | COUNTS), *HOWS[3::71]]
    few = ((FEW, (True, pair_partition.SORTED)), (OVER, BY_PASSES))
    ways = ((TABLES, BY_TABLES), (BUCKETED, BY_BUCKETS), (SORTED, BY_PASSES)) if wide else few
    try:
        for makes, way in ways:
            device.all_right(makes, N, hows, way)
        if not wide:
            device.all_right({"colliding": colliding_few}, N, [Options(reduction=how) for how in (48, 49)], BY_PASSES)
    except Wrong as e:  # of memory behind that of a call
        raise AssertionError(f"it was overwritten: {e}") from None
