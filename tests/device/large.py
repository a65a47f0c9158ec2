"""Sort counts through CUDA that are too many for a validation: python tests/device/large.py TARGET COUNT...

A count is a number or like 2^32+5.  32-bit keys are sorted out of place; the result must ascend and be made of the
same keys, which sums of two hashes tell.  Needs as much memory as the keys take four times, on the device and beside.
"""

from __future__ import annotations

import re
import sys

import numpy as np
from numpy.typing import NDArray

from hsgen import target
from hsgen.backends import native
from hsgen.backends.harness import Harness, Native

CHUNK = 1 << 26


def count(text: str) -> int:
    found = re.fullmatch(r"2\^(\d+)([+-]\d+)?", text)
    return (1 << int(found[1])) + int(found[2] or 0) if found else int(text)


def hashes(keys: NDArray[np.uint32]) -> tuple[int, int]:
    """Sums over all keys that do not depend on their order."""
    plain = mixed = 0
    for i in range(0, len(keys), CHUNK):
        part = keys[i : i + CHUNK].astype(np.uint64)
        plain += int(part.sum())
        part *= np.uint64(0x9E3779B97F4A7C15)
        part ^= part >> np.uint64(29)
        mixed += int((part * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(32)).sum())
    return plain, mixed


def ascends(keys: NDArray[np.uint32]) -> bool:
    return all((part[:-1] <= part[1:]).all() for part in (keys[i : i + CHUNK + 1] for i in range(0, len(keys), CHUNK)))


def main(name: str, counts: list[str]) -> int:
    found = target.find(name)
    sort = found.sort("radix", "u32")
    library = native.library("cuda", [found], "u32")
    engine = Native(Harness(library), "cuda", sort, 0, "")
    rng = np.random.default_rng(1)
    wrong = 0
    for n in map(count, counts):
        keys = np.empty(n, np.uint32)
        for i in range(0, n, CHUNK):
            keys[i : i + CHUNK] = rng.integers(0, 2**32, min(CHUNK, n - i), np.uint32)
        before = hashes(keys)
        for slot in (0, 1):
            engine.allocate(slot, keys.nbytes)
        engine.write(0, keys)
        engine.run(n, 0, 1, 0)
        engine.read(1, keys)
        fine = ascends(keys) and hashes(keys) == before
        wrong += not fine
        print(f"{n} keys: {'sorted' if fine else 'WRONG'}, {engine.outcome()} passes done again", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
