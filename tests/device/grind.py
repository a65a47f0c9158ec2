"""Sorts a few counts with the generic kernels; test_oclgrind.py runs it inside oclgrind.

Usage: grind.py KEY [drop-barrier]; drop-barrier removes one barrier, which oclgrind must notice.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace

import numpy as np
from oclgrind_engine import engine
from radices import tried

from hsgen.algorithms import bitonic
from hsgen.core.sort import Sort
from hsgen.engines.hosts import hosts
from hsgen.operations.inputs import KINDS
from hsgen.targets import target
from hsgen.tools.validate.guarded import Frame


def small(key: str) -> Sort:
    """The generic target's sort with blocks of 128 keys: the same templates, fast enough for a simulator."""
    found = target.find("generic").sort("bitonic", key)
    part = found.parts[0]
    assert isinstance(part.params, bitonic.Params)
    p = replace(part.params, slabs=16, clean_slabs=16, stream_group=16)
    return replace(found, kernels=bitonic.kernels(p), plan=bitonic.plan(p), parts=(replace(part, params=p),))


def main(key: str, fault: str = "") -> None:
    """Sort; a wrong result is an error."""
    warnings.simplefilter("ignore")
    whole = target.find("generic").sort("bitonic", key)
    both = (True, False)
    whole_counts = (400, 2049, 4097) if os.environ.get("HSGEN_NIGHTLY") in ("1", "all") else (400,)
    for sort, counts in ((small(key), (300,) if fault else (0, 1, 2, 127, 129, 600, 2051)), (whole, whole_counts)):
        frame = Frame(engine(sort, dropped=2 if fault else 0), max(counts))
        for n in counts:
            keys = KINDS["random"](np.random.default_rng(n), n, np.dtype(f"u{sort.key.bytes}"))
            for in_place in both[n in (2049, 2051) :]:
                problem = tried(frame, keys, np.sort(keys), in_place=in_place)
                if problem and not fault:
                    raise SystemExit(f"{n}: {problem}")
        if fault:
            return
    print("sorted", hosts()[0].platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
