"""Sort counts too large for a validation through CUDA: python tests/device/large.py TARGET [argsort] COUNT...

A count is a number or like 2^32+5.  32-bit keys are sorted out of place; the result must ascend and hold the same keys,
which is checked by the sums of two hashes.  Needs four times the memory of the keys, on the device and on the host.
With `argsort` 64-bit indices are computed and keys discarded: keys in the order of the indices must meet the same
conditions, and equal keys must keep their order.  This needs seven times the memory of the keys on the device.
"""

from __future__ import annotations

import re
import sys

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.engines import native
from hsgen.engines.engine import KEYS, VALUES_OUT
from hsgen.engines.harness import Harness, Native
from hsgen.targets import target

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


def stable(keys: NDArray[np.uint32], places: NDArray[np.uint64]) -> bool:
    """Whether `keys` in the order of `places` ascend, equal ones by index."""
    before, last = np.uint32(0), np.int64(-1)
    for i in range(0, len(keys), CHUNK):
        order = places[i : i + CHUNK].astype(np.int64)
        if int(order.max()) >= len(keys):
            return False
        part = np.concatenate([[before], keys[order]])
        order = np.concatenate([[last], order])
        fine = (part[:-1] < part[1:]) | ((part[:-1] == part[1:]) & (order[:-1] < order[1:]))
        if not fine.all():
            return False
        before, last = part[-1], order[-1]
    return True


def argsort(name: str, counts: list[str]) -> int:
    found = target.find(name)
    signature = Signature(value="index64")
    sort = found.sort("radix", "u32", signature)
    engine = Native(
        Harness(native.library("cuda", [found], "u32", algorithms=["radix"], signature=signature)), "cuda", sort, 0, ""
    )
    rng = np.random.default_rng(2)
    wrong = 0
    for n in map(count, counts):
        keys = rng.integers(0, 2**31, n, np.uint32)
        engine.allocate(KEYS, keys.nbytes)
        engine.allocate(VALUES_OUT, 8 * n)
        engine.write(KEYS, keys)
        engine.run(n, {"source": (KEYS, 0), "values_out": (VALUES_OUT, 0)}, Options(discard=True))
        places = np.empty(n, np.uint64)
        engine.read(VALUES_OUT, places)
        # strictly ascending pairs of key and index all differ: n of them below n are a permutation
        fine = stable(keys, places)
        wrong += not fine
        print(f"{n} places: {'right' if fine else 'WRONG'}", flush=True)
    return 1 if wrong else 0


def main(name: str, counts: list[str]) -> int:
    if counts and counts[0] == "argsort":
        return argsort(name, counts[1:])
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
        engine.run(n, {"source": (0, 0), "destination": (1, 0)})
        engine.read(1, keys)
        fine = ascends(keys) and hashes(keys) == before
        wrong += not fine
        print(f"{n} keys: {'sorted' if fine else 'WRONG'}, {engine.device_status()} passes done again", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
