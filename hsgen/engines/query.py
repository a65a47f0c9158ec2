"""The properties that a device reports, as numbers and texts; from these, `hsgen probe` writes a target file.

The names of the properties are ``name``, ``platform``, ``driver``, ``type``, ``vendor``, ``compute``, ``work_group``,
``local_bytes``, ``subgroups`` (widths), ``shuffle``, ``ballot``, ``int64``, ``storage8``, ``storage16``, ``groups`` (in
one dimension of a grid), ``group_subgroups`` (the most subgroups of a work-group, if a kernel requires a subgroup
width), ``binding_bytes``, ``local`` ("chip", "memory"), ``vulkan`` (the version), and the facts about the device's
cores ``cores``, ``units``, ``threads`` and ``registers`` (see `hsgen.core.device.Device`).  Sizes are in bytes.  A
property is 0 or absent if the device does not report it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsgen.apis import APIS
from hsgen.engines.hosts import Host, offers
from hsgen.system import toolchain

_WIDTHS = (2, 4, 8, 16, 32, 64, 128)
_HOST = ("name", "platform", "driver", "type", "vendor", "work_group", "local_bytes", "shuffle", "ballot", "int64")
_WORDS = 1 << 32  # hsgen counts the work-groups of a grid in 32 bits, which limits grids of devices with 64-bit sizes


def properties(host: Host) -> dict[str, Any]:
    """Return the properties that a device reports, by name."""
    query: dict[str, Any] = {name: getattr(host, name) for name in _HOST}
    if host.compute:
        query["compute"] = host.compute
    if host.widths is None:
        return {**query, **_opencl(host)}
    more = {name: value for name, value in host.more.items() if value or value is False}
    probe = APIS[host.api].probe
    return query | (probe.facts(host.widths, more) if probe else more)


def _opencl(host: Host) -> dict[str, Any]:
    """Return the properties that pyopencl can query, and the subgroup widths, which trial compilations determine."""
    cl = toolchain.pyopencl()
    device, info = host.handle, cl.device_info

    def get(name: str) -> int:
        """Return a property that only the devices of some vendors report; 0 if this device does not report it."""
        return _number(cl, lambda: device.get_info(getattr(info, name)))

    embedded = "EMBEDDED" in device.profile
    extensions = device.extensions.split()
    query: dict[str, Any] = {
        "subgroups": [w for w in _WIDTHS if w <= host.work_group and offers(host, w)] or [1],
        "int64": not embedded or "cles_khr_int64" in extensions,
        "storage8": True,  # stores of bytes are part of OpenCL since 1.1
        "storage16": True,
        "groups": _WORDS - 1 if device.address_bits == 64 else (1 << 31) - 1,
        "binding_bytes": int(device.max_mem_alloc_size),
        "local": "chip" if device.local_mem_type == cl.device_local_mem_type.LOCAL else "memory",
        "cores": int(device.max_compute_units),
    }
    if get("WARP_SIZE_NV"):
        query["compute"] = 10 * get("COMPUTE_CAPABILITY_MAJOR_NV") + get("COMPUTE_CAPABILITY_MINOR_NV")
        query["registers"] = get("REGISTERS_PER_BLOCK_NV")
    if get("WAVEFRONT_WIDTH_AMD"):
        query["units"] = get("SIMD_PER_COMPUTE_UNIT_AMD")
    return {name: value for name, value in query.items() if value or value is False}


def _number(cl: Any, ask: Callable[[], Any]) -> int:
    try:
        return int(ask())
    except (cl.Error, AttributeError, TypeError, ValueError):
        return 0
