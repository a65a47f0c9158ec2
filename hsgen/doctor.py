"""What this machine has, and which command each missing thing costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hsgen import target as targets
from hsgen import toolchain
from hsgen.backends import hosts as devices
from hsgen.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that hsgen can use: what was found, or what its lack costs and how to get it."""

    what: str
    found: str | None
    costs: str

    def record(self) -> dict[str, Any]:
        """The finding as JSON has it."""
        return asdict(self)


_INSTALL = "pip install 'hsgen[cpu-device]'"


def findings() -> list[Finding]:
    """Return everything looked for, in a fixed order."""
    problem = toolchain.embedded_problem()
    why = f": {problem}" if problem else ""
    out = [
        Finding(
            what="embedded OpenCL runtime",
            found=None if problem else toolchain.EMBEDDED,
            costs=f"validate and bench for the targets cpu and intel-gen8{why}; {_INSTALL}",
        )
    ]
    try:
        hosts = devices.hosts()
    except Unavailable as e:
        return [*out, Finding(what="OpenCL device", found=None, costs=str(e))]
    known = [targets.find(n) for n in targets.names()]
    for host in hosts:
        widths = [w for w in (4, 8, 16, 32, 64, 128) if devices.offers(host, w)]
        lanes = f"subgroups of {', '.join(map(str, widths))}" if widths else "no subgroups to choose"
        best = devices.target_for(host, known).name
        out.append(Finding(what="OpenCL device", found=f"{host.label}: {lanes}; target {best}", costs=""))
    if not hosts:
        out.append(Finding(what="OpenCL device", found=None, costs=f"validate, bench; {_INSTALL}"))
    path = toolchain.tool("oclgrind")
    out.append(Finding(what="oclgrind", found=path, costs="the race check of the tests; apt-get install oclgrind"))
    return out
