"""Sorts a few counts with tiny sorts of forms that need no subgroups; run by test_oclgrind.py inside oclgrind.

Usage: grind_forms.py ALGORITHM VALUE; the sorts take every type, order, bit range and count on the device by turns.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from every import WHOLE, hows, live, sort_of

from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import Compiled, Direct, build, context_for
from hsgen.operations.inputs import KINDS
from hsgen.system import toolchain
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

COUNTS = {"bitonic": (0, 1, 63, 130, 300), "radix": (0, 1, 110)}
"""Within a block of 128 and beyond; within a tile of 96 keys and beyond."""


def main(algorithm: str, value: str) -> None:
    """Sort; a wrong result is an error."""
    warnings.simplefilter("ignore")
    host = hosts()[0]
    context = context_for(host)
    more = {"key_transform": True, "device_count": True} if algorithm == "bitonic" else WHOLE
    sort = sort_of("forms1.toml", algorithm, "u32", Signature(value=value, **more))
    source = render(sort, "opencl")
    options = "-cl-std=CL1.2 -cl-opt-disable"
    kernels = build(context, source.text, source.path, [k.name for k in sort.kernels], options)
    engine = Direct(context, Compiled(context, sort, source, kernels))
    scratch = engine._compiled.scratch

    def copied(queue: Any, number: int, byte: int, at: int, size: int) -> None:
        """oclgrind loses track of parts of buffers that are filled, or written to from the middle on."""
        if at == 0:
            toolchain.pyopencl().enqueue_copy(queue, scratch._buffers[number], np.full(size, byte, np.uint8))

    scratch._fill = copied  # type: ignore[method-assign]
    scratch.whole = lambda queue: True  # type: ignore[method-assign]
    counts = COUNTS[algorithm]
    frame = Frame(engine, max(counts))
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
    print("sorted", host.platform)


if __name__ == "__main__":
    main(*sys.argv[1:])
