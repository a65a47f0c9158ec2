"""The kernels of a grouping that follow those of its sort."""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms import reduce_by_key
from hsgen.algorithms.group_by.params import Params
from hsgen.core.kernels import Kernel

REDUCE = "reduce_"
"""The start of the names of the kernels that reduce: sorts have kernels of the same names."""


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return the kernels in the order in which they run, without those of the sort."""
    made = reduce_by_key.kernels(p.reduce)
    return tuple(replace(k, name=REDUCE + k.name, algorithm="group_by") for k in made)


def context(p: object) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {}
