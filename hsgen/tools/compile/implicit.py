"""The sorts without tables that are compiled in addition to those of a target's tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hsgen.algorithms import EVERY
from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.targets.target import Target


def derived(target: Target, widths: Iterable[str]) -> list[Sort]:
    """Return a target's sorts of all algorithms without tables for keys of these widths, alone and with values of 4
    bytes; with values only those kernels whose buffers differ, since the others do the same work as for keys alone."""
    found = []
    for width in widths:
        for label in target.implicit(width):
            plain = _own(target.sort(label, width))
            known = {k.name: k.buffers for k in plain.kernels}
            found.append(plain)
            try:
                valued = _own(target.sort(label, width, Signature(value="v4")))
            except Usage:  # such keys cannot have values
                continue
            if valued.signature == plain.signature:  # it always has values
                continue
            found.append(replace(valued, kernels=tuple(k for k in valued.kernels if k.buffers != known.get(k.name))))
    return found


def _own(sort: Sort) -> Sort:
    """A sort without the kernels of the sort that it follows, if any: they are compiled for that one."""
    own = sort.parts[0].algorithm
    if not EVERY[own].TRAITS.joins:
        return sort
    return replace(sort, kernels=tuple(k for k in sort.kernels if k.algorithm == own))
