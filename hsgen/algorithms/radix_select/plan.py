"""The launch plan of a selection."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hsgen.algorithms.radix_select.kernels import kernels
from hsgen.algorithms.radix_select.params import MAX_N, WHOLE, Params
from hsgen.core.buffers import pair_bytes
from hsgen.core.plan import Binding, Grid, Guard, Literal, Plan, Step
from hsgen.core.scratch import Scratch, ScratchRule

SLACK = 4096
"""Spare bytes of scratch after the lists, because the bytes per key of the lists are rounded."""
_LEAST = 1 << 15
"""The least length of a row that is sampled."""
_LONG = 1 << 22
"""The greatest length of a row that `sample` samples; `sample_long` samples longer rows, with more work-groups."""

_BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "lengths": Binding(role="other"),
    "starts": Binding(role="other_values"),
    "takes": Binding(role="takes"),
    "row_count": Binding(role="count"),
    "value_starts": Binding(role="value_starts"),
}
_BY_ROW = (*WHOLE, "row", "spine", "order", "merge", "finish")


def plan(p: Params) -> Plan:
    """Return the launch plan.  The length of rows, and k, determine which launches run.

    - One launch: registers hold a row, or one work-group selects from a row.
    - Two launches: select from the chunks of a row, then from the lists of the chunks.
    - Three launches: sample a row, list the candidates, select from the list.
    - A launch for each digit, and five more: the longest rows, and rows above `row_limit` if k exceeds `capacity`.
      The kernels of these launches return at once in rows whose candidates already fit.
    """
    steps = [*_bounded(p), *_sampled(p), *_narrowed(p)]
    return Plan(steps=tuple(steps), max_n=MAX_N, bits=p.key.bits, scratch=_scratch(p))


@lru_cache(maxsize=1)
def _lists(p: Params) -> int:
    """Return the number of bytes of scratch for the lists of candidates, per key of the rows, rounded up."""
    entries = max((room + p.sampled.blocks) / max(length, _LEAST) for length, room in p.sampled.rooms)
    chunks = 2 * p.chunk.take / p.chunk.length  # the most per key: a row of one key more than a chunk has two lists
    return math.ceil(pair_bytes(p.key) * max(entries, chunks))


def _counts(p: Params) -> Binding:
    return Binding(role="scratch", per_n=_lists(p), plus=SLACK)


def _words(p: Params) -> Binding:
    return Binding(role="scratch", per_n=_lists(p) + 1, plus=SLACK)


@lru_cache(maxsize=1)
def _buffers(p: Params) -> dict[str, tuple[str, ...]]:
    """Return the names of each kernel's buffers, by the name of the kernel."""
    return {k.name: tuple(b.name for b in k.buffers) for k in kernels(p)}


def _step(p: Params, name: str, grid: Grid, argument: int = 0, **guard: Any) -> Step:
    """Return a launch of the kernel `name`.

    guard: the fields of `Guard` by which the lengths of rows and k are restricted.
    """
    bound = {**_BOUND, "lists": Binding(role="scratch"), "list_counts": _counts(p), "words": _words(p)}
    return Step(
        kernel=name,
        bindings=tuple(bound[x] for x in _buffers(p)[name]),
        guard=Guard(x="length", **guard),
        grid=Grid(x="number") if name in _BY_ROW else grid,
        argument=Literal(value=argument),
    )


def _bounded(p: Params) -> Iterator[Step]:
    """Yield the launches for rows that registers hold, for whole rows, and for chunks of longer rows if k is small."""
    few, chunk = p.short, p.chunk
    yield _step(
        p, "short_rows", Grid(x="number", add=few.rows - 1, div=few.rows), max_n=few.length, max_take=p.short_take
    )
    one = Grid(x="number", cap=p.groups)
    yield _step(p, "short_row", one, min_n=few.length, max_n=chunk.length, max_take=min(p.short_take, p.chunk_take))
    above, shorter = 0, p.wholes[:-1]
    for name, sizes in zip(WHOLE, shorter, strict=False):
        yield _step(p, name, Grid(), min_n=above, max_n=sizes.capacity, min_take=p.short_take, max_take=sizes.capacity)
        above = sizes.capacity
    if p.chunk_take > p.short_take and above < chunk.length:
        bounds = {"min_take": p.short_take, "max_take": p.chunk_take}
        yield _step(p, "short_row", one, min_n=above, max_n=chunk.length, **bounds)
    bounds = {"min_take": max(p.short_take, p.chunk_take), "max_take": p.capacity}
    yield _step(p, WHOLE[len(shorter)], Grid(), min_n=above, max_n=p.capacity, **bounds)
    for above, take, length in p.tiers:
        if take <= p.chunk_take:
            bounds = {"min_n": chunk.length, "max_n": length, "min_take": above, "max_take": take}
            grid = Grid(x="rows", add=chunk.length - 1, div=chunk.length, cap=p.groups)
            yield _step(p, "chunks", grid, **bounds)
            yield _step(p, "merge", Grid(), **bounds)


def _sampled(p: Params) -> Iterator[Step]:
    """Yield the launches for long rows, which are sampled, and for shorter rows, from which one work-group selects."""
    for above, take, length in p.tiers:
        longer = max(length, _LEAST)
        bounds = {"min_n": longer, "max_n": MAX_N, "min_take": above, "max_take": take}
        if take > p.chunk_take:
            if above < p.short_take:
                few = {"min_take": above, "max_take": min(p.short_take, take)}
                yield _step(p, "row", Grid(), min_n=p.short.length, max_n=longer, **few)
            if take > p.short_take:
                bounds_of_k = {"min_take": max(above, p.short_take), "max_take": take}
                yield _step(p, "row", Grid(), min_n=p.capacity, max_n=longer, **bounds_of_k)
        elif length < longer:
            yield _step(p, "row", Grid(), min_n=length, max_n=longer, min_take=above, max_take=take)
        bounds["max_n"] = most = p.sampled_long.limit
        if longer >= most:
            continue
        middle = min(max(longer, _LONG), most)
        if longer < middle:
            yield _step(p, "sample", Grid(x="number", mul=p.sampled.groups), **{**bounds, "max_n": middle})
        if middle < most:
            yield _step(p, "sample_long", Grid(x="number", mul=p.sampled_long.groups), **{**bounds, "min_n": middle})
        yield _step(p, "collect", Grid(x="rows", add=p.chunk.length - 1, div=p.chunk.length), **bounds)
        yield _step(p, "finish", Grid(), **bounds)
    if most < MAX_N:
        yield from _digits(p, most, 0, p.capacity)


def _narrowed(p: Params) -> Iterator[Step]:
    """Yield the launches for k above `capacity`."""
    yield _step(p, "row", Grid(), max_n=p.row_limit, min_take=p.capacity, max_take=MAX_N)
    yield from _digits(p, p.row_limit, p.capacity, MAX_N)


def _digits(p: Params, above: int, min_take: int, max_take: int) -> Iterator[Step]:
    """Yield the launches by which several work-groups select from a row, with one launch for each digit.

    The launches run for rows longer than `above`, and for k above `min_take` up to `max_take`.
    """
    bounds = {"min_n": above, "max_n": MAX_N, "min_take": min_take, "max_take": max_take}
    grid = Grid(add=p.tile - 1, div=p.tile, cap=p.groups)
    yield _step(p, "clear", grid, **bounds)
    for number in range(p.passes):
        yield _step(p, "count", grid, number, **bounds)
    for name in ("sift", "spine", "place", "order"):
        yield _step(p, name, grid, **bounds)


def _scratch(p: Params) -> Scratch:
    unit = min(p.row_limit, p.sampled_long.limit)
    lists = ScratchRule(min_n=p.chunk.length, plus=2 * SLACK, per_n=_lists(p) + 1)
    narrowed = ScratchRule(
        min_n=unit,
        plus=2 * SLACK,
        per_n=_lists(p) + 1,
        unit=unit,
        per_unit=4 * p.row_words + 8 * p.row_tiles,
        units=-(-MAX_N // unit),
    )
    return Scratch((lists, narrowed))


def moved(p: Params, step: Step, n: int) -> int:
    """Return the least number of bytes of keys that a launch of `step` reads; rows above `capacity` are read twice.

    Accesses that only some of the keys need are not counted.
    """
    reads = {"row": 2 if n > p.capacity else 1, "sift": 1}
    return n * p.key.bytes * (reads.get(step.kernel, 0) + (step.kernel == "count" and step.argument == Literal()))


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the lengths of rows up to `greatest` at which other launches run, or a kernel takes another path."""
    counts = {0, 1, greatest, p.capacity, 2 * p.capacity, p.row_limit, p.row_limit + p.tile, 2 * p.row_limit}
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest`, one for each key per lane of a tile: only half of the lanes have this key."""
    ends = (row * p.work_group + p.work_group // 2 for row in range(p.items))
    return [n for n in sorted({e + base for e in ends for base in (0, p.row_limit)}) if n <= greatest]
