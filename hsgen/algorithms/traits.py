"""The capabilities of an algorithm, independent of its parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The capabilities of an algorithm.

    bit_ranges: whether kernels can sort by a bit range that each call chooses.  Calls with a bit range use such an
    algorithm in place of a target's other algorithms.
    several: whether a sort may use the algorithm with different parameters for different counts.  The kernel names for
    all parameters but the first get a suffix.  The algorithm's template `words.j2` receives all parameters as `every`.
    segments: whether the algorithm sorts segments.  Calls may then pass the ends of segments, and the number of
    segments in device memory.
    joins: whether the algorithm runs after a sort of the same keys and values, in one plan.  Its module then has two
    more functions: `sorting` returns the signature of the sort, and `joined` returns the kernels and the plan of both.
    rule: whether one target table can stand for several variants.  The algorithm's module then has three more names.
    `RULE` has the keys of such a table.  `listed` returns whether a table is of this kind, and `expanded` returns the
    tables of the variants.
    """

    bit_ranges: bool = False
    several: bool = False
    segments: bool = False
    joins: bool = False
    rule: bool = False
