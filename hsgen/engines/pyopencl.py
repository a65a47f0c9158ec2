"""Running sorts on OpenCL devices through pyopencl."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hsgen.apis.opencl import API as API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.interpreter import PLAIN, Options, offset
from hsgen.core.plan import ROLES
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.builds import build as build
from hsgen.engines.builds import options
from hsgen.engines.engine import Places
from hsgen.engines.hosts import Host
from hsgen.engines.launches import Launches
from hsgen.engines.scratch import Scratch
from hsgen.operations import settled
from hsgen.system import toolchain


class Compiled:
    """A sort compiled for one context, with the scratch memory that its sorts share.

    Not thread-safe: OpenCL kernels keep their arguments.  Sorts that need scratch run one by one, on any queues.
    """

    def __init__(
        self, context: Any, sort: Sort, source: Source | None = None, kernels: Mapping[str, Any] | None = None
    ) -> None:
        self.source = source = source or render(sort, API.name)
        self.sort = sort
        self._groups = {k.name: k.work_group for k in sort.kernels}
        option = options(context, source.option, lanes=sort.lanes > 1, optimized=source.optimized)
        self._kernels = dict(kernels or build(context, source.text, source.path, list(self._groups), option))
        # with types known, pyopencl sets arguments in a tenth of the time (20 us saved a launch)
        for k in sort.kernels:
            scalars = [np.int64 if k.index64 else np.int32, np.int32, *[np.int32] * (2 * sort.signature.device_count)]
            self._kernels[k.name].set_scalar_arg_dtypes([None] * len(k.buffers) + scalars)
        self._check_groups(context, source.path)
        self._launches = Launches(sort, self._kernels)
        self.scratch = Scratch(context)
        self._last: tuple[Any, Any] = (None, None)  # queue and event of the last sort that used scratch
        self._n = 0

    def _check_groups(self, context: Any, path: str) -> None:
        """Refuse kernels whose work-group exceeds what the device runs, which registers may limit."""
        info = toolchain.pyopencl().kernel_work_group_info.WORK_GROUP_SIZE
        for device in context.devices:
            for name, lanes in self._groups.items():
                most = self._kernels[name].get_work_group_info(info, device)
                if most < lanes:
                    raise Unavailable(
                        f"{path}: {device.name.strip()} runs kernel {name} with at most {most} lanes, not {lanes}; "
                        "give fewer slabs, a smaller stream_group or a smaller scale"
                    )

    def run(
        self,
        queue: Any,
        buffers: Mapping[str, Any],
        n: int,
        wait_for: Sequence[Any] | None = None,
        how: Options = PLAIN,
        marks: list[Any] | None = None,
    ) -> Any:
        """Enqueue the sort of `n` keys between the memory objects of `buffers`, by role; in place if "source" and
        "destination" are the same object.  Return the last event.

        Unused roles may be missing.  Scratch grows to the greatest need so far.  Events order the launches on an
        out-of-order queue; if nothing is launched, a marker is enqueued.  `marks` gets the event of every launch.

        Raises:
            Usage: n is beyond the plan, or the bit range is; a number of the call does not fit.
        """
        cl = toolchain.pyopencl()
        ordered = not queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        event, source = None, buffers.get("source")
        in_place = bool(source is not None and source == buffers.get("destination"))
        steps, need, spare = self._launches.of(n, in_place, settled(self.sort, n, how, buffers))
        self._n, part = n, self.scratch.part
        bound = {**dict.fromkeys(ROLES, next(iter(buffers.values()))), **buffers}  # an unused role is never read
        if need:
            self.scratch.ask(queue, need)
            wait_for = self._after_last(queue, ordered, wait_for)
        if spare is not None:
            bound["destination"] = part(spare)
        for kernel, roles, scalars, size, lanes in steps:
            memory = [part(at) if role == "scratch" else bound[role] for role, at in roles]
            kernel.set_args(*memory, *scalars)
            event = cl.enqueue_nd_range_kernel(queue, kernel, size, lanes, wait_for=wait_for)
            wait_for = None if ordered else [event]
            if marks is not None:
                marks.append(event)
        if need:
            self._last = queue, event
        return event if event is not None else cl.enqueue_marker(queue, wait_for=wait_for)

    def _after_last(self, queue: Any, ordered: bool, wait_for: Sequence[Any] | None) -> Sequence[Any] | None:
        """The events to wait for, and that of the last sort that used scratch, unless the queue orders the two."""
        before, end = self._last
        return wait_for if end is None or (ordered and before == queue) else [*(wait_for or []), end]

    def device_status(self, queue: Any) -> int:
        """Return the number of passes of the last sort, on `queue`, that were redone, once it has run; of a segmented
        sort, not 0 if the device refused its offsets."""
        rule = self.sort.plan.device_status
        if rule is None or self._n <= rule.min_n:
            return 0
        return int(np.count_nonzero(self.scratch.read(queue, offset(rule.binding, self._n), rule.words)))


_COPY = """__kernel void copy(__global const uint4 *from, __global uint4 *to, ulong n) {
    if (get_global_id(0) < n) to[get_global_id(0)] = from[get_global_id(0)];
}"""
_COPY_LANES = 256  # grids are a multiple, since runtimes split others into small work-groups


class Direct:
    """An `Engine` through pyopencl, in this process."""

    api = API.name

    def __init__(self, context: Any, compiled: Compiled) -> None:
        self._cl = toolchain.pyopencl()
        self.sort = compiled.sort
        self.align = max(1, context.devices[0].mem_base_addr_align // 8)
        self._buffers: dict[int, Any] = {}
        self._compiled = compiled
        compiled.scratch.guarded = True
        self.context, self.queue = context, self._cl.CommandQueue(context)
        self._clock: Any = None  # a queue with profiling, while the clock is on

    def allocate(self, slot: int, size: int) -> None:
        """See `Engine`; rounded up so that copies of 16 bytes a lane stay inside."""
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
        if not self._compiled.scratch.whole(self.queue):
            raise Wrong("the sort wrote beyond its scratch memory")

    def device_status(self) -> int:
        """See `Engine`."""
        self._check_guard()
        return self._compiled.device_status(self.queue)

    def _part(self, slot: int, offset: int) -> Any:
        buffer = self._buffers[slot]
        return buffer.get_sub_region(offset, buffer.size - offset) if offset else buffer

    def beside(self, sort: Sort) -> Direct:
        """See `Engine`."""
        made = Direct(self.context, Compiled(self.context, sort))
        made.queue, made._buffers = self.queue, self._buffers
        return made

    def renew(self) -> None:
        """See `Engine`; compiled from its own source."""
        self._compiled = Compiled(self.context, self.sort, self._compiled.source)
        self._compiled.scratch.guarded = True

    def clock(self, on: bool) -> None:
        """See `Engine`; on a queue of its own, since profiling slows a queue down."""
        profiling = self._cl.command_queue_properties.PROFILING_ENABLE
        self._clock = self._cl.CommandQueue(self.context, properties=profiling) if on else None

    def memory(self) -> tuple[int, int]:
        """See `Engine`."""
        device = self.context.devices[0]
        return int(device.global_mem_size), int(device.max_mem_alloc_size)

    def _timed(self, enqueue: Callable[[Any, list[Any] | None, list[Any] | None], Any]) -> float | None:
        """Call `enqueue` with a queue, what to wait for and a list for events, and wait.

        With the clock on, nothing starts before everything is enqueued, so that the device never waits for the host.
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

    def run(self, n: int, places: Places, how: Options = PLAIN) -> float | None:
        """See `Engine`."""
        # created for each call: NVIDIA's driver crashes when parts of a buffer go in another order than the reverse
        parts, buffers = dict[tuple[int, int], Any](), dict[str, Any]()
        for role, place in places.items():
            if place not in parts:
                parts[place] = self._part(*place)
            buffers[role] = parts[place]
        seconds = self._timed(lambda queue, wait, marks: self._compiled.run(queue, buffers, n, wait, how, marks))
        buffers.clear()
        while parts:
            parts.popitem()
        return seconds

    @cached_property
    def _copy(self) -> Any:
        return self._cl.Kernel(self._cl.Program(self.context, _COPY).build(), "copy")

    def copy(self, size: int) -> float | None:
        """See `Engine`; 16 bytes a lane."""
        n = max(1, -(-size // 16))
        lanes = (-(-n // _COPY_LANES) * _COPY_LANES,)

        def enqueue(queue: Any, wait: list[Any] | None, marks: list[Any] | None) -> None:
            event = self._copy(queue, lanes, None, self._buffers[0], self._buffers[1], np.uint64(n), wait_for=wait)
            if marks is not None:
                marks.append(event)

        return self._timed(enqueue)

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """See `Engine`: none is built in."""
        raise Unavailable(f"baseline {name}: requires CUDA; add --api cuda")

    def messages(self) -> str:
        """See `Engine`: there are no layers."""
        return ""


def context_for(host: Host) -> Any:
    """Return a new context of one device."""
    return toolchain.pyopencl().Context([host.handle])
