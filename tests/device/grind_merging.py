"""Merges of two arrays, and sorts whose runs are merged by paths; run by test_oclgrind.py inside oclgrind.

Usage: grind_merging.py [drop-barrier]; with the word the barriers are taken out, which oclgrind must notice.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.algorithms import bitonic, merge_path, operation
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Part, Sort
from hsgen.emit.kernels import render
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import Compiled, Direct, build, context_for
from hsgen.operations.calls import Call
from hsgen.system import toolchain
from hsgen.targets import assembly
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

TILES, WALKS = {"work_group": 8, "items": 3}, {"work_group": 1, "items": 16, "chains": 4, "walks": True}
ROWS = {"work_group": 1, "items": 16, "chains": 4, "walks": True, "row": 8}
RUNS = {"subgroup": 1, "height": 4, "slabs": 4, "clean_slabs": 4, "stream_group": 8, "path_from": 16}
SCALES = {"local_scale": 2, "flip_scale": 2, "half_scale": 2}
MANY = [(0, "random"), (1, "random"), (23, "few distinct"), (24, "random"), (25, "sorted"), (200, "few distinct")]


def made(algorithm: Any, name: str, signature: Signature, **values: Any) -> Sort:
    """The sort of a shape for u32 keys."""
    p = algorithm.Params(key=KEYS["u32"], signature=signature, **values)
    kernels, plan, parts = assembly.assemble([Part(algorithm=name, params=p, min_n=0, max_n=2**62)], "shape", signature)
    does = operation(name).name
    return Sort(
        target="shape",
        algorithm=name,
        operation=does,
        key=p.key,
        kernels=kernels,
        plan=plan,
        parts=parts,
        signature=signature,
    )


def engine(sort: Sort, *, fault: bool) -> Direct:
    """The kernels, compiled as they are or without barriers."""
    context, source = context_for(hosts()[0]), render(sort, "opencl")
    text = source.text.replace("hs_barrier();\n", "\n") if fault else source.text
    kernels = build(context, text, source.path, [k.name for k in sort.kernels], "-cl-std=CL1.2 -cl-opt-disable")
    driven = Direct(context, Compiled(context, sort, source, kernels))
    scratch = driven._compiled.scratch

    def copied(queue: Any, number: int, byte: int, at: int, size: int) -> None:
        """oclgrind loses track of parts of buffers that are filled, or written to from the middle on."""
        if at == 0:
            toolchain.pyopencl().enqueue_copy(queue, scratch._buffers[number], np.full(size, byte, np.uint8))

    scratch._fill = copied  # type: ignore[method-assign]
    scratch.whole = lambda queue: True  # type: ignore[method-assign]
    return driven


def in_no_order(driven: Direct) -> None:
    """What comes out means nothing, but it must come from nowhere else: oclgrind tells of other places."""
    rng, frame = np.random.default_rng(1), Frame(driven, 200)
    for parts in (0, 50, 150, 200):
        keys = rng.integers(0, 9, 200, np.uint32)
        words = [np.zeros((n, 1), np.uint32) for n in (parts, 200 - parts)]
        whole = {"values": words[0], "other_values": words[1], "values_expected": np.zeros((200, 1), np.uint32)}
        whole = whole if driven.sort.signature.value_bytes else {}
        call = Call(n=200, keys=keys[:parts], other=keys[parts:], expected=keys, in_place=False, **whole)
        problem = frame.run(replace(call, how=Options(first_count=parts)))
        if problem and "should be" not in problem:
            raise SystemExit(problem)


def main(fault: str = "") -> None:
    """Merge and sort; a wrong result is an error."""
    warnings.simplefilter("ignore")
    for values, value in ((TILES, "v4"), (WALKS, "v4"), (ROWS, "none"), (ROWS, "v8")):
        driven = engine(
            made(merge_path, "merge_path", Signature(value=value, key_transform=True), **values), fault=bool(fault)
        )
        report = validation.run(driven, [(200, "random")] if fault else MANY, 1)
        if fault:
            return
        if report.failed:
            raise SystemExit(report.failures[0])
        in_no_order(driven)
    # oclgrind 21.10 takes what is shuffled from place 11 of a vector for uninitialised, so rows have 8 keys here
    bitonic.Params.row = property(lambda p: 8 if p.path_walks and not p.valued else 0)  # type: ignore[method-assign]
    for walks in (False, True):
        for signature in (Signature(), Signature(value="v8")):
            driven = engine(made(bitonic, "bitonic", signature, path_walks=walks, **SCALES, **RUNS), fault=False)
            report = validation.run(driven, MANY, 1)
            if report.failed:
                raise SystemExit(report.failures[0])
    print("sorted", hosts()[0].platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
