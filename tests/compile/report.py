"""Print docs/results/cuda-compile.md: registers and spills of every CUDA kernel, for the architectures it is meant for.

python tests/compile/report.py > docs/results/cuda-compile.md
"""

from __future__ import annotations

from collections.abc import Iterator

from hsgen import __version__, nvrtc, target
from hsgen.keys import KEYS
from hsgen.nvrtc import Compiler, Use
from hsgen.render import render
from hsgen.spec import Sort

ARCHS = (35, 37, 50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121)
TARGETS = ("nvidia-sm35", "nvidia-sm90")

HEAD = """# CUDA kernels as compilers see them

hsgen {version}. No device was used: these are the cubins that the compilers make, and what they say of them.

    python tests/compile/report.py > docs/results/cuda-compile.md

Compilers: {compilers}. NVRTC is NVIDIA's compiler library from PyPI:

    {install}

A cell holds registers a lane; where a kernel spills, the bytes that each lane stores and loads follow in parentheses.
Shared memory is what a launch asks for. A multiprocessor has 65536 registers: 512 lanes of up to 40 are resident three
times, of up to 64 twice.
"""


def cell(use: Use) -> str:
    return f"{use.registers} (**{use.spill_stores}/{use.spill_loads}**)" if use.spills else str(use.registers)


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(sort: Sort, archs: list[int], found: dict[int, dict[str, Use]]) -> Iterator[str]:
    columns = ["kernel", "lanes", "shared bytes", *(f"sm_{a}" for a in archs)]
    yield row(*columns)
    yield "|" + "---|" * len(columns)
    for k in sort.kernels:
        yield row(k.name, k.work_group, k.local_bytes(sort.key), *(cell(found[a][k.name]) for a in archs))


def section(sort: Sort, archs: list[int], compilers: list[Compiler]) -> Iterator[str]:
    text = render(sort, "cuda").text
    every = {c.name: {a: c.compile(text, a) for a in archs if a in c.archs} for c in compilers}
    first = {a: next(found[a] for found in every.values() if a in found) for a in archs}
    yield f"\n## {sort.target}, {sort.key.name}\n"
    yield from table(sort, archs, first)
    yield "\nAll compilers: kernels that spill, and the most registers of any kernel.\n"
    yield row("compiler", *(f"sm_{a}" for a in archs))
    yield "|" + "---|" * (len(archs) + 1)
    for name, found in every.items():
        if found:
            yield row(name, *(summary(found[a]) if a in found else "-" for a in archs))


def summary(found: dict[str, Use]) -> str:
    return f"{sum(u.spills for u in found.values())}, {max(u.registers for u in found.values())}"


def main() -> None:
    compilers = nvrtc.compilers()
    names = ", ".join(c.name for c in compilers)
    print(HEAD.format(version=__version__, compilers=names, install=nvrtc.INSTALL).rstrip())
    print("\nThe tables show the first of them that knows an architecture.")
    for name in TARGETS:
        t = target.find(name)
        least, most = t.match.compute
        archs = [a for a in ARCHS if least <= a <= most and any(a in c.archs for c in compilers)]
        for key in KEYS:
            for line in section(t.sort("merge", key), archs, compilers):
                print(line)


if __name__ == "__main__":
    main()
