"""Merges of two sorted arrays on NVIDIA GPUs: build once, merge many times.

>>> merger = Merger("u32")                     # for the current GPU, by the target that matches it
>>> merger(a, b, out)                          # all of both into a third array, in order
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from hsgen.algorithms import implicit_for
from hsgen.core.interpreter import Options
from hsgen.core.keys import TYPES, Signature
from hsgen.cuda.driver import chosen
from hsgen.cuda.runner import Runner
from hsgen.operations.merge import OPERATION
from hsgen.runners.arguments import serving
from hsgen.runners.merge import MergeCalls
from hsgen.runners.ranges import Range


class Merger(MergeCalls, Runner):
    """A merge of two sorted arrays on one GPU; see docs/guides/merge.md.

    Args:
        key, order, target, device: as of `hsgen.cuda.Sorter`.
        value: what moves along with each key: None, a numpy type or a number of bytes (4, 8 or 16).

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU, or no merge that combines them.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _given = ("source", "other", "destination", "values", "other_values", "values_out")
    _required = ("source", "other", "destination")

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        device: int | None = None,
    ) -> None:
        gpu, options = chosen(device), self._name_keys(key, value, order)
        self._check_value()
        signature = Signature(value=self.value, key_transform=options.kind > 0 or options.descending)
        served, sort = serving(gpu.host, target, self.key, signature, implicit_for(OPERATION))
        super().__init__(gpu, served, sort, TYPES[self.key].element)

    def __call__(
        self,
        a: Any,
        b: Any,
        out: Any,
        *,
        a_values: Any = None,
        b_values: Any = None,
        values_out: Any = None,
        stream: Any = None,
    ) -> None:
        """Enqueue the merge of all keys of `a` and all of `b` into `out`, on the current stream of the library of `a`,
        or on `stream`.

        `a` and `b` must be sorted in the order of this merger.  Only the first len(a) + len(b) keys of `out` are
        written.  The merge is stable: equal keys of `a` come before equal keys of `b`, and keep their order.  Values
        move with their keys.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as of `hsgen.cuda.Sorter`.
            hsgen.core.errors.Usage: there are more than `max_n` keys.
        """
        self._run((a, b, out, a_values, b_values, values_out), (), stream)

    def _settle(self, ranges: dict[str, Range], arguments: tuple[Any, ...]) -> tuple[int, Options]:
        """See `Runner`; an empty array has no memory."""
        sizes = {role: ranges[role].size // self._size(role) for role in ("source", "other")}
        self._first_count, n = sizes["source"], sizes["source"] + sizes["other"]
        self._check_given({role: ranges.get(role) for role in self._given})
        for role in [r for r in ranges if r not in ("destination", "values_out") and self._length(r, n) == 0]:
            del ranges[role]
        return n, replace(self._how, first_count=self._first_count)
