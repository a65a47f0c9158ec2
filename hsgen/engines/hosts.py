"""The list of OpenCL devices, and functions that compare a device with the requirements of targets and sorts.  A target
is a description of devices, with the sorts that are tuned for them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from hsgen.core.errors import Unavailable, Usage
from hsgen.engines.host import Host as Host
from hsgen.engines.host import numbered as numbered
from hsgen.system import processor, toolchain
from hsgen.targets.matching import Match, rank

if TYPE_CHECKING:
    from hsgen.core.sort import Sort
    from hsgen.targets.heads import Head
    from hsgen.targets.target import Target

_TYPES = {"cpu": 2, "gpu": 4}


def hosts() -> list[Host]:
    """Return all OpenCL devices of this machine, in the order of the OpenCL loader; [] if there is no platform.

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
    return numbered(out)


def labelled(label: str) -> Host:
    """Return the OpenCL device with the label `label`.

    The label may come from another process, which cannot pass the device itself.

    Raises:
        Unavailable: OpenCL lists no such device.
    """
    host = next((h for h in hosts() if h.label == label), None)
    if host is None:
        raise Unavailable(f"{label}: OpenCL shows no such device here; `hsgen doctor` lists those that it shows")
    return host


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
        ballot="cl_khr_subgroup_ballot" in d.extensions.split(),
        handle=d,
    )


def _shuffle(extensions: Sequence[str]) -> bool:
    """Return True if kernels of a device with these extensions may exchange values between the lanes of a subgroup."""
    return "cl_intel_subgroups" in extensions or {"cl_khr_subgroups", "cl_khr_subgroup_shuffle"} <= set(extensions)


@cache
def offers(host: Host, width: int) -> bool:
    """Return True if kernels on `host` can have subgroups of `width` lanes that exchange values.

    pyopencl cannot query the subgroup widths that a device supports.  The function therefore compiles a kernel that
    requires the width, and queries the width that the compiled kernel has.
    """
    if not host.shuffle or host.widths is not None:
        return host.shuffle and width in (host.widths or ())
    cl = toolchain.pyopencl()
    context = cl.Context([host.handle])
    attribute = f"__attribute__((intel_reqd_sub_group_size({width})))"
    text = (
        f"#ifdef cl_intel_required_subgroup_size\n{attribute}\n#endif\n"
        "__kernel void width(__global int *out) { out[get_global_id(0)] = get_sub_group_size(); }"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kernel = cl.Kernel(cl.Program(context, text).build(options=[newest(context)]), "width")
            sizes = kernel.get_sub_group_info(
                host.handle, cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE, [min(4 * width, host.work_group)]
            )
        except cl.Error:
            return False
    return bool(sizes == width)


def newest(context: Any) -> str:
    """Return the compiler option for the newest OpenCL C that all devices of `context` compile."""
    version = min(_language(d) for d in context.devices)
    return "-cl-std=CL3.0" if version >= 3 else "-cl-std=CL2.0" if version >= 2 else "-cl-std=CL1.2"


def _language(device: Any) -> int:
    """Return the greatest major version of OpenCL C that a device compiles.

    An OpenCL 3 device may report version 1.2, and list newer versions separately.
    """
    match = re.search(r"OpenCL C (\d+)", device.opencl_c_version)
    versions = [int(match[1]) if match else 1]
    try:
        versions += [v.version >> 22 for v in device.opencl_c_all_versions]
    except (AttributeError, toolchain.pyopencl().Error):
        pass  # a device older than OpenCL 3.0 has no such list
    return max(versions)


def unsound(host: Host) -> str | None:
    """Return the reason why results of a device are unreliable, as text; None if they are reliable."""
    mesa = re.search(r"Mesa (\d+)", host.driver) if "llvmpipe" in host.name else None
    if mesa and int(mesa[1]) < 25:
        return f"lavapipe of Mesa {mesa[1]} leaves long loops silently; install Mesa 25 or later"
    return None


def matches(target: Target | Head, host: Host) -> bool:
    """Return True if a device meets the match conditions of `target`; a target without conditions matches no device."""
    m = target.match
    return m != Match() and all(
        (
            not m.types or host.type in m.types,
            not m.vendors or host.vendor in m.vendors,
            not m.names or any(p in host.name for p in m.names),
            not m.platforms or any(p in host.platform for p in m.platforms),
            not m.compute or not host.compute or m.compute[0] <= host.compute <= m.compute[1],
        )
    )


def lacks(sort: Sort, host: Host) -> str | None:
    """Return a message about the first requirement of `sort` that `host` does not meet; None if it meets all."""
    width = sort.lanes
    if sort.key.bytes == 8 and not sort.pair and not host.int64:
        return "has no 64-bit integers"
    if width > 1 and not offers(host, width):
        return f"has no subgroups of {width} lanes that {sort.target} needs; target generic runs without"
    if sort.ballot and not host.ballot:
        return f"has no votes in subgroups, which {sort.target} needs; target generic runs without"
    lanes = max(k.work_group for k in sort.kernels)
    if lanes > host.work_group:
        return f"runs work-groups of at most {host.work_group} lanes, {sort.target} needs {lanes}"
    need = max(k.local_bytes(sort.key) for k in sort.kernels)
    if need > host.local_bytes:
        return f"has {host.local_bytes} bytes of local memory, {sort.target} needs {need}"
    return None


def holds(target: Target, sort: Sort, host: Host) -> bool:
    """Return True if `host` has enough cores for those kernels of `sort` whose work-groups wait for each other.

    All work-groups of a launch of such a kernel (`Kernel.cooperative`) must be resident at once.  The function assumes
    that a core of `host` can hold as many work-groups as a core of the target's largest device must hold.
    """
    cores, most = host.more.get("cores", 0), target.device.cores
    waiting = {k.name for k in sort.kernels if k.cooperative}
    caps = [step.grid.cap for step in sort.plan.steps if step.kernel in waiting]
    return not (cores and most) or all(cap <= cores * -(-cap // most) for cap in caps)


def evidence_level(target: Target, host: Host) -> str | None:
    """Return how much a passed validation of `target` on `host` shows: "device", "cpu" or None.

    If the target matches the device, the result is "device".  Otherwise, a CPU runtime gives "cpu".  Any other device
    gives "device" if the target has no match conditions.  If the target has match conditions, the result is None,
    because the validation shows nothing.
    """
    if matches(target, host):
        return "device"
    if host.type == "cpu":
        return "cpu"
    return "device" if target.match == Match() else None


def evidence_device(host: Host, language: str = "") -> str:
    """Return the name of a device for records of evidence; that of a CPU runtime includes the name of the processor."""
    cpu = processor.model()
    on = f" on {cpu}" if host.type == "cpu" and cpu not in host.name else ""
    return f"{host.name}{on} ({host.platform}{language})"


def target_for(host: Host, targets: Sequence[Target | Head]) -> Target:
    """Return the most specific target that matches the device and can run on it.

    If there is none, return the target for any device.
    targets: targets, or their heads (`hsgen.targets.heads`).  For heads that match the device, the whole target files
    are read.

    Raises:
        Usage: no target matches, and there is no target for any device.
    """
    from hsgen.targets import fallback  # slow to import, and not needed to compile for a device

    fitting = [t for t in targets if host.api in t.apis and matches(t, host)]
    for target in map(_whole, sorted(fitting, key=lambda t: -rank(t.match))):
        if meets(target, host) and target.choices:
            return target
        sorts = [target.sort(a, k) for a, k in target.choices]
        if sorts and all(holds(target, s, host) and not lacks(s, host) for s in sorts):
            return target
    if general := fallback.among(host.api, targets):
        return _whole(general)
    raise Usage(f"{host.label}: no target matches it; name one with --target")


def meets(target: Target, host: Host) -> bool:
    """Return True if a device has every property that the table ``[device]`` of a target states; it can then run all
    sorts of the target.

    The check replaces `lacks` and `holds`, which need all sorts of the target; to build these `Sort` objects takes 50
    ms.
    """
    facts = target.device
    exchanges = host.shuffle and host.ballot and set(facts.subgroups) <= {1, *(host.widths or ())}
    alone = facts.subgroups == (1,)
    fits = facts.work_group <= host.work_group and facts.local_bytes <= host.local_bytes
    cores = host.more.get("cores", 0)
    enough = not (cores and facts.cores) or cores >= facts.cores
    return fits and enough and host.int64 and (alone or exchanges)


def _whole(target: Target | Head) -> Target:
    from hsgen.targets import heads
    from hsgen.targets import target as target_files

    return target_files.find(target.name) if isinstance(target, heads.Head) else target
