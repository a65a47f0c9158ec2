"""Functions that build plan rows for several strategies, and the bytes that kernels of reduce-scan move.

A plan row (`hsgen.core.plan.Step`) is one launch: a kernel, its buffers, its grid and the calls that need the launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.radix.words import (
    OTHER,
    columns,
    device_status,
    max_n,
    scratch,
    table_binding,
    values_binding,
    words_binding,
)
from hsgen.core.flags import REDO
from hsgen.core.kernels import Kernel
from hsgen.core.plan import UNCAPPED, Argument, Binding, BitRange, Grid, Guard, Literal, Pass, PassCount, Plan, Step
from hsgen.core.plan import fixed as fixed

NOTHING = Literal()
BOUND: Mapping[str, Binding] = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "other": OTHER,
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "device_n": Binding(role="count"),
}


def launch(
    kernel: Kernel,
    bound: Mapping[str, Binding],
    low: int,
    high: int,
    grid: Grid,
    argument: Argument = NOTHING,
    *,
    part: str = "any",
    place: str = "any",
) -> Step:
    """Return the plan row of a kernel for counts above `low` up to `high`.

    bound: the binding of each buffer, by the name of the buffer.
    part: "whole" if the row runs only in calls that sort by all bits of a key, "part" if only in calls that sort by a
    smaller bit range, "any" if in both.
    place: "in" if the row runs only in sorts in place, "out" if only in sorts out of place, "any" if in both.
    """
    return Step(
        kernel=kernel.name,
        bindings=tuple(bound[b.name] for b in kernel.buffers),
        guard=Guard(min_n=low, max_n=high, range=part, place=place),
        grid=grid,
        argument=argument,
    )


def tiles(p: Tile, *, capped: bool = True, more: int = 0) -> Grid:
    """Return a grid with one work-group for each tile, and `more` additional work-groups.

    If `capped`, the grid has at most `p.groups` + `more` work-groups.
    """
    return Grid(add=(more + 1) * p.tile - 1, div=p.tile, cap=p.groups + more if capped else UNCAPPED)


def tiled(p: Tile, step: Step) -> list[Step]:
    """Return the plan rows of a kernel whose grid depends on `Tile.large_groups`: `step`, or `step` split in two.

    The first of two rows runs for counts up to `p.large_from`, the second for larger counts with up to `p.most_groups`
    work-groups.
    step: a row with the grid `tiles(p)`.
    """
    grid = Grid(add=p.tile - 1, div=p.tile, cap=p.most_groups)
    parts = [(0, p.large_from, step.grid), (p.large_from, step.guard.max_n, grid)]
    if p.most_groups == p.groups:
        return [step]
    rows = [replace(step, guard=step.guard.within(low, high), grid=to) for low, high, to in parts]
    return [x for x in rows if not x.guard.empty]


def nth(p: Tile, number: int, flags: int = 0) -> Pass:
    """Return the argument of a kernel in pass `number`: this number, and the shift and the width of the digit."""
    return Pass(number=number, bits=p.digit, flags=flags)


def row(
    p: Tile,
    kernel: Kernel,
    grid: Grid,
    argument: Argument = NOTHING,
    *,
    low: int | None = None,
    high: int | None = None,
    part: str = "any",
) -> Step:
    """Return the plan row of a kernel, for counts above `low` up to `high`.

    The defaults are all counts that one work-group alone does not sort: `low` = `p.alone`, `high` = `max_n(p)`.
    """
    low, high = p.alone if low is None else low, max_n(p) if high is None else high
    return launch(kernel, bound(p), low, high, grid, argument, part=part)


def bound(p: Tile) -> Mapping[str, Binding]:
    """Return the binding of each buffer, by the buffer's name, for counts that one work-group alone does not sort."""
    return {**BOUND, "values_tmp": values_binding(p), "words": words_binding(p), "table": table_binding(p)}


def single(p: Tile, kernel: Kernel) -> list[Step]:
    """Return the plan row of `kernel`, in which one work-group sorts up to `p.alone` keys; no row if that is 0."""
    if not p.alone:
        return []
    if not p.halves:
        return [row(p, kernel, fixed(1), BitRange(), low=0, high=p.alone)]
    behind = {"values_tmp": values_binding(p, 2), "words": words_binding(p, 2)}
    # with a device-side count, the capacity (n of the host) may exceed `p.halves`; offsets then grow only to `p.halves`
    bound = {**BOUND, **{name: replace(binding, max_n=p.halves) for name, binding in behind.items()}}
    return [launch(kernel, bound, 0, p.alone, fixed(1), BitRange())]


def copied(p: Tile, kernel: Kernel) -> list[Step]:
    """Return the plan rows of the kernel that copies the keys to the destination; none unless `p.copied`.

    The rows do not run in calls for which the host knows that the last pass stores to the destination.
    """
    if not p.copied:
        return []
    step = row(p, kernel, tiles(p), PassCount(bits=p.digit))
    if not p.skips:
        part = "any" if len(p.digits) % 2 else "part"
        step = replace(step, guard=replace(step.guard, place="in", range=part))
    return tiled(p, step)


def plan(p: Tile, steps: Sequence[Step]) -> Plan:
    """Return the launch plan that consists of `steps`."""
    bits = p.last - p.begin
    return Plan(
        steps=tuple(steps),
        max_n=max_n(p),
        first_bit=p.begin,
        bits=bits,
        scratch=scratch(p),
        device_status=device_status(p),
    )


def both(p: Tile, step: Step, n: int) -> int:
    """Return the bytes of keys and values that a pass reads and writes.

    The first pass of an argsort reads no values.
    """
    return n * (
        2 * (p.key.bytes + p.signature.value_bytes)
        - p.signature.value_bytes * (p.signature.index and not step.pass_number)
    )


def moved(p: Tile, step: Step, n: int) -> int:
    """Return the bytes that a launch of a reduce-scan kernel reads and writes, if every pass moves all keys.

    Retries and the copy count as 0 bytes, because usually they move nothing: a retry runs after a look-back that gave
    up, and the copy runs after an odd number of passes in place.
    """
    name = step.kernel.removesuffix("_wide")
    if step.argument.flags & REDO or name == "copy":
        return 0
    groups = min(-(-n // p.tile), p.most_groups if n > p.large_from else p.groups)
    table = (8 if step.kernel.endswith("_wide") else 4) * p.radix * groups * columns(p)
    keys = n * p.key.bytes
    return {
        "single": both(p, step, n),
        "count": keys + table,
        "rows": 2 * table,
        "scatter": both(p, step, n) + table,
        "scatter_lines": both(p, step, n) + table,
    }[name]


def test_counts(p: Tile, greatest: int) -> set[int]:
    """Return the counts at which the launches or their grids change.

    They are small multiples of a tile, the count `p.alone`, up to which one work-group sorts alone, and the counts at
    which grids reach their greatest size.
    """
    counts = {0, 1, greatest, p.alone, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    if not p.serial and p.subgroup > 1:
        counts.update(range(0, p.tile + 1, p.subgroup * p.items))
    if p.large_groups:
        counts.add(p.large_from)
    return {*counts, p.groups * p.tile, p.groups * p.tile + p.tile, 2 * p.groups * p.tile}


def row_test_counts(p: Tile, greatest: int) -> list[int]:
    """Return counts up to `greatest`, one for each row of a tile: in this row, only half of the lanes have a key.

    A row is one key of each lane, or of each lane in a subgroup.  Its bounds check then excludes half of the lanes.
    """
    if p.serial:
        return []
    step = p.subgroup if p.subgroup > 1 else p.work_group
    base = p.alone - p.alone % p.tile
    return [n for n in range(base + step // 2, base + p.tile, step) if n <= greatest]
