"""Reports run boundaries with tiny shapes; test_changes.py runs it inside oclgrind.

Usage: grind_changes.py LANES [drop-barrier]; LANES is 1 or 32; drop-barrier removes a barrier, which oclgrind must
notice.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.plan import Plan
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines.builds import build
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import context_for
from hsgen.operations import oracle
from hsgen.stages import run_boundaries
from hsgen.system import toolchain
from hsgen.targets import target


def sort_of(lanes: int) -> Sort:
    """Only the steps that follow the sort: lanes that walk 64 keys or more, or tiles of 1024."""
    made = run_boundaries.Shape(key=KEYS["u32"], work_group=lanes, items=64 if lanes == 1 else 32, groups=2)
    parts = target.find("generic").sort("radix", "u32").parts
    kernels, plan = run_boundaries.appended((), Plan(steps=(), max_n=1 << 20, bits=32), parts, made)
    signature = Signature(run_boundaries=True)
    return Sort(
        target="t", algorithm="radix", key=made.key, kernels=kernels, plan=plan, parts=parts, signature=signature
    )


def main(lanes: str, *drop: str) -> None:
    """Report; a wrong report is an error."""
    warnings.simplefilter("ignore")
    cl, host, sort = toolchain.pyopencl(), hosts()[0], sort_of(int(lanes))
    context = context_for(host)
    queue, source = cl.CommandQueue(context), render(sort, "opencl")
    # oclgrind takes the results of shuffles for uninitialised
    prelude = re.sub(r" *set \|= set\.s\w+;\n", "", source.prelude)
    prelude = prelude.replace("set.s0 | set.s1;", " | ".join(f"set.s{k:x}" for k in range(16)) + ";")
    source = replace(source, prelude=prelude)
    if drop:
        begin = source.parts["boundaries_count"]
        source = replace(source, parts={**source.parts, "boundaries_count": begin.replace("hs_barrier();", "", 1)})
    made = build(context, source.text, source.path, list(source.parts), "-cl-std=CL1.2 -cl-opt-disable")
    compiled, rng = Compiled(context, sort, source, made), np.random.default_rng(1)

    def buffer(a: Any) -> Any:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(a))

    # the largest first: oclgrind takes the content of newly allocated scratch memory for uninitialised
    for n in (3100,) if drop else (3100, 2048, 1025, 1024, 129, 64, 33, 1):
        for most in (3, n, 1 << 30):
            keys, report = np.sort(rng.integers(0, most, n).astype(np.uint32)), np.full(n + 2, 0xDEADBEEF, np.uint32)
            memory = {"destination": buffer(keys), "report": buffer(report)}
            compiled.run(queue, {"source": memory["destination"], **memory}, n, call_options=Options(shift=1))
            cl.enqueue_copy(queue, report, memory["report"])
            expected = oracle.changes(keys, sort, 1)
            if not drop and not np.array_equal(report[: len(expected)], expected):
                raise SystemExit(f"{n} keys below {most}: wrong")
            if not drop and not (report[len(expected) :] == 0xDEADBEEF).all():
                raise SystemExit(f"{n} keys below {most}: memory beyond the report was written")
    print(f"sorted {host.label}")


if __name__ == "__main__":
    main(*sys.argv[1:])
