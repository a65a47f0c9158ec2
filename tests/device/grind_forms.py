"""Sorts a few counts with tiny sorts of signatures without subgroups; test_oclgrind.py runs it inside oclgrind.

Usage: grind_forms.py ALGORITHM VALUE; types, orders, bit ranges and device-side counts take turns.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from every import WHOLE, hows, live, sort_of
from oclgrind_engine import engine

from hsgen.core.keys import Signature
from hsgen.engines.hosts import hosts
from hsgen.operations.inputs import KINDS
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

COUNTS = {"bitonic": (0, 1, 63, 130, 300), "radix": (0, 1, 110)}
"""Within a block of 128 and beyond; within a tile of 96 keys and beyond."""


def main(algorithm: str, value: str) -> None:
    """Sort; a wrong result is an error."""
    warnings.simplefilter("ignore")
    more = {"key_transform": True, "device_count": True} if algorithm == "bitonic" else WHOLE
    sort = sort_of("forms1.toml", algorithm, "u32", Signature(value=value, **more))
    counts = COUNTS[algorithm]
    frame = Frame(engine(sort), max(counts))
    ways = [w for w in hows(sort) if sort.signature.bit_range or (w[0].begin, w[0].end) == (0, None)]
    chosen = ways[:: max(1, len(ways) // 6)]
    for number, (how, where) in enumerate(chosen):
        for turn, n in enumerate(counts):
            if n > 100 and (turn + number) % 2:
                continue
            rng = np.random.default_rng(number)
            keys = KINDS["few distinct"](rng, n, np.dtype(np.uint32))
            for in_place in (True, False) if n < 100 or turn % 2 else (number % 4 < 2,):
                made = validation.call(sort, keys, how, in_place=in_place, count=live(where, n), rng=rng)
                if problem := frame.run(made):
                    raise SystemExit(f"{n}, {how}, {where}: {problem}")
    print("sorted", hosts()[0].platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
