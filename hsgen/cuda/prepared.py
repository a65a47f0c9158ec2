"""Prepared calls: the driver calls that launch all kernels of a sort for one number of keys and one set of options.

The kernel arguments of all launches are in one array of 64-bit slots, and the driver gets pointers to these slots.  A
call stores the addresses of its arrays in the slots, then launches.  The driver copies the arguments before a launch
returns, so the next call may overwrite them at once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import Any

from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import Launch, Options, launches, numbers, offset, scratch_bytes, spare_at
from hsgen.core.plan import ROLES, Plan
from hsgen.core.sort import Sort
from hsgen.cuda.driver import Device, bindings, done
from hsgen.cuda.kernels import Kernels, Loaded

SCRATCH, DESTINATION = ROLES.index("scratch"), ROLES.index("destination")
_WORD = (1 << 64) - 1
STREAMS = 16
"""The greatest number of streams for which a `Prepared` keeps driver calls; a further stream clears all of them."""

_Call = tuple[Any, tuple[Any, ...], str]
"""A driver call that launches a kernel: the driver's function, its arguments, and the name of the kernel."""


class Arguments:
    """The arguments of launches in 64-bit slots.

    rows: the arguments of each launch.  `at[i]` is the address of launch i's array of pointers to its slots, which the
    driver takes as `kernelParams`.
    """

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        flat = [value & _WORD for row in rows for value in row]
        self.slots = (ctypes.c_uint64 * max(len(flat), 1))(*flat)
        base, at = ctypes.addressof(self.slots), range(len(flat))
        self._pointers = (ctypes.c_void_p * max(len(flat), 1))(*(base + 8 * i for i in at))
        starts = [sum(len(row) for row in rows[:i]) for i in range(len(rows))]
        self.at = [ctypes.addressof(self._pointers) + 8 * i for i in starts]


class Prepared:
    """The kernel launches of calls with one number of items and one set of options; `scratch` is the size of scratch
    memory in bytes.

    in_place: whether the output replaces the input.
    plan: the list of kernel launches and scratch regions to use in place of the sort's own plan.  If `plan.scratch` has
    no rules, the launches use no scratch memory, not even for the keys that an argsort discards.  Otherwise, scratch
    memory has the size that the sort's own plan states.
    """

    def __init__(self, kernels: Kernels, n: int, options: Options, *, in_place: bool, plan: Plan | None = None) -> None:
        sort = kernels.sort
        steps = list(launches(plan or sort.plan, n, sort.groups, in_place=in_place, how=options))
        loaded = kernels.of(s.step.kernel for s in steps)
        scratch = not plan or bool(plan.scratch.rules)
        self.scratch = scratch_bytes(sort, n, options) if scratch else 0
        self._discards = spare_at(sort, n) if options.discard and n and scratch else None
        self._patches: list[tuple[int, int, int]] = []
        arguments = Arguments([self._row(sort, s, n, options) for s in steps])
        self._place(sort, steps, n, options)
        self._arguments, self._slots = arguments, arguments.slots
        self._counts = [len(self._row(sort, s, n, options)) for s in steps]
        self._launches = [
            launch_of(kernels, loaded[s.step.kernel], s, at) for s, at in zip(steps, arguments.at, strict=True)
        ]
        self._calls: dict[int, list[_Call]] = {}
        self._last: tuple[int, ...] = ()
        self._lock = Lock()

    def __len__(self) -> int:
        """The number of launches."""
        return len(self._launches)

    def _row(self, sort: Sort, launch: Launch, n: int, options: Options) -> list[int]:
        """Return the kernel arguments of a launch: first 0 for each address, which a call replaces later, then n and
        further numbers.
        """
        return [*(0 for _ in launch.step.bindings), n, launch.argument, *numbers(sort, launch.step, options)]

    def _place(self, sort: Sort, steps: Sequence[Launch], n: int, options: Options) -> None:
        """List the slots that hold addresses in `_patches`: for each slot, the role of the array (`ROLES`), and the
        byte offset that a call adds to its address.
        """
        at = 0
        for launch in steps:
            for i, binding in enumerate(launch.step.bindings):
                self._patches.append((at + i, ROLES.index(binding.role), offset(binding, n)))
            at += len(self._row(sort, launch, n, options))

    def run(self, bases: list[int], stream: int) -> None:
        """Launch all kernels on a stream; bases: the addresses of the arrays, in the order of `ROLES`.

        Raises:
            Wrong: the driver refuses a launch.
        """
        if self._discards is not None:
            bases[DESTINATION] = bases[SCRATCH] + self._discards
        with self._lock:
            if (now := tuple(bases)) != self._last:
                slots = self._slots
                for slot, role, plus in self._patches:
                    slots[slot] = bases[role] + plus
                self._last = now
            calls = self._calls.get(stream) or self._called(stream)
            for function, arguments, name in calls:
                result = function(*arguments)
                if result[0] != 0:
                    done(result, f"kernel {name}")

    def recorded(self, bases: list[int]) -> list[Recorded]:
        """Return the launches that `run` would do with these addresses, without launching them.

        A caller may pass placeholders as `bases`: this function only adds offsets to them.
        """
        if self._discards is not None:
            bases[DESTINATION] = bases[SCRATCH] + self._discards
        slots, addresses = list(self._slots), [False] * len(self._slots)
        for slot, role, plus in self._patches:
            slots[slot], addresses[slot] = bases[role] + plus, True
        ends = list(accumulate(self._counts))
        spans = [slice(end - count, end) for end, count in zip(ends, self._counts, strict=True)]
        return [
            Recorded(launch, tuple(slots[span]), tuple(addresses[span]))
            for launch, span in zip(self._launches, spans, strict=True)
        ]

    def _called(self, stream: int) -> list[_Call]:
        """Build the driver calls for a stream, keep them for later calls, and return them."""
        if len(self._calls) >= STREAMS:
            self._calls.clear()
        on = bindings().CUstream(stream)
        self._calls[stream] = [launch(on) for launch in self._launches]
        return self._calls[stream]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverLaunch:
    """A launch of a kernel for which no stream is chosen yet; `__call__` returns the driver call that launches it on a
    stream.

    where: the kernel's function, the numbers of blocks and of threads in three dimensions, and the bytes of shared
    memory.  at: the address of the pointers to the arguments.  cooperative: whether all blocks must run at once.
    early: whether the driver may start the kernel before earlier kernels in the stream end; the kernel then waits for
    them itself.
    """

    where: tuple[Any, ...]
    at: int
    name: str
    cooperative: bool = False
    early: bool = False

    def __call__(self, stream: Any) -> _Call:
        driver = bindings()
        if self.cooperative:
            return driver.cuLaunchCooperativeKernel, (*self.where, stream, self.at), self.name
        if self.early:
            return driver.cuLaunchKernelEx, (_early(self.where, stream), self.where[0], self.at, 0), self.name
        return driver.cuLaunchKernel, (*self.where, stream, self.at, 0), self.name


@dataclass(frozen=True, slots=True)
class Recorded:
    """A launch with its 64-bit arguments; `addresses[i]` is True if argument i is an address of an array."""

    launch: DriverLaunch
    arguments: tuple[int, ...]
    addresses: tuple[bool, ...]


def launch_of(kernels: Kernels, one: Loaded, launch: Launch, at: int) -> DriverLaunch:
    """Return the driver launch for `launch`, a launch in a sort's plan; `one` is its loaded kernel.

    at: the address of the pointers to the launch's arguments.

    Raises:
        Unavailable: a grid exceeds the greatest grid of the GPU, or a cooperative launch does not fit the GPU.
    """
    driver, (wide, high), name = bindings(), launch.grid, launch.step.kernel
    if high > kernels.device.rows:
        raise Unavailable(f"{kernels.device.host.label}: {launch.groups} blocks of kernel {name} do not fit a grid")
    function = driver.CUfunction(one.handle)
    where = (function, wide, high, 1, one.threads, 1, 1, one.shared)
    if one.cooperative:
        kernels.check_resident(one, wide * high, name)
        return DriverLaunch(where=where, at=at, name=name, cooperative=True)
    return launching(kernels.device, where, at, name)


def launching(device: Device, where: tuple[Any, ...], at: int, name: str) -> DriverLaunch:
    """Return a `DriverLaunch` that is `early` if the GPU supports this; other arguments as in `DriverLaunch`."""
    return DriverLaunch(where=where, at=at, name=name, early=device.early)


def _early(where: tuple[Any, ...], stream: Any) -> Any:
    """Return the CUlaunchConfig of a programmatic dependent launch: it may begin before earlier kernels end."""
    driver = bindings()
    attribute, config = driver.CUlaunchAttribute(), driver.CUlaunchConfig()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    _, config.gridDimX, config.gridDimY, config.gridDimZ, *block, config.sharedMemBytes = where
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.hStream, config.attrs, config.numAttrs = stream, [attribute], 1
    return config


def wait(device: Device, stream: int) -> None:
    """Wait for all enqueued work of a stream."""
    with device.current():
        done(bindings().cuStreamSynchronize(stream), "a call before")
