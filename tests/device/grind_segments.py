"""Sorts some segments with tiny shapes that need no subgroups; run by test_oclgrind.py inside oclgrind.

Usage: grind_segments.py RANKER VALUE; with lanes that walk alone ("serial") segments are long from 65 keys on.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.algorithms import IMPLICIT, segmented
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Part, Sort
from hsgen.emit.kernels import render
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import Compiled, build, context_for
from hsgen.operations import layouts
from hsgen.system import toolchain
from hsgen.targets import assembly, target

SHAPES: dict[str, dict[str, Any]] = {
    "flags": {"ranker": "flags", "work_group": 16, "items": 2},
    "split": {"ranker": "split", "work_group": 16, "items": 2},
    "serial": {"work_group": 1, "items": 64},
}


def sort_of(ranker: str, value: str) -> Sort:
    """A sort of 16-bit keys by three digits: tiles of 32 keys, or segments that a lane sorts of up to 64."""
    found = target.find("cpu" if ranker == "serial" else "generic")
    own = replace(found.choices["radix", "u32"], bits=6, groups=3, **SHAPES[ranker])
    p = IMPLICIT["segmented_sort"].specialize({"radix": own}, KEYS["u16"], Signature(value=value), found.device)
    assert isinstance(p, segmented.Params)
    if p.serial:
        p = replace(p, small=48, window=100, tile=64, chunk=64)
    kernels, plan, parts = assembly.assemble(
        [Part(algorithm="segmented_sort", params=p, min_n=0, max_n=2**62)], "s", p.signature
    )
    return Sort(
        target="s",
        algorithm="segmented_sort",
        operation="segmented_sort",
        key=p.key,
        kernels=kernels,
        plan=plan,
        parts=parts,
        signature=p.signature,
    )


def main(ranker: str, value: str) -> None:
    """Sort; a wrong result is an error."""
    warnings.simplefilter("ignore")
    cl, host, sort = toolchain.pyopencl(), hosts()[0], sort_of(ranker, value)
    context = context_for(host)
    queue, source = cl.CommandQueue(context), render(sort, "opencl")
    options = "-cl-std=CL1.2 -cl-opt-disable"
    made = build(context, source.text, source.path, [k.name for k in sort.kernels], options)
    compiled, rng = Compiled(context, sort, source, made), np.random.default_rng(1)

    def buffer(a: Any) -> Any:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(a))

    n = 200  # always: oclgrind takes what lies in scratch memory that was made anew for uninitialised
    for number, (name, make) in enumerate(layouts.LAYOUTS.items()):
        offsets, keys = make(rng, n, *layouts.test_counts(sort)), rng.integers(0, 99, n).astype(np.uint16)
        how, values = Options(parts=len(offsets) - 1), np.arange(n, dtype=np.uint32) * 7
        given = {"source": buffer(keys), "other": buffer(offsets.astype(np.uint32))}
        given["destination"] = given["source"] if number % 2 else buffer(keys * 0)
        if value != "none":
            given["values"] = buffer(values)
            given["values_out"] = given["values"] if number % 2 else buffer(values * 0)
        compiled.run(queue, given, n, how=how)
        order = layouts.permutation(keys, offsets, sort, how)
        for role, before in (("destination", keys), ("values_out", values)):
            if role in given:
                out = np.empty_like(before)
                cl.enqueue_copy(queue, out, given[role])
                if not np.array_equal(out, before[order]):
                    raise SystemExit(f"{name}: {role} is wrong")
    print(f"sorted {host.label}")


if __name__ == "__main__":
    main(*sys.argv[1:])
