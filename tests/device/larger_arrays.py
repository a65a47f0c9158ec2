"""Time the sort of an array larger than a limit of GPU memory, beside copies through the same pinned memory.

usage: python tests/device/larger_arrays.py [--keys GIB] [--memory GIB] [--repeats N] [--piece MIB...] [--in-place]
       [--json FILE]

The keys are uniform u64 in the memory of the host.  The first sort is compared with the keys: the result is in order
and has the same keys.  --json appends a line for each time when the time is known.  The exit code is 1 after a wrong
result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import hsgen
from hsgen.cuda import Sorter
from hsgen.numpy import pipeline
from hsgen.numpy.devices import CudaDevice, device_of

THREADS = os.cpu_count() or 1
BLOCK = 1 << 17


def spans(n: int) -> list[slice]:
    """Return a span of an array for each thread of this program."""
    ends = [n * i // THREADS for i in range(THREADS + 1)]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def on_each(work: Callable[[int, slice], Any], n: int) -> list[Any]:
    """Return the results of a function for each span of an array, by threads."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS), spans(n)))


def drawn(n: int) -> Any:
    """Return uniform keys, a hash of their indices."""
    keys = np.empty(n, np.uint64)

    def draw(i: int, span: slice) -> None:
        for begin in range(span.start, span.stop, BLOCK):
            x = np.arange(begin, min(begin + BLOCK, span.stop), dtype=np.uint64)
            x *= np.uint64(0x9E3779B97F4A7C15)
            x ^= x >> np.uint64(29)
            x *= np.uint64(0xBF58476D1CE4E5B9)
            x ^= x >> np.uint64(32)
            keys[begin : begin + len(x)] = x

    on_each(draw, n)
    return keys


def digest(keys: Any) -> tuple[int, ...]:
    """Return sums of keys and of hashes, which are equal for two arrays with the same keys in any order."""

    def sums(i: int, span: slice) -> Any:
        total = np.zeros(2, np.uint64)
        for begin in range(span.start, span.stop, BLOCK):
            x = keys[begin : min(begin + BLOCK, span.stop)]
            mixed = x >> np.uint64(31)
            mixed ^= x
            mixed *= mixed
            total += np.array([x.sum(), mixed.sum()], np.uint64)
        return total

    return tuple(int(x) for x in np.sum(on_each(sums, len(keys)), axis=0, dtype=np.uint64))


def in_order(keys: Any) -> bool:
    """Return True if keys ascend."""

    def ascend(i: int, span: slice) -> bool:
        parts = (keys[a : min(a + BLOCK, span.stop) + 1] for a in range(span.start, span.stop, BLOCK))
        return all(bool((x[1:] >= x[:-1]).all()) for x in parts)

    return all(on_each(ascend, len(keys)))


def crossed(p: pipeline.Pipeline, source: Any, to: Any) -> None:
    """Copy arrays to slots of the GPU and from these, both at once unless one is None; wait for all copies."""
    stop, tasks, length = pipeline.Stop(), [], pipeline.SPAN // 8
    places = p.length // length
    for i in range(-(-len(source if source is not None else to) // length)):
        slot, part = p.slots[i // places % 2], slice(i * length, (i + 1) * length)
        other, at = p.slots[2 + i // places % 2], i % places * pipeline.SPAN
        if source is not None:
            tasks.append(p.load.pool.submit(p.load.fill, stop, source[part], slot.address + at, slot.stream))
        if to is not None:
            tasks.append(p.store.pool.submit(p.store.empty, stop, to[part], other.address + at, other.stream))
    wait(tasks)
    for task in tasks:
        task.result()
    for slot in p.slots:
        pipeline.bindings().cuStreamSynchronize(slot.stream)


def seconds(call: Callable[[], Any]) -> float:
    """Return the time of a call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def phases(sort: Callable[..., Any], keys: Any) -> list[float]:
    """Return the times of the steps of a sort."""
    times, begin = [], time.perf_counter()
    sort(keys, progress=lambda done, total: times.append((done, time.perf_counter())))
    first = [x for done, x in times if done <= len(keys)]
    second = [x for done, x in times if done > len(keys)]
    marks = [begin, first[0], first[-1], second[0], second[-1], time.perf_counter()]
    return [b - a for a, b in pairwise(marks)]


def main(words: list[str]) -> int:
    """Print a row for each size of a pinned piece."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keys", type=float, default=32, help="GiB of keys")
    parser.add_argument("--memory", type=float, default=12, help="GiB of GPU memory that the sort may use")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--piece", type=float, nargs="*", default=[pipeline.PIECE / (1 << 20)], help="MiB of a piece")
    parser.add_argument("--in-place", action="store_true", help="also time sorts in place")
    parser.add_argument("--json", default="")
    options = parser.parse_args(words)
    device = device_of()
    assert isinstance(device, CudaDevice)
    n, memory = int(options.keys * (1 << 27)), int(options.memory * (1 << 30))
    print(f"{device.host.name}, {THREADS} cores, {pipeline.HELPERS} helpers a direction, {n} keys", flush=True)
    keys, out = drawn(n), np.empty(n, np.uint64)
    on_each(lambda i, span: out[span].fill(1), n)

    def tell(piece: float, what: str, times: list[float]) -> None:
        print(f"pieces of {piece:g} MiB, {what}: {', '.join(f'{x:.3f}' for x in times)} s", flush=True)
        if options.json:
            row = {"piece": piece, "what": what, "seconds": times, "keys": n, "memory": memory}
            with Path(options.json).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    before, wrong = digest(keys), 0
    sort = partial(hsgen.sort, out=out, memory=memory)
    tell(pipeline.PIECE / (1 << 20), "first sort", [seconds(lambda: sort(keys))])
    if not in_order(out) or digest(out) != before:
        print("WRONG: the first sort", flush=True)
        return 1
    for piece in options.piece:
        pipeline.PIECE = int(piece * (1 << 20))
        with pipeline.Pipeline(device.gpu, Sorter("u64", numeric=True), 1 << 26, "u64", descending=False) as p:
            for what, pair in (("in", (keys, None)), ("out", (None, out)), ("both", (keys, out))):
                tell(piece, what, [seconds(partial(crossed, p, *pair)) for _ in range(options.repeats)])
        tell(piece, "sort", [seconds(lambda: sort(keys)) for _ in range(options.repeats)])
        tell(piece, "sort: first chunk, first phase, first part, second phase, end", phases(sort, keys))
        wrong += not in_order(out) or digest(out) != before
    if options.in_place:
        tell(piece, "sort in place", [seconds(lambda: hsgen.sort(keys, out=keys, memory=memory)) for _ in range(2)])
        wrong += not in_order(keys) or digest(keys) != before
    print(f"{wrong} results wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
