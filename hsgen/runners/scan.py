"""Prefix sums in `hsgen.cuda` and `hsgen.opencl`: the choice of a target's prefix sum, and the checks of a call's
arguments.
"""

from __future__ import annotations

from math import prod
from typing import Any

from hsgen.algorithms import operation
from hsgen.algorithms.scan.params import FIELDS
from hsgen.core.errors import Usage
from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.keys import TYPES
from hsgen.core.numbers import integer
from hsgen.core.sort import Sort
from hsgen.engines import hosts
from hsgen.operations.scan import OPERATION, TYPES_OF_SUMS
from hsgen.runners.arguments import target_of
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange
from hsgen.targets import target as targets
from hsgen.targets.target import Target

_MOST_COLUMNS = int(FIELDS["columns"].greatest or 1)


class ScanCalls(Calls):
    """Checks the arguments of calls that compute the prefix sums of every column of a table."""

    operation = OPERATION
    noun, verb, done = "sum", "sum up", "summed up"
    attributes = ("key", "columns", "exclusive")
    wraps = True  # sums of integers wrap, so signed and unsigned sums have the same bits

    def __init__(self, key: Any, columns: Any, exclusive: Any) -> None:
        super().__init__(key, None, "ascending")
        if self.key not in TYPES_OF_SUMS:
            raise Usage(f"element type {self.key}: nothing sums it up; give one of {', '.join(TYPES_OF_SUMS)}")
        self.columns, self.exclusive = integer("columns", columns, 1, _MOST_COLUMNS), bool(exclusive)
        self.items = f"rows of {self.columns}"

    def select(self, host: hosts.Host, name: Any) -> tuple[Target, Sort]:
        """Return the target `name` and its prefix sum; without a name, the target is the one that matches the device.

        If the matching target has no such prefix sum, the target "generic" is used.

        Raises:
            Usage: there is no such target, or no sum of this number of columns.
        """
        target = target_of(host, name)
        if not name and not _labels(target, self.key, self.columns, self.exclusive):
            target = targets.find("generic")
        return target, _first(target, self.key, self.columns, self.exclusive)

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`."""
        return self.length_of(ranges, numbers[0]), PLAIN

    def check_shape(self, role: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Check that an array is a table in C order, or has one dimension and consists of whole rows."""
        name = self.names[role]
        if len(shape) > 1:
            if shape[1:] != (self.columns,):
                raise ValueError(f"{name} has the shape {shape}; give (rows, {self.columns})")
            if not rows:
                raise ValueError(f"{name} is not in C order; rows must be consecutive")
        if (size := prod(shape)) % self.columns:
            raise ValueError(f"{name} holds {size} elements, which are no whole rows of {self.columns}")


def _labels(target: Target, key: str, columns: int, exclusive: bool) -> list[str]:
    """Return the names of the algorithms of a target that compute prefix sums with these parameters."""
    params = {a: target.sort(a, key).parts[0].params for a in _every(target, key)}
    return [a for a, p in params.items() if (getattr(p, "columns", 0), _exclusive(p)) == (columns, exclusive)]


def _exclusive(params: object) -> bool:
    return bool(getattr(params, "exclusive", False))


def _every(target: Target, key: str) -> list[str]:
    """Return the names of all algorithms of a target that compute prefix sums of the element type `key`."""
    return [a for a in (*target.labels(key), *target.derived(key)) if operation(a) is OPERATION]


def _first(target: Target, key: str, columns: int, exclusive: bool) -> Sort:
    """Return the first prefix sum of a target with these parameters.

    Raises:
        Usage: there is no such sum.
    """
    if labels := _labels(target, key, columns, exclusive):
        return target.sort(labels[0], key)
    have = ", ".join(_every(target, key)) or "none"
    noun = f"{'exclusive' if exclusive else 'inclusive'} sum of {columns} columns of {key}"
    hint = f"add a table [scan.{TYPES[key].key}.NAME] to a target file"
    raise Usage(f"target {target.name}: no {noun}; it has {have}: {hint}")
