"""Compiles OpenCL kernels for Intel GPUs of Gen8 and later with ocloc, Intel's offline compiler.

ocloc is the driver's own compiler.  ocloc does not report the resources of a kernel, but its graphics compiler (IGC)
can dump a listing with them.  If registers do not suffice, IGC compiles the kernel again, without unrolling and with
arrays in memory.  Then a kernel has several listings, one for each attempt.  The valid listing is that whose
instructions are in the binary.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hsgen.apis.opencl import API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.kernels import Kernel
from hsgen.system import folders, processes, toolchain
from hsgen.targets.isa import KINDS
from hsgen.tools.compile.base import Request, Use
from hsgen.tools.compile.refusals import refusal

_STANDARD = "-cl-std=CL2.0"  # with later versions, ocloc's own headers fail on some devices
_DUMP = {"IGC_ShaderDumpEnable": "1", "IGC_ShaderDumpPidDisable": "1"}
_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/lib64", "/usr/lib")
_ASKING = 60


@dataclass(frozen=True, slots=True)
class Subslice:
    """The resources of a subslice, the part of an Intel GPU that runs a work-group.

    threads: number of hardware threads; each runs one subgroup.  local: bytes of local memory.  A work-group gets a
    power of two of at least `least` bytes.  barriers: number of work-groups with barriers that can run at once.
    """

    threads: int
    local: int
    least: int
    barriers: int

    def occupancy(self, lanes: int, simd: int, local: int) -> float:
        """Return the occupancy: the hardware threads that work-groups can fill, divided by all threads.

        A work-group has `lanes` lanes, `simd` lanes in each subgroup, and `local` bytes of local memory.  The result is
        0 if not even one work-group fits.
        """
        threads = -(-lanes // simd)
        groups = self.threads // threads
        if local:
            allocated = max(self.least, 1 << (local - 1).bit_length())
            groups = min(groups, self.barriers, self.local // allocated)
        return groups * threads / self.threads


_KIB = 1024
_GEN8 = Subslice(8 * 7, 64 * _KIB, 4 * _KIB, 16)
_GEN9 = Subslice(8 * 7, 64 * _KIB, _KIB, 32)  # the same for Gen11
_ATOM = Subslice(6 * 6, 64 * _KIB, _KIB, 32)
_XE_LP = Subslice(16 * 7, 64 * _KIB, _KIB, 32)
_XE_HPG = Subslice(16 * 8, 128 * _KIB, _KIB, 32)
_XE_HPC = Subslice(8 * 8, 128 * _KIB, _KIB, 32)
_XE2 = Subslice(8 * 8, 128 * _KIB, _KIB, 32)

SUBSLICES = {
    "bdw": _GEN8,
    **dict.fromkeys(("skl", "kbl", "cfl", "whl", "aml", "cml"), _GEN9),
    **dict.fromkeys(("apl", "bxt", "glk"), _ATOM),
    **dict.fromkeys(("icllp", "lkf", "ehl", "jsl"), _GEN9),
    **dict.fromkeys(("tgllp", "rkl", "adl-s", "adl-p", "adl-n", "dg1"), _XE_LP),
    **dict.fromkeys(("acm-g10", "acm-g11", "acm-g12"), _XE_HPG),
    "pvc": _XE_HPC,
    **dict.fromkeys(("bmg-g21", "bmg-g31", "lnl-m"), _XE2),
}
"""A subslice of each device, with all its execution units, by ocloc's names, oldest first.

On Xe, the numbers are those of a dual subslice or an Xe core.

Sources:

- Execution units of a subslice, and threads of a unit: the driver (intel/compute-runtime, hw_cmds_*.h).  They are 8 x
  7, and 6 x 6 in Apollo Lake and Gemini Lake.
- From Gen9 on, local memory, barriers and Xe's units: Intel's GPU Occupancy Calculator (oneapi-src/oneAPI-samples).
- Barriers of Gen8: Intel's guide to OpenCL on processor graphics.
- Threads and local memory of Xe2: the driver's hw_info_bmg.cpp and hw_info_lnl.cpp.  Its barriers are assumed to be
  those of Xe-HPC.
"""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt of IGC to compile a kernel, with numbers from its listing.

    `simd` is the lanes of a subgroup, and `spilled` the bytes that a hardware thread spills.  `attempt` is the suffix
    of the attempt's files in the dump.
    """

    kernel: str
    simd: int
    instructions: int
    spilled: int
    attempt: str


class Ocloc:
    """Intel's offline compiler.

    ``Use.registers`` is None, because hardware threads always have 128 registers of 32 bytes.  `spill_bytes` is the
    memory of a hardware thread for spilled registers, and for the arrays of all its lanes that the compiler keeps in
    memory.  IGC also lists flag registers that are saved in general registers.  They take no memory and are not
    counted.  `occupancy` is computed from `SUBSLICES`.  `local_bytes` is the size of the kernel's local arrays.
    """

    name = "ocloc"
    api = API.name
    install = "apt-get install intel-opencl-icd"

    def devices(self) -> Sequence[str]:
        """Return ocloc's names of the known devices, oldest first."""
        return KINDS[self.name].devices

    def identity(self, device: str) -> str | None:
        """Return the versions of the driver and of IGC, if available; None if ocloc does not support `device`."""
        path = toolchain.tool("ocloc")
        return _identity(path) if path and device in SUBSLICES and device in _known(path) else None

    def recipe(self, request: Request) -> str:
        """Return the options, the device's subslice, and the version of this class's parser of results."""
        return f"1 {_STANDARD} {SUBSLICES[request.device]}"

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile for one device; see `hsgen.tools.compile.base.Compiler.compile`."""
        path = toolchain.tool("ocloc")
        if path is None:
            raise Unavailable(f"ocloc is not installed; {self.install}")
        if request.device not in SUBSLICES or request.device not in _known(path):
            known = ", ".join(d for d in SUBSLICES if d in _known(path))
            raise Unavailable(f"ocloc: does not support the device {request.device}; it supports {known}")
        source, dump, out = folder / "kernels.cl", folder / "dump", folder / "out"
        source.write_text(request.text, encoding="utf-8")
        dump.mkdir()
        command = [path, "compile", "-file", str(source), "-device", request.device, "-out_dir", str(out)]
        variables = {**_DUMP, "IGC_DumpToCustomDir": str(dump)}
        done = processes.run([*command, "-options", _STANDARD], seconds, folder, **variables)
        if done.returncode:
            raise refusal(f"ocloc for {request.device}", done, folder)
        binary = b"".join(p.read_bytes() for p in sorted(out.glob("*.bin")))
        attempts = {a.kernel: a for a in _attempts(dump, binary)}
        memory = {a.attempt: _memory(dump, a.attempt) for a in attempts.values()}
        return {k.name: _use(request, k, attempts.get(k.name), memory) for k in request.kernels}


def _use(request: Request, kernel: Kernel, attempt: _Attempt | None, memory: dict[str, dict[str, int]]) -> Use:
    """Return the resources of a kernel from its valid attempt.

    `memory` has the bytes of a lane's arrays in memory, by attempt and kernel.
    """
    who = f"ocloc for {request.device}: kernel {kernel.name}"
    if attempt is None:
        raise Wrong(f"{who}: is not in the generated binary")
    if kernel.subgroup > 1 and attempt.simd != kernel.subgroup:
        raise Wrong(f"{who}: compiled for subgroups of {attempt.simd} lanes, not {kernel.subgroup}")
    local = kernel.local_bytes(request.sort.key)
    occupancy = SUBSLICES[request.device].occupancy(kernel.work_group, attempt.simd, local)
    if not occupancy:
        raise Wrong(f"{who}: a work-group of {kernel.work_group} lanes with {local} bytes does not fit into a subslice")
    return Use(
        spill_bytes=attempt.spilled + attempt.simd * memory[attempt.attempt].get(kernel.name, 0),
        local_bytes=local,
        instructions=attempt.instructions,
        occupancy=occupancy,
    )


def _attempts(dump: Path, binary: bytes) -> Iterator[_Attempt]:
    """Yield the valid attempts, those whose instructions are in the binary."""
    for listing in sorted(dump.glob("*.asm")):
        code = listing.with_suffix(".dat")
        name = re.fullmatch(r"OCL_asm[0-9a-f]+?((?:_\d+)?)_simd(\d+)_.*", listing.stem)
        if name is None or not code.is_file() or code.read_bytes() not in binary:
            continue
        head = "".join(re.findall(r"^//.*\n", listing.read_text(encoding="utf-8", errors="replace"), re.MULTILINE))
        kernel = re.search(r"^//\.kernel (\S+)", head, re.MULTILINE)
        if kernel:
            yield _Attempt(kernel[1], int(name[2]), _count(head, "instCount"), _count(head, "spill size"), name[1])


def _count(head: str, name: str) -> int:
    match = re.search(rf"^//\.{name} (\d+)", head, re.MULTILINE)
    return int(match[1]) if match else 0


def _memory(dump: Path, attempt: str) -> dict[str, int]:
    """Return the bytes of a lane's arrays in memory, by kernel; kernels without such arrays are left out."""
    text = "".join(p.read_text(encoding="utf-8", errors="replace") for p in dump.glob(f"*_codegen{attempt}.ll"))
    sizes = dict(re.findall(r'^!(\d+) = !\{!"privateMemoryPerWI", i32 (\d+)\}', text, re.MULTILINE))
    names = dict(re.findall(r'^!\d+ = !\{!"FuncMDMap\[(\d+)\]", .*@([\w.]+)\}', text, re.MULTILINE))
    values = dict(re.findall(r'^!\d+ = !\{!"FuncMDValue\[(\d+)\]", (.*)\}', text, re.MULTILINE))
    bytes_by_kernel = {
        names[i]: [sizes[n] for n in re.findall(r"!(\d+)", values[i]) if n in sizes] for i in names if i in values
    }
    return {name: int(size[0]) for name, size in bytes_by_kernel.items() if size}


@cache
def _known(path: str) -> frozenset[str]:
    """Return the devices that the installed ocloc lists in its help text."""
    text = toolchain.run([path, "compile", "--help"], _ASKING).stdout
    listed = re.search(r"<device_type> can be: (.*?)\n", text)
    return frozenset(listed[1].replace(",", " ").split()) if listed else frozenset()


@cache
def _identity(path: str) -> str:
    with folders.scratch() as folder:
        toolchain.run([path, "query", "OCL_DRIVER_VERSION"], _ASKING, cwd=folder)
        answer = folder / "OCL_DRIVER_VERSION"
        version = answer.read_text(encoding="utf-8").strip("\0 \n") if answer.is_file() else "of unknown version"
    igc = _igc()
    return f"ocloc {version}" + (f" (IGC {igc})" if igc else "")


def _igc() -> str | None:
    """Return the version of the graphics compiler (IGC); None if it is not found.

    The version is found in the build paths that its library contains; no other place has it.
    """
    library = next((p for f in _LIBRARIES if (p := Path(f) / "libigc.so.1").is_file()), None)
    if library is None:
        return None
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        match = re.search(rb"(?:intel-graphics-compiler|igc)-(\d+\.\d+\.\d+(?:\.\d+)?)", content)
        return match[1].decode() if match else None
