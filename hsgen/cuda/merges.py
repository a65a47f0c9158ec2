"""Merges of arrays whose lengths change in each call, such as the sorted parts that several GPUs exchange.

`Merger` checks the arrays and prepares the launches for each new pair of lengths.  For a few million keys, this takes
the host longer than the merge takes the GPU.  `Merges` instead reuses the launches of earlier calls: it overwrites the
lengths and addresses in their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import Launch, launches, numbers, offset
from hsgen.cuda.driver import bindings, done
from hsgen.cuda.merger import Merger
from hsgen.cuda.prepared import STREAMS, Arguments, launch_of

_KEPT = 8 * STREAMS  # greatest number of kept launches, each for a list of kernels and a stream


@dataclass(frozen=True, slots=True)
class _Kept:
    """The driver calls that launch the kernels of a merge on one stream; each merge overwrites their arguments and grid
    sizes.
    """

    arguments: Arguments
    calls: tuple[tuple[Any, tuple[Any, ...], str], ...]


class Merges(Merger):
    """A `Merger` for callers that pass the addresses of arrays, not the arrays; addresses are not checked."""

    def __init__(self, key: Any, *, value: Any = None, order: str = "ascending", device: int | None = None) -> None:
        super().__init__(key, value=value, order=order, device=device)
        self._kept: dict[tuple[tuple[str, ...], int], _Kept] = {}

    def enqueue(self, addresses: Mapping[str, int], first: int, second: int, stream: int) -> None:
        """Enqueue the merge of `first` keys and `second` keys, both at least 1, on a stream.

        addresses: the address of each array by its role (`hsgen.core.plan.ROLES`): source, other, destination, scratch
        and with values also values, other_values and values_out.  Scratch memory has `scratch_bytes(first + second)`
        bytes.

        Raises:
            hsgen.core.errors.Usage: there are more than `max_n` keys.
            hsgen.core.errors.Unavailable: a grid exceeds the greatest grid of the GPU.
            hsgen.core.errors.Wrong: the driver refuses a launch.
        """
        n, options = first + second, replace(self._calls.options, first_count=first)
        steps = list(launches(self._sort.plan, n, self._sort.groups, in_place=False, how=options))
        if any(s.grid[1] > self._gpu.rows for s in steps):
            raise Unavailable(f"{self._device}: a merge of {n} keys does not fit a grid")
        flat: list[int] = []
        for s in steps:
            flat += (addresses[b.role] + offset(b, n) for b in s.step.bindings)
            flat += (n, s.argument, *numbers(self._sort, s.step, options))
        key = tuple(s.step.kernel for s in steps), stream
        with self._lock, self._gpu.current():
            entry = self._kept.get(key)
            if entry is None:
                if len(self._kept) >= _KEPT:
                    self._kept.clear()
                entry = self._kept[key] = self._keep(steps, stream)
            entry.arguments.slots[:] = list(flat)
            for (function, arguments, name), s in zip(entry.calls, steps, strict=True):
                if self._gpu.early:
                    arguments[0].gridDimX, arguments[0].gridDimY = s.grid
                else:
                    arguments = (arguments[0], *s.grid, *arguments[3:])
                done(function(*arguments), f"kernel {name}")

    def _keep(self, steps: Sequence[Launch], stream: int) -> _Kept:
        """Return the driver calls that launch the kernels of these steps, with arguments of 0."""
        loaded, on = self._kernels.of(s.step.kernel for s in steps), bindings().CUstream(stream)
        rows = [[0] * (len(s.step.bindings) + 2 + len(numbers(self._sort, s.step, self._calls.options))) for s in steps]
        arguments = Arguments(rows)
        pairs = zip(steps, arguments.at, strict=True)
        return _Kept(arguments, tuple(launch_of(self._kernels, loaded[s.step.kernel], s, at)(on) for s, at in pairs))
