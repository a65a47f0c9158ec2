"""The class `Compiled`: a sort whose kernels are compiled for a pyopencl context, and which can be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hsgen.apis.opencl import API
from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import PLAIN, Options, offset
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.builds import build, chosen, options
from hsgen.engines.launches import Launches, Resolved, in_order
from hsgen.engines.scratch import Scratch
from hsgen.operations import settled
from hsgen.system import toolchain


class Compiled:
    """A sort that is compiled for one context, with the scratch memory that its calls share.

    An object is not thread-safe, because an OpenCL kernel stores its arguments between calls.  Calls that need scratch
    run one after another, even on different queues.
    """

    def __init__(
        self, context: Any, sort: Sort, source: Source | None = None, kernels: Mapping[str, Any] | None = None
    ) -> None:
        self.source = source = source or chosen(render(sort, API.name))
        self.sort = sort
        self._groups = {k.name: k.work_group for k in sort.kernels}
        option = options(context, source.option, lanes=sort.lanes > 1, optimized=source.optimized)
        self._kernels = dict(kernels or build(context, source.text, source.path, list(self._groups), option))
        # if pyopencl knows the argument types, it sets arguments in a tenth of the time, which saves 20 us per launch
        for k in sort.kernels:
            scalars = [np.int64 if k.index64 else np.int32, np.int32, *[np.int32] * (2 * sort.signature.numbers)]
            self._kernels[k.name].set_scalar_arg_dtypes([None] * len(k.buffers) + scalars)
        self._check_groups(context, source.path)
        self._launches = Launches(sort, self._kernels)
        self.scratch = Scratch(context)
        self._last: tuple[Any, Any] = (None, None)  # the queue and the last event of the last call that used scratch
        self._n = 0

    def _check_groups(self, context: Any, path: str) -> None:
        """Check that each device of the context can run the work-groups of all kernels.

        The registers that a kernel needs may limit the size of its work-groups.

        Raises:
            Unavailable: a work-group is too large.
        """
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
        call_options: Options = PLAIN,
        marks: list[Any] | None = None,
    ) -> Any:
        """Enqueue the sort of `n` keys, and return the event of its last launch.

        Scratch memory grows to the greatest size that a call has needed so far.  If a call has no launches, the event
        is that of a marker.

        buffers: the OpenCL memory objects by role, such as "source"; roles that the call does not use are absent.  The
        sort is in place if "source" and "destination" are the same object.
        wait_for: events for which the first launch waits.
        marks: a list to which the event of each launch is appended.

        Raises:
            Usage: n or the bit range exceeds the plan, or a further number of the call is invalid.
        """
        return self.enqueue(
            queue, buffers, n, self.launches(n, call_options, buffers), in_order(queue), wait_for, marks
        )

    def launches(self, n: int, call_options: Options, buffers: Mapping[str, Any]) -> Resolved:
        """Return the launches that `run` would enqueue for a call.

        Raises: Usage: for the same reasons as in `run`.
        """
        source = buffers.get("source")
        in_place = bool(source is not None and source == buffers.get("destination"))
        return self._launches.of(n, in_place, settled(self.sort, n, call_options, buffers))

    def enqueue(
        self,
        queue: Any,
        buffers: Mapping[str, Any],
        n: int,
        call: Resolved,
        ordered: bool,
        wait_for: Sequence[Any] | None = None,
        marks: list[Any] | None = None,
    ) -> Any:
        """Enqueue the launches `call`, a result of `launches`, as `run` does.

        ordered: whether the queue runs commands in order.  If not, each launch waits for the event of the preceding
        one.
        """
        cl, (steps, need, spare), event = toolchain.pyopencl(), call, None
        self._n, part = n, self.scratch.part
        bound, unused = {**buffers}, next(iter(buffers.values()))  # kernels never read a buffer of a missing role
        if need:
            self.scratch.ask(queue, need)
            wait_for = self._after_last(queue, ordered, wait_for)
        if spare is not None:
            bound["destination"] = part(spare)
        for kernel, roles, scalars, size, lanes in steps:
            memory = [part(at) if role == "scratch" else bound.get(role, unused) for role, at in roles]
            kernel.set_args(*memory, *scalars)
            event = cl.enqueue_nd_range_kernel(queue, kernel, size, lanes, wait_for=wait_for)
            wait_for = None if ordered else [event]
            if marks is not None:
                marks.append(event)
        if need:
            self._last = queue, event
        return event if event is not None else cl.enqueue_marker(queue, wait_for=wait_for)

    def _after_last(self, queue: Any, ordered: bool, wait_for: Sequence[Any] | None) -> Sequence[Any] | None:
        """Return the events for which the first launch of a call that uses scratch memory must wait.

        They include the last event of the last call that used scratch, unless an in-order queue has both calls.
        """
        before, end = self._last
        return wait_for if end is None or (ordered and before == queue) else [*(wait_for or []), end]

    def device_status(self, queue: Any) -> int:
        """Wait for `queue`, and return how many passes of the last sort had to run again because work-groups made no
        progress.

        For a segmented sort, a number other than 0 means that the device rejected the segment offsets.
        """
        rule = self.sort.plan.device_status
        if rule is None or self._n <= rule.min_n:
            return 0
        return int(np.count_nonzero(self.scratch.read(queue, offset(rule.binding, self._n), rule.words)))
