"""The launch plan of a digest."""

from __future__ import annotations

from hsgen.algorithms.digest.kernels import kernels
from hsgen.algorithms.digest.params import Params
from hsgen.core.plan import Argument, Binding, BitRange, CallNumber, Grid, Guard, Literal, Plan, Step

_BOUND = {
    "source": Binding(role="source"),
    "values_in": Binding(role="values"),
    "report": Binding(role="report"),
}
_ARGUMENTS: dict[str, Argument] = {"blank": Literal(), "digest": BitRange(), "beyond": CallNumber()}


def plan(p: Params) -> Plan:
    """Return the plan.  The report is also written for n = 0; the grid of the elements beyond n depends on the second
    number of the call, the number of elements to examine."""
    return Plan(
        steps=tuple(
            Step(
                kernel=k.name,
                bindings=tuple(_BOUND[b.name] for b in k.buffers),
                guard=Guard(max_n=p.max_n, at_zero=k.name != "digest"),
                grid=_grid(p, k.name),
                argument=_ARGUMENTS[k.name],
            )
            for k in kernels(p)
        ),
        max_n=p.max_n,
        first_bit=p.begin,
        bits=p.key.bits - p.begin,
    )


def _grid(p: Params, kernel: str) -> Grid:
    if kernel == "blank":
        return Grid(add=1, cap=1)  # also for n = 0
    return Grid(x="number" if kernel == "beyond" else "n", add=p.tile - 1, div=p.tile, cap=p.groups)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the memory traffic of a launch for `n` elements, in bytes, without elements beyond n.

    Reads of adjacent elements are served from caches and not counted.
    """
    values = p.signature.value_bytes if p.reads else 0
    return n * (p.key.bytes + values) if step.kernel == "digest" else 0


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the digest takes another path: tiles, and the cap of work-groups."""
    found = {0, 1, greatest, *range(0, min(4 * p.tile, greatest) + 1, p.tile), p.groups * p.tile}
    return sorted(n for n in found if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of lanes of a tile."""
    return [n for n in range(p.work_group // 2, p.tile, p.work_group) if n <= greatest]
