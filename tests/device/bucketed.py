"""Sorts with buckets on the embedded device: which keys buckets hold, and which are left to passes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.core.interpreter import Options
from hsgen.core.plan import Step
from hsgen.core.sort import Sort
from hsgen.engines.pyopencl import Direct
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

Make = Callable[[np.random.Generator, int, Any], Any]
"""Returns keys for the parameters of a sort."""
BYTES = (None, 0x00, 0x01, 0x55, 0xFF)
"""Contents of scratch before a sort; None: what the sort before left."""


def having(sort: Sort, serves: Callable[[Step], bool]) -> Sort:
    """Return a sort with only the rows of its plan that `serves` selects."""
    return replace(sort, plan=replace(sort.plan, steps=tuple(filter(serves, sort.plan.steps))))


def without(sort: Sort, kernels: Collection[str]) -> Sort:
    """Return a sort without the rows of some kernels."""
    return having(sort, lambda step: step.kernel not in kernels)


def problem(
    frame: Frame, sort: Sort, keys: Any, rng: np.random.Generator, how: Options | None = None, *, in_place: bool
) -> str | None:
    """Return what is wrong with a sort of keys, or None."""
    return frame.run(validation.call(sort, keys, how or Options(), in_place=in_place, count=None, rng=rng))


def left_to_passes(
    frames: Sequence[Frame], sorts: tuple[Sort, Sort], keys: Any, rng: np.random.Generator, *, in_place: bool
) -> bool:
    """Whether keys are sorted by a whole sort, and not without its passes; `sorts`: without passes, and whole."""
    left, done = (problem(f, sort, keys, rng, in_place=in_place) for f, sort in zip(frames, sorts, strict=True))
    return left is not None and done is None


def check_kinds(
    frame: Frame, sort: Sort, count_of: Callable[[int], int], begin: Callable[[int], int] = lambda number: 3
) -> None:
    """Check sorts of every kind of keys, type, order and count; every fifth kind is sorted from a bit on.

    count_of, begin: the number of keys, and the first bit, by the number of the kind.
    """
    rng = np.random.default_rng(3)
    for number, kind in enumerate(KINDS):
        n = count_of(number)
        keys = KINDS[kind](rng, n, np.dtype(f"u{sort.key.bytes}"))
        for in_place in (False, True):
            options = Options(kind=(number + in_place) % 3, descending=number % 2 == 1, device_count=number % 4 > 1)
            options = replace(options, begin=begin(number)) if number % 5 == 4 else options
            count = int(rng.integers(0, n)) if options.device_count else None
            call = validation.call(sort, keys, options, in_place=in_place, count=count, rng=rng)
            assert frame.run(call) is None, (kind, options, count)


def check_scratch(
    made: Direct,
    p: Any,
    makes: Iterable[Make],
    counts: Sequence[int],
    in_place: int,
    contents: Iterable[int | None] = BYTES,
    calls: Iterable[Options] = (Options(),),
) -> None:
    """Check that neither an even sort before an uneven one, nor any content of scratch matters.

    counts: the first is the greatest.  in_place: the count that is sorted in place.
    """
    sort, frame, rng = made.sort, Frame(made, max(counts)), np.random.default_rng(4)
    makes, calls = list(makes), list(calls)
    for byte in contents:
        for how in calls:
            for make in makes:
                for n in counts:
                    if byte is not None:
                        scratch = made._compiled.scratch
                        for number, size in enumerate(scratch._sizes.values()):
                            scratch._fill(made.queue, number, byte, 0, size)
                    wrong = problem(frame, sort, make(rng, n, p), rng, how, in_place=n == in_place)
                    assert wrong is None, (byte, how, make, n)
