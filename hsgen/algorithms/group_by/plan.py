"""The launch plan of a grouping: tables of few groups, then the sort, whose results are in scratch memory, and the
reduction."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms import reduce_by_key
from hsgen.algorithms.group_by import dealt_kernels, dealt_plan
from hsgen.algorithms.group_by.dealt import Dealt, following
from hsgen.algorithms.group_by.kernels import GATE, REDUCE, reducing, tables
from hsgen.algorithms.group_by.params import Params
from hsgen.algorithms.reduce_by_key.plan import BOUND
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Literal, Plan, Step, fixed
from hsgen.core.scratch import UNIT, Scratch, ScratchRule

_FEW = Binding(role="scratch")


def plan(p: Params) -> Plan:
    """Return the plan of the reduction alone, which reads the arrays of the call."""
    made = reduce_by_key.plan(p.reduce)
    return replace(made, steps=tuple(replace(s, kernel=REDUCE + s.kernel) for s in made.steps))


def joined(p: Params, before: tuple[Kernel, ...], sort: Plan) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a grouping, given those of its sort.

    Scratch memory has the table of few groups, words of dealt pairs, the sorted keys, their values, and then what the
    sort takes; the reduction takes the beginning of the latter, which no longer matters.
    """
    after, placed, deal = plan(p), _Placed(p, sort), following(p.few, p.dealt, before, sort)
    top = min(sort.max_n, after.max_n)
    none, last = _without_keys(after), [s for s in (x.within(0, top) for x in after.steps) if not s.guard.empty]
    runs = {s.kernel for s in last}
    kernels = [*before, *(k for k in reducing(p) if k.name in runs)]
    steps = [*(placed.sorting(s) for s in sort.steps), *(placed.reducing(s) for s in last)]
    if p.few and top > p.few.least:
        kernels, steps = _gated(p, kernels, steps, top, placed, deal)
    status = sort.device_status and replace(sort.device_status, binding=placed.moved(sort.device_status.binding, 0))
    rules = (ScratchRule(), *sort.scratch.rules, *after.scratch.within(0, top).rules)
    scratch = Scratch((*(placed.rule(r) for r in rules), *([dealt_plan.rule(deal)] if deal else [])))
    return tuple(kernels), replace(sort, steps=(*none, *steps), max_n=top, scratch=scratch, device_status=status)


def _without_keys(after: Plan) -> list[Step]:
    """The steps of a reduction for n = 0, with the arrays of the call: there is no scratch memory to bind a part of."""
    found = (s for s in after.steps if s.guard.at_zero)
    return [replace(s, guard=replace(s.guard, min_n=0, max_n=0)) for s in found]


def _gated(
    p: Params, kernels: list[Kernel], steps: list[Step], top: int, placed: _Placed, deal: Dealt | None
) -> tuple[list[Kernel], list[Step]]:
    """The kernels and steps with those of tables, which leave the others nothing to do for some keys, and those that
    deal pairs."""
    assert p.few is not None
    gated = {s.kernel for s in steps if s.guard.max_n > p.few.least}
    least = min(s.guard.min_n for s in steps if s.kernel in gated)
    steps = [replace(s, bindings=(*s.bindings, _FEW)) if s.kernel in gated else s for s in steps]
    made = [replace(k, buffers=(*k.buffers, GATE), gate=GATE.name) if k.name in gated else k for k in kernels]
    found = _tables(p, least, top)
    if deal is None:
        return [*tables(p), *made], [*found, *steps]
    dealing = dealt_plan.steps(deal, top, *placed.sorted_arrays)
    runs = {s.kernel for s in dealing}
    own = [k for k in (*dealt_kernels.tables(deal), *dealt_kernels.buckets(deal)) if k.name in runs]
    rows = [x for s in steps for x in (_without_dealt(s, deal) if not s.kernel.startswith(REDUCE) else [s])]
    return [*tables(p), *own, *made], [*found, *dealing, *rows]


def _without_dealt(step: Step, deal: Dealt) -> list[Step]:
    """The rows of a step of the sort: where pairs are dealt into buckets, for sums of floats only."""
    between = (deal.above, deal.shape.most)
    if not deal.bucketed:
        return [step]
    rows = [step.within(0, between[0]), step.within(*between), step.within(between[1], step.guard.max_n)]
    rows[1] = replace(rows[1], guard=replace(rows[1].guard, reduction="rounded"))
    return [x for x in rows if not x.guard.empty]


def _tables(p: Params, least: int, top: int) -> list[Step]:
    """The steps of few groups; above `least` keys, they say that the others have something to do."""
    assert p.few is not None
    grids = {
        "few_begin": fixed(1),
        "few_tables": Grid(add=p.few.tile - 1, div=p.few.tile, cap=p.few.groups),
        "few_close": fixed(p.few.slots // p.few.closed + 1),
    }
    bound = {**BOUND, "few": _FEW, "deals": Binding(role="scratch", plus=p.few.bytes)}
    return [
        Step(
            kernel=k.name,
            bindings=tuple(bound[b.name] for b in k.buffers),
            guard=Guard(min_n=least, max_n=top)
            if k.name == "few_begin"
            else Guard(min_n=p.few.least, max_n=top, reduction="exact" if p.valued else "any"),
            grid=grids[k.name],
            argument=Literal() if k.name == "few_close" else CallNumber(),  # it sorts keys, by the flags of the call
        )
        for k in tables(p)
    ]


class _Placed:
    """Where steps find the arrays of a grouping.

    What a sort places in scratch memory by the count starts at multiples of `UNIT`; the sorted arrays before it take
    any number of bytes.  So each of its buffers gets the bytes that rounding may take from the one before it.
    """

    def __init__(self, p: Params, sort: Plan) -> None:
        self._item = p.key.bytes + p.signature.value_bytes
        every = [b for s in sort.steps for b in s.bindings]
        every += [sort.device_status.binding] if sort.device_status else []
        found = {b.per_n for b in every if b.role == "scratch"}
        self._ranks = {per_n: i for i, per_n in enumerate(sorted(found | {0}))}
        first = p.few.bytes + dealt_plan.words_bytes(p.dealt) if p.few else 0
        self._own = {
            "destination": Binding(role="scratch", plus=first),
            "values_out": Binding(role="scratch", per_n=p.key.bytes, plus=first + UNIT),
        }
        self._first = first + UNIT * (2 if p.valued else 1)
        self.sorted_arrays = (self._own["destination"], self._own["values_out"])

    def sorting(self, step: Step) -> Step:
        """A step of the sort, out of place."""
        found = (self._own.get(b.role) or self.moved(b, step.guard.max_n) for b in step.bindings)
        return replace(step, bindings=tuple(found))

    def reducing(self, step: Step) -> Step:
        """A step of the reduction, of sorted arrays."""
        reads = {"source": self._own["destination"], "values": self._own["values_out"]}
        found = (reads.get(b.role) or self.moved(b, step.guard.max_n) for b in step.bindings)
        return replace(step, bindings=tuple(found), guard=replace(step.guard, at_zero=False))

    def moved(self, binding: Binding, most: int) -> Binding:
        """A binding of steps for up to `most` keys, moved behind the sorted arrays if it is in scratch memory."""
        if binding.role != "scratch":
            return binding
        assert binding.max_n is None or most <= binding.max_n, "a bound for a device-side count"
        plus = binding.plus + self._first + UNIT * self._ranks[binding.per_n]
        return replace(binding, per_n=binding.per_n + self._item, plus=plus, max_n=None)

    def rule(self, rule: ScratchRule) -> ScratchRule:
        """A rule of scratch memory, with the sorted arrays before it."""
        plus = rule.plus + self._first + UNIT * len(self._ranks)
        return replace(rule, plus=plus, per_n=rule.per_n + self._item)


def moved(p: Params | reduce_by_key.Params | Dealt, step: Step, n: int) -> int:
    """Return the memory traffic of a launch of the reduction for `n` keys in bytes, if all are equal; the sort is
    counted, too."""
    if isinstance(p, Dealt):
        return dealt_plan.moved(p, step, n)
    own = p.reduce if isinstance(p, Params) else p
    return reduce_by_key.moved(own, replace(step, kernel=step.kernel.removeprefix(REDUCE)), n)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the reduction takes another path, or tables are tried."""
    found = set(reduce_by_key.test_counts(p.reduce, greatest))
    if p.few:
        found.update((p.few.least, p.few.least + 1, p.few.least + p.few.tile))
    return sorted(n for n in found if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of lanes of a tile of the reduction."""
    return reduce_by_key.row_test_counts(p.reduce, greatest)
