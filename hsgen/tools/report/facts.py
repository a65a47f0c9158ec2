"""The part of a report about a target's devices: their facts, and the evidence that the target works."""

from __future__ import annotations

from hsgen.apis import APIS
from hsgen.core.device import Device
from hsgen.core.quantities import size
from hsgen.targets.evidence import LEVELS
from hsgen.targets.target import Target
from hsgen.tools.report.drawing import count

_LEVELS = {
    "device": "run on the device itself",
    "cpu": "run on a CPU runtime, not on the device",
    "compiled": "compiled for the device's instruction set, never run",
    "": "no evidence",
}
"""The levels of evidence, each with its description on the page."""

_PROGRESS = {"none": "not guaranteed", "started": "observed, once started", "guaranteed": "guaranteed, once started"}


def facts(target: Target) -> list[tuple[str, str]]:
    """Return the facts of the target's devices, as (name, value)."""
    d = target.device
    return [
        ("lanes of a subgroup", ", ".join(map(str, d.subgroups)) if d.subgroups != (1,) else "no subgroups"),
        ("lanes exchange values", _yes(d.shuffle)),
        ("greatest work-group", f"{count(d.work_group)} lanes"),
        ("greatest grid", f"{count(d.groups)} work-groups in one dimension"),
        ("local memory", f"{size(d.local_bytes)} a work-group" + ", in ordinary memory" * (d.local == "memory")),
        ("64-bit integers", _yes(d.int64)),
        ("buffers of 8 and 16 bits", f"{_yes(d.storage8)} and {_yes(d.storage16)}"),
        ("largest binding", size(d.binding_bytes)),
        ("forward progress of work-groups", _PROGRESS[d.progress]),
        *([("SPIR-V for", f"Vulkan {d.vulkan}")] if any(APIS[api].spirv for api in target.apis) else []),
        *_core(d),
    ]


def _core(d: Device) -> list[tuple[str, str]]:
    """Return the known facts of a core, the unit that runs a work-group, as (name, value)."""
    known = (("subgroups at once", d.threads), ("SIMD units", d.units), ("registers", d.registers))
    amounts = ", ".join(f"{count(value)} {noun}" for noun, value in known if value)
    cores = [("cores", f"up to {count(d.cores)}")] if d.cores else []
    return [*([("a core", amounts)] if amounts else []), *cores]


def matches(target: Target) -> list[tuple[str, str]]:
    """Return the conditions that a device of the target must meet, as (name, value).

    The result is empty if the target matches all devices.
    """
    m = target.match
    rows = [
        ("type", ", ".join(m.types)),
        ("vendor", ", ".join(f"{v:#06x}" for v in m.vendors)),
        ("name holds", " or ".join(m.names)),
        ("platform or driver holds", " or ".join(m.platforms)),
        ("compute capability", " to ".join(f"{c // 10}.{c % 10}" for c in m.compute)),
    ]
    return [(name, value) for name, value in rows if value]


def _reached(target: Target, api: str) -> str:
    """Return a description of the highest level of evidence that a target has for an API.

    Evidence for older shapes counts only if there is none for the present shapes.
    """
    rows = [e for e in target.evidence if e["api"] == api]
    now = [e["level"] for e in rows if e.get("shapes") == target.shapes]
    levels = now or [e["level"] for e in rows]
    description = _LEVELS[max(levels, key=list(LEVELS).index, default="")]
    return description if now or not rows else f"{description}, with older shapes"


def standing(target: Target) -> str:
    """Return a sentence that states the level of evidence for each API of the target."""
    titles: dict[str, list[str]] = {}
    for api in target.apis:
        titles.setdefault(_reached(target, api), []).append(APIS[api].title)
    parts = [f"{' and '.join(apis)}: {level}" for level, apis in titles.items()]
    return "; ".join(parts) + "."


def _yes(value: bool) -> str:
    return "yes" if value else "no"
