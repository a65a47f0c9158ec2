"""The capabilities of an algorithm, independent of its parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The capabilities of an algorithm.

    bit_ranges: whether kernels can sort by a bit range that each call chooses.  A call with a bit range uses such an
    algorithm, whatever its count, instead of the target's algorithms without this capability.
    several: whether a sort may use the algorithm with several sets of parameters, each for a range of counts.  The
    names of kernels get a suffix in each set but the first.  The algorithm's template `words.j2` receives the list of
    all sets as `every`.
    segments: whether the algorithm sorts segments.  Calls may then pass the ends of segments, and the number of
    segments in device memory.
    joins: whether a plan of the algorithm begins with a sort of the same keys and values.  The algorithm's module then
    has two more functions.  `sorting` returns the signature of this sort.  `joined` returns the kernels and the plan of
    sort and algorithm together.
    rule: whether one target table can stand for several variants of the algorithm, as ``columns = [1, 2]`` does in
    ``[scan.KEY]``.  The algorithm's module then has three more names.  `RULE` has the keys of such a table.  `listed`
    returns whether a table is of this kind.  `expanded` returns the table of each variant.
    """

    bit_ranges: bool = False
    several: bool = False
    segments: bool = False
    joins: bool = False
    rule: bool = False
