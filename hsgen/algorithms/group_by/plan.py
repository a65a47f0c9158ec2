"""The launch plan of a grouping: that of the sort, whose results are in scratch memory, and that of the reduction."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms import reduce_by_key
from hsgen.algorithms.group_by.kernels import REDUCE, kernels
from hsgen.algorithms.group_by.params import Params
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, Plan, Step
from hsgen.core.scratch import Scratch, ScratchRule

_UNIT = 1024  # bytes, to which offsets in scratch memory are rounded up


def plan(p: Params) -> Plan:
    """Return the plan of the reduction alone, which reads the arrays of the call."""
    made = reduce_by_key.plan(p.reduce)
    return replace(made, steps=tuple(replace(s, kernel=REDUCE + s.kernel) for s in made.steps))


def joined(p: Params, before: tuple[Kernel, ...], sort: Plan) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a grouping, given those of its sort.

    Scratch memory has the sorted keys, their values, and then what the sort takes; the reduction takes the beginning of
    the latter, which no longer matters.
    """
    after = plan(p)
    placed = _Placed(p, sort)
    steps = tuple(placed.sorting(s) for s in sort.steps) + tuple(placed.reducing(s) for s in after.steps)
    status = sort.device_status and replace(sort.device_status, binding=placed.moved(sort.device_status.binding, 0))
    scratch = Scratch(tuple(placed.rule(r) for r in (ScratchRule(), *sort.scratch.rules, *after.scratch.rules)))
    top = min(sort.max_n, after.max_n)
    joint = replace(sort, steps=steps, max_n=top, scratch=scratch, device_status=status)
    return (*before, *kernels(p)), joint


class _Placed:
    """Where steps find the arrays of a grouping.

    What a sort places in scratch memory by the count starts at multiples of `_UNIT`; the sorted arrays before it take
    any number of bytes.  So each of its buffers gets the bytes that rounding may take from the one before it.
    """

    def __init__(self, p: Params, sort: Plan) -> None:
        self._item = p.key.bytes + p.value_bytes
        found = {b.per_n for s in sort.steps for b in s.bindings if b.role == "scratch"}
        self._ranks = {per_n: i for i, per_n in enumerate(sorted(found | {0}))}
        self._own = {
            "destination": Binding(role="scratch"),
            "values_out": Binding(role="scratch", per_n=p.key.bytes, plus=_UNIT),
        }
        self._first = _UNIT * (2 if p.value_bytes else 1)

    def sorting(self, step: Step) -> Step:
        """A step of the sort, out of place."""
        found = (self._own.get(b.role) or self.moved(b, step.guard.max_n) for b in step.bindings)
        return replace(step, bindings=tuple(found))

    def reducing(self, step: Step) -> Step:
        """A step of the reduction, of sorted arrays."""
        reads = {"source": self._own["destination"], "values": self._own["values_out"]}
        found = (reads.get(b.role) or self.moved(b, step.guard.max_n) for b in step.bindings)
        return replace(step, bindings=tuple(found))

    def moved(self, binding: Binding, most: int) -> Binding:
        """A binding of steps for up to `most` keys, moved behind the sorted arrays if it is in scratch memory."""
        if binding.role != "scratch":
            return binding
        assert binding.max_n is None or most <= binding.max_n, "a bound for a device-side count"
        plus = binding.plus + self._first + _UNIT * self._ranks[binding.per_n]
        return replace(binding, per_n=binding.per_n + self._item, plus=plus, max_n=None)

    def rule(self, rule: ScratchRule) -> ScratchRule:
        """A rule of scratch memory, with the sorted arrays before it."""
        plus = rule.plus + self._first + _UNIT * len(self._ranks)
        return replace(rule, plus=plus, per_n=rule.per_n + self._item)


def moved(p: Params | reduce_by_key.Params, step: Step, n: int) -> int:
    """Return the memory traffic of a launch of the reduction for `n` keys in bytes, if all are equal."""
    own = p.reduce if isinstance(p, Params) else p
    return reduce_by_key.moved(own, replace(step, kernel=step.kernel.removeprefix(REDUCE)), n)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the reduction takes another path."""
    return reduce_by_key.test_counts(p.reduce, greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of lanes of a tile of the reduction."""
    return reduce_by_key.row_test_counts(p.reduce, greatest)
