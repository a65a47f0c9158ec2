"""The engine that drives OpenCL devices through pyopencl."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from hsgen.apis.opencl import API as API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines.builds import context_for as context_for
from hsgen.engines.compiled import Compiled
from hsgen.engines.engine import Places
from hsgen.system import toolchain

_COPY = """__kernel void copy(__global const uint4 *from, __global uint4 *to, ulong n) {
    if (get_global_id(0) < n) to[get_global_id(0)] = from[get_global_id(0)];
}"""
_COPY_LANES = 256  # global sizes are multiples of this; for other sizes, runtimes choose small work-groups


class Direct:
    """An `Engine` that runs through pyopencl in this process."""

    api = API.name

    def __init__(self, context: Any, compiled: Compiled) -> None:
        self._cl = toolchain.pyopencl()
        self.sort = compiled.sort
        self.align = max(1, context.devices[0].mem_base_addr_align // 8)
        self._buffers: dict[int, Any] = {}
        self._compiled = compiled
        compiled.scratch.guarded = True
        self.context, self.queue = context, self._cl.CommandQueue(context)
        self._clock: Any = None  # a queue with profiling while the clock is on, else None

    def allocate(self, slot: int, size: int) -> None:
        """See `Engine`.  The size is rounded up to 16 bytes, because `copy` moves 16 bytes per lane."""
        rounded = max(16, -(-size // 16) * 16)
        self._buffers[slot] = self._cl.Buffer(self.context, self._cl.mem_flags.READ_WRITE, rounded)

    def write(self, slot: int, image: Any) -> None:
        """See `Engine`."""
        if image.nbytes:
            self._cl.enqueue_copy(self.queue, self._buffers[slot], image, is_blocking=True)

    def read(self, slot: int, image: Any) -> None:
        """See `Engine`."""
        self._check_guard()
        if image.nbytes:
            self._cl.enqueue_copy(self.queue, image, self._buffers[slot], is_blocking=True)

    def _check_guard(self) -> None:
        if not self._compiled.scratch.intact(self.queue):
            raise Wrong("the sort wrote beyond its scratch memory")

    def device_status(self) -> int:
        """See `Engine`."""
        self._check_guard()
        return self._compiled.device_status(self.queue)

    def _part(self, slot: int, offset: int) -> Any:
        buffer = self._buffers[slot]
        return buffer.get_sub_region(offset, buffer.size - offset) if offset else buffer

    def sibling(self, sort: Sort) -> Direct:
        """See `Engine`."""
        source = replace(render(sort, API.name), optimized=self._compiled.source.optimized)
        engine = Direct(self.context, Compiled(self.context, sort, source))
        engine.queue, engine._buffers = self.queue, self._buffers
        return engine

    def renew(self) -> None:
        """See `Engine`.  The source is compiled again."""
        self._compiled = Compiled(self.context, self.sort, self._compiled.source)
        self._compiled.scratch.guarded = True

    def clock(self, on: bool) -> None:
        """See `Engine`.  Timed calls use a separate queue, because profiling slows a queue down."""
        profiling = self._cl.command_queue_properties.PROFILING_ENABLE
        self._clock = self._cl.CommandQueue(self.context, properties=profiling) if on else None

    def memory(self) -> tuple[int, int]:
        """See `Engine`."""
        device = self.context.devices[0]
        return int(device.global_mem_size), int(device.max_mem_alloc_size)

    def _timed(self, enqueue: Callable[[Any, list[Any] | None, list[Any] | None], Any]) -> float | None:
        """Call `enqueue(queue, wait, marks)`, wait for the device, and return the time on the device in seconds.

        Return None if the clock is off, or if there are no commands.  With the clock on, no command starts before all
        are enqueued, so the device never waits for the host.

        wait: the events for which the first command must wait.
        marks: a list to which `enqueue` appends the event of each command.
        """
        if self._clock is None:
            enqueue(self.queue, None, None)
            self.queue.finish()
            return None
        gate, marks = self._cl.UserEvent(self.context), list[Any]()
        try:
            enqueue(self._clock, [gate], marks)
        finally:
            gate.set_status(self._cl.command_execution_status.COMPLETE)
        self._clock.finish()
        if not marks:
            return None
        return float(max(e.profile.end for e in marks) - min(e.profile.start for e in marks)) * 1e-9

    def run(self, n: int, places: Places, options: Options = PLAIN) -> float | None:
        """See `Engine`."""
        # NVIDIA's driver crashes unless sub-buffers are created for each call and released in reverse order
        parts, buffers = dict[tuple[int, int], Any](), dict[str, Any]()
        for role, place in places.items():
            if place not in parts:
                parts[place] = self._part(*place)
            buffers[role] = parts[place]
        seconds = self._timed(lambda queue, wait, marks: self._compiled.run(queue, buffers, n, wait, options, marks))
        buffers.clear()
        while parts:
            parts.popitem()
        return seconds

    @cached_property
    def _copy(self) -> Any:
        return self._cl.Kernel(self._cl.Program(self.context, _COPY).build(), "copy")

    def copy(self, size: int) -> float | None:
        """See `Engine`.  Each lane copies 16 bytes."""
        n = max(1, -(-size // 16))
        lanes = (-(-n // _COPY_LANES) * _COPY_LANES,)

        def enqueue(queue: Any, wait: list[Any] | None, marks: list[Any] | None) -> None:
            event = self._copy(queue, lanes, None, self._buffers[0], self._buffers[1], np.uint64(n), wait_for=wait)
            if marks is not None:
                marks.append(event)

        return self._timed(enqueue)

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """See `Engine`.  pyopencl has no baselines."""
        raise Unavailable(f"baseline {name}: requires CUDA; add --api cuda")

    def messages(self) -> str:
        """See `Engine`.  OpenCL has no validation layers."""
        return ""
