"""Prefix sums in the Python APIs: the sum of a target, and the arrays of a call."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from hsgen.algorithms import operation
from hsgen.algorithms.scan.params import FIELDS
from hsgen.core.errors import Usage
from hsgen.core.keys import TYPES
from hsgen.core.numbers import integer
from hsgen.core.sort import Sort
from hsgen.operations.scan import OPERATION, TYPES_OF_SUMS
from hsgen.runners.arguments import key_name
from hsgen.runners.base import Base
from hsgen.targets import target as targets
from hsgen.targets.target import Target

_MOST_COLUMNS = int(FIELDS["columns"].greatest or 1)


class ScanCalls(Base):
    """Calls of a prefix sum of every column of a table."""

    _noun, _verb, _done = "sum", "sum up", "summed up"
    _operation = "scan"
    _attributes = ("key", "columns", "exclusive")
    columns = 1

    def _pick(
        self, find_target: Callable[[], Target], named: Any, key: Any, columns: Any, exclusive: Any
    ) -> tuple[Target, Sort]:
        """Store the parameters; return a target and its prefix sum.

        The target is the result of `find_target`.  If the caller did not name it (`named`) and it has no such sum, the
        target is the generic target.

        Raises:
            Usage: there are no sums of the element type, or no sums of this number of columns.
        """
        name = key_name(key)
        if name not in TYPES_OF_SUMS:
            raise Usage(f"element type {name}: nothing sums it up; give one of {', '.join(TYPES_OF_SUMS)}")
        columns, exclusive = integer("columns", columns, 1, _MOST_COLUMNS), bool(exclusive)
        self.key, self.columns, self.exclusive = name, columns, exclusive
        target = find_target()
        if not named and not _labels(target, name, columns, exclusive):
            target = targets.find("generic")
        self._items = f"rows of {columns}"
        return target, _first(target, name, columns, exclusive)

    def _check_shape(self, name: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Check that an array is flat or a table in C order, and consists of whole rows."""
        if len(shape) > 1:
            if shape[1:] != (self.columns,):
                raise ValueError(f"{name} has the shape {shape}; give (rows, {self.columns})")
            if not rows:
                raise ValueError(f"{name} is not in C order; rows must be consecutive")
        if (size := prod(shape)) % self.columns:
            raise ValueError(f"{name} holds {size} elements, which are no whole rows of {self.columns}")


def _labels(target: Target, key: str, columns: int, exclusive: bool) -> list[str]:
    """Return the labels of a target's prefix sums with these parameters."""
    params = {a: target.sort(a, key).parts[0].params for a in _every(target, key)}
    return [a for a, p in params.items() if (getattr(p, "columns", 0), _exclusive(p)) == (columns, exclusive)]


def _exclusive(params: object) -> bool:
    return bool(getattr(params, "exclusive", False))


def _every(target: Target, key: str) -> list[str]:
    """Return the labels of all prefix sums of a target for an element type."""
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
