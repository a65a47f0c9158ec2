"""A small target, and a fake offline compiler."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from target_head import target_head

from hsgen.core.errors import Wrong
from hsgen.system import processes
from hsgen.targets import target
from hsgen.targets.target import Target
from hsgen.tools.compile.base import Request, Use

TEXT = target_head(
    "small",
    "a target for tests",
    "opencl",
    "cuda",
    subgroups=[8, 32],
    shuffle=True,
    groups=65535,
    local_bytes=49152,
    binding_bytes=1073741824,
)
TEXT += """
[isa]
cuda = ["sm_80", "sm_90"]

[bitonic.u32]
subgroup = 8
height = 8
slabs = 8
clean_slabs = 8
local_scale = 3
flip_scale = 2
half_scale = 2
stream_group = 64

[radix.u32.reduce_scan]
bits = 4
items = 4
work_group = 64
subgroup = 8
ranker = "match_broadcast"
groups = 64

[radix.u32.wide.reduce_scan]
bits = 8
items = 4
work_group = 64
subgroup = 8
ranker = "match_broadcast"
groups = 64

[sort.u32]
ranges = [
    { to = 50000, use = "bitonic" },
    { use = "radix-reduce_scan" },
]
"""


def small(text: str = TEXT) -> Target:
    """A target whose u32 sorts are auto, merge, radix and radix-wide."""
    return target.parse(text, "small", "small.toml")


USE = Use(registers=40, local_bytes=1024, instructions=100, occupancy=0.5)
ABORT = "import os; os.abort()"
SLEEP = "import time; time.sleep(60)"


@dataclass
class Fake:
    """A fake compiler that answers with `uses`, by kernel, or `USE`, and applies the `faults` of requested kernels.

    Faults are "refuse", "crash", "hang", "leave out" (omit the kernel), and "together" (refuse it with others only).
    """

    name: str = "cuda"
    api: str = "cuda"
    install: str = "pip install fake"
    version: str | None = "Fake 1"
    options: str = "-O3"
    uses: dict[str, Use] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def devices(self) -> Sequence[str]:
        return ("sm_80", "sm_90")

    def identity(self, device: str) -> str | None:
        return self.version

    def recipe(self, request: Request) -> str:
        return self.options

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        names = tuple(k.name for k in request.kernels)
        assert folder.is_dir() and not list(folder.iterdir()) and all(n in request.text for n in names)
        self.asked.append(names)
        self.folders.append(folder)
        (folder / "left").write_text("behind")
        for name, fault in self.faults.items():
            if name not in names:
                continue
            if fault == "refuse" or (fault == "together" and len(names) > 1):
                raise Wrong(f"refuses {name}", f"line 7: {name} is not nice", "line 8")
            if fault == "crash":
                done = processes.run([sys.executable, "-c", ABORT], seconds, folder)
                raise Wrong(processes.ending(done.returncode), "a core is dumped")
            if fault == "hang":
                done = processes.run([sys.executable, "-c", SLEEP], seconds, folder)
                raise Wrong(processes.ending(done.returncode))
        return {n: self.uses.get(n, USE) for n in names if self.faults.get(n) != "leave out"}
