"""Rows of plans: how the kernels of every strategy are launched, and what the launches move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.radix.words import (
    OTHER,
    columns,
    max_n,
    outcome,
    scratch,
    table_binding,
    values_binding,
    words_binding,
)
from hsgen.core.spec import ALONE, LAST, REDO, SPAN, UNCAPPED, Binding, Kernel, Plan, Step

BOUND: Mapping[str, Binding] = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "other": OTHER,
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "device_n": Binding(role="count"),
}
Grid = tuple[int, int, int, int]
"""The add, div, mul and cap of a row."""


def launch(
    kernel: Kernel,
    bound: Mapping[str, Binding],
    low: int,
    high: int,
    grid: Grid,
    *,
    argument: int = 0,
    number: int = ALONE,
    bits: int = 0,
    part: str = "any",
) -> Step:
    """Return the row of a kernel for counts above `low` up to `high`; `part` is the bit ranges that may be."""
    add, div, mul, cap = grid
    return Step(
        kernel=kernel.name,
        bindings=tuple(bound[b.name] for b in kernel.buffers),
        argument=argument,
        min_n=low,
        max_n=high,
        x="n",
        add=add,
        div=div,
        mul=mul,
        cap=cap,
        number=number,
        bits=bits,
        range=part,
    )


def fixed(groups: int) -> Grid:
    """Return a grid of so many work-groups, whatever the count."""
    return 0, 1, groups, groups


def tiles(p: Tile, *, capped: bool = True) -> Grid:
    """Return a grid of a work-group for each tile, up to `groups` of them if it is capped."""
    return p.tile - 1, p.tile, 1, p.groups if capped else UNCAPPED


def row(
    p: Tile,
    kernel: Kernel,
    grid: Grid,
    *,
    argument: int = 0,
    number: int = ALONE,
    low: int | None = None,
    high: int | None = None,
    part: str = "any",
) -> Step:
    """Return the row of a kernel bound as all passes are, for what one work-group does not sort alone."""
    bound = {**BOUND, "values_tmp": values_binding(p), "words": words_binding(p), "table": table_binding(p)}
    bits = p.digit if number >= 0 or number == LAST else 0
    low, high = p.alone if low is None else low, max_n(p) if high is None else high
    return launch(kernel, bound, low, high, grid, argument=argument, number=number, bits=bits, part=part)


def single(p: Tile, kernel: Kernel) -> list[Step]:
    """Return the row for what one work-group sorts alone."""
    return [row(p, kernel, fixed(1), number=SPAN, low=0, high=p.alone)] if p.alone else []


def copied(p: Tile, kernel: Kernel) -> list[Step]:
    """Return the row that copies the keys to the destination, guarded by what is known beforehand."""
    if not p.copied:
        return []
    made = row(p, kernel, tiles(p), number=LAST)
    return [replace(made, place="in", range="any" if len(p.digits) % 2 else "part") if p.looks_back else made]


def plan(p: Tile, steps: Sequence[Step]) -> Plan:
    """Return the plan of these steps."""
    bits = (p.key.bits if p.end is None else p.end) - p.begin
    return Plan(
        steps=tuple(steps), max_n=max_n(p), first_bit=p.begin, bits=bits, scratch=scratch(p), outcome=outcome(p)
    )


def both(p: Tile, step: Step, n: int) -> int:
    """Return the bytes of reading and writing `n` keys and their values; places are at first made, not read."""
    return n * (2 * (p.key.bytes + p.form.value_bytes) - p.form.value_bytes * (p.form.index and step.number <= 0))


def moved(p: Tile, step: Step, n: int) -> int:
    """Return the bytes that a launch of a kernel of counted passes reads and writes where no digit is constant.

    Steps that redo a pass do nothing then and count as nothing, like the copy at the end: only an odd number of passes
    in place needs it.
    """
    name = step.kernel.removesuffix("_wide")
    if step.argument & REDO or name == "copy":
        return 0
    groups = min(-(-n // p.tile), p.groups)
    table = (8 if step.kernel.endswith("_wide") else 4) * p.radix * groups * columns(p)
    keys = n * p.key.bytes
    return {
        "single": both(p, step, n),
        "count": keys + table,
        "rows": 2 * table,
        "scatter": both(p, step, n) + table,
        "scatter_lines": both(p, step, n) + table,
    }[name]


def edges(p: Tile, greatest: int) -> set[int]:
    """Return the counts up to `greatest` at which the sort changes its way: tiles, the first of all, and the cap."""
    found = {0, 1, greatest, p.alone, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    if not p.serial and p.subgroup > 1:
        found.update(range(0, p.tile + 1, p.subgroup * p.items))
    return {*found, p.groups * p.tile, p.groups * p.tile + p.tile, 2 * p.groups * p.tile}


def row_ends(p: Tile, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of a tile: only there does a guard matter for some lane."""
    if p.serial:
        return []
    step = p.subgroup if p.subgroup > 1 else p.work_group
    base = p.alone - p.alone % p.tile
    return [n for n in range(base + step // 2, base + p.tile, step) if n <= greatest]
