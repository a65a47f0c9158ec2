"""Merges two arrays, and sorts by merge path; test_oclgrind.py runs it inside oclgrind.

Usage: grind_merging.py [drop-barrier]; drop-barrier removes the barriers, which oclgrind must notice.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from oclgrind_engine import engine
from sorts import sort_by

from hsgen.algorithms import bitonic, merge_path
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import Direct
from hsgen.operations.calls import Call
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

TILES, WALKS = {"work_group": 8, "items": 3}, {"work_group": 1, "items": 16, "chains": 4, "walks": True}
ROWS = {"work_group": 1, "items": 16, "chains": 4, "walks": True, "row": 8}
RUNS = {"subgroup": 1, "height": 4, "slabs": 4, "clean_slabs": 4, "stream_group": 8, "path_from": 16}
SCALES = {"local_scale": 2, "flip_scale": 2, "half_scale": 2}
MANY = [(0, "random"), (1, "random"), (23, "few distinct"), (24, "random"), (25, "sorted"), (200, "few distinct")]


def made(algorithm: Any, name: str, signature: Signature, **values: Any) -> Sort:
    """The sort of a shape for u32 keys."""
    return sort_by(name, algorithm.Params(key=KEYS["u32"], signature=signature, **values), signature)


def in_no_order(driven: Direct) -> None:
    """The result is meaningless, but accesses must stay within the arrays: oclgrind reports others."""
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
            made(merge_path, "merge_path", Signature(value=value, key_transform=True), **values),
            dropped=-1 if fault else 0,
        )
        report = validation.run(driven, [(200, "random")] if fault else MANY, 1)
        if fault:
            return
        if report.failed:
            raise SystemExit(report.failures[0])
        in_no_order(driven)
    # oclgrind 21.10 takes component 11 of a shuffled vector for uninitialised, so rows have 8 keys here
    bitonic.Params.row = property(lambda p: 8 if p.path_walks and not p.valued else 0)  # type: ignore[method-assign]
    for walks in (False, True):
        for signature in (Signature(), Signature(value="v8")):
            driven = engine(made(bitonic, "bitonic", signature, path_walks=walks, **SCALES, **RUNS))
            report = validation.run(driven, MANY, 1)
            if report.failed:
                raise SystemExit(report.failures[0])
    print("sorted", hosts()[0].platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
