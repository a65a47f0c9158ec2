"""The launch plan of a group-by: hash tables for few groups, then a sort into scratch, then the reduction.

If the hash tables hold all groups, the kernels of the sort and of the reduction return at once.
"""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms import reduce_by_key
from hsgen.algorithms.group_by import pair_partition_kernels, pair_partition_plan
from hsgen.algorithms.group_by.kernels import GATE, REDUCE, reducing, tables
from hsgen.algorithms.group_by.pair_partition import PairPartition, following
from hsgen.algorithms.group_by.params import Params
from hsgen.algorithms.reduce_by_key.plan import BOUND
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Literal, Plan, Step, fixed
from hsgen.core.scratch import UNIT, Scratch, ScratchRule

_FEW = Binding(role="scratch")


def plan(p: Params) -> Plan:
    """Return the plan of only the reduction, without the sort, on the caller's arrays.

    The function `joined` builds the complete plan.
    """
    reduction = reduce_by_key.plan(p.reduce)
    return replace(reduction, steps=tuple(replace(s, kernel=REDUCE + s.kernel) for s in reduction.steps))


def joined(p: Params, before: tuple[Kernel, ...], sort: Plan) -> tuple[tuple[Kernel, ...], Plan]:
    """Return the kernels and the plan of a complete group-by.

    Scratch holds, in this order, the buffers `few` and `deals`, the sorted keys, their values, and the scratch of the
    sort.  The scratch of the reduction takes the place of the sort's.
    before, sort: the kernels and the plan of the target's sort.
    """
    after, placed, partition = plan(p), _Placed(p, sort), following(p.few, p.pair_partition, before, sort)
    top = min(sort.max_n, after.max_n)
    none, last = _without_keys(after), [s for s in (x.within(0, top) for x in after.steps) if not s.guard.empty]
    runs = {s.kernel for s in last}
    kernels = [*before, *(k for k in reducing(p) if k.name in runs)]
    steps = [*(placed.sorting(s) for s in sort.steps), *(placed.reducing(s) for s in last)]
    if p.few and top > p.few.least:
        kernels, steps = _gated(p, kernels, steps, top, placed, partition)
    status = sort.device_status and replace(sort.device_status, binding=placed.moved(sort.device_status.binding, 0))
    rules = (ScratchRule(), *sort.scratch.rules, *after.scratch.within(0, top).rules)
    scratch = Scratch((*(placed.rule(r) for r in rules), *([pair_partition_plan.rule(partition)] if partition else [])))
    return tuple(kernels), replace(sort, steps=(*none, *steps), max_n=top, scratch=scratch, device_status=status)


def _without_keys(after: Plan) -> list[Step]:
    """Return the plan rows of the reduction for n = 0, which reads the caller's arrays, because scratch is empty."""
    at_zero = (s for s in after.steps if s.guard.at_zero)
    return [replace(s, guard=replace(s.guard, min_n=0, max_n=0)) for s in at_zero]


def _gated(
    p: Params, kernels: list[Kernel], steps: list[Step], top: int, placed: _Placed, partition: PairPartition | None
) -> tuple[list[Kernel], list[Step]]:
    """Add the kernels and plan rows of hash tables and of the pair partition to those of a group-by; return all.

    The kernels of the sort and of the reduction get the buffer `gate`.  The first word of `gate` tells them whether
    hash tables have stored the groups.  If so, these kernels return at once.
    top: the greatest count.
    placed: the offsets of the arrays in scratch.
    """
    assert p.few is not None
    gated = {s.kernel for s in steps if s.guard.max_n > p.few.least}
    least = min(s.guard.min_n for s in steps if s.kernel in gated)
    steps = [replace(s, bindings=(*s.bindings, _FEW)) if s.kernel in gated else s for s in steps]
    gated_kernels = [replace(k, buffers=(*k.buffers, GATE), gate=GATE.name) if k.name in gated else k for k in kernels]
    table_steps = _tables(p, least, top)
    if partition is None:
        return [*tables(p), *gated_kernels], [*table_steps, *steps]
    partition_steps = pair_partition_plan.steps(partition, top, *placed.sorted_arrays)
    runs = {s.kernel for s in partition_steps}
    partition_kernels = [
        k
        for k in (*pair_partition_kernels.tables(partition), *pair_partition_kernels.buckets(partition))
        if k.name in runs
    ]
    rows = [x for s in steps for x in (_without_partition(s, partition) if not s.kernel.startswith(REDUCE) else [s])]
    return [*tables(p), *partition_kernels, *gated_kernels], [*table_steps, *partition_steps, *rows]


def _without_partition(step: Step, partition: PairPartition) -> list[Step]:
    """Split a plan row of the sort, so that it does not run where the pair partition runs instead; return the rows.

    For the counts of the pair partition, the sort runs only for sums of floats, which depend on the order of values.
    """
    between = (partition.above, partition.shape.most)
    if not partition.bucketed:
        return [step]
    rows = [step.within(0, between[0]), step.within(*between), step.within(between[1], step.guard.max_n)]
    rows[1] = replace(rows[1], guard=replace(rows[1].guard, reduction="rounded"))
    return [x for x in rows if not x.guard.empty]


def _tables(p: Params, least: int, top: int) -> list[Step]:
    """Return the plan rows of the hash tables, for counts above `p.few.least` up to `top`.

    The kernel of the first row clears `gate`.  The first row therefore runs for all counts above `least`, because other
    kernels read `gate` for all of these counts.
    """
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
            argument=Literal() if k.name == "few_close" else CallNumber(),  # few_close needs the call's sort flags
        )
        for k in tables(p)
    ]


class _Placed:
    """The offsets in scratch of the sorted keys, of their values, and of the arrays that the sort has in scratch.

    The sorted keys and values come before the sort's own arrays, which so get greater offsets.  Each offset is rounded
    up to a multiple of `UNIT`, which skips less than `UNIT` bytes.  Scratch thus has `UNIT` spare bytes for each array.
    """

    def __init__(self, p: Params, sort: Plan) -> None:
        self._item = p.key.bytes + p.signature.value_bytes
        every = [b for s in sort.steps for b in s.bindings]
        every += [sort.device_status.binding] if sort.device_status else []
        sizes = {b.per_n for b in every if b.role == "scratch"}
        self._ranks = {per_n: i for i, per_n in enumerate(sorted(sizes | {0}))}
        first = p.few.bytes + pair_partition_plan.words_bytes(p.pair_partition) if p.few else 0
        self._own = {
            "destination": Binding(role="scratch", plus=first),
            "values_out": Binding(role="scratch", per_n=p.key.bytes, plus=first + UNIT),
        }
        self._first = first + UNIT * (2 if p.valued else 1)
        self.sorted_arrays = (self._own["destination"], self._own["values_out"])

    def sorting(self, step: Step) -> Step:
        """Return a plan row of the sort: its results go to scratch, and its own arrays lie after them."""
        bindings = (self._own.get(b.role) or self.moved(b, step.guard.max_n) for b in step.bindings)
        return replace(step, bindings=tuple(bindings))

    def reducing(self, step: Step) -> Step:
        """Return a plan row of the reduction that reads the sorted keys and values from scratch."""
        reads = {"source": self._own["destination"], "values": self._own["values_out"]}
        bindings = (reads.get(b.role) or self.moved(b, step.guard.max_n) for b in step.bindings)
        return replace(step, bindings=tuple(bindings), guard=replace(step.guard, at_zero=False))

    def moved(self, binding: Binding, most: int) -> Binding:
        """Return the binding of an array; if the array is in scratch, its offset is after the sorted keys and values.

        most: the greatest count of the plan row.
        """
        if binding.role != "scratch":
            return binding
        assert binding.max_n is None or most <= binding.max_n, "a bound for a device-side count"
        plus = binding.plus + self._first + UNIT * self._ranks[binding.per_n]
        return replace(binding, per_n=binding.per_n + self._item, plus=plus, max_n=None)

    def rule(self, rule: ScratchRule) -> ScratchRule:
        """Return a rule for the size of scratch, with the bytes of the sorted keys and values added."""
        plus = rule.plus + self._first + UNIT * len(self._ranks)
        return replace(rule, plus=plus, per_n=rule.per_n + self._item)


def moved(p: Params | reduce_by_key.Params | PairPartition, step: Step, n: int) -> int:
    """Return the bytes that a launch reads and writes for `n` keys.

    For launches of the reduction, all keys are assumed to be equal.  For launches of the pair partition, all keys are
    assumed to be distinct.
    """
    if isinstance(p, PairPartition):
        return pair_partition_plan.moved(p, step, n)
    reduction = p.reduce if isinstance(p, Params) else p
    return reduce_by_key.moved(reduction, replace(step, kernel=step.kernel.removeprefix(REDUCE)), n)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest`: those at which the reduction changes its method, and some from `few.least` on."""
    counts = set(reduce_by_key.test_counts(p.reduce, greatest))
    if p.few:
        counts.update((p.few.least, p.few.least + 1, p.few.least + p.few.tile))
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` for tests of bounds checks, as for a reduction by key."""
    return reduce_by_key.row_test_counts(p.reduce, greatest)
