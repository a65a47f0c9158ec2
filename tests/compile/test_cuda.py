"""CUDA kernels compile for NVIDIA's architectures from Kepler to Blackwell, without register spills."""

from __future__ import annotations

import locale
import re
import subprocess
from pathlib import Path

import pytest
from conftest import missing
from cuda_compilers import ARCHS, compilers
from nightly import NIGHTLY
from tools import tool

from hsgen.apis import cuda
from hsgen.cli import main
from hsgen.core import interpreter
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort
from hsgen.emit import c_files
from hsgen.emit.kernels import render
from hsgen.engines import native
from hsgen.system import toolchain
from hsgen.targets import target
from hsgen.tools.compile import nvrtc

TARGETS = [name for name in target.names() if "cuda" in target.find(name).apis]
COUNTS = (1, 31, 513, 2048, 2049, 8193, 20000, 65536, 1 << 20, (1 << 29) - 1, 1 << 29)
WARNINGS = ("-Xcompiler", "-Wall,-Wextra,-Wconversion", "-Werror", "all-warnings")
"""No -Wpedantic: nvcc passes GNU-style line directives to the host compiler."""

SPILLED = 8
"""Bytes that a kernel may spill with other compilers than the first one that knows the architecture: NVRTC 12.9 spills
4 in `single` of 16-bit keys on sm_75, where NVRTC 11.8, the first, spills none."""

SPILLING = """extern "C" __global__ void __launch_bounds__(1024) greedy(const int *source, int *destination)
{
    int r[200];
#pragma unroll
    for (int i = 0; i < 200; i++) r[i] = source[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 200; i++) destination[i * 1024 + threadIdx.x] = r[i] * r[(i * 7 + 1) % 200];
}
extern "C" __global__ void modest(int *keys) { __shared__ int s[100]; s[threadIdx.x] = keys[0]; keys[1] = s[5]; }
"""


def nvcc() -> str:
    """The toolkit's compiler."""
    path = tool("nvcc")
    return path


FAST = {"nvidia-sm90": ["u32"], "nvidia-sm35": ["u32"], "nvidia-tegra": ["u64"], "generic": ["u8", "u16", "u64"]}
"""Targets whose kernels the fast run compiles, with the widths; test_cuda_grid and test_cuda_radix cover Hopper's."""


def ways() -> list[tuple[str, str, int]]:
    """Return (target, width, architecture); the nightly run covers all tables of targets.

    The fast run compiles some targets: u32 for the first architecture of the table, or u64 for the last one; narrow
    keys, which have few kernels, of one target only.
    (`hsgen compile` compiles all u32 and u64 sorts for every architecture of the tables; CI runs it.)
    """
    own = {name: [int(d.removeprefix("sm_")) for d in target.find(name).isa.get("cuda", ["sm_35"])] for name in TARGETS}
    every = [(name, key, arch) for name in TARGETS for key in KEYS for arch in ARCHS if arch in own[name]]
    ends = [
        (name, key, own[name][0 if key in ("u16", "u32") else -1])
        for name in TARGETS
        for key in KEYS
        if key in (("u32", "u64") if NIGHTLY else FAST.get(name, ()))
    ]
    return list(dict.fromkeys([*every, *ends])) if NIGHTLY else ends


@pytest.mark.parametrize(("name", "key", "arch"), ways())
def test_every_kernel_compiles_without_spills_on_its_architectures(name: str, key: str, arch: int) -> None:
    """Nightly the whole file of each sort for any count; otherwise each distinct kernel text once, since sorts share
    some."""
    t = target.find(name)
    if not t.labels(key):
        pytest.skip(f"{name} sorts no {key} keys")
    seen: set[str] = set()
    for label in t.labels(key):
        sort = t.sort(label, key)
        source = render(sort, "cuda")
        names = [k for k, text in source.parts.items() if text not in seen]
        whole = NIGHTLY or label == target.AUTO
        seen.update(source.parts.values())
        for compiler in compilers(arch) if whole or names else ():
            found = compiler.compile(source.text if whole else source.only(*names), arch)
            assert set(found) == (set(source.parts) if whole else set(names))
            assert all(u.registers > 0 and u.shared == 0 and u.instructions for u in found.values())
            if f"sm_{arch}" in t.isa.get("cuda", ()):
                spilling = {k: u for k, u in found.items() if u.spills}
                most = 0 if compiler.name == compilers(arch)[0].name else SPILLED
                assert all(u.spill_stores <= most for u in spilling.values()), (label, compiler.name, spilling)


@pytest.mark.parametrize("arch", [90, 120])
def test_needs_of_a_kernel_are_reported(arch: int) -> None:
    for compiler in compilers(arch):
        found = compiler.compile(SPILLING, arch)
        assert found["greedy"].spills and found["greedy"].spill_loads > 100 and found["greedy"].registers <= 64
        assert not found["modest"].spills and found["modest"].shared == 400


def test_errors_are_reported_with_their_line() -> None:
    compilers(90)
    for compiler in (c for c in nvrtc.compilers() if 90 in c.archs):
        with pytest.raises(Wrong, match=r"sm_90: kernels\.cu\(2\): error: .*nowhere"):
            compiler.compile('extern "C" __global__ void k(int *p) {\n    p[0] = nowhere;\n}\n', 90)


def test_an_architecture_that_no_compiler_knows() -> None:
    with pytest.raises(Unavailable, match=r"no compiler for sm_13 .*pip install"):
        nvrtc.compile("", 13)
    for compiler in nvrtc.compilers():
        with pytest.raises(Unavailable, match=f"{compiler.name}: does not support sm_13"):
            compiler.compile("", 13)


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "PACKAGES", ("no-such-package",))
    monkeypatch.setattr(toolchain, "tool", lambda name: None)
    assert nvrtc.compilers() == []
    with pytest.raises(Unavailable, match="found nothing"):
        nvrtc.compile("", 90)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CUDA bundle of one target, without SPIR-V."""
    folder = tmp_path_factory.mktemp("cuda") / "bundle"
    assert main(["generate", "-t", "nvidia-sm90", "--api", "cuda", "-o", str(folder)]) == 0
    return folder


def run(*command: str | Path) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def objects(folder: Path, out: Path, arch: int, *options: str) -> list[Path]:
    """Compile every .cu of a bundle without a warning; return the objects."""
    made = []
    for source in [*folder.glob("src/*.cu"), *folder.glob("targets/*/*.cu"), *folder.glob("examples/*.cu")]:
        made.append(out / f"{source.stem}.o")
        command = (nvcc(), "-std=c++14", *WARNINGS, *options, f"-arch=sm_{arch}", "-I", folder / "include")
        run(*command, "-c", source, "-o", made[-1])
    return made


@pytest.mark.parametrize("arch", [75, 90, 120] if NIGHTLY else [90])
def test_a_bundle_compiles_without_warnings_and_exports_its_prefix_only(
    bundle: Path, tmp_path: Path, arch: int
) -> None:
    if not NIGHTLY:  # one width suffices
        bundle = tmp_path / "bundle"
        assert main(["generate", "-t", "nvidia-sm90", "--key", "u64", "--api", "cuda", "-o", str(bundle)]) == 0
    for made in objects(bundle, tmp_path, arch, "-O2"):
        rows = [line.split()[-2:] for line in run("nm", "-g", "--defined-only", made).splitlines()]
        ours = {name for kind, name in rows if kind not in "VW"}  # weak: symbols from C++ headers
        assert all(name.startswith("hs_") for name in ours - {"main"}), made.name


@pytest.mark.parametrize("key", ["u32", "u64"])
def test_the_runtime_launches_the_plan_and_refuses_what_is_wrong(bundle: Path, tmp_path: Path, key: str) -> None:
    """On a fake CUDA that records: launches equal those of the interpreter, in grids of at most 65535 in x."""
    sort = target.find("nvidia-sm90").default(key)
    names = (*c_files.CORE, "hs_targets.c", *(cuda.API.named(name) for name in cuda.API.sources))
    sources = [Path(__file__).with_name("fake_cuda.cpp"), *(bundle / "src" / s for s in names)]
    program = tmp_path / "fake"
    options = ("-x", "c++", "-std=c++14", *WARNINGS, "-cudart", "none", "-I", bundle / "include")
    define = f"-DTESTED={c_files.symbol(sort.target, sort.file)}"
    run(nvcc(), *options, define, *sources, *bundle.glob("targets/*/*.c"), "-o", program)
    said = run(program, *map(str, COUNTS))
    parts = re.findall(r"^n (\d+) (\d)\n((?:[^n].*\n)*)", said, re.MULTILINE)
    assert len(parts) == 2 * len(COUNTS)
    for n, in_place, text in parts:
        assert text.splitlines() == expected(sort, int(n), 1 if in_place == "1" else 2)


def expected(sort: Sort, n: int, destination: int) -> list[str]:
    at = {"source": 1 << 40, "destination": destination << 40, "scratch": 3 << 40}
    lines = []
    for launch in interpreter.launches(sort.plan, n, 65535, in_place=destination == 1):
        step, k = launch.step, sort.kernel(launch.step.kernel)
        places = " ".join(f"{at[b.role] + interpreter.offset(b, n):x}" for b in step.bindings)
        size = f"{k.work_group} {k.local_bytes(sort.key)}"
        lines.append(f"{k.name} {launch.grid[0]} {launch.grid[1]} {size} {places} {n} {launch.argument}")
    return lines


def test_the_harness_compiles(bundle: Path, tmp_path: Path) -> None:
    for name, text in native.harness_files(cuda.API).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)
    where = tmp_path / "harness"
    options = ("-Xcompiler", "-fPIC", *WARNINGS, "-arch=sm_90", "-I", bundle / "include", "-I", where)
    for name in ("cuda.cu", "cuda_calls.cu"):
        run(nvcc(), "-std=c++14", *options, "-c", where / name, "-o", tmp_path / "cuda.o")


def test_a_compilation_leaves_the_locale_as_it_was() -> None:
    """NVRTC changes the locale of the process; Python would then read files as ASCII."""
    found = [c for c in nvrtc.compilers() if c.name.startswith("NVRTC")]
    if not found:
        missing(f"NVRTC ({nvrtc.INSTALL})")
    before = locale.setlocale(locale.LC_ALL), locale.nl_langinfo(locale.CODESET)
    for compiler in found:
        compiler.compile('extern "C" __global__ void one(int *out) { out[0] = 1; }', 90)
        assert (locale.setlocale(locale.LC_ALL), locale.nl_langinfo(locale.CODESET)) == before
