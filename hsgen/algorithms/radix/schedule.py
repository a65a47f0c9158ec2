"""The launch schedule of a radix sort, as plan rows."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.radix.bodies import kernels, large
from hsgen.algorithms.radix.shape import Params
from hsgen.algorithms.radix.words import OTHER, columns, outcome, scratch, table_binding, words, words_binding
from hsgen.spec import UNCAPPED, Binding, Plan, Scratch, Step

MAX_N = (1 << 30) - 1  # the states of tiles hold 30 bits, and kernels count in signed 32-bit numbers
MAX_WIDE = 1 << 40
SOURCE, DESTINATION = Binding(role="source"), Binding(role="destination")
REDO, DIRECT = 1 << 20, 1 << 21
"""Flags of arguments: only if a look-back failed; the first pass may store to the destination at once."""


def argument(p: Params, number: int) -> int:
    """Pack what a kernel must know of a pass: its number, its digit's shift and width."""
    shift, width = p.digits[number]
    return number | shift << 8 | width << 16


def plan(p: Params) -> Plan:
    """Return the whole sort.

    Passes go from the source to scratch, from there to the destination, and so on in turns.  With an odd number
    of passes the first goes to the destination at once, which in place it may not: then a copy follows.
    """
    steps: list[Step] = []
    if p.alone:
        steps.append(_row(p, "single", 0, 0, p.alone, fixed=1))
    if p.coordination == "lookback":
        steps += _onesweep(p)
    else:
        for number in range(len(p.digits)):
            steps += _counted(p, number, 0)
    for place in ("in", "out") if len(p.digits) % 2 else ("any",):
        steps.append(_row(p, "copy", len(p.digits), p.alone, _max_n(p), grid=True, place=place))
    if not p.large:
        return Plan(steps=tuple(steps), max_n=_max_n(p), scratch=scratch(p), outcome=outcome(p))
    return _joined(p, steps)


def _joined(p: Params, steps: list[Step]) -> Plan:
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
    more = [replace(step, min_n=_max_n(p)) for step in wide.steps]
    return Plan(steps=(*steps, *more), max_n=wide.max_n, scratch=rule, outcome=outcome(p))


def _max_n(p: Params) -> int:
    """The greatest count: work-groups count their keys in 32 bits, and words are found by signed 32-bit indices."""
    if p.wide:
        return min(MAX_WIDE, p.groups * ((1 << 32) // p.tile - 1) * p.tile)
    units = ((1 << 31) - 1 - words(p).table) // (p.radix * columns(p))  # rows of the table that can be found
    return min(MAX_N, units * p.tile) if p.coordination == "lookback" or p.groups > units else MAX_N


def _counted(p: Params, number: int, flags: int) -> list[Step]:
    """The rows of a pass that counts, scans and scatters."""
    low, high, arg = p.alone, _max_n(p), argument(p, number) | flags
    rows = [_row(p, "count", arg, low, high, grid=True)]
    if not p.folded:
        values = 1 << p.digits[number][1]
        rows.append(_row(p, "rows", arg, low, high, fixed=-(-values // p.work_group) if p.serial else values))
    cut = min(max(p.stream_from - 1, low), high) if p.stream_from else high
    for name, least, most in (("scatter", low, cut), ("scatter_lines", cut, high)):
        if least >= most:
            continue
        if flags & REDO or (len(p.digits) - number) % 2 == 0:
            rows.append(_row(p, name, arg, least, most, grid=True))
        else:  # an odd number of passes is left: were this the first, it could store to the destination
            rows.append(_row(p, name, arg, least, most, grid=True, place="in"))
            rows.append(_row(p, name, arg | DIRECT, least, most, grid=True, place="out"))
    return rows


def _onesweep(p: Params) -> list[Step]:
    low, high = p.alone, _max_n(p)
    rows = [
        _row(p, "begin", 0, low, high, fixed=1),
        _row(p, "histogram", 0, low, high, grid=True),
        _row(p, "starts", 0, low, high, fixed=1, place="in"),
        _row(p, "starts", DIRECT, low, high, fixed=1, place="out"),
    ]
    for number in range(len(p.digits)):
        rows.append(_row(p, "onesweep", argument(p, number), low, high))
        rows += _counted(p, number, REDO)
    return rows


def _row(
    p: Params, kernel: str, arg: int, low: int, high: int, *, fixed: int = 0, grid: bool = False, place: str = "any"
) -> Step:
    """A row with a fixed grid, with one work-group a tile up to `groups` of them, or with one a tile."""
    name = kernel + ("_wide" if p.wide else "")
    bound = {
        "source": SOURCE,
        "destination": DESTINATION,
        "other": OTHER,
        "words": words_binding(p),
        "table": table_binding(p),
    }
    made = next(k for k in kernels(p) if k.name == name)
    return Step(
        kernel=name,
        bindings=tuple(bound[b.name] for b in made.buffers),
        argument=arg,
        min_n=low,
        max_n=high,
        x="n",
        add=p.tile - 1 if not fixed else 0,
        div=p.tile if not fixed else 1,
        mul=fixed or 1,  # any count at all gives as many work-groups as the cap
        cap=fixed or (p.groups if grid else UNCAPPED),
        place=place,
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where no digit is constant.

    Steps that redo a pass, and the copy after an even number of passes, do nothing then and count as nothing.
    """
    name = step.kernel.removesuffix("_wide")
    groups = min(-(-n // p.tile), p.groups)
    table = (8 if step.kernel.endswith("_wide") else 4) * p.radix * groups * columns(p)
    keys = n * p.key.bytes
    if step.argument & REDO or (name == "copy" and not _ends_elsewhere(p, step)):
        return 0
    if name == "copy":
        return 2 * keys
    if name == "onesweep":
        return 2 * keys + 12 * p.radix * -(-n // p.tile)  # a state is written twice and read once, at least
    return {
        "single": 2 * keys,
        "begin": 4 * len(p.digits) * p.radix,
        "histogram": keys + 4 * p.radix * -(-n // p.tile),
        "starts": 8 * len(p.digits) * p.radix,
        "count": keys + table,
        "rows": 2 * table,
        "scatter": 2 * keys + table,
        "scatter_lines": 2 * keys + table,
    }[name]


def _ends_elsewhere(p: Params, step: Step) -> bool:
    """Whether the passes leave the keys in scratch: with an odd number of them, in place only."""
    return len(p.digits) % 2 == 1 and step.place == "in"


def edges(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its way: tiles, the first of all, and the cap."""
    found = {0, 1, greatest, p.alone, *range(0, min(4 * p.tile, greatest) + 1, p.tile)}
    if not p.serial and p.subgroup > 1:
        found.update(range(0, p.tile + 1, p.subgroup * p.items))
    if p.stream_from:
        found.add(p.stream_from)
    found.update((p.groups * p.tile, p.groups * p.tile + p.tile, 2 * p.groups * p.tile))
    return sorted(n for n in found if n <= greatest)


def row_ends(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of a tile: only there does a guard matter for some lane."""
    if p.serial:
        return []
    step = p.subgroup if p.subgroup > 1 else p.work_group
    base = p.alone - p.alone % p.tile
    return [n for n in range(base + step // 2, base + p.tile, step) if n <= greatest]
