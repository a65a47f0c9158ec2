"""What a device says of itself, as plain values: what `hsgen probe` makes a target file of.

Members of a query, sizes in bytes, 0 or absent if not reported: ``name``, ``platform``, ``driver``,
``type``, ``vendor``, ``compute``, ``work_group``, ``local_bytes``, ``subgroups`` (widths), ``shuffle``, ``ballot``,
``int64``, ``storage8``, ``storage16``, ``groups`` (of one dimension of a grid), ``group_subgroups`` (the subgroups of a
work-group, where a width is asked for), ``binding_bytes``, ``local`` ("chip", "memory"), ``vulkan`` (the version), and
of a core: ``cores``, ``units``, ``threads``, ``registers`` (`hsgen.core.device.Device` says what they are).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsgen.apis import APIS
from hsgen.engines.hosts import Host, offers
from hsgen.system import toolchain

_WIDTHS = (2, 4, 8, 16, 32, 64, 128)
_HOST = ("name", "platform", "driver", "type", "vendor", "work_group", "local_bytes", "shuffle", "ballot", "int64")
_WORDS = 1 << 32  # work-groups of a grid whose sizes have 64 bits, and more than anyone counts


def asked(host: Host) -> dict[str, Any]:
    """Return the query of a device."""
    found: dict[str, Any] = {name: getattr(host, name) for name in _HOST}
    if host.compute:
        found["compute"] = host.compute
    if host.widths is None:
        return {**found, **_opencl(host)}
    more = {name: value for name, value in host.more.items() if value or value is False}
    probe = APIS[host.api].probe
    return found | (probe.facts(host.widths, more) if probe else more)


def _opencl(host: Host) -> dict[str, Any]:
    """What pyopencl can ask of a device; widths are tried by compiling."""
    cl = toolchain.pyopencl()
    device, info = host.handle, cl.device_info

    def get(name: str) -> int:
        """A number that some vendors report, else 0."""
        return _number(cl, lambda: device.get_info(getattr(info, name)))

    embedded = "EMBEDDED" in device.profile
    extensions = device.extensions.split()
    found: dict[str, Any] = {
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
        found["compute"] = 10 * get("COMPUTE_CAPABILITY_MAJOR_NV") + get("COMPUTE_CAPABILITY_MINOR_NV")
        found["registers"] = get("REGISTERS_PER_BLOCK_NV")
    if get("WAVEFRONT_WIDTH_AMD"):
        found["units"] = get("SIMD_PER_COMPUTE_UNIT_AMD")
    return {name: value for name, value in found.items() if value or value is False}


def _number(cl: Any, ask: Callable[[], Any]) -> int:
    try:
        return int(ask())
    except (cl.Error, AttributeError, TypeError, ValueError):
        return 0
