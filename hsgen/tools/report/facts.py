"""What a report says of a target as a whole: the device's facts, and how far it has been shown to work."""

from __future__ import annotations

from hsgen.apis import APIS
from hsgen.core.device import Device
from hsgen.targets.evidence import LEVELS
from hsgen.targets.target import Target
from hsgen.tools.report.drawing import count

_SAID = {
    "device": "run on the device itself",
    "cpu": "run on a CPU runtime, not on the device",
    "compiled": "compiled for the device's instruction set, never run",
    "": "nothing has been shown",
}
"""The levels of evidence in words."""

_PROGRESS = {"none": "not promised", "started": "once started, they go on", "guaranteed": "promised once started"}


def facts(found: Target) -> list[tuple[str, str]]:
    """Return the facts of the device that choices are checked against: (what, value)."""
    d = found.device
    return [
        ("lanes of a subgroup", ", ".join(map(str, d.subgroups)) if d.subgroups != (1,) else "no subgroups"),
        ("lanes exchange values", _yes(d.shuffle)),
        ("greatest work-group", f"{count(d.work_group)} lanes"),
        ("greatest grid", f"{count(d.groups)} work-groups in one dimension"),
        ("local memory", f"{count(d.local_bytes)} bytes a work-group" + ", in ordinary memory" * (d.local == "memory")),
        ("64-bit integers", _yes(d.int64)),
        ("buffers of 8 and 16 bits", f"{_yes(d.storage8)} and {_yes(d.storage16)}"),
        ("largest binding", f"{count(d.binding_bytes)} bytes"),
        ("progress of work-groups", _PROGRESS[d.progress]),
        *([("SPIR-V for", f"Vulkan {d.vulkan}")] if any(APIS[api].spirv for api in found.apis) else []),
        *_core(d),
    ]


def _core(d: Device) -> list[tuple[str, str]]:
    """What is known of a core, on which a work-group runs."""
    known = (("subgroups at once", d.threads), ("SIMD units", d.units), ("registers", d.registers))
    said = ", ".join(f"{count(value)} {what}" for what, value in known if value)
    cores = [("cores", f"up to {count(d.cores)}")] if d.cores else []
    return [*([("a core", said)] if said else []), *cores]


def matches(found: Target) -> list[tuple[str, str]]:
    """Return by what a device of the target is recognised: (what, value); nothing for one that matches any."""
    m = found.match
    rows = [
        ("type", ", ".join(m.types)),
        ("vendor", ", ".join(f"{v:#06x}" for v in m.vendors)),
        ("name holds", " or ".join(m.names)),
        ("platform or driver holds", " or ".join(m.platforms)),
        ("compute capability", " to ".join(f"{c // 10}.{c % 10}" for c in m.compute)),
    ]
    return [(what, value) for what, value in rows if value]


def _reached(found: Target, api: str) -> str:
    """The highest level of evidence of an API in words, that of the present shapes if there is any."""
    rows = [e for e in found.evidence if e["api"] == api]
    now = [e["level"] for e in rows if e.get("shapes") == found.shapes]
    levels = now or [e["level"] for e in rows]
    said = _SAID[max(levels, key=list(LEVELS).index, default="")]
    return said if now or not rows else f"with other shapes than the present ones, {said}"


def standing(found: Target) -> str:
    """Return one sentence on how far the target has been shown to work, API by API."""
    said: dict[str, list[str]] = {}
    for api in found.apis:
        said.setdefault(_reached(found, api), []).append(APIS[api].title)
    parts = [f"{' and '.join(apis)}: {level}" for level, apis in said.items()]
    return "; ".join(parts) + "."


def _yes(value: bool) -> str:
    return "yes" if value else "no"
