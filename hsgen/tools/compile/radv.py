"""Compiles Vulkan kernels for AMD GPUs with RADV, Mesa's Vulkan driver, which needs no GPU for this purpose.

RADV reports statistics of each kernel.  Its compiler, ACO, is the same as on real devices.  Each job runs in a process
of its own (`radv_child`), for two reasons: an environment variable selects the GPU, and the driver aborts its process
on unexpected input.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.apis.vulkan import API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.kernels import Kernel
from hsgen.emit import spirv
from hsgen.system import folders, processes
from hsgen.targets.isa import KINDS
from hsgen.tools.compile.base import Request, Use
from hsgen.tools.compile.modules import modules

_FOLDERS = ("/usr/local/share", "/usr/local/etc", "/etc", "/usr/share")
_ASKING = 60.0
_ALONE = {  # variables that make the driver ignore the user's settings
    "VK_LOADER_LAYERS_DISABLE": "~all~",
    "MESA_SHADER_CACHE_DISABLE": "true",
    "RADV_DEBUG": "",
    "RADV_PERFTEST": "",
    "ACO_DEBUG": "",
}
_OLD = KINDS["radv"].devices.index("navi10")  # earlier devices have wavefronts of 64 lanes only
_NEEDED = ("Subgroup size", "VGPRs", "Scratch size", "LDS size", "Instructions", "Subgroups per SIMD")
_POLARIS = ("polaris10", "polaris11", "polaris12", "vegam")


class Radv:
    """RADV without hardware.

    ``Use.registers`` counts vector registers.  `spill_bytes` is the scratch memory of a lane, for spilled registers and
    arrays.  Scalar registers that spill into lanes of vector registers take no memory.  `occupancy` is the driver's
    statistic "Subgroups per SIMD", divided by the greatest number that the device allows.  Some kernels have a second
    variant, which reads buffers by device addresses.  Then each number is the worse one of both variants.
    """

    name = "radv"
    api = API.name
    install = "apt-get install mesa-vulkan-drivers libvulkan1 glslang-tools"

    def devices(self) -> Sequence[str]:
        """Return the GPU families by RADV's names."""
        return KINDS[self.name].devices

    def identity(self, device: str) -> str | None:
        """Return the versions of driver and GLSL compiler; None if either is missing, or `device` is unknown."""
        driver, using = _driver(device), spirv.compiler()
        return f"{driver}, {using.identity}" if driver and using else None

    def recipe(self, request: Request) -> str:
        """Return the version of Vulkan, and the version of this class's parser of results."""
        return f"1 {request.sort.vulkan}"

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile for one device; see `hsgen.tools.compile.base.Compiler.compile`."""
        begin, device = time.monotonic(), request.device
        if device not in self.devices():
            raise Unavailable(f"radv: {device} is unknown; it supports {', '.join(self.devices())}")
        for kernel in request.kernels:
            _offered(device, kernel)
        orders = modules(request, folder, seconds)
        left = max(1.0, seconds - (time.monotonic() - begin))
        _, done, answers = _ask(device, orders, folder, left)
        checked = _checked(f"radv for {device}", orders, done, answers)
        return {k.name: _use(device, [a for o, a in checked if o["kernel"] == k.name]) for k in request.kernels}


def _offered(device: str, kernel: Kernel) -> None:
    """Check that a GPU family supports the wavefront width that a kernel requires; the driver does not check it.

    Raises:
        Wrong: the family does not support this width.
    """
    widths = (64,) if KINDS["radv"].devices.index(device) < _OLD else (32, 64)
    if kernel.subgroup > 1 and kernel.subgroup not in widths:
        have = " or ".join(map(str, widths))
        raise Wrong(f"radv for {device}: kernel {kernel.name}: subgroups have {have} lanes, not {kernel.subgroup}")


def _most(device: str, lanes: int) -> int:
    """Return the greatest value of the driver's statistic "Subgroups per SIMD", for wavefronts of `lanes` lanes.

    From RDNA on, the driver counts a wavefront of 64 lanes twice.
    """
    if device in _POLARIS:
        return 8
    at = KINDS["radv"].devices.index
    if at(device) < _OLD:
        return 10
    return (20 if at(device) < at("navi21") else 16) * lanes // 32


def _checked(
    who: str, orders: list[dict[str, Any]], done: subprocess.CompletedProcess[str], answers: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each order (a module to compile) with its answer (its statistics).

    Raises:
        Wrong: an answer is missing or incomplete, or its kernel was compiled for another subgroup size.
    """
    good = [a for a in answers if "failed" not in a]
    if len(good) < len(orders):
        why = next((a["failed"] for a in answers if "failed" in a), processes.ending(done.returncode))
        raise Wrong(f"{who}: kernel {orders[len(good)]['kernel']}: {why}", *done.stderr.splitlines())
    for order, answer in zip(orders, answers, strict=True):
        if lacking := [name for name in _NEEDED if name not in answer]:
            why = f"the driver does not report {', '.join(lacking)}, as that of Mesa 25.0 does"
            raise Wrong(f"{who}: kernel {order['kernel']}: {why}")
        if order["subgroup"] > 1 and answer["Subgroup size"] != order["subgroup"]:
            got = f"compiled for subgroups of {answer['Subgroup size']} lanes, not {order['subgroup']}"
            raise Wrong(f"{who}: kernel {order['kernel']}: {got}")
    return list(zip(orders, answers, strict=True))


def _use(device: str, variants: list[dict[str, Any]]) -> Use:
    """Return the resources of a kernel from the statistics of its variants."""
    return Use(
        registers=max(v["VGPRs"] for v in variants),
        spill_bytes=max(-(-v["Scratch size"] // v["Subgroup size"]) for v in variants),
        local_bytes=max(v["LDS size"] for v in variants),
        instructions=max(v["Instructions"] for v in variants),
        occupancy=min(1.0, *(v["Subgroups per SIMD"] / _most(device, v["Subgroup size"]) for v in variants)),
    )


def _manifest() -> Path | None:
    """Return the file that registers RADV with the Vulkan loader, or None."""
    homes = [os.environ.get("XDG_DATA_HOME") or str(Path("~/.local/share").expanduser())]
    files = [p for f in (*homes, *_FOLDERS) for p in sorted((Path(f) / "vulkan" / "icd.d").glob("radeon_icd*.json"))]
    return min(files, key=lambda p: "i686" in p.name) if files else None


@cache
def _driver(device: str) -> str | None:
    """Return the name and version of the driver for a GPU family.

    The result is None if the driver or the Vulkan loader is missing, or if the driver does not know the family.
    """
    with folders.scratch() as folder:
        try:
            return _ask(device, [], folder, _ASKING)[0]
        except (Unavailable, subprocess.TimeoutExpired):
            return None


def _ask(
    device: str, orders: list[dict[str, Any]], folder: Path, seconds: float
) -> tuple[str, subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Compile the modules `orders` in another process; return the driver, the completed process, and the answers.

    Raises:
        Unavailable: there is no driver, or it does not support the device.
    """
    manifest = _manifest()
    if manifest is None:
        raise Unavailable(f"radv: is not installed; {Radv.install}")
    variables = {"RADV_FORCE_FAMILY": device, "VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest)}
    command = processes.python("hsgen.tools.compile.radv_child")
    done = processes.run(command, seconds, folder, json.dumps(orders), **_ALONE, **variables)
    head, *answers = [json.loads(x) for x in done.stdout.splitlines() if x.endswith("}")] or [{}]
    name, driver = str(head.get("device", "")), str(head.get("driver", ""))
    if f"RADV {device.upper()})" not in name or not driver.startswith("radv "):
        errors = [line for line in done.stderr.splitlines() if line.strip()]
        why = head.get("failed") or (f"the driver makes {name}" if name else errors[-1] if errors else "no device")
        raise Unavailable(f"radv: nothing here compiles for {device} ({why}); {Radv.install}")
    return driver, done, answers
