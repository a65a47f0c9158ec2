"""A sort that tests its scratch memory: it records the previous content, leaves a status, and writes a u32 anywhere.

`python crafted.py LIBRARY OPTIONS` runs it through the C runtime in a separate process, and prints as JSON what
`played` returns.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hsgen.apis import opencl
from hsgen.core.buffers import Buffer
from hsgen.core.errors import Wrong
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, DeviceStatus, Guard, Literal, Plan, Step, fixed
from hsgen.core.scratch import scratch_of
from hsgen.core.sort import Sort
from hsgen.emit import c_files
from hsgen.emit.kernels import Source
from hsgen.engines import native, selection
from hsgen.engines.engine import Engine
from hsgen.engines.harness import Harness, Native
from hsgen.system import compilers, toolchain
from hsgen.targets import target

WORDS = 1024
"""The u32 of scratch for 4 keys; 5 keys need one more."""

TEXT = """__kernel void play(__global uint *to, __global uint *first, __global uint *rest, {n} n, int argument)
{{
    to[0] = first[0]; // what was there
    to[1] = rest[0];
    first[0] = 0;
    first[1] = 1;
    first[2] = 0;
    first[3] = 7;
    rest[0] = 0;
    rest[argument - 512] = (uint)n; // rest begins 512 words into scratch
}}
"""


def crafted(at: int, *, wide: bool = False) -> tuple[Sort, Source]:
    """Return a sort of 4 or 5 keys and its text; it writes n to u32 number `at` of scratch."""
    whole = target.find("generic").sort("bitonic", "u32")
    buffers = tuple(Buffer(name=name, type="u32") for name in ("to", "first", "rest"))
    scratch = Binding(role="scratch"), Binding(role="scratch", plus=2000)
    kernel = Kernel(
        name="play",
        template="none",
        summary="plays with scratch",
        work_group=1,
        index64=wide,
        buffers=buffers,
        algorithm="bitonic",
        params=whole.parts[0].params,
    )
    bindings = Binding(role="destination"), *scratch
    step = Step(
        kernel="play",
        bindings=bindings,
        guard=Guard(min_n=3, max_n=5),
        grid=fixed(1),
        argument=Literal(value=at),
    )
    plan = Plan(
        steps=(step,),
        max_n=5,
        scratch=scratch_of(min_n=3, plus=4 * WORDS - 16, per_n=4),
        device_status=DeviceStatus(binding=scratch[0], words=4, min_n=3),
    )
    sort = replace(whole, target="crafted", algorithm="play", kernels=(kernel,), plan=plan)
    text = TEXT.format(n="long" if wide else "int")
    return sort, Source(path="play.cl", header="", prelude="", parts={"play": text})


def library(folder: Path, sort: Sort, source: Source) -> Path:
    """Build the C runtime for OpenCL with this sort alone in a folder."""
    found = replace(target.find("generic"), name=sort.target)
    named = c_files.Named(name=sort.target, apis=("opencl",), sorts=(sort.file,), spirv=())
    files = {"crafted.c": c_files.target_c(found, [(sort, source, False)], "hs"), **c_files.common([named], "hs")}
    files |= native.harness_files(opencl.API)
    units = [p for p in sorted(files) if native._compiled(p, opencl.API)]
    place = folder / "crafted.so"
    native._build(opencl.API, compilers.shared_c99(), units, files, place)
    return place


def played(engine: Engine, *counts: int) -> list[Any]:
    """Sort these counts; return the two u32 found in scratch and the status of each, or the error."""
    out: list[Any] = []
    words = np.zeros(4, np.uint32)
    for slot in (0, 1):
        engine.allocate(slot, 64)
    for n in counts:
        engine.write(1, words)
        try:
            engine.run(n, {"source": (0, 0), "destination": (1, 0)})
            told = np.empty(2, np.uint32)
            engine.read(1, told)
            out.append([*map(int, told), engine.device_status()])
        except Wrong as e:
            out.append(str(e))
    return out


def main() -> None:
    """See above."""
    toolchain.prepare_opencl()
    path, options, at = sys.argv[1:4]
    harness = Harness(Path(path))
    index = next(h.handle for h in harness.hosts("opencl") if selection.embedded(h))
    engine = Native(harness, "opencl", crafted(int(at))[0], index, options)
    print(json.dumps(played(engine, 4, 4, 5, 3, 4)))
    engine.close()


if __name__ == "__main__":
    main()
