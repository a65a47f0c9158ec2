"""Selections next to each bound of a plan, against numpy.

Usage: selection_bounds.py LIBRARY TARGET KEY VALUE; runs them through the C runtime of Vulkan, and prints the number of
calls, and the first fault.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.engines.harness import Harness, Native
from hsgen.operations import oracle, top_k
from hsgen.operations.calls import Call
from hsgen.targets.target import find
from hsgen.tools.validate.guarded import Frame


def shapes(sort: Sort, most: int) -> list[tuple[int, int, int]]:
    """Return rows, lengths and k: each bound of the plan's guards, and its neighbours."""
    lengths, takes = {1, 2}, {1, 2}
    for guard in (step.guard for step in sort.plan.steps):
        lengths |= {x + d for x in (guard.min_n, guard.max_n) for d in (-1, 0, 1)}
        takes |= {x + d for x in (guard.min_take, guard.max_take) for d in (-1, 0, 1)}
    return [
        (rows, length, k)
        for length in sorted(lengths)
        for k in sorted(takes | {length - 1, length})
        for rows in (1, 5 if length < 2000 else 2)
        if 1 <= k <= length and rows * length <= most
    ]


def selection_call(sort: Sort, rng: np.random.Generator, shape: tuple[int, int, int]) -> Call:
    """Return a call for rows of keys, of which many are equal."""
    rows, length, k = shape
    keys = rng.integers(0, 1 << 62, rows * length).astype(f"u{sort.key.bytes}")
    keys %= np.array(max(2, min(200, length // 2)), keys.dtype)
    options = Options(segment_count=rows, take=k, descending=bool(rng.integers(2)))
    values = oracle.values_for(rng, len(keys), sort)
    expected, after = top_k.selected(sort, keys, values, options)
    return Call(
        n=len(keys), keys=keys, expected=expected, in_place=False, values=values, values_expected=after, how=options
    )


def form(value: str) -> Signature:
    """Return the signature of selections with values of a kind."""
    return Signature(value=value, key_transform=True, rows=True)


def selection(target: str, key: str, value: str) -> Sort:
    """Return the selection of a target."""
    return find(target).sort("radix_select", key, form(value))


def fault(engine: Any, most: int) -> tuple[int, str]:
    """Run the calls of up to `most` keys; return their number, and a description of the first fault or ""."""
    every, rng = shapes(engine.sort, most), np.random.default_rng(49)
    frame = Frame(engine, max(rows * length for rows, length, _ in every))
    for number, shape in enumerate(every):
        if problem := frame.run(selection_call(engine.sort, rng, shape), (number % 3, number % 2)):
            return number, f"{shape}: {problem}"
    return len(every), ""


def main(library: str, target: str, key: str, value: str, most: str) -> None:
    """See above."""
    engine = Native(Harness(Path(library)), "vulkan", selection(target, key, value), 0, "")
    print(*fault(engine, int(most)))
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
