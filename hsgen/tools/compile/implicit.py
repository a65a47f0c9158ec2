"""The sorts without tables that are compiled in addition to the sorts of a target's tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hsgen.algorithms import EVERY
from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.targets.target import Target


def derived(target: Target, widths: Iterable[str]) -> list[Sort]:
    """Return a target's sorts of all algorithms without tables, for key widths `widths`.

    Each algorithm has a sort of keys alone, and a sort with values of 4 bytes.  Of the sort with values, only the
    kernels with other buffers are compiled, because the remaining kernels do the same work as without values.
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
    """Return a sort without the kernels of the sort that precedes it, because the preceding sort's kernels are compiled
    separately.
    """
    algorithm = sort.parts[0].algorithm
    if not EVERY[algorithm].TRAITS.joins:
        return sort
    return replace(sort, kernels=tuple(k for k in sort.kernels if k.algorithm == algorithm))
