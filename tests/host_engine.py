"""An engine for validation: CUDA's text on fibers of the host, with a model of the device's memory.

The model (memory_on_host.cpp) finds races between lanes, work-groups and launches, and makes some stores visible late.
Every launch of CUDA may begin before the launches ahead have ended.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from on_host import GUARD, compiled

from hsgen import operations
from hsgen.core.buffers import element_bytes
from hsgen.core.errors import Wrong
from hsgen.core.interpreter import PLAIN, Options, launches, numbers, offset, scratch_bytes, spare_at
from hsgen.core.sort import Sort
from hsgen.engines.engine import Places

GROUP, DEVICE = 1, 2
"""Who reads what other lanes wrote: lanes of their work-group, other work-groups of the launch."""


class _HostBuffers:
    """The buffers of an engine in the host's memory."""

    align = 16
    _buffers: dict[int, NDArray[np.uint8]]

    def write(self, slot: int, image: NDArray[Any]) -> None:
        """Write the start of a buffer."""
        data = image.view(np.uint8).reshape(-1)
        self._buffers[slot][: len(data)] = data

    def read(self, slot: int, image: NDArray[Any]) -> None:
        """Read the start of a buffer."""
        out = image.view(np.uint8).reshape(-1)
        out[:] = self._buffers[slot][: len(out)]

    def messages(self) -> str:
        """Nothing: errors are raised at once."""
        return ""


class HostEngine(_HostBuffers):
    """A sort on fibers.

    late: one of this number of stores of a warp becomes visible late, and of lines that were read stays; 0: none.
    races: whether to look for races.  api: that of the text, "cuda" or "hip".
    handed: for each kernel and buffer, who read what others wrote, as `GROUP` and `DEVICE`, in all runs.
    """

    def __init__(
        self,
        sort: Sort,
        folder: Path,
        change: Callable[[str], str] = lambda text: text,
        *,
        late: int = 0,
        races: bool = True,
        api: str = "cuda",
        seed: int = 1,
    ) -> None:
        made = compiled(sort, folder, change, memory=True, api=api)
        self.sort, self.handed = sort, dict[tuple[str, str], int]()
        self._late, self._races, self._rng = late, races, np.random.default_rng(seed)
        self.api = api
        self._buffers: dict[int, NDArray[np.uint8]] = {}
        self._library = ctypes.CDLL(str(made.library))
        self._library.play.restype = ctypes.c_char_p
        self._library.memory_lateness.restype = ctypes.c_ulong
        self.late_stores = self.stale_lines = self.launched = 0

    def allocate(self, slot: int, size: int) -> None:
        """Allocate buffer `slot`, at a multiple of 64 bytes."""
        whole = np.empty(size + 65536, np.uint8)
        begin = -whole.ctypes.data % 64
        self._buffers[slot] = whole[begin : begin + max(size, 65536 - 64)]

    def run(self, n: int, places: Places, how: Options = PLAIN) -> float | None:
        """Run the launches of a call, with scratch memory full of anything.

        Raises:
            Wrong: a kernel races, does not end, or writes beyond scratch memory.
        """
        sort, library = self.sort, self._library
        how = operations.of(sort).settled(n, how, places)
        size = scratch_bytes(sort, n, how)
        self.allocate(-1, size + GUARD)
        scratch = self._buffers[-1]
        scratch[:] = self._rng.integers(0, 256, len(scratch), np.uint8)
        scratch[size:] = 0xC5
        at = {role: self._buffers[slot].ctypes.data + place for role, (slot, place) in places.items()}
        at["scratch"] = scratch.ctypes.data
        if how.discard:
            at["destination"] = at["scratch"] + spare_at(sort, n)
        in_place = at.get("source") == at.get("destination") and not how.discard
        for launch in launches(sort.plan, n, in_place=in_place, how=how):
            step, kernel = launch.step, sort.kernel(launch.step.kernel)
            pointers = (ctypes.c_void_p * 16)()
            library.memory_clear()
            every = [*self._buffers.values()]
            begins = [at[b.role] + offset(b, n) if b.role in at else 0 for b in step.bindings]
            pointers[: len(begins)] = begins
            named = [i for i, p in enumerate(begins) if p and p not in begins[:i]]
            for i in named:
                whole = next(x for x in every if x.ctypes.data <= begins[i] <= x.ctypes.data + len(x))
                end = min([p for p in begins if p > begins[i]] + [whole.ctypes.data + len(whole)])
                name = f"{kernel.name}: {kernel.buffers[i].name}".encode()
                room = ctypes.c_void_p(begins[i]), ctypes.c_size_t(end - begins[i])
                library.memory_region(name, *room, min(4, sort.key.bytes))
            for array, begin in kernel.layout(sort.key):
                bytes_ = ctypes.c_size_t(array.count * element_bytes(array.type, sort.key))
                library.memory_array(f"{kernel.name}: {array.name}".encode(), ctypes.c_size_t(begin), bytes_)
            library.memory_early(self.api == "cuda")
            library.memory_mode(self._races, self._late, int(self._rng.integers(100, 100000)))
            low, high = numbers(sort, step, how) or (0, 0)
            seed = int(self._rng.integers(1 << 31))
            local = ctypes.c_size_t(kernel.local_bytes(sort.key))
            wrong = library.play(
                sort.kernels.index(kernel),
                *launch.grid,
                kernel.work_group,
                local,
                seed,
                pointers,
                n,
                launch.argument,
                low,
                high,
            )
            self.launched += 1
            if wrong is not None:
                raise Wrong(f"{kernel.name}, {n}: {wrong.decode()}")
            self.late_stores += library.memory_lateness(1)
            self.stale_lines += library.memory_lateness(0)
            for number, i in enumerate(named):
                if begins.count(begins[i]) > 1:
                    continue  # in place: the memory of several buffers
                key = kernel.name, kernel.buffers[i].name
                self.handed[key] = self.handed.get(key, 0) | library.memory_handed(number)
        if not (scratch[size:] == 0xC5).all():
            raise Wrong("written beyond scratch memory")
        return None


class LaunchedKernels(_HostBuffers):
    """An engine that runs no kernel, and keeps the names of those that calls launch."""

    def __init__(self, sort: Sort) -> None:
        self.sort, self.names = sort, set[str]()
        self._buffers: dict[int, NDArray[np.uint8]] = {}

    def allocate(self, slot: int, size: int) -> None:
        """Allocate buffer `slot`."""
        self._buffers[slot] = np.zeros(max(size, 65536), np.uint8)

    def run(self, n: int, places: Places, options: Options = PLAIN) -> float | None:
        """Note the launches of a call."""
        options = operations.of(self.sort).settled(n, options, places)
        in_place = places.get("source") == places.get("destination") and not options.discard
        self.names |= {x.step.kernel for x in launches(self.sort.plan, n, in_place=in_place, how=options)}
        return None
