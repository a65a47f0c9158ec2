"""The table ``[match]`` of a target: the properties that a device must have to belong to the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.fields import PLAIN_TEXT, Field, Reader, presentable

FIELDS = {
    "types": Field("strs", 'OpenCL device types, for example ["gpu"]', required=False, choices=("cpu", "gpu", "other")),
    "vendors": Field("ints", "vendor numbers, for example [0x8086]", required=False),
    "names": Field("strs", "parts of device names, any of which suffices", required=False),
    "platforms": Field("strs", "parts of the names of OpenCL platforms or Vulkan drivers", required=False),
    "compute": Field("ints", "the least and the greatest compute capability, like [80, 129]", required=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The properties that a device must have to belong to a target.  A field with an empty tuple allows every device.

    types: the allowed OpenCL device types.
    vendors: the allowed vendor numbers.
    names: texts, one of which the name of the device must contain.
    platforms: texts, one of which the name of the OpenCL platform or Vulkan driver must contain.
    compute: the least and the greatest compute capability, as 10 * major + minor.
    """

    types: tuple[str, ...] = ()
    vendors: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    compute: tuple[int, ...] = ()


def rank(match: Match) -> int:
    """Return a number by which hsgen selects among the targets that match a device: it takes the greatest.

    The number of stated properties counts first, then the least compute capability.  For example, OpenCL may not report
    the compute capability, so targets that differ only in it all match.  hsgen then takes that for the newest devices.
    """
    named = sum(bool(x) for x in (match.types, match.vendors, match.names, match.platforms, match.compute))
    return 1000 * named + (match.compute[0] if match.compute else 0)


def read_match(r: Reader, data: Mapping[str, Any]) -> Match:
    """Read and return the table ``[match]``; record errors in `r`."""
    match = r.fields(r.table(data, "match", required=False) or {}, "match", FIELDS)
    for part in (*match.get("names", []), *match.get("platforms", [])):
        if not presentable(part):
            r.error("match", f"{part!r} cannot be looked for", PLAIN_TEXT)
    if (span := match.get("compute")) is not None and (len(span) != 2 or not 0 < span[0] <= span[1]):
        r.error("match.compute", f"{span} is no range", "give two numbers, for example [80, 129]")
    return Match(**{name: tuple(values) for name, values in match.items()})
