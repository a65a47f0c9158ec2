"""Print docs/results/intel-spills.md: the kernels that spill on Intel GPUs, in HotSort's shapes and in a target's.

python tests/compile/spills.py > docs/results/intel-spills.md
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hsgen import __version__
from hsgen.core.sort import Sort
from hsgen.targets import target
from hsgen.tools.compile import jobs
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.ocloc import Ocloc

DEVICES = {
    "bdw": "Gen8",
    "skl": "Gen9",
    "glk": "Gen9, 18 units",
    "icllp": "Gen11",
    "tgllp": "Gen12",
    "dg1": "Gen12, alone",
    "acm-g10": "DG2",
}
TARGET = "intel-gen8"
SECONDS = 300.0

HEAD = """# Intel kernels and registers

hsgen {version}; {compiler}. No device was used: Intel's offline compiler generated code for the
instruction sets of the devices and reported these numbers.

    python tests/compile/spills.py > docs/results/intel-spills.md

HotSort's author wanted slabs of 8 lanes x 32 rows for 32-bit keys and 8 x 16 for 64-bit ones, 28 of them in a block,
which fill half of a Broadwell subslice. He shipped 16 x 8 and 8 x 16 in blocks of 16, because Broadwell's compiler of
2018 spilled registers. The tables show those shapes in hsgen's kernels, which use other sorting networks, and the
shapes of [targets/{target}.toml](../../targets/{target}.toml). A scale is the log2 of the rows that a lane holds in
a merge.

Spilled bytes are per hardware thread, over all lanes: registers in scratch memory, and arrays that lie in memory
because a first attempt with registers spilled too much. Occupancy is the share of a subslice's hardware threads that
work-groups fill. Speed can only be measured on a device.
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """A sort with changed parameters; `whole` shapes get a table of all their kernels."""

    what: str
    label: str
    key: str
    run_boundaries: dict[str, Any] = field(default_factory=dict)
    whole: bool = False

    @property
    def wished(self) -> bool:
        """Whether the slab or the block differs from the target's own."""
        return bool({"height", "slabs"} & set(self.run_boundaries))

    def sort(self) -> Sort:
        """Return the target's sort with these changes."""
        t = target.find(TARGET)
        params: Any = t.choices[self.label, self.key]
        return replace(t, choices={**t.choices, (self.label, self.key): replace(params, **self.run_boundaries)}).sort(
            self.label, self.key
        )


def scales(n: int) -> dict[str, int]:
    return {"local_scale": n, "flip_scale": n, "half_scale": n}


HOTSORT = {"subgroup": 8, "height": 32, "slabs": 28}
SHAPES = (
    Shape("8 x 32 x 28, HotSort's wish, scales 4", "bitonic", "u32", {**HOTSORT, **scales(4)}, True),
    Shape("8 x 32 x 28, scales 5: all rows of a lane in every merge", "bitonic", "u32", {**HOTSORT, **scales(5)}, True),
    Shape("8 x 28 x 28, scales 4", "bitonic", "u32", {**HOTSORT, **scales(4), "height": 28}),
    Shape("8 x 24 x 28, scales 4", "bitonic", "u32", {**HOTSORT, **scales(4), "height": 24}),
    Shape("8 x 32 x 16, scales 4", "bitonic", "u32", {**HOTSORT, **scales(4), "slabs": 16}),
    Shape("8 x 16 x 28, scales 4", "bitonic", "u32", {**HOTSORT, **scales(4), "height": 16}),
    Shape("of the target", "bitonic", "u32", {}, True),
    Shape("of the target, scales 4", "bitonic", "u32", scales(4)),
    Shape("of the target, scales 3", "bitonic", "u32", scales(3)),
    Shape("8 x 16 x 28, HotSort's wish, scales 4", "bitonic", "u64", {**scales(4), "height": 16, "slabs": 28}, True),
    Shape("of the target", "bitonic", "u64", {}, True),
    Shape("of the target", "radix", "u32", {}, True),
    Shape("of the target, 8 items", "radix", "u32", {"items": 8}),
    Shape("of the target, 6 items", "radix", "u32", {"items": 6}),
    Shape("of the target, 4 items", "radix", "u32", {"items": 4}),
    Shape("of the target", "radix", "u64", {}, True),
)

Found = dict[str, dict[str, Use]]
"""Resources of kernels, by device and kernel."""


def compiled(sort: Sort, planner: jobs.Planner) -> Found:
    made, lacking = planner.jobs(target.find(TARGET), [sort], [(Ocloc.name, d) for d in DEVICES])
    if lacking:
        sys.exit(lacking[0].line)
    out: Found = {}
    for done in jobs.run(made, os.cpu_count() or 1, SECONDS):
        for result in done.results:
            if result.use is None:
                sys.exit(f"{sort.name}: kernel {result.kernel}: {result.problem}")
            out.setdefault(done.job.place.device, {})[result.kernel] = result.use
    return out


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def head(*columns: str) -> Iterator[str]:
    yield row(*columns, *DEVICES)
    yield "|" + "---|" * (len(columns) + len(DEVICES))


def worst(uses: dict[str, Use]) -> str:
    spills = {k: u.spill_bytes for k, u in uses.items() if u.spill_bytes}
    if not spills:
        return "-"
    kernel = max(spills, key=lambda k: spills[k])
    return f"**{len(spills)}**: {kernel} {spills[kernel]}"


def cell(use: Use) -> str:
    spilled = f"**{use.spill_bytes}**, " if use.spill_bytes else ""
    return f"{spilled}{use.instructions}, {100 * (use.occupancy or 0):.0f} %"


def summary(shapes: list[tuple[Shape, Found]]) -> Iterator[str]:
    yield "\n## All shapes\n"
    yield "A cell holds the number of kernels that spill, with the worst of them and its bytes; `-`: no spills.\n"
    yield from head("sort", "shape")
    for shape, found in shapes:
        yield row(f"{shape.label} {shape.key}", shape.what, *(worst(found[d]) for d in DEVICES))
    yield "\nThe shapes that HotSort's author gave up or tried, by the spills of their kernels today:\n"
    for shape, found in shapes:
        if shape.wished:
            spilling = [d for d in DEVICES if worst(found[d]) != "-"]
            where = "on every device" if len(spilling) == len(DEVICES) else f"on {', '.join(spilling)}"
            says = f"spills {where}" if spilling else "spills nowhere: a candidate again, on all of these devices"
            yield f"- {shape.key} {shape.what}: {says}"


def table(shape: Shape, sort: Sort, found: Found) -> Iterator[str]:
    yield f"\n## {shape.label} {shape.key}: {shape.what}\n"
    yield "A cell holds the bytes spilled, if any, instructions, and occupancy.\n"
    yield from head("kernel", "lanes")
    for k in sort.kernels:
        yield row(k.name, k.work_group, *(cell(found[d][k.name]) for d in DEVICES))


def main() -> None:
    planner = jobs.Planner({Ocloc.name: Ocloc()})
    compiler = planner.identity(Ocloc.name, "skl") or sys.exit(f"no ocloc; {Ocloc.install}")
    print(HEAD.format(version=__version__, compiler=compiler, target=TARGET).rstrip())
    done = [(shape, sort, compiled(sort, planner)) for shape in SHAPES for sort in [shape.sort()]]
    for line in summary([(shape, found) for shape, _, found in done]):
        print(line)
    for shape, sort, found in done:
        for line in table(shape, sort, found) if shape.whole else ():
            print(line)


if __name__ == "__main__":
    main()
