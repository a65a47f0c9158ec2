"""Running sorts on OpenCL devices through pyopencl: compilation, and playing a plan."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hsgen import toolchain
from hsgen.backends.hosts import Host, newest
from hsgen.errors import Unavailable, Wrong
from hsgen.plan import launches
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


class Compiled:
    """A sort compiled for one context.  Not thread-safe: OpenCL kernels keep their arguments."""

    def __init__(
        self, context: Any, sort: Sort, source: Source | None = None, kernels: Mapping[str, Any] | None = None
    ) -> None:
        source = source or render(sort, "opencl")
        self.sort = sort
        self._groups = {k.name: k.work_group for k in sort.kernels}
        option = standard(context, lanes=sort.exchanges)
        self._kernels = dict(kernels or build(context, source.text, source.path, list(self._groups), option))
        for (
            k
        ) in sort.kernels:  # with types known, pyopencl sets arguments in a tenth of the time (20 us saved a launch)
            self._kernels[k.name].set_scalar_arg_dtypes([None] * len(k.roles) + [np.int32, np.int32])
        self._check_groups(context, source.path)
        self._launches = lru_cache(64)(self._resolve)

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

    def run(self, queue: Any, buffers: Mapping[str, Any], n: int, wait_for: Sequence[Any] | None = None) -> Any:
        """Enqueue the sort of `n` keys; `buffers` maps roles to memory objects.  Return the last event.

        An out-of-order queue is given the order by events; n = 0 enqueues a marker.

        Raises:
            Usage: n is beyond the plan.
        """
        cl = toolchain.pyopencl()
        ordered = not queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        event = None
        for kernel, roles, count, argument, size, lanes in self._launches(n):
            kernel.set_args(*[buffers[r] for r in roles], count, argument)
            event = cl.enqueue_nd_range_kernel(queue, kernel, size, lanes, wait_for=wait_for)
            wait_for = None if ordered else [event]
        return event if event is not None else cl.enqueue_marker(queue, wait_for=wait_for)

    def _resolve(self, n: int) -> list[tuple[Any, tuple[str, ...], Any, Any, tuple[int, int], tuple[int, int]]]:
        """The launches for `n` keys: kernel, roles, n, argument, work-items, work-group."""
        out = []
        for launch in launches(self.sort.plan, n, self.sort.groups):
            step, (wide, high) = launch.step, launch.grid
            lanes = self._groups[step.kernel]
            roles = tuple(b.role for b in step.bindings)
            out.append(
                (
                    self._kernels[step.kernel],
                    roles,
                    n,
                    step.argument,
                    (wide * lanes, high),
                    (lanes, 1),
                )
            )
        return out


def context_for(host: Host) -> Any:
    """Return a new context of one device."""
    return toolchain.pyopencl().Context([host.handle])
