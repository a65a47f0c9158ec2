"""The launch schedule of a radix sort, as plan rows."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.radix import finish_plan, grid, msd_plan
from hsgen.algorithms.radix.kernels import kernels, large
from hsgen.algorithms.radix.params import Params
from hsgen.algorithms.radix.words import OTHER, columns, outcome, scratch, table_binding, values_binding, words_binding
from hsgen.algorithms.radix.words import words as words_of
from hsgen.core.flags import DIRECT, REDO
from hsgen.core.plan import (
    UNCAPPED,
    Argument,
    Binding,
    BitRange,
    Grid,
    Guard,
    Literal,
    Pass,
    PassCount,
    Plan,
    Scratch,
    Step,
    fixed,
)

MAX_N = (1 << 30) - 1  # the states of tiles hold 30 bits, and kernels count in signed 32-bit numbers
MAX_WIDE = 1 << 40
_BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "other": OTHER,
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "device_n": Binding(role="count"),
}


def plan(p: Params) -> Plan:
    """Return the whole sort.

    Passes go from the source to scratch, from there to the destination, and so on in turns.  With an odd number
    of passes the first goes to the destination at once, which in place it may not: then a copy follows.  Look-back
    knows all digits before it moves a key: it moves all keys by a constant digit as well where that spares the copy.
    """
    steps: list[Step] = []
    if p.alone:
        steps.append(_row(p, "single", 0, p.alone, BitRange(), grid=fixed(1)))
    if p.coordination == "grid":
        return grid.plan(p, steps)
    if p.coordination == "lookback":
        steps += _onesweep(p)
    else:
        for number in range(len(p.digits)):
            steps += _counted(p, number, DIRECT)
    if p.copied:
        steps.append(_copied(p))
    bits = (p.key.bits if p.end is None else p.end) - p.begin
    made = Plan(
        steps=tuple(steps), max_n=_max_n(p), first_bit=p.begin, bits=bits, scratch=scratch(p), outcome=outcome(p)
    )
    return _joined(p, made) if p.large else made


def _joined(p: Params, narrow: Plan) -> Plan:
    """The plan with the rows for 2^30 keys and more (fewer where tiles are tiny)."""
    wide = plan(large(p))
    small, big = scratch(p), wide.scratch
    rule = Scratch(
        min_n=small.min_n,
        plus=max(small.plus, big.plus),
        per_n=big.per_n,
        unit=big.unit,
        per_unit=max(small.per_unit, big.per_unit),
        units=max(small.units, big.units),
    )
    more = [replace(step, guard=replace(step.guard, min_n=_max_n(p))) for step in wide.steps]
    return replace(narrow, steps=(*narrow.steps, *more), max_n=wide.max_n, scratch=rule)


def _max_n(p: Params) -> int:
    """The greatest count: work-groups count their keys in 32 bits, and words are found by signed 32-bit indices."""
    if p.wide:
        most = 1 << 32 if p.form.value == "index" else MAX_WIDE
        return min(most, p.groups * ((1 << 32) // p.tile - 1) * p.tile)
    units = ((1 << 31) - 1 - words_of(p).table) // (p.radix * columns(p))  # rows of the table that can be found
    return min(MAX_N, units * p.tile) if p.coordination == "lookback" or p.groups > units else MAX_N


def _counted(p: Params, number: int, flags: int) -> list[Step]:
    """The rows of a pass that counts, scans and scatters."""
    low, high = p.alone, _max_n(p)
    moves, looks = (Pass(number=number, bits=p.digit, flags=some) for some in (flags, flags & REDO))
    rows = [_row(p, "count", low, high, looks, grid=_tiles(p, p.groups))]
    if not p.folded:
        values = p.radix if p.form.ranged else 1 << p.digits[number][1]
        groups = -(-values // p.work_group) if p.serial else values
        rows.append(_row(p, "rows", low, high, looks, grid=fixed(groups)))
    cut = min(max(p.stream - 1, low), high) if p.stream else high
    for name, least, most in (("scatter", low, cut), ("scatter_lines", cut, high)):
        if least < most:
            rows.append(_row(p, name, least, most, moves, grid=_tiles(p, p.groups)))
    return rows


def _onesweep(p: Params) -> list[Step]:
    low, high = p.alone, _max_n(p)
    rows = msd_plan.rows(p, kernels(p), high) if p.msd else []
    rows += [
        _row(p, "begin", low, high, Literal(), grid=fixed(1)),
        _row(p, "histogram", low, high, BitRange(), grid=_tiles(p, p.groups)),
    ]
    spans = [(low, high)]
    if p.finish:
        least, most = finish_plan.span(p, high)
        spans = [(low, least), (most, high)]
    begins = BitRange(flags=DIRECT)
    rows += [_row(p, "starts", a, b, begins, grid=fixed(1)) for a, b in spans if a < b]
    if p.finish and least < most:
        if p.form.ranged:
            rows.append(_row(p, "starts", least, most, begins, grid=fixed(1), range_="part"))
        last = (Pass(number=len(p.digits) - q, bits=p.digit) for q in (2, 1))
        ahead = [_row(p, "onesweep", least, most, each, grid=_tiles(p, p.groups)) for each in last]
        rows += finish_plan.rows(p, kernels(p), ahead, high)
    for number in range(len(p.digits)):
        every = Pass(number=number, bits=p.digit)
        rows.append(_row(p, "onesweep", low, high, every, grid=_tiles(p, p.groups if p.endless else UNCAPPED)))
        rows += [] if p.endless else _counted(p, number, REDO)
    return rows


def _copied(p: Params) -> Step:
    """The row that copies the keys to the destination, guarded by what is known beforehand."""
    row = _row(p, "copy", p.alone, _max_n(p), PassCount(bits=p.digit), grid=_tiles(p, p.groups))
    if p.coordination == "scan":
        return row
    return replace(row, guard=replace(row.guard, place="in", range="any" if len(p.digits) % 2 else "part"))


def _tiles(p: Params, cap: int) -> Grid:
    """A work-group a tile, up to `cap`."""
    return Grid(add=p.tile - 1, div=p.tile, cap=cap)


def _row(p: Params, kernel: str, low: int, high: int, argument: Argument, *, grid: Grid, range_: str = "any") -> Step:
    """A row for counts above `low` up to `high`."""
    name = kernel + ("_wide" if p.wide else "")
    bound = {
        **_BOUND,
        "values_tmp": values_binding(p),
        "words": words_binding(p),
        "table": table_binding(p),
    }
    made = next(k for k in kernels(p) if k.name == name)
    return Step(
        kernel=name,
        bindings=tuple(bound[b.name] for b in made.buffers),
        guard=Guard(min_n=low, max_n=high, range=range_),
        grid=grid,
        argument=argument,
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where no digit is constant.

    Steps that redo a pass do nothing then and count as nothing, like the copy at the end: only an odd number of passes
    in place needs it.
    """
    name = step.kernel.removesuffix("_wide")
    if name == "grid":
        return grid.moved(p, n)
    if step.argument.flags & REDO or name in ("copy", "finish_rest"):
        return 0
    if p.msd and name != "single" and (dealt := msd_plan.moved(p, name, n)) is not None:
        return dealt
    if p.finish and (ended := finish_plan.moved(p, step, n)) is not None:
        return ended
    groups = min(-(-n // p.tile), p.groups)
    table = (8 if step.kernel.endswith("_wide") else 4) * p.radix * groups * columns(p)
    keys = n * p.key.bytes
    both = 2 * (keys + n * p.form.value_bytes)
    if p.form.index and not step.pass_number:
        both -= n * p.form.value_bytes  # places are not read, they are made
    if name == "onesweep":
        return both + 12 * p.radix * -(-n // p.tile)  # a state is written twice and read once, at least
    return {
        "single": both,
        "begin": 4 * len(p.digits) * p.radix,
        "histogram": keys + 4 * p.radix * -(-n // p.tile),
        "starts": 8 * len(p.digits) * p.radix,
        "count": keys + table,
        "rows": 2 * table,
        "scatter": both + table,
        "scatter_lines": both + table,
    }[name]


def edges(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its way: tiles, the first of all, and the cap."""
    found = {0, 1, greatest, p.alone, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    if not p.serial and p.subgroup > 1:
        found.update(range(0, p.tile + 1, p.subgroup * p.items))
    if p.stream:
        found.add(p.stream)
    found.update((p.groups * p.tile, p.groups * p.tile + p.tile, 2 * p.groups * p.tile))
    found.update(grid.edges(p) if p.coordination == "grid" else msd_plan.edges(p) if p.msd else ())
    found.update(finish_plan.edges(p) if p.finish else ())
    return sorted(n for n in found if n <= greatest)


def row_ends(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of a tile: only there does a guard matter for some lane."""
    if p.serial:
        return []
    step = p.subgroup if p.subgroup > 1 else p.work_group
    base = p.alone - p.alone % p.tile
    return [n for n in range(base + step // 2, base + p.tile, step) if n <= greatest]
