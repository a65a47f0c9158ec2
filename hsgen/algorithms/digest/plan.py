"""The launch schedule of a digest, as plan rows."""

from __future__ import annotations

from hsgen.algorithms.digest.kernels import kernels
from hsgen.algorithms.digest.params import Params
from hsgen.core.flags import ALONE, PARTS, SPAN
from hsgen.core.spec import Binding, Plan, Step

_BOUND = {
    "source": Binding(role="source"),
    "values_in": Binding(role="values"),
    "report": Binding(role="report"),
}
_NUMBERS = {"blank": ALONE, "digest": SPAN, "beyond": PARTS}


def plan(p: Params) -> Plan:
    """Return the digest.  The report is written for no element as well; what lies behind the array has a grid by the
    number of parts, which is how many elements are looked at."""
    return Plan(
        steps=tuple(
            Step(
                kernel=k.name,
                bindings=tuple(_BOUND[b.name] for b in k.buffers),
                argument=0,
                min_n=0,
                max_n=p.max_n,
                x="parts" if k.name == "beyond" else "n",
                add=1 if k.name == "blank" else p.tile - 1,
                div=1 if k.name == "blank" else p.tile,
                mul=1,
                cap=1 if k.name == "blank" else p.groups,
                number=_NUMBERS[k.name],
                at_zero=k.name != "digest",
            )
            for k in kernels(p)
        ),
        max_n=p.max_n,
        first_bit=p.begin,
        bits=p.key.bits - p.begin,
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch reads and writes for `n` elements and none behind them.

    A neighbour comes from the cache, and counts as nothing.
    """
    values = p.form.value_bytes if p.reads else 0
    return n * (p.key.bytes + values) if step.kernel == "digest" else 0


def edges(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the digest changes its way: tiles, and the cap of work-groups."""
    found = {0, 1, greatest, *range(0, min(4 * p.tile, greatest) + 1, p.tile), p.groups * p.tile}
    return sorted(n for n in found if n <= greatest)


def row_ends(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of lanes of a tile."""
    return [n for n in range(p.work_group // 2, p.tile, p.work_group) if n <= greatest]
