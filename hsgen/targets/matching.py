"""The table ``[match]``: the properties by which a host recognises the devices of a target."""

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
    """The properties by which a host recognises a device of the target.  An empty tuple matches every device.

    types: OpenCL device types.  vendors: vendor numbers.  names, platforms: parts of names.  compute: the least and the
    greatest compute capability.
    """

    types: tuple[str, ...] = ()
    vendors: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    compute: tuple[int, ...] = ()


def rank(match: Match) -> int:
    """Return a number that orders matches: by the number of properties, then by the least compute capability.

    An API that does not report compute capabilities selects the newest of the targets that differ only in this
    property.
    """
    named = sum(bool(x) for x in (match.types, match.vendors, match.names, match.platforms, match.compute))
    return 1000 * named + (match.compute[0] if match.compute else 0)


def read_match(r: Reader, data: Mapping[str, Any]) -> Match:
    """Return the content of the table ``[match]``; record errors in `r`."""
    match = r.fields(r.table(data, "match", required=False) or {}, "match", FIELDS)
    for part in (*match.get("names", []), *match.get("platforms", [])):
        if not presentable(part):
            r.error("match", f"{part!r} cannot be looked for", PLAIN_TEXT)
    if (span := match.get("compute")) is not None and (len(span) != 2 or not 0 < span[0] <= span[1]):
        r.error("match.compute", f"{span} is no range", "give two numbers, for example [80, 129]")
    return Match(**{name: tuple(values) for name, values in match.items()})
