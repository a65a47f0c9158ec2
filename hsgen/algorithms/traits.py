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
    segments: the algorithm sorts segments; calls may give the ends of segments, and their number in device memory.
    joins: the algorithm follows a sort of the same keys and values, and its plan contains the plan of the sort.
    `sorting` returns the signature of that sort, `joined` returns the kernels and the plan of both.
    rule: one table in a target can stand for several variants.  `listed` returns whether a table does so, `RULE` has
    the keys of such a table, and `expanded` returns the tables of the variants.
    """

    bit_ranges: bool = False
    several: bool = False
    segments: bool = False
    joins: bool = False
    rule: bool = False
