"""Running sorts on OpenCL devices through pyopencl: compilation, and playing a plan."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hsgen import toolchain
from hsgen.backends.engine import Places
from hsgen.backends.hosts import Host, newest
from hsgen.backends.scratch import Scratch, cut
from hsgen.errors import Unavailable, Wrong
from hsgen.plan import PLAIN, Options, launches, offset, scratch_bytes, spare_at
from hsgen.render import Source, render
from hsgen.spec import Sort


def standard(context: Any, *, lanes: bool) -> str:
    """Return the language option: OpenCL C 1.2 unless `lanes` exchange values."""
    return newest(context) if lanes else "-cl-std=CL1.2"


def build(context: Any, source: str, path: str, kernels: Sequence[str], option: str) -> dict[str, Any]:
    """Compile `source` and return its kernels by name.

    Raises:
        Wrong: it does not build; the line names the kernel and the file that holds the log.
    """
    cl = toolchain.pyopencl()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = cl.Program(context, source).build(options=option.split())
            return {name: cl.Kernel(program, name) for name in kernels}
        except cl.Error as e:
            log = keep_log(f"{path}\n\n{e}\n\n{source}")
            raise Wrong(
                f"{path}: kernel {_culprit(str(e), source, kernels)} does not build on "
                f"{context.devices[0].name.strip()}; the compiler's log is {log}"
            ) from None


def keep_log(text: str) -> Path:
    """Write what a compiler said, with its source, to a file that stays; return its path."""
    log = Path(tempfile.mkdtemp(prefix="hsgen-")) / "build.log"
    log.write_text(text, encoding="utf-8")
    return log


def _culprit(log: str, source: str, kernels: Sequence[str]) -> str:
    """The kernel in which the log's first error lies."""
    found = re.search(r":(\d+):\d+:\s*(?:fatal )?error", log)
    if found is None:
        return next(
            (k for k in kernels if k in log), kernels[0] if len(kernels) == 1 else f"among {', '.join(kernels)}"
        )
    before = source.splitlines()[: int(found.group(1))]
    names = [k for line in before for k in kernels if re.search(rf"\b{k}\b", line) and "__kernel" in line]
    return names[-1] if names else kernels[0]


_Launch = tuple[Any, tuple[tuple[str, int], ...], tuple[int, ...], tuple[int, int], tuple[int, int]]


class Compiled:
    """A sort compiled for one context, with the scratch memory that its sorts share.

    Not thread-safe: OpenCL kernels keep their arguments.  Sorts that need scratch run one after the other, on
    whatever queues they are enqueued.
    """

    def __init__(
        self, context: Any, sort: Sort, source: Source | None = None, kernels: Mapping[str, Any] | None = None
    ) -> None:
        source = source or render(sort, "opencl")
        self.sort = sort
        self._groups = {k.name: k.work_group for k in sort.kernels}
        option = standard(context, lanes=sort.exchanges)
        self._kernels = dict(kernels or build(context, source.text, source.path, list(self._groups), option))
        # with types known, pyopencl sets arguments in a tenth of the time (20 us saved a launch)
        for k in sort.kernels:
            scalars = [np.int64 if k.wide else np.int32, np.int32, *[np.int32] * (2 * sort.form.counted)]
            self._kernels[k.name].set_scalar_arg_dtypes([None] * len(k.buffers) + scalars)
        self._check_groups(context, source.path)
        self._launches: dict[tuple[int, bool, Options], tuple[list[_Launch], dict[int, int], int | None]] = {}
        self.scratch = Scratch(context)
        self._last: tuple[Any, Any] = (None, None)  # queue and event of the last sort that used scratch
        self._n = 0

    def _check_groups(self, context: Any, path: str) -> None:
        """A device may run fewer lanes of a kernel than it promises in general, when registers are short."""
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
    ) -> Any:
        """Enqueue the sort of `n` keys between the memory objects of `buffers`, which has those of the roles that the
        sort has; in place where "source" and "destination" are the same object.  Return the last event.

        Scratch is kept for the greatest need so far.  An out-of-order queue is given the order by events; n = 0
        enqueues a marker.

        Raises:
            Usage: n is beyond the plan, or the bit range is.
        """
        cl = toolchain.pyopencl()
        ordered = not queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        event = None
        key = n, bool(buffers["source"] == buffers.get("destination")), how
        if key not in self._launches:
            if len(self._launches) >= 64:
                self._launches.clear()
            self._launches[key] = self._resolved(*key)
        self._n = n
        steps, need, spare = self._launches[key]
        part = self.scratch.part
        bound = {"count": buffers["source"], **buffers}
        if need:
            self.scratch.ask(queue, need)
            if spare is not None:
                bound["destination"] = part(spare)
            before, end = self._last
            if end is not None and (not ordered or before != queue):
                wait_for = [*(wait_for or []), end]
        for kernel, roles, scalars, size, lanes in steps:
            memory = [part(at) if role == "scratch" else bound[role] for role, at in roles]
            kernel.set_args(*memory, *scalars)
            event = cl.enqueue_nd_range_kernel(queue, kernel, size, lanes, wait_for=wait_for)
            wait_for = None if ordered else [event]
        if need:
            self._last = queue, event
        return event if event is not None else cl.enqueue_marker(queue, wait_for=wait_for)

    def outcome(self, queue: Any) -> int:
        """Return how many passes of the last sort, on `queue`, were done again, once it has run."""
        rule = self.sort.plan.outcome
        if rule is None or self._n <= rule.min_n:
            return 0
        return int(np.count_nonzero(self.scratch.read(queue, offset(rule.binding, self._n), rule.words)))

    def _resolved(self, n: int, in_place: bool, how: Options) -> tuple[list[_Launch], dict[int, int], int | None]:
        """The launches for `n` keys, the parts of scratch that they see, and where among these keys go that nobody
        wants."""
        steps = self._resolve(n, in_place, how)
        spare = spare_at(self.sort, n) if how.discard and n else None
        more = [] if spare is None else [spare]
        places = [[*(at for role, at in step[1] if role == "scratch"), *more] for step in steps]
        return steps, cut(scratch_bytes(self.sort, n, how), places), spare

    def _resolve(self, n: int, in_place: bool, how: Options) -> list[_Launch]:
        """The launches for `n` keys: kernel, roles with places in them, numbers, work-items, work-group."""
        out = []
        for launch in launches(self.sort.plan, n, self.sort.groups, in_place=in_place, how=how):
            step, (wide, high) = launch.step, launch.grid
            lanes = self._groups[step.kernel]
            guard = (step.min_n, min(step.max_n, 2**31 - 1)) if self.sort.form.counted else ()
            out.append(
                (
                    self._kernels[step.kernel],
                    tuple((b.role, offset(b, n)) for b in step.bindings),
                    (n, launch.argument, *guard),
                    (wide * lanes, high),
                    (lanes, 1),
                )
            )
        return out


_COPY = """__kernel void copy(__global const uint4 *from, __global uint4 *to) {
    to[get_global_id(0)] = from[get_global_id(0)];
}"""


class Direct:
    """An `Engine` through pyopencl, in this process."""

    api = "opencl"

    def __init__(self, context: Any, compiled: Compiled) -> None:
        self._cl = toolchain.pyopencl()
        self.sort = compiled.sort
        self.align = max(1, context.devices[0].mem_base_addr_align // 8)
        self._buffers: dict[int, Any] = {}
        self._compiled = compiled
        compiled.scratch.guarded = True
        self.queue = self._cl.CommandQueue(context)
        self.context = context

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

    def outcome(self) -> int:
        """See `Engine`."""
        self._check_guard()
        return self._compiled.outcome(self.queue)

    def _part(self, slot: int, offset: int) -> Any:
        buffer = self._buffers[slot]
        return buffer.get_sub_region(offset, buffer.size - offset) if offset else buffer

    def run(self, n: int, places: Places, how: Options = PLAIN) -> None:
        """See `Engine`."""
        # made anew each time: NVIDIA's driver crashes when parts of a buffer go in another order than the reverse
        parts: dict[tuple[int, int], Any] = {}
        buffers = {}
        for role, place in places.items():
            if place not in parts:
                parts[place] = self._part(*place)
            buffers[role] = parts[place]
        self._compiled.run(self.queue, buffers, n, how=how)
        self.queue.finish()
        buffers.clear()
        while parts:
            parts.popitem()

    @cached_property
    def _copy(self) -> Any:
        return self._cl.Kernel(self._cl.Program(self.context, _COPY).build(), "copy")

    def copy(self, size: int) -> None:
        """See `Engine`; 16 bytes a lane."""
        self._copy(self.queue, (max(1, -(-size // 16)),), None, self._buffers[0], self._buffers[1])
        self.queue.finish()

    def peer(self, name: str, size: int, n: int, value_size: int = 0) -> None:
        """See `Engine`: none is built in."""
        raise Unavailable(f"peer {name}: runs beside CUDA only; add --api cuda")

    def messages(self) -> str:
        """See `Engine`: there are no layers."""
        return ""


def context_for(host: Host) -> Any:
    """Return a new context of one device."""
    return toolchain.pyopencl().Context([host.handle])
