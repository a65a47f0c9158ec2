"""Running sorts on OpenCL devices through pyopencl: devices, compilation, and playing a plan."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hsgen import toolchain
from hsgen.errors import Unavailable, Usage, Wrong
from hsgen.plan import launches
from hsgen.render import Source, render
from hsgen.spec import Sort
from hsgen.target import Target

_TYPES = {"cpu": 2, "gpu": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An OpenCL device at hand; `handle` is pyopencl's own object."""

    platform: str
    name: str
    driver: str
    version: str
    type: str
    vendor: int
    work_group: int
    local_bytes: int
    shuffle: bool
    handle: Any

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.name} ({self.platform}, {self.driver})"


def hosts() -> list[Host]:
    """Return every OpenCL device of this machine, in the loader's order; none where there is no platform.

    Raises:
        Unavailable: pyopencl is not installed.
    """
    cl = toolchain.pyopencl()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return []
    out = []
    for platform in platforms:
        try:
            out += [_host(cl, platform, d) for d in platform.get_devices()]
        except cl.LogicError:
            continue
    return out


def _host(cl: Any, platform: Any, d: Any) -> Host:
    kind = next((name for name, bit in _TYPES.items() if d.type & bit), "other")
    return Host(
        platform=platform.name.strip(),
        name=d.name.strip(),
        driver=d.driver_version.strip(),
        version=d.version.strip(),
        type=kind,
        vendor=int(d.vendor_id),
        work_group=int(d.max_work_group_size),
        local_bytes=int(d.local_mem_size),
        shuffle=_shuffle(d.extensions.split()),
        handle=d,
    )


def _shuffle(extensions: Sequence[str]) -> bool:
    """Whether a kernel may exchange values between the lanes of a subgroup."""
    return "cl_intel_subgroups" in extensions or {"cl_khr_subgroups", "cl_khr_subgroup_shuffle"} <= set(extensions)


@cache
def offers(host: Host, width: int) -> bool:
    """Return whether kernels on `host` can have subgroups of `width` lanes that exchange values.

    pyopencl cannot ask a device for its widths, so a kernel of that width is compiled and asked for its own.
    """
    if not host.shuffle:
        return False
    cl = toolchain.pyopencl()
    context = cl.Context([host.handle])
    asked = f"__attribute__((intel_reqd_sub_group_size({width})))"
    text = (
        f"#ifdef cl_intel_required_subgroup_size\n{asked}\n#endif\n"
        "__kernel void width(__global int *out) { out[get_global_id(0)] = get_sub_group_size(); }"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel = cl.Kernel(cl.Program(context, text).build(options=[_newest(context)]), "width")
            sizes = kernel.get_sub_group_info(
                host.handle, cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE, [min(4 * width, host.work_group)]
            )
        except cl.Error:
            return False
    return bool(sizes == width)


def _newest(context: Any) -> str:
    return "-cl-std=CL3.0" if all("OpenCL C 3." in d.opencl_c_version for d in context.devices) else "-cl-std=CL2.0"


def matches(target: Target, host: Host) -> bool:
    """Return whether `target` says that it is for this device."""
    m = target.match
    return bool(m.types or m.vendors or m.names) and all(
        (
            not m.types or host.type in m.types,
            not m.vendors or host.vendor in m.vendors,
            not m.names or any(re.search(p, host.name) for p in m.names),
        )
    )


def lacks(sort: Sort, host: Host) -> str | None:
    """Say what `host` lacks for `sort`, or return None."""
    width = max(k.subgroup for k in sort.kernels)
    if width > 1 and not offers(host, width):
        return f"has no subgroups of {width} lanes that {sort.target} needs; target generic runs without"
    lanes = max(k.work_group for k in sort.kernels)
    if lanes > host.work_group:
        return f"runs work-groups of at most {host.work_group} lanes, {sort.target} needs {lanes}"
    need = max(k.shared for k in sort.kernels) * sort.key.bytes
    if need > host.local_bytes:
        return f"has {host.local_bytes} bytes of local memory, {sort.target} needs {need}"
    return None


def pick(substring: str | None, sorts: Sequence[Sort] = ()) -> Host:
    """Return the first device whose label holds `substring` (any device if None) and that can run `sorts`.

    Raises:
        Unavailable: there is none; the line says why for the devices that were looked at.
    """
    found = hosts()
    if not found:
        raise Unavailable("no OpenCL device; install the embedded one with pip install 'hsgen[cpu-device]'")
    named = [h for h in found if not substring or substring.lower() in h.label.lower()]
    if not named:
        raise Unavailable(f"no OpenCL device like '{substring}'; there is {'; '.join(h.label for h in found)}")
    reasons = []
    for host in named:
        lacking = [x for x in (lacks(s, host) for s in sorts) if x]
        if not lacking:
            return host
        reasons.append(f"{host.label} {lacking[0]}")
    raise Unavailable("; ".join(reasons))


def standard(context: Any, sort: Sort) -> str:
    """Return the language option that `sort` needs: OpenCL C 1.2 unless lanes exchange values."""
    if all(k.subgroup == 1 for k in sort.kernels):
        return "-cl-std=CL1.2"
    return _newest(context)


def build(context: Any, source: str, path: str, kernels: Sequence[str], option: str) -> dict[str, Any]:
    """Compile `source` and return its kernels by name.

    Raises:
        Wrong: it does not build; the line names the kernel and the file that holds the log.
    """
    cl = toolchain.pyopencl()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = cl.Program(context, source).build(options=[option])
            return {name: cl.Kernel(program, name) for name in kernels}
        except cl.Error as e:
            log = Path(tempfile.mkdtemp(prefix="hsgen-")) / "build.log"
            log.write_text(f"{path}\n\n{e}\n\n{source}", encoding="utf-8")
            raise Wrong(
                f"{path}: kernel {_culprit(str(e), source, kernels)} does not build on "
                f"{context.devices[0].name.strip()}; the compiler's log is {log}"
            ) from None


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
        self.limit = 2**31 - 1  # work-groups of one dimension; the product with the lanes is 64-bit
        names = [k.name for k in sort.kernels]
        self._kernels = dict(kernels or build(context, source.text, source.path, names, standard(context, sort)))
        self._groups = {k.name: k.work_group for k in sort.kernels}
        self._launches = lru_cache(64)(self._resolve)

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
        for launch in launches(self.sort.plan, n, self.limit):
            step, (wide, high) = launch.step, launch.grid
            lanes = self._groups[step.kernel]
            roles = tuple(b.role for b in step.bindings)
            out.append(
                (
                    self._kernels[step.kernel],
                    roles,
                    np.int32(n),
                    np.int32(step.argument),
                    (wide * lanes, high),
                    (lanes, 1),
                )
            )
        return out


def context_for(host: Host) -> Any:
    """Return a new context of one device."""
    return toolchain.pyopencl().Context([host.handle])


def target_for(host: Host, targets: Sequence[Target]) -> Target:
    """Return the target that matches the device, or the generic one.

    Raises:
        Usage: none matches and there is no target called generic.
    """
    for target in targets:
        if "opencl" in target.apis and matches(target, host):
            return target
    for target in targets:
        if target.name == "generic":
            return target
    raise Usage(f"{host.label}: no target matches it; name one with --target")
