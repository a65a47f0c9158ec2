"""Makes small groupings by key, plants faults in their plans and checks the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from sorters import SMALL

from hsgen.algorithms import group_by, reduce_by_key
from hsgen.core.errors import Wrong
from hsgen.core.keys import KEYS, Signature
from hsgen.core.plan import Binding, Step
from hsgen.core.sort import Sort
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.operations.group_by import OPERATION
from hsgen.targets import assembly, target
from hsgen.tools.validate import validation

LEAST = 1500  # keys, above which tables of few groups are tried
KINDS = ("random", "few distinct", "zipf", "all equal", "all greatest", "sorted")


@cache
def small(key: str, value: str, *, few: bool = True) -> Sort:
    """A grouping with tiles of 24 keys; few: with tables of 64 slots for few groups, tried above `LEAST` keys."""
    found = target.parse(SMALL, "small", "small.toml")
    signature = OPERATION.signature(Signature(value=value, key_transform=True))
    whole = found.sort("group_by", key, signature)
    before = found.default(key, group_by.sorting(signature))
    derived: Any = whole.parts[0].params
    plain = replace(signature, key_transform=False)
    own = reduce_by_key.Params(key=KEYS[key], signature=plain, work_group=8, items=3, groups=5)
    tables = derived.few and replace(derived.few, least=LEAST, work_group=32, items=2, groups=3, slots=64)
    part = replace(whole.parts[0], params=replace(derived, reduce=own, few=tables if few else None))
    kernels, plan, parts = assembly.joined(part, before)
    return replace(whole, kernels=kernels, plan=plan, parts=parts)


def bound(sort: Sort, change: Callable[[Step, Binding], Binding]) -> Sort:
    """The grouping with other bindings."""
    steps = (replace(s, bindings=tuple(change(s, b) for b in s.bindings)) for s in sort.plan.steps)
    return replace(sort, plan=replace(sort.plan, steps=tuple(steps)))


def faults(sort: Sort) -> Iterator[tuple[str, Sort]]:
    """Plans with one fault each."""
    few, item = sort.parts[0].params.few, sort.key.bytes + sort.signature.value_bytes  # type: ignore[attr-defined]
    keys = Binding(role="scratch", plus=few.bytes if few else 0)
    values = replace(keys, per_n=sort.key.bytes, plus=keys.plus + 1024)

    def reads(own: Binding, other: Binding, step: Step, b: Binding) -> Binding:
        return other if b == own and step.kernel.startswith("reduce_") else b

    def stored(own: Binding, other: Binding, step: Step, b: Binding) -> Binding:
        return other if b == own and not step.kernel.startswith("reduce_") else b

    def earlier(step: Step, b: Binding) -> Binding:
        return replace(b, plus=b.plus - 1024) if b.per_n == item else b

    yield "the reduction reads the keys of the call", bound(sort, partial(reads, keys, Binding(role="source")))
    yield "the reduction reads the values of the call", bound(sort, partial(reads, values, Binding(role="values")))
    yield "the sort stores values elsewhere", bound(sort, partial(stored, values, replace(values, per_n=3 * item)))
    yield "the sort's scratch begins 1024 bytes early", bound(sort, earlier)
    steps = sort.plan.steps
    names = [s.kernel for s in steps]
    for kernel in ("few_begin", "few_tables", "reduce_finish", "reduce_write", "reduce_single", "scatter"):
        if kernel in names:
            rest = tuple(s for s in steps if s.kernel != kernel)
            yield f"without {kernel}", replace(sort, plan=replace(sort.plan, steps=rest))
    last = next(i for i, s in enumerate(steps) if s.kernel.startswith("reduce_") and not s.guard.empty)
    yield "the reduction is first", replace(sort, plan=replace(sort.plan, steps=(*steps[last:], *steps[:last])))


def planted(host: Host) -> Iterator[tuple[str, Callable[[], Direct]]]:
    """The faults, in a grouping compiled once."""
    for few in (True, False):
        sort = small("u32", "v4", few=few)
        context = context_for(host)
        kernels = Compiled(context, sort)._kernels
        for name, changed in faults(sort):
            yield name, partial(_planted, context, changed, kernels)


def _planted(context: Any, sort: Sort, kernels: Any) -> Direct:
    return Direct(context, Compiled(context, sort, kernels=kernels))


def check(engine: Direct) -> None:
    """As `planted` runs it."""
    pairs = [(n, kind) for n in (7, 25, 300, 1000, 1001, 2001, 5003, 9000, 5005) for kind in KINDS]
    try:
        report = validation.run(engine, pairs, 1, stop=1)
    except Wrong as e:  # of memory behind that of a call
        raise AssertionError(f"it was overwritten: {e}") from None
    assert not report.failed, report.failures
