"""Groupings by a table for each value of the highest digit.

A pass of a sort of pairs brings together the keys of each value of their highest digit that is not constant.  Where
many keys of a sample equal others, each value has few groups: a work-group reduces them in a hash table on chip, and
sorts them there.  So pairs are moved once and read twice, where a sort moves them three or four times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from hsgen.algorithms.buffers import DESTINATION, VALUES_OUT, word_array
from hsgen.algorithms.group_by.kernels import COUNTS, FEW, FIRSTS, REPORT, constants
from hsgen.algorithms.group_by.params import Params
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import WORDS
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, Step, fixed

_TEMPLATE, _AFTER = "radix/hybrid/finish_plan", "radix/hybrid/finish_starting"
_FLOAT_SUM = 8
"""The number of a call that adds floats (`hsgen.operations.reduce_by_key.number`)."""
_KEYS, _VALUES = Buffer(name="group_keys"), Buffer(name="group_values", type="u32", unit="value")
_BOUND = {
    "group_keys": Binding(role="destination"),
    "group_values": Binding(role="values_out"),
    "counts": Binding(role="other"),
    "firsts": Binding(role="other_values"),
    "report": Binding(role="report"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """What the kernel that chooses the digits of a sort knows of groups.

    equal: the keys of the sample that equal others, from which on there are tables; the others are words of scratch
    memory (`hsgen.algorithms.group_by.few`), and the number of a call that adds floats.
    """

    equal: int
    HOW: int
    BY_DIGIT: int
    TICKET: int
    TABLE: int
    EMPTY: int
    float_sum: int = _FLOAT_SUM


@dataclass(frozen=True, slots=True, kw_only=True)
class Digits:
    """The parameters of tables: those of the sort, and their shape, as of `hsgen.algorithms.group_by.few.Few`.

    valued: as of the grouping.
    """

    sort: Hybrid
    layout: pairs.Layout
    work_group: int
    items: int
    slots: int
    valued: bool = True

    @property
    def most(self) -> int:
        """The groups of a table, at most: two thirds of its slots."""
        return 2 * self.slots // 3

    @property
    def equal(self) -> int:
        """The keys of a sample that equal others, about, if a quarter of the slots of each table is used: with half of
        them, tables are as slow as a sort."""
        return max(2, 2 * self.sort.sampled**2 // (self.sort.radix * self.slots))


def shape(p: Params, kernel: Kernel) -> Digits | None:
    """Return the shape of tables, given the kernel of a sort that chooses digits; None where there is no such choice,
    where work-groups may not wait for others, or where a work-group has too little local memory."""
    if kernel.template != _TEMPLATE or not (p.few and p.reduce.sections and p.valued):
        return None
    sort = kernel.params
    assert isinstance(sort, Hybrid) and isinstance(kernel.data, pairs.Layout)
    if not sort.finish or sort.radix > p.few.slots:
        return None
    lanes = p.few.work_group
    slots = next((s for s in p.wide if 12 * (s + 1) + 4 * lanes + 64 <= p.local_bytes // 2), 0)
    made = Digits(sort=sort, layout=kernel.data, work_group=lanes, items=p.few.items, slots=slots)
    return made if slots else None


def choosing(p: Digits, kernel: Kernel) -> Kernel:
    """Return the kernel that chooses the digits of the sort, tables included."""
    known = {k: v for k, v in constants().items() if k in ("HOW", "TABLE", "EMPTY", "BY_DIGIT", "TICKET")}
    data = replace(p.layout, grouped=Grouped(equal=p.equal, **known))
    return replace(kernel, data=data, buffers=(*kernel.buffers, FEW), arrays=(*kernel.arrays, word_array("large", 1)))


def tables(p: Digits) -> Kernel:
    """Return the kernel of tables."""
    local = (word_array(name, p.slots + 1) for name in ("held", "sums", "times"))
    return Kernel(
        name="digit_tables",
        template="group_by/digit_tables",
        summary="reduce the groups of a value of the highest digit in a table",
        work_group=p.work_group,
        buffers=(DESTINATION, VALUES_OUT, WORDS, _KEYS, _VALUES, COUNTS, FIRSTS, REPORT, FEW),
        arrays=(*local, word_array("part", p.work_group), word_array("full", 4), word_array("drawn", 1)),
        resident=2,
        algorithm="group_by",
        params=p,
    )


def chooses(kernel: Kernel) -> bool:
    """Whether a kernel of a sort chooses the digits that are passed."""
    return kernel.template == _TEMPLATE


def precede(kernel: Kernel) -> bool:
    """Whether tables precede a kernel of a sort: the first one after the passes."""
    return kernel.template == _AFTER


def step(p: Digits, before: Kernel, at: Step, bound: Mapping[str, Binding]) -> Step:
    """Return the step of tables ahead of the step `at` of the kernel `before`; bound: where values and words lie."""
    every = {**dict(zip((b.name for b in before.buffers), at.bindings, strict=True)), **_BOUND, **bound}
    made = tables(p)
    return replace(at, kernel=made.name, bindings=tuple(every[b.name] for b in made.buffers), grid=fixed(p.sort.radix))


def context(p: Digits) -> dict[str, Any]:
    """Return the names that the templates use."""
    sizes = {"slots": p.slots, "items": p.items, "tile": p.items * p.work_group, "most": p.most}
    wide = SimpleNamespace(**constants(), **sizes)
    numbers = {"radix": p.sort.radix, "starts": words(p.sort).starts}
    return {"few": SimpleNamespace(**constants(), **numbers, wide=wide), "fin": p.layout}
