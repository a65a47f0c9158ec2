"""Make operations afresh and call each: python heap_worker.py COUNT SEED, with heap_checked.so preloaded.

Nothing is taken from pyopencl's cache, so that the compiler runs in this process each time.  Prints the number of
operations and of calls, all of which were right.
"""

from __future__ import annotations

import os
import random
import sys
from typing import Any

os.environ |= {"PYOPENCL_NO_CACHE": "1", "HSGEN_TRIAL": "0"}

import numpy as np

from hsgen.engines import hosts, selection
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Merger, Scanner, Sorter, import_pyopencl

cl = import_pyopencl()
import pyopencl.array as cl_array  # noqa: E402

COUNTS = (1, 100, 5000)


def scans(queue: Any, key: str, rng: np.random.Generator) -> int:
    scanner = Scanner(queue.context, key, target="generic")
    for n in COUNTS:
        rows = cl_array.to_device(queue, np.ones(n, scanner.dtype))
        scanner(queue, rows)
        assert (rows.get() == np.arange(1, n + 1)).all()
    return len(COUNTS)


def merges(queue: Any, key: str, rng: np.random.Generator) -> int:
    merger = Merger(queue.context, key, target="generic")
    for n in COUNTS:
        a, b = (np.sort(rng.integers(0, 99, n)).astype(merger.dtype) for _ in range(2))
        out = cl_array.empty(queue, 2 * n, merger.dtype)
        merger(queue, cl_array.to_device(queue, a), cl_array.to_device(queue, b), out)
        assert (out.get() == np.sort(np.concatenate([a, b]))).all()
    return len(COUNTS)


def sorts(queue: Any, key: str, rng: np.random.Generator) -> int:
    sorter = Sorter(queue.context, key, value="index", target="generic")
    for n in COUNTS:
        host, places = rng.integers(0, 99, n).astype(sorter.dtype), cl_array.empty(queue, n, np.uint32)
        sorter(queue, cl_array.to_device(queue, host), values_out=places)
        assert (places.get() == np.argsort(host, kind="stable")).all()
    return len(COUNTS)


def main() -> None:
    count, seed = (int(x) for x in sys.argv[1:])
    choose, rng, calls = random.Random(seed), np.random.default_rng(seed), 0
    host = next(h for h in hosts.hosts() if selection.embedded(h))
    context = context_for(host)  # kept: Intel's runtime frees a context that only a queue holds
    queue = cl.CommandQueue(context)
    for number in range(count):
        operation = (scans, merges, sorts)[min(number, 2) if number < 2 else choose.randrange(3)]
        calls += operation(queue, choose.choice(("u32", "i32", "f32")), rng)
    print(f"{count} operations, {calls} calls")


if __name__ == "__main__":
    main()
