"""Prefix sums of pyopencl arrays and buffers: build once, sum many times.

>>> scanner = Scanner(queue.context, "u32", columns=4)   # the columns of rows of four, inclusive
>>> scanner(queue, rows)                                 # in place; returns the event
>>> scanner(queue, rows, out=sums)                       # into another array
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.errors import Usage
from hsgen.core.interpreter import PLAIN
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort
from hsgen.opencl.arguments import host_of, key_name, target_of
from hsgen.opencl.runner import Runner, alone
from hsgen.operations.scan import OPERATION
from hsgen.targets import target as targets
from hsgen.targets.target import Target


class Scanner(Runner):
    """The prefix sum of every column of a table, compiled for a context of one device.

    Tables are row-major; sums wrap.  Scratch memory is kept as in a `Sorter`.

    Args:
        context: a `pyopencl.Context`; its first device determines the target.
        key: "u32", "u64", or the numpy type of the elements.
        target: the name of a target or a path ending in .toml; None picks the one that matches, or the generic one
            if that has no such sum.
        columns: the elements of a row.
        exclusive: whether a row's sums exclude the row itself.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, element type or prefix sum.
        hsgen.core.errors.Unavailable: the device lacks what the target needs.
        hsgen.core.errors.Wrong: the kernels do not build, or the compiler crashes.
    """

    _noun, _verb, _done = "sum", "sum up", "summed up"
    _operation = "scan"
    _attributes = ("key", "columns", "exclusive")

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        target: str | os.PathLike[str] | None = None,
        columns: int = 1,
        exclusive: bool = False,
    ) -> None:
        host, name = host_of(context), key_name(key)
        if name not in KEYS:
            raise Usage(f"element type {name}: prefix sums are of unsigned numbers; give one of {', '.join(KEYS)}")
        found = target_of(host, target)
        if not target and not _labels(found, name, columns, exclusive):
            found = targets.find("generic")
        self.key, self.columns, self.exclusive = name, columns, bool(exclusive)
        self._items = f"rows of {columns}"
        super().__init__(context, host, found, _pick(found, name, columns, exclusive))

    @alone
    def __call__(
        self, queue: Any, keys: Any, out: Any = None, *, n: int | None = None, wait_for: Sequence[Any] | None = None
    ) -> Any:
        """Enqueue the sums of the first `n` rows of `keys` (all by default); return the event of their end.

        `keys` and `out` are `pyopencl.array.Array` objects of this element type, flat or of shape (rows, columns), or
        `pyopencl.Buffer` objects; without `out`, sums replace their rows, otherwise rows are only read.  Nothing at or
        beyond row n is written.

        Raises:
            TypeError: keys or out is neither a pyopencl array nor a buffer, or n is no integer.
            ValueError: a wrong element type or shape, an array that is not in C order, fewer than n rows, buffers
                that overlap, or a queue of another context.
            hsgen.core.errors.Usage: n is beyond `max_n`.
        """
        return self._run(queue, {"source": keys, "destination": out}, n, wait_for, PLAIN)

    def _check_shape(self, name: str, given: Any) -> None:
        """Refuse arrays that are neither flat nor a table in C order, or do not consist of whole rows."""
        if len(given.shape) > 1:
            if given.shape[1:] != (self.columns,):
                raise ValueError(f"{name} has the shape {given.shape}; give (rows, {self.columns})")
            if not given.flags.c_contiguous:
                raise ValueError(f"{name} is not in C order; rows must be consecutive")
        if given.size % self.columns:
            raise ValueError(f"{name} holds {given.size} elements, which are no whole rows of {self.columns}")


def _labels(found: Target, key: str, columns: int, exclusive: bool) -> list[str]:
    """The labels of a target's prefix sums with these parameters."""
    made = {a: found.choices[a, key] for a in found.labels(key) if operation(a) is OPERATION}
    return [a for a, p in made.items() if (p.columns, p.exclusive) == (columns, exclusive)]


def _pick(found: Target, key: str, columns: int, exclusive: bool) -> Sort:
    """The first prefix sum of a target with these parameters.

    Raises:
        Usage: there is no such sum.
    """
    if labels := _labels(found, key, columns, exclusive):
        return found.sort(labels[0], key)
    have = ", ".join(a for a in found.labels(key) if operation(a) is OPERATION) or "none"
    what = f"{'exclusive' if exclusive else 'inclusive'} sum of {columns} columns of {key}"
    raise Usage(f"target {found.name}: no {what}; it has {have}: add a table [scan.{key}.NAME] to a target file")
