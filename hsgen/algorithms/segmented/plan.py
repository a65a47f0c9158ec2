"""The launch schedule of a segmented sort, as plan rows."""

from __future__ import annotations

from hsgen.algorithms.segmented.kernels import kernels
from hsgen.algorithms.segmented.params import Params
from hsgen.algorithms.segmented.words import OTHER, max_n, outcome, scratch, values_binding, words_binding
from hsgen.core.flags import ALONE, DIRECT, PARTS
from hsgen.core.spec import UNCAPPED, Binding, Plan, Step

_BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "other": OTHER,
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "offsets": Binding(role="other"),
}
_FIXED, _LOOP = (0, 1, 1, 1), (0, 0, 2, 0)  # one work-group; two a tile, as far as there may be so many


def sifted(p: Params) -> int:
    """Return the segments that a work-group looks at."""
    return p.sifted


def plan(p: Params) -> Plan:
    """Return the whole sort: the segments by their lengths, the longest a digit at a time.

    Passes go from the source to scratch, from there to the destination, and so on in turns.  With an odd number of
    passes the first goes to the destination at once, which in place it may not: then a copy follows.
    """
    top, each = max_n(p), sifted(p)
    steps = [
        _row(p, "begin", 0, _FIXED, number=PARTS),
        _row(p, "sift", 0, (each - 1, each, 1, UNCAPPED), x="parts"),
        _row(p, "windows", 0, (p.window - 1, p.window, 1, UNCAPPED), argument=DIRECT),
        _row(p, "alone", p.small, (p.tile - 1, p.tile, p.mediums, UNCAPPED) if p.apart else _LOOP),
    ]
    for number in range(len(p.rank.digits)):
        steps += [
            _row(p, "count", p.tile, _LOOP, number=number),
            _row(p, "rows", p.tile, _LOOP, number=number),
            _row(p, "scatter", p.tile, _LOOP, number=number, argument=DIRECT),
        ]
    if len(p.rank.digits) % 2:
        steps.append(_row(p, "copy", p.tile, _LOOP, place="in"))
    return Plan(steps=tuple(steps), max_n=top, bits=p.key.bits, scratch=scratch(p), outcome=outcome(p))


def _row(
    p: Params,
    kernel: str,
    low: int,
    grid: tuple[int, int, int, int],
    *,
    x: str = "n",
    number: int = ALONE,
    argument: int = 0,
    place: str = "any",
) -> Step:
    """A row for counts above `low`; `grid` is its add, div, mul and cap."""
    bound = {**_BOUND, "values_tmp": values_binding(p), "words": words_binding(p)}
    made = next(k for k in kernels(p) if k.name == kernel)
    add, div, mul, cap = (p.tile - 1, p.tile, 2, p.groups) if grid == _LOOP else grid
    return Step(
        kernel=kernel,
        bindings=tuple(bound[b.name] for b in made.buffers),
        argument=argument,
        min_n=low,
        max_n=max_n(p),
        x=x,
        add=add,
        div=div,
        mul=mul,
        cap=cap,
        place=place,
        number=number,
        bits=p.rank.digit if number >= 0 else 0,
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` for `n` keys reads and writes where all segments are short: the other
    launches find nothing to do then."""
    return 2 * n * (p.key.bytes + p.form.value_bytes) if step.kernel == "windows" else 0


def edges(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its way, where there is one segment or several."""
    found = {0, 1, greatest, p.small, p.window, p.tile, p.window + p.small, 2 * p.tile, p.chunk, 3 * p.chunk}
    return sorted(n for n in found if n <= greatest)


def row_ends(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of a tile."""
    if p.serial:
        return []
    step = p.chip.subgroup if p.chip.subgroup > 1 else p.chip.work_group
    return [n for n in range(step // 2, p.tile, step) if n <= greatest]
