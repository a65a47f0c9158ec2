"""Compiles OpenCL kernels for AMD GPUs with clang's AMDGPU back end.

The clang is that of the ziglang package from PyPI, or any clang of this machine.  ROCm's OpenCL compiler uses the same
back end, and a driver of the same LLVM version gives the same registers and spills.  clang alone lacks the
driver's headers and device library.  ``amdgcn.h`` in this folder defines the parts of OpenCL that hsgen's kernels use.
Its shuffles may compile to other instructions than the driver's shuffles.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hsgen.apis.opencl import API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.system import extras, processes, toolchain
from hsgen.targets.isa import KINDS
from hsgen.tools.compile.base import Request, Use
from hsgen.tools.compile.refusals import refusal

_TARGET = ("--target=amdgcn-amd-amdhsa", "-nogpulib")
_ASSEMBLY = ("-w", "-O3", "-S")
_CLANGS = ("clang", *(f"clang-{n}" for n in range(30, 13, -1)))
_ASKING = 60

WAVES = {
    **dict.fromkeys(("gfx801", "gfx802", "gfx803", "gfx805", "gfx810"), 10),  # GCN 3 and 4
    **dict.fromkeys(("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"), 10),  # GCN 5
    **dict.fromkeys(("gfx908",), 10),  # CDNA 1
    **dict.fromkeys(("gfx90a", "gfx940", "gfx942", "gfx950"), 8),  # CDNA 2 to 4
    **dict.fromkeys(("gfx1010", "gfx1011", "gfx1012", "gfx1013"), 20),  # RDNA 1
    **dict.fromkeys(("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"), 16),  # RDNA 2
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"), 16),
    **dict.fromkeys(("gfx1200", "gfx1201"), 16),  # RDNA 4
}
"""The greatest number of wavefronts on a SIMD unit, by LLVM's device names.

The numbers are those of `getMaxWavesPerEU` in LLVM's AMDGPUBaseInfo.  Older devices are left out, because they lack the
instruction that implements shuffles.
"""

_METADATA = re.compile(r"\.amdgpu_metadata\n(.*?)\.end_amdgpu_metadata", re.DOTALL)
_FIELD = re.compile(r"^(?:    )?\.(\w+): +(\S+)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\t[a-z]\w+(?:\s|$)", re.MULTILINE)


class Amdgcn:
    """clang for AMD GPUs.

    ``Use.registers`` counts vector registers, and accumulators too on devices that have them.  `spill_bytes` is the
    size of a lane's private segment.  It holds spilled registers, and arrays that the compiler keeps in memory (in
    hsgen's kernels there should be none).  Scalar registers that spill into lanes of a vector register take no memory;
    `registers` includes that vector register.  `occupancy` is the number of wavefronts that the compiler reports for a
    SIMD unit, divided by the number in `WAVES`.  Some versions of clang before 22 (at least 14) report a number that
    ignores the kernel's local memory.

    All kernels of a program have the same wavefront width: the subgroup size of the sort, or the device's default width
    if lanes exchange no values.
    """

    name = "amdgcn"
    api = API.name
    install = extras.command("isa-amd")
    language: tuple[str, ...] = ("-x", "cl", "-cl-std=CL2.0", "-cl-no-stdinc", *_ASSEMBLY)
    prelude = Path(__file__).with_name("amdgcn.h")
    suffix = "cl"

    def target(self, device: str) -> tuple[str, ...]:
        """Return the compiler's options for one device."""
        return (*_TARGET, f"-mcpu={device}")

    def text(self, request: Request) -> str:
        """Return the text of a request in the compiler's language."""
        return request.text

    def devices(self) -> Sequence[str]:
        """Return LLVM's names of the known devices, oldest first."""
        return KINDS[self.name].devices

    def identity(self, device: str) -> str | None:
        """Return the version of the first clang that supports `device`; None without one.  ziglang's is tried first."""
        command = _compiler(device)
        return _version(command) if command else None

    def recipe(self, request: Request) -> str:
        """Return the options, the hash of ``amdgcn.h``, and the version of this class's parser of results."""
        prelude = hashlib.sha256(self.prelude.read_bytes()).hexdigest()
        return f"1 {' '.join(self.language)} {WAVES[request.device]} {request.sort.lanes} {prelude}"

    def wave(self, request: Request) -> int:
        """Return the wavefront width for a request, in lanes.

        Raises:
            Wrong: the device has no wavefronts of the sort's subgroup size.
        """
        return wave(request, (32, 64) if narrow(request.device) else (64,))

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile for one device; see `hsgen.tools.compile.base.Compiler.compile`."""
        device = request.device
        command = _compiler(device)
        if command is None:
            versions = ", ".join(_version(c) for c in _clangs() if _known(c)) or "nothing"
            raise Unavailable(f"no clang for {device} (found {versions}); {self.install}")
        wave = self.wave(request)
        source, out = folder / f"kernels.{self.suffix}", folder / "kernels.s"
        source.write_text(self.text(request), encoding="utf-8")
        options = [*self.target(device), *(["-mwavefrontsize64"] if wave == 64 and narrow(device) else [])]
        prelude = ["-include", str(self.prelude), f"-DHS_WAVE={wave}"]
        done = processes.run(
            [*command, *self.language, *options, *prelude, str(source), "-o", str(out)], seconds, folder
        )
        if done.returncode:
            raise refusal(f"{_version(command)} for {device}", done, folder)
        text = out.read_text(encoding="utf-8", errors="replace")
        needs = _needs(text)
        return {k.name: _use(f"clang for {device}", k.name, needs, text, WAVES[device]) for k in request.kernels}


def narrow(device: str) -> bool:
    """Return True if a device's wavefronts have 32 lanes by default (RDNA); all devices also support 64 lanes."""
    return len(device) > len("gfx900")


def wave(request: Request, offered: tuple[int, ...]) -> int:
    """Return the wavefront width for a request, in lanes; `offered` are the device's widths, the default first.

    Raises:
        Wrong: the sort's subgroup size is not in `offered`.
    """
    lanes = request.sort.lanes
    if lanes > 1 and lanes not in offered:
        have = " or ".join(map(str, offered))
        raise Wrong(f"clang for {request.device}: subgroups have {have} lanes, not {lanes}; give subgroup = {have}")
    return lanes if lanes > 1 else offered[0]


def _needs(text: str) -> dict[str, dict[str, str]]:
    """Return the metadata fields of each kernel in the assembly `text`, by the kernel's name."""
    metadata = _METADATA.search(text)
    entries = re.split(r"^  - (?=\.)", metadata[1] if metadata else "", flags=re.MULTILINE)
    fields = [dict(_FIELD.findall(entry)) for entry in entries]
    return {f["name"]: f for f in fields if "name" in f and "vgpr_count" in f}


def _use(who: str, kernel: str, needs: dict[str, dict[str, str]], text: str, waves: int) -> Use:
    begin = re.search(rf"^{kernel}:", text, re.MULTILINE)
    if kernel not in needs or begin is None:
        raise Wrong(f"{who}: kernel {kernel}: is not in the generated code")
    code = text[begin.start() :]
    end = code.find("\n.Lfunc_end")
    resident = re.search(r"^; Occupancy: (\d+)", code, re.MULTILINE)
    fields = needs[kernel]
    return Use(
        registers=int(fields["vgpr_count"]),
        spill_bytes=int(fields["private_segment_fixed_size"]),
        local_bytes=int(fields["group_segment_fixed_size"]),
        instructions=len(_INSTRUCTION.findall(code[:end])),
        occupancy=min(1.0, int(resident[1]) / waves) if resident else None,
    )


def _clangs() -> list[tuple[str, ...]]:
    """Return the commands of all clangs of this machine: ziglang's first, then the newest versions first."""
    packaged = [tuple(processes.python("ziglang", "clang"))] if toolchain.has_module("ziglang") else []
    paths = dict.fromkeys(str(Path(p).resolve()) for name in _CLANGS if (p := toolchain.tool(name)))
    return [*packaged, *((path,) for path in paths)]


def _compiler(device: str) -> tuple[str, ...] | None:
    """Return the command of the first clang that supports a device, or None."""
    return next((c for c in _clangs() if device in WAVES and device in _known(c)), None)


@cache
def _known(command: tuple[str, ...]) -> frozenset[str]:
    """Return the AMD GPUs that a clang supports; empty if the clang lacks this back end."""
    done = toolchain.run([*command, *_TARGET, "--print-supported-cpus"], _ASKING)
    return frozenset(re.findall(r"^\s+(gfx\w+)$", done.stdout + done.stderr, re.MULTILINE))


@cache
def _version(command: tuple[str, ...]) -> str:
    match = re.search(r"clang version (\S+)", toolchain.run([*command, "--version"], _ASKING).stdout)
    name = f"clang {match[1]}" if match else "clang of unknown version"
    return f"{name} (ziglang {importlib.metadata.version('ziglang')})" if "ziglang" in command else name
