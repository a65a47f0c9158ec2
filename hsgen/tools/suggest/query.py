"""Queries: the properties that a device reports, as a JSON file that people can send.

`facts` derives the facts of a device from a query.  If the API does not report a fact, a safe value is used.  For facts
of a core, such as its registers, values that are known for the vendor's GPUs are used instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hsgen.apis import APIS, having
from hsgen.apis.api import Probe
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.fields import Field, Reader
from hsgen.system import documents
from hsgen.tools.suggest.facts import NVIDIA, Facts

AMD, ARM, QUALCOMM, APPLE, INTEL = 0x1002, 0x13B5, 0x5143, 0x106B, 0x8086

SAFE: Mapping[str, tuple[Any, str]] = {
    "groups": (65535, "not reported: the least that Vulkan allows"),
    "binding_bytes": (1 << 27, "not reported: the least that Vulkan and OpenCL allow"),
    "storage8": (False, "not reported"),
    "storage16": (False, "not reported"),
    "progress": ("none", "no API reports it: none is promised"),
    "local": ("chip", "not reported"),
    "threads": (None, ""),
    "units": (None, ""),
    "registers": (None, ""),
    "cores": (None, ""),
}
"""Facts that an API may not report: (safe value, reason); with None, the fact is left out of the target file."""


class Known(NamedTuple):
    """Facts of a core that are known for a vendor's GPUs: (subgroups, SIMD units, registers), and their source."""

    core: tuple[int, int, int]
    whence: str


VENDORS: Mapping[int, Known] = {
    NVIDIA: Known((64, 4, 65536), "an SM of most GPUs since Kepler (CUDA guide)"),
    AMD: Known((32, 4, 65536), "a compute unit of GCN to RDNA (LLVM's AMDGPU guide)"),
    INTEL: Known((56, 8, 57344), "a subslice of Gen8 to Gen11 (Intel's Gen8 architecture)"),
    ARM: Known((64, 2, 32768), "a core as a Mali-G720 reports it, its registers assumed"),
    QUALCOMM: Known((16, 2, 32768), "a shader processor of Adreno 6xx (Mesa's device table)"),
    APPLE: Known((96, 4, 53248), "assumed: a core of the M1"),
}
"""The facts of a core by vendor, which are used if the API does not report them."""


SCHEMA = 1
PROBED = tuple(api.name for api in having(lambda api: api.probe))

_TOP = {
    "schema": Field("int", f"the number {SCHEMA}", least=SCHEMA, greatest=SCHEMA),
    "api": Field("str", f"one of {', '.join(PROBED)}", choices=PROBED),
    "source": Field("str", "where the values are from", required=False),
}
_COUNT = "as the device reports it"
_DEVICE = {
    "name": Field("str", "the device's name", filled=True),
    "platform": Field("str", "the platform's or driver's name", required=False),
    "driver": Field("str", "the driver's version", required=False),
    "type": Field("str", 'for example "gpu"', choices=("cpu", "gpu", "other")),
    "vendor": Field("int", "the vendor's number"),
    "compute": Field("int", "10 x major + minor", required=False, greatest=999),
    "work_group": Field("int", "the greatest work-group, in lanes", least=1),
    "local_bytes": Field("int", "the local memory of a work-group", least=1),
    "subgroups": Field("ints", "the widths that kernels can ask for, [1] if none", least=1, greatest=128, filled=True),
    "shuffle": Field("bool", "whether lanes can exchange values"),
    "ballot": Field("bool", "whether lanes can vote", required=False),
    "int64": Field("bool", "whether 64-bit integers exist"),
    "storage8": Field("bool", "whether buffers of 8-bit elements exist", required=False),
    "storage16": Field("bool", "whether buffers of 16-bit elements exist", required=False),
    "groups": Field("int", _COUNT, required=False),
    "group_subgroups": Field("int", _COUNT, required=False),
    "binding_bytes": Field("int", _COUNT, required=False),
    "local": Field("str", '"chip" or "memory"', required=False, choices=("chip", "memory")),
    "vulkan": Field("str", 'for example "1.3"', required=False),
    "cores": Field("int", _COUNT, required=False, greatest=4096),
    "units": Field("int", _COUNT, required=False, greatest=256),
    "threads": Field("int", _COUNT, required=False, greatest=4096),
    "registers": Field("int", _COUNT, required=False, greatest=1 << 24),
}


_HINT = "give the output of hsgen probe --raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The properties of a device in an API, by the names of `hsgen.engines.query`."""

    api: str
    properties: Mapping[str, Any]
    source: str = ""

    def text(self) -> str:
        """Return the query as JSON, with a line per property."""
        top = {"schema": SCHEMA, "api": self.api, **({"source": self.source} if self.source else {})}
        head = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in top.items())
        body = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in self.properties.items())
        return f'{{\n{head},\n  "device": {{\n{body}\n  }}\n}}\n'


def parse(text: str, where: str) -> Query:
    """Return the query in a JSON text.

    Raises:
        Usage: the text is not a valid query; the message has a line per error.
    """
    data = documents.parsed_json(text, where, _HINT)
    if not isinstance(data, dict):
        raise Usage(f"{where}: is no JSON object; give the output of hsgen probe --raw")
    r = Reader(where)
    r.unknown(data, "", (*_TOP, "device"))
    top = r.fields({k: v for k, v in data.items() if k in _TOP}, "", _TOP)
    device = r.table(data, "device")
    properties = r.fields(device, "device", _DEVICE) if device is not None else {}
    r.check()
    return Query(api=top["api"], properties=properties, source=top.get("source", ""))


def read(path: Path) -> Query:
    """Return the query in a file.

    Raises:
        Usage: the file cannot be read, or is not a valid query.
    """
    return parse(documents.text(path, _HINT), str(path))


def facts(q: Query) -> tuple[Facts, dict[str, str]]:
    """Return the facts of a query's device, and a text with the source of each fact, by the fact's name."""
    properties, probe = q.properties, APIS[q.api].probe
    assert probe is not None
    origin = dict(probe.origins)
    values: dict[str, Any] = {}
    for name, (value, why) in {**SAFE, **_known(q, probe)}.items():
        reported = properties.get(name) or properties.get(name) is False
        values[name] = properties[name] if reported else value
        if not reported:
            origin[name] = why
    for name in ("work_group", "local_bytes", "int64", "shuffle"):
        values[name] = properties[name]
    values["subgroups"] = tuple(sorted(set(properties["subgroups"])))
    least = next((w for w in values["subgroups"] if w > 1), 1)
    if (most := properties.get("group_subgroups", 0) * least) and least > 1 and most < values["work_group"]:
        values["work_group"] = most
        origin["work_group"] = f"{properties['group_subgroups']} subgroups of {least}: maxComputeWorkgroupSubgroups"
    if properties["type"] == "gpu" and properties["vendor"] in probe.cores_are_units and properties.get("cores"):
        values["cores"] = max(1, properties["cores"] // values["units"])
        origin["cores"] += " / units, which is what Intel counts"
    values["groups"] = min(values["groups"], (1 << 32) - 1)
    device = Device(**{name: value for name, value in values.items() if value is not None})
    ballot = properties.get("ballot", False)
    return Facts(
        device=device, apis=(q.api,), cpu=properties["type"] == "cpu", vendor=properties["vendor"], ballot=ballot
    ), origin


def _known(q: Query, probe: Probe) -> dict[str, tuple[Any, str]]:
    """Return facts that are known for devices of this vendor, with their sources.

    The facts apply if the API does not report them.
    """
    properties, vendor = q.properties, q.properties["vendor"]
    if properties["type"] == "cpu":
        known = ("Intel(R) OpenCL" in properties.get("platform", ""), "llvmpipe" in properties["name"])
        goes = {"progress": ("started", "as seen of this runtime")} if any(known) else {}
        return {"local": ("memory", "as on all CPUs"), **goes}
    goes = {"progress": ("started", "as on all GPUs of this vendor in practice")}
    known_core = VENDORS.get(vendor)
    core: dict[str, tuple[Any, str]] = {}
    if known_core is not None:
        values = zip(("threads", "units", "registers"), known_core.core, strict=True)
        core = {name: (value, f"not reported; {known_core.whence}") for name, value in values}
    if vendor == ARM:
        core["local"] = ("memory", "as on all Mali GPUs")
    if vendor == INTEL:
        core["unroll"] = ("text", "not reported; Intel's compilers spill where loops index registers")
    return {**core, **(goes if vendor in (NVIDIA, AMD) or probe.started else {})}
