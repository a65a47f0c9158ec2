"""Sorts a few counts with tiny radix sorts without subgroups; test_rankers.py runs it inside oclgrind.

Usage: grind_radix.py RANKER [drop-barrier | few]: drop-barrier removes barriers, which oclgrind must notice; few tries
one count, with inputs that still take different ways.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from oclgrind_engine import engine
from radices import shape, sort_of, tried

from hsgen.algorithms import radix
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.engines.hosts import hosts
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

SHAPES: dict[str, dict[str, Any]] = {
    "bitmask": {"ranker": "bitmask", "coordination": "lookback"},
    "endless": {"ranker": "bitmask", "coordination": "lookback", "redo": False},
    "buckets": {
        **{"ranker": "bitmask", "coordination": "lookback", "begin": 0, "end": None, "bits": 8},
        **{
            "partition.above": 52,
            "partition.work_group": 8,
            "partition.items": 3,
            "bucket.work_group": 8,
            "bucket.items": 8,
            "bucket.bins": 16,
        },
    },
    "pairs": {
        **{"ranker": "bitmask", "coordination": "lookback", "begin": 0, "end": None, "bits": 8, "redo": False},
        **{
            "pair_bucket.above": 416,
            "pair_bucket.work_group": 8,
            "pair_bucket.items": 4,
            "pair_bucket.bins": 16,
            "signature": Signature(value="v4"),
        },
    },
    "split1": {"ranker": "radix_split", "split": 1},
    "split2": {"ranker": "radix_split", "coordination": "lookback"},
    "serial1": {"ranker": "serial", "work_group": 1, "items": 16},
    "serial16": {"ranker": "serial", "work_group": 16, "items": 2},
    "lines": {"ranker": "serial", "work_group": 1, "items": 16, "stream_from": 60},
}


def main(ranker: str, word: str = "") -> None:
    """Sort; a wrong result is an error."""
    fault, few = word == "drop-barrier", word == "few"
    warnings.simplefilter("ignore")
    small = {"bits": 4, "work_group": 8, "items": 2, "groups": 3, "single": 10, "begin": 8, "end": 19, "spins": 1 << 20}
    p: radix.Params = shape("u32", **{**small, **SHAPES[ranker]})
    sort = sort_of(p)
    counts = (10,) if fault else (70,) if few else (0, 1, 10, 11, 17, 70, 150)
    frame = Frame(engine(sort, dropped=4 if fault else 0), max(*counts, 450))
    for n in (450,) if p.has_pair_buckets else ():
        even = np.random.default_rng(n).permutation(np.arange(n, dtype=np.uint32) * np.uint32((1 << 32) // n))
        for number, keys in enumerate((even, even & ~np.uint32(31 << 23), even >> 2)):  # crowded, or uneven
            rng = np.random.default_rng(1)
            made = validation.call(sort, keys, Options(), in_place=number % 2 == 0, count=None, rng=rng)
            if problem := frame.run(made):
                raise SystemExit(f"{n} pairs: {problem}")
    for n in counts if not p.has_pair_buckets else ():
        for kind in ("random", "all equal", *(["sorted"] if p.has_key_buckets else [])):
            keys = KINDS[kind](np.random.default_rng(n), n, np.dtype(np.uint32))
            if kind == "sorted":
                keys &= np.uint32(3 << 30)  # even, and few distinct keys in a bucket
            right = np.sort(keys) if p.has_key_buckets else keys[np.argsort(keys >> 8 & 0x7FF, kind="stable")]
            for in_place in (kind == "random",) if few else (True, False):
                problem = tried(frame, keys, right, in_place=in_place)
                if problem and not fault:
                    raise SystemExit(f"{n}: {problem}")
    print("sorted", hosts()[0].platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
