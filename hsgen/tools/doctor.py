"""Finds which devices and tools that hsgen can use are present on this machine, and what fails without the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hsgen.apis import having
from hsgen.core.errors import HsgenError, Unavailable
from hsgen.cuda import compiler, driver
from hsgen.emit import spirv
from hsgen.engines import hosts as devices
from hsgen.engines import metal_shim, selection
from hsgen.numpy.devices import chosen
from hsgen.system import compilers, dxc, extras, toolchain
from hsgen.targets import heads
from hsgen.tools import worker
from hsgen.tools.compile import nvrtc
from hsgen.tools.compile.compilers import COMPILERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A kind of device or tool that hsgen can use.

    what: the name of the kind, such as "C compiler".
    found: a description of the device or tool on this machine; None if there is none.
    costs: what does not work without it, and how to install it.
    """

    what: str
    found: str | None
    costs: str

    def record(self) -> dict[str, Any]:
        """Return the finding as a dictionary, for output as JSON."""
        return asdict(self)


_INSTALL = extras.command("cpu-device")


def findings() -> list[Finding]:
    """Return a finding for each kind of device and tool, in a fixed order; several if there are several devices."""
    python = _python()  # first: if another version of NVRTC were loaded before, cuda.bindings would use that version
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
        return [*out, Finding(what="OpenCL device", found=None, costs=str(e)), *_native(), *_tools(), *python]
    for host in hosts:
        widths = [w for w in (4, 8, 16, 32, 64, 128) if devices.offers(host, w)]
        lanes = f"subgroups of {', '.join(map(str, widths))}" if widths else "no choice of subgroups"
        best = devices.target_for(host, heads.shipped()).name
        description = f"{_name(host, hosts)}: {lanes}; target {best}"
        out.append(Finding(what="OpenCL device", found=description, costs=""))
    if not hosts:
        out.append(Finding(what="OpenCL device", found=None, costs=f"validate, bench; {_INSTALL}"))
    return [*out, *_native(), _metal(), *_tools(), *python]


def _name(host: devices.Host, hosts: Sequence[devices.Host]) -> str:
    """Return a device's name in the form that ``--device`` accepts, followed by its driver in parentheses."""
    return f"{selection.specification(host, hosts)} ({host.driver})"


def _metal() -> Finding:
    """Return the finding about Metal.

    hsgen drives no Metal device.  To validate Metal kernels, it compiles them as C++ for OpenCL, and runs them on an
    OpenCL device, which the finding names.
    """
    title, costs = "Metal", f"validate --api metal; {metal_shim.UNDRIVEN}"
    try:
        host = selection.candidates(metal_shim.takers())[0]
    except Unavailable as e:
        return Finding(what=title, found=None, costs=f"{costs}: {e}")
    description = f"no device is driven; kernels run as {metal_shim.LANGUAGE} on {host.label}"
    return Finding(what=title, found=description, costs="")


def _native() -> list[Finding]:
    """Return a finding for each device that a bundle's C runtime lists, for each API that only this runtime drives."""
    out = []
    for api in having(lambda api: api.harness and not api.python):
        title, costs = f"{api.title} device", f"validate and bench --api {api.name}"
        try:
            shown = worker.listed(api.name)
        except HsgenError as e:
            out.append(Finding(what=title, found=None, costs=f"{costs}: {e}"))
            continue
        for host in shown:
            if problem := devices.unsound(host):
                out.append(Finding(what=title, found=None, costs=f"{costs}: {problem}"))
                continue
            description = f"{_name(host, shown)}: subgroups of {', '.join(map(str, host.widths or ()))}; target "
            best = devices.target_for(host, heads.shipped()).name
            out.append(Finding(what=title, found=description + best, costs=""))
        if not shown:
            out.append(Finding(what=title, found=None, costs=f"{costs}: the driver lists no device"))
    return out


def _tools() -> list[Finding]:
    """Return the findings about compilers, the SPIR-V validator and the race checker oclgrind."""
    glsl, hlsl = spirv.compiler(), dxc.compiler()
    try:
        cc: str | None = " ".join(compilers.c_compiler())
    except HsgenError:
        cc = None
    toolkit = toolchain.tool("nvcc")
    nvrtcs = ", ".join(c.name for c in nvrtc.compilers() if "nvcc" not in c.name) or None
    return [
        Finding(what="C compiler", found=cc, costs="--api vulkan and --runtime c; install gcc or clang"),
        Finding(
            what="GLSL compiler",
            found=glsl.identity if glsl else None,
            costs=f"SPIR-V: bundles with Vulkan, their check, and --api vulkan; {spirv.install()}",
        ),
        Finding(
            what="HLSL compiler",
            found=hlsl.identity if hlsl else None,
            costs=f"validate --api hlsl, which runs HLSL through Vulkan; {dxc.INSTALL}",
        ),
        Finding(what="CUDA compiler", found=toolkit, costs="--api cuda; install NVIDIA's CUDA toolkit"),
        Finding(what="HIP compiler", found=toolchain.tool("hipcc"), costs="--api hip; install AMD's ROCm"),
        Finding(what="NVRTC", found=nvrtcs, costs=f"CUDA kernels in `hsgen compile`; {nvrtc.INSTALL}"),
        *_offline(),
        Finding(
            what="oclgrind",
            found=toolchain.tool("oclgrind"),
            costs="the race check of the tests; apt-get install oclgrind",
        ),
    ]


def _python() -> list[Finding]:
    """Return two findings: the Python libraries that drive NVIDIA GPUs, and the device that sorts numpy arrays."""
    cuda = Finding(what="CUDA from Python", found=None, costs="hsgen.cuda, hsgen.torch, hsgen.cupy")
    arrays = Finding(what="numpy arrays", found=None, costs="hsgen.sort, hsgen.argsort, hsgen.Sorter")
    try:
        description = f"cuda.bindings {driver.package('').__version__}, NVRTC {'.'.join(map(str, compiler.version()))}"
        cuda = replace(cuda, found=description)
    except HsgenError as e:
        cuda = replace(cuda, costs=f"{cuda.costs}: {e}")
    try:
        arrays = replace(arrays, found=f"sorted by {chosen()[0].label}")
    except HsgenError as e:
        arrays = replace(arrays, costs=f"{arrays.costs}: {e}")
    return [cuda, arrays]


def _offline() -> list[Finding]:
    """Return the findings about the offline compilers that `hsgen compile` uses, except NVIDIA's."""
    titles = {
        "ocloc": ("Intel's offline compiler", "kernels for Intel GPUs"),
        "amdgcn": ("clang for AMD GPUs", "OpenCL and HIP kernels for AMD GPUs"),
        "radv": ("Mesa's RADV, without a device", "Vulkan kernels for AMD GPUs"),
        "spirv": ("SPIR-V validator", "SPIR-V"),
    }
    out = []
    for name, (title, purpose) in titles.items():
        compiler = COMPILERS[name]
        identity = next((i for d in compiler.devices() if (i := compiler.identity(d))), None)
        out.append(Finding(what=title, found=identity, costs=f"{purpose} in `hsgen compile`; {compiler.install}"))
    return out
