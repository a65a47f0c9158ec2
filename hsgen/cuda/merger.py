"""Merges of two sorted arrays on NVIDIA GPUs: build once, merge many times.

>>> merger = Merger("u32")                     # for the current GPU, by the target that matches it
>>> merger(a, b, out)                          # merge all of `a` and `b` into a third array
"""

from __future__ import annotations

import os
from typing import Any

from hsgen.cuda.runner import Runner
from hsgen.runners.merge import MergeCalls


class Merger(Runner):
    """A merge of two sorted arrays on one GPU; see docs/guides/merge.md.

    Args:
        key, order, target, device: as in `hsgen.cuda.Sorter`.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that move with keys.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU, or no merge that combines them.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: MergeCalls

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        device: int | None = None,
    ) -> None:
        super().__init__(device, target, MergeCalls(key, value, order))

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
        """Enqueue the merge of all keys of `a` and `b` into `out`.

        The call runs on `stream`, by default on the current stream of the library of `a`.

        `a` and `b` must be sorted in the order of this merger.  Only the first len(a) + len(b) keys of `out` are
        written.  The merge is stable: equal keys of `a` come before equal keys of `b`, and keep their order.  Values
        move with their keys.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`.
            hsgen.core.errors.Usage: there are more than `max_n` keys.
        """
        self._run((a, b, out, a_values, b_values, values_out), (), stream)
