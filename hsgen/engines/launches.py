"""The kernel launches of a sort through pyopencl, which are cached for repeated calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen.core.interpreter import Options, launches, numbers, offset, scratch_bytes, spare_at
from hsgen.core.sort import Sort
from hsgen.engines.scratch import cut
from hsgen.system import toolchain

Launch = tuple[Any, tuple[tuple[str, int], ...], tuple[int, ...], tuple[int, int], tuple[int, int]]
"""A launch for pyopencl.

Its elements are the kernel, the role and the byte offset of each buffer, the scalar arguments, the global size, and the
work-group size.
"""

Resolved = tuple[list[Launch], dict[int, int], int | None]
"""The launches of a call, the size of each part of scratch memory by its offset (`scratch.cut`), and the offset for
discarded keys.

At the last offset, an argsort stores sorted keys that the caller does not want; None if the call discards no keys.
"""

_KEPT = 64  # the greatest number of calls whose launches are cached


def in_order(queue: Any) -> bool:
    """Return True if a queue runs commands in order."""
    return not queue.properties & toolchain.pyopencl().command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE


class Launches:
    """A cache of a sort's launches by count, in-place flag and options."""

    def __init__(self, sort: Sort, kernels: Mapping[str, Any]) -> None:
        self._sort, self._kernels = sort, kernels
        self._lanes = {k.name: k.work_group for k in sort.kernels}
        self._known: dict[tuple[int, bool, Options], Resolved] = {}

    def of(self, n: int, in_place: bool, options: Options) -> Resolved:
        """Return the launches of a call for `n` keys.

        Raises:
            Usage: n or the bit range exceeds the plan.
        """
        key = n, in_place, options
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = self._resolved(*key)
        return self._known[key]

    def _resolved(self, n: int, in_place: bool, options: Options) -> Resolved:
        steps = self._steps(n, in_place, options)
        spare = spare_at(self._sort, n) if options.discard and n else None
        places = [[*(at for role, at in s[1] if role == "scratch"), *([] if spare is None else [spare])] for s in steps]
        return steps, cut(scratch_bytes(self._sort, n, options), places), spare

    def _steps(self, n: int, in_place: bool, options: Options) -> list[Launch]:
        out = []
        for launch in launches(self._sort.plan, n, self._sort.groups, in_place=in_place, how=options):
            step, (wide, high) = launch.step, launch.grid
            lanes = self._lanes[step.kernel]
            scalars = (n, launch.argument, *numbers(self._sort, step, options))
            roles = tuple((b.role, offset(b, n)) for b in step.bindings)
            out.append((self._kernels[step.kernel], roles, scalars, (wide * lanes, high), (lanes, 1)))
        return out
