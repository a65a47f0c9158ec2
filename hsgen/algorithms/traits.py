"""The capabilities of an algorithm, independent of its parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The capabilities of an algorithm.

    bit_ranges: the algorithm's kernels can sort by a bit range that each call chooses.  Calls with a bit range use this
    algorithm in place of a target's other algorithms.
    several: a sort may use the algorithm with different parameters for different counts.  The kernels for all but the
    first parameters then get a suffix.  The algorithm's `words.j2` receives all parameters as `every`.
    segments: the algorithm sorts segments.  Calls may pass the ends of segments, and the number of segments in device
    memory.
    joins: the algorithm follows a sort of the same keys and values, and its plan contains the sort's plan.  Its module
    also has two functions: `sorting` returns the signature of the sort, and `joined` returns the kernels and the plan
    of both.
    rule: one target table can stand for several variants.  The algorithm's module then also has three names.  `listed`
    returns whether a table does so, `RULE` has the keys of such a table, and `expanded` returns the tables of the
    variants.
    """

    bit_ranges: bool = False
    several: bool = False
    segments: bool = False
    joins: bool = False
    rule: bool = False
