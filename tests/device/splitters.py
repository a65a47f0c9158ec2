"""Compare the kernels of the search for splitters with numpy, on an NVIDIA GPU; several ranks share the GPU.

usage: python tests/device/splitters.py [CASES]

The program also runs under compute-sanitizer; tests/device/nvidia.sh does so.  The exit code is 1 if a count is wrong.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from hsgen.core.keys import KEYS, TYPES
from hsgen.cuda import driver
from hsgen.cuda.splitters import SplitterCounts
from hsgen.distributed.local import digits
from hsgen.numpy.devices import CudaDevice
from hsgen.operations import oracle

KINDS = (("i32", False), ("i64", False), ("f32", True), ("u8", False), ("bf16", True), ("f64", False), ("u64", True))
"""Types of keys, each with the order."""


def searched(device: CudaDevice, key: str, descending: bool, ordered: list[Any], places: Any, most: int) -> Any:
    """Return the counts below and up to each boundary's key, shape (ranks, 2, boundaries), as the kernels find them.

    ordered: the ordered keys of each rank.  places: the boundaries.  most: the counts of a round.
    """
    bits, many, ranks = KEYS[TYPES[key].key].bits, len(places), len(ordered)
    counter, ends = SplitterCounts(device.gpu, key, descending=descending), np.full((ranks, 2, many), -1, np.int64)
    stored = [oracle.unordered(x.astype(f"u{bits // 8}"), TYPES[key].kind, descending=descending) for x in ordered]
    with device.arrays() as copied:
        keys, at = [copied(x) for x in stored], copied(places)
        starts, rows, former = copied(np.zeros(many, np.uint64)), None, 0
        for shift, width in digits(bits, many, most):
            counts = np.full((ranks, many * ((1 << width) + 1)), -1, np.int64)
            everyone, following = copied(counts), copied(np.full(many, 77, np.uint64))
            for rank, x in enumerate(ordered):
                before = (0, 0, 0) if rows is None else (rows.address, ranks, former)
                mine = everyone.address + rank * counts[0].nbytes
                arrays = (starts.address, following.address, at.address, mine)
                counter.count_keys((keys[rank].address, len(x), *before, *arrays, shift, width), many, width, 0)
            starts, rows, former = following, everyone, width
        to = copied(ends)
        counter.count_ends((rows.address, ranks, former, at.address, to.address), many, 0)
        device.read(to, ends)
    return ends


def expected(ordered: list[Any], places: Any) -> Any:
    """Return the result of `searched` by numpy."""
    everything = np.sort(np.concatenate(ordered))
    splitters = everything[np.maximum(places - 1, 0)]
    least = np.where(places > 0, splitters, 0).astype(np.uint64)
    rows = [(np.searchsorted(x, splitters), np.searchsorted(x, least, "right")) for x in ordered]
    return np.array([[np.where(places > 0, below, 0), upto] for below, upto in rows], np.int64)


def main(words: list[str]) -> int:
    """Run a number of random cases."""
    device, rng, wrong = CudaDevice(driver.hosts()[0]), np.random.default_rng(50), 0
    cases = int(words[0]) if words else 21
    for case in range(cases):
        key, descending = KINDS[case % len(KINDS)]
        greatest, ranks = (1 << KEYS[TYPES[key].key].bits) - 1, int(rng.integers(2, 7))
        lengths = rng.integers(0, (40, 3000, 200_000)[case % 3], ranks)
        lengths[0] += 1
        pool = rng.integers(0, greatest, (5, 100_000)[case % 2], np.uint64, endpoint=True)
        pool[0] = greatest
        ordered = [np.sort(pool[rng.integers(0, len(pool), n)]) for n in lengths]
        places = np.sort(rng.integers(0, lengths.sum(), ranks - 1, endpoint=True))
        ends = searched(device, key, descending, ordered, places, int(rng.choice([1 << 9, 1 << 13, 1 << 18])))
        if not np.array_equal(ends, expected(ordered, places)):
            wrong += 1
            print("WRONG", case, key, lengths.tolist(), places.tolist(), flush=True)
    print(f"{cases} searches compared on {device.host.name}, {wrong} wrong")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
