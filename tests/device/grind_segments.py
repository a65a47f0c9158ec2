"""Sorts some segments with tiny shapes without subgroups; test_oclgrind.py runs it inside oclgrind.

Usage: grind_segments.py RANKER VALUE; with lanes that work alone ("serial") segments of 65 keys and more are long.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from oclgrind_engine import engine
from sorts import sort_by

from hsgen.algorithms import IMPLICIT, segmented
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.engines.hosts import hosts
from hsgen.operations import layouts
from hsgen.system import toolchain
from hsgen.targets import target

SHAPES: dict[str, dict[str, Any]] = {
    "bitmask": {"ranker": "bitmask", "work_group": 16, "items": 2},
    "bins": {"ranker": "bitmask", "work_group": 16, "items": 8},
    "split": {"ranker": "radix_split", "work_group": 16, "items": 2},
    "serial": {"work_group": 1, "items": 64},
}


def sort_of(ranker: str, value: str) -> Sort:
    """A sort of 16-bit keys by three digits: tiles of 32 keys, or segments of up to 64 keys per lane; or windows of 112
    by bins, in which those of few distinct keys are crowded."""
    found = target.find("cpu" if ranker == "serial" else "generic")
    own = replace(found.choices["radix", "u32"], bits=6, groups=3, **SHAPES[ranker])
    p = IMPLICIT["segmented_sort"].specialize({"radix": own}, KEYS["u16"], Signature(value=value), found.device)
    assert isinstance(p, segmented.Params)
    if p.serial:
        p = replace(p, small=48, window=100, tile=64, chunk=64)
    if ranker == "bins":  # they do not need votes
        p = replace(p, bin_items=7, small=56, window=56)
    return sort_by("segmented_sort", p, p.signature)


def main(ranker: str, value: str) -> None:
    """Sort; a wrong result is an error."""
    warnings.simplefilter("ignore")
    cl, host, sort = toolchain.pyopencl(), hosts()[0], sort_of(ranker, value)
    driven, rng = engine(sort), np.random.default_rng(1)
    compiled, queue, context = driven._compiled, driven.queue, driven.context

    def buffer(a: Any) -> Any:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(a))

    n = 200  # always: oclgrind takes the content of newly allocated scratch memory for uninitialised
    for number, (name, make) in enumerate(layouts.LAYOUTS.items()):
        offsets, keys = make(rng, n, *layouts.test_counts(sort)), rng.integers(0, 99, n).astype(np.uint16)
        how, values = Options(segment_count=len(offsets) - 1), np.arange(n, dtype=np.uint32) * 7
        given = {"source": buffer(keys), "other": buffer(offsets.astype(np.uint32))}
        given["destination"] = given["source"] if number % 2 else buffer(keys * 0)
        if value != "none":
            given["values"] = buffer(values)
            given["values_out"] = given["values"] if number % 2 else buffer(values * 0)
        compiled.run(queue, given, n, call_options=how)
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
