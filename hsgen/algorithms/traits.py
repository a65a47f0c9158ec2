"""The capabilities of an algorithm, independent of its parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The capabilities of an algorithm.

    bit_ranges: its kernels sort by a bit range chosen per call, and serve such calls in place of a target's other
    algorithms.
    several: a sort may use the algorithm with different parameters for different counts.  Kernels of all but the first
    parameters get a suffix, and its `words.j2` receives all parameters as `every`.
    segments: it sorts segments, whose ends and whose number in device memory calls may give.
    joins: it follows a sort of the same keys and values, whose plan becomes part of its plan.  `sorting` returns the
    signature of that sort, `joined` the kernels and the plan of both.
    rule: one table can stand for several variants.  `listed` returns whether a table does, `RULE` has its keys, and
    `expanded` returns the tables of the variants.
    """

    bit_ranges: bool = False
    several: bool = False
    segments: bool = False
    joins: bool = False
    rule: bool = False
