"""Prepared calls: the launches of a plan for one count and one set of options, ready for the driver.

The arguments of all launches are in one array of 64-bit slots, and the driver gets pointers to the slots.  A call
stores the addresses of its arrays in their slots and launches.  The driver copies arguments before a launch returns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
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
"""The greatest number of streams for which a prepared call keeps its driver calls."""

_Call = tuple[Any, tuple[Any, ...], str]
"""A function of the driver, its arguments, and the name of the kernel."""


class Arguments:
    """The arguments of launches in 64-bit slots; `at` has the address of each launch's pointers to its slots."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        flat = [value & _WORD for row in rows for value in row]
        self.slots = (ctypes.c_uint64 * max(len(flat), 1))(*flat)
        base, at = ctypes.addressof(self.slots), range(len(flat))
        self._pointers = (ctypes.c_void_p * max(len(flat), 1))(*(base + 8 * i for i in at))
        starts = [sum(len(row) for row in rows[:i]) for i in range(len(rows))]
        self.at = [ctypes.addressof(self._pointers) + 8 * i for i in starts]


class Prepared:
    """The launches of calls with one count and one set of options; `scratch` is the size of scratch memory in bytes.

    in_place: whether the output replaces the input.
    plan: a plan that replaces the sort's plan.  If it has no rules for scratch memory, its kernels use no scratch
    memory, not even for discarded keys.  Otherwise the rules of the sort's own plan hold.
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
        """Return the arguments of a launch: 0 for each address (calls store them later), then n and further numbers."""
        return [*(0 for _ in launch.step.bindings), n, launch.argument, *numbers(sort, launch.step, options)]

    def _place(self, sort: Sort, steps: Sequence[Launch], n: int, options: Options) -> None:
        """Record the slots that take addresses, each with the role of its array and the offset to add."""
        at = 0
        for launch in steps:
            for i, binding in enumerate(launch.step.bindings):
                self._patches.append((at + i, ROLES.index(binding.role), offset(binding, n)))
            at += len(self._row(sort, launch, n, options))

    def run(self, bases: list[int], stream: int) -> None:
        """Launch on a stream, with the addresses of the arrays in the order of `ROLES`.

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

    def _called(self, stream: int) -> list[_Call]:
        """Build and keep the driver calls for a stream; return them."""
        if len(self._calls) >= STREAMS:
            self._calls.clear()
        on = bindings().CUstream(stream)
        self._calls[stream] = [launch(on) for launch in self._launches]
        return self._calls[stream]


def launch_of(kernels: Kernels, one: Loaded, launch: Launch, at: int) -> Callable[[Any], _Call]:
    """Return a function that builds the driver call of a launch on a stream.

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
        return lambda stream: (driver.cuLaunchCooperativeKernel, (*where, stream, at), name)
    return launching(kernels.device, where, at, name)


def launching(device: Device, where: tuple[Any, ...], at: int, name: str) -> Callable[[Any], _Call]:
    """Return a function that builds the driver call of a kernel on a stream.

    The kernel itself waits for earlier kernels, because the driver may start it before they end.

    where: the kernel's function, the numbers of blocks and of threads in three dimensions, and the bytes of shared
    memory.
    """
    driver = bindings()
    if device.early:
        return lambda stream: (driver.cuLaunchKernelEx, (_early(where, stream), where[0], at, 0), name)
    return lambda stream: (driver.cuLaunchKernel, (*where, stream, at, 0), name)


def _early(where: tuple[Any, ...], stream: Any) -> Any:
    """Return the driver's description of a programmatic dependent launch: it may begin before earlier kernels end."""
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
