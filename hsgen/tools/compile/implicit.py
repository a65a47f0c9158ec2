"""The sorts whose algorithms need no table in a target; offline compilers compile them in addition to all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hsgen.algorithms import EVERY
from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.targets.target import Target


def derived(target: Target, widths: Iterable[str]) -> list[Sort]:
    """Return the sorts of all algorithms that need no table, for the key widths `widths`.

    For each algorithm there is a sort of keys alone, and a sort with 4-byte values if the algorithm supports values.
    The sort with values has only those kernels whose buffers differ from the buffers of the kernels without values.
    The other kernels do the same work in both sorts.
    """
    sorts = []
    for width in widths:
        for label in target.implicit(width):
            plain = _own(target.sort(label, width))
            known = {k.name: k.buffers for k in plain.kernels}
            sorts.append(plain)
            try:
                valued = _own(target.sort(label, width, Signature(value="v4")))
            except Usage:  # keys of this algorithm cannot have values
                continue
            if valued.signature == plain.signature:  # this algorithm always has values
                continue
            sorts.append(replace(valued, kernels=tuple(k for k in valued.kernels if k.buffers != known.get(k.name))))
    return sorts


def _own(sort: Sort) -> Sort:
    """Return the sort with only its algorithm's own kernels.

    An algorithm may begin with another sort of the target, such as a radix sort.  The kernels of that sort are compiled
    separately.
    """
    algorithm = sort.parts[0].algorithm
    if not EVERY[algorithm].TRAITS.joins:
        return sort
    return replace(sort, kernels=tuple(k for k in sort.kernels if k.algorithm == algorithm))
