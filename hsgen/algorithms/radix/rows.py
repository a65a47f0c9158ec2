"""Builders of plan rows that strategies share, and the bytes that launches of reduce-scan move."""

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

    part: "whole" if the row serves only sorts by all bits, "part" if only sorts by fewer bits, "any" if both.
    place: "in" if the row serves only sorts in place, "out" if only sorts out of place, "any" if both.
    """
    return Step(
        kernel=kernel.name,
        bindings=tuple(bound[b.name] for b in kernel.buffers),
        guard=Guard(min_n=low, max_n=high, range=part, place=place),
        grid=grid,
        argument=argument,
    )


def tiles(p: Tile, *, capped: bool = True, more: int = 0) -> Grid:
    """Return a grid with one work-group per tile, and `more` work-groups in addition.

    If `capped`, the grid has at most `p.groups` + `more` work-groups.
    """
    return Grid(add=(more + 1) * p.tile - 1, div=p.tile, cap=p.groups + more if capped else UNCAPPED)


def tiled(p: Tile, step: Step) -> list[Step]:
    """Return `step`, a row with the grid `tiles(p)`, and a second row if larger counts have more work-groups.

    The two rows then serve different counts: up to `p.large_from`, and above.
    """
    grid = Grid(add=p.tile - 1, div=p.tile, cap=p.most_groups)
    parts = [(0, p.large_from, step.grid), (p.large_from, step.guard.max_n, grid)]
    if p.most_groups == p.groups:
        return [step]
    rows = [replace(step, guard=step.guard.within(low, high), grid=to) for low, high, to in parts]
    return [x for x in rows if not x.guard.empty]


def nth(p: Tile, number: int, flags: int = 0) -> Pass:
    """Return the argument of a kernel that runs pass `number`."""
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

    By default, the row serves all counts that are too large for one work-group alone.
    """
    low, high = p.alone if low is None else low, max_n(p) if high is None else high
    return launch(kernel, bound(p), low, high, grid, argument, part=part)


def bound(p: Tile) -> Mapping[str, Binding]:
    """Return the binding of each buffer by name, for counts that are too large for one work-group alone."""
    return {**BOUND, "values_tmp": values_binding(p), "words": words_binding(p), "table": table_binding(p)}


def single(p: Tile, kernel: Kernel) -> list[Step]:
    """Return the plan row of the kernel with which one work-group sorts alone; no row if there is no such kernel."""
    if not p.alone:
        return []
    if not p.halves:
        return [row(p, kernel, fixed(1), BitRange(), low=0, high=p.alone)]
    behind = {"values_tmp": values_binding(p, 2), "words": words_binding(p, 2)}
    # with a device-side count, the capacity may exceed `p.halves`; scratch then has no halves
    bound = {**BOUND, **{name: replace(binding, max_n=p.halves) for name, binding in behind.items()}}
    return [launch(kernel, bound, 0, p.alone, fixed(1), BitRange())]


def copied(p: Tile, kernel: Kernel) -> list[Step]:
    """Return the rows that copy the keys to the destination.

    The guards exclude calls for which the host knows that the passes leave the keys in the destination.
    """
    if not p.copied:
        return []
    step = row(p, kernel, tiles(p), PassCount(bits=p.digit))
    if not p.skips:
        part = "any" if len(p.digits) % 2 else "part"
        step = replace(step, guard=replace(step.guard, place="in", range=part))
    return tiled(p, step)


def plan(p: Tile, steps: Sequence[Step]) -> Plan:
    """Return the launch plan with these steps."""
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
    """Return the bytes that a pass moves for `n` keys and values.  The first pass of an argsort reads no values."""
    return n * (
        2 * (p.key.bytes + p.signature.value_bytes)
        - p.signature.value_bytes * (p.signature.index and not step.pass_number)
    )


def moved(p: Tile, step: Step, n: int) -> int:
    """Return the bytes that a launch of a reduce-scan kernel reads and writes, if no digit is the same in all keys.

    Retries and the copy count as 0.  A retry usually does nothing.  Only a sort in place with an odd number of passes
    needs the copy.
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
    """Return the counts at which the launches or their work change.

    The counts are multiples of a tile, `p.alone`, and the counts at which grids reach their cap.
    """
    counts = {0, 1, greatest, p.alone, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    if not p.serial and p.subgroup > 1:
        counts.update(range(0, p.tile + 1, p.subgroup * p.items))
    if p.large_groups:
        counts.add(p.large_from)
    return {*counts, p.groups * p.tile, p.groups * p.tile + p.tile, 2 * p.groups * p.tile}


def row_test_counts(p: Tile, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end within a row of a tile, one count for each row.

    At such a count, some lanes pass the bounds check of the row and other lanes fail it.
    """
    if p.serial:
        return []
    step = p.subgroup if p.subgroup > 1 else p.work_group
    base = p.alone - p.alone % p.tile
    return [n for n in range(base + step // 2, base + p.tile, step) if n <= greatest]
