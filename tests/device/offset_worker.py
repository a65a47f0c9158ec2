"""`python offset_worker.py API TARGET LIBRARY DEVICE` sorts zero segments, with the only offset within the keys or
beyond them, through the C runtime in a separate process, and prints JSON: for each offset in and out of place, whether
it was refused and whether any key was written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from hsgen.core.errors import Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.engines.engine import KEYS, KEYS_OUT, OTHER, VALUES, VALUES_OUT
from hsgen.engines.harness import Harness, Native
from hsgen.system import toolchain
from hsgen.targets import target

N = 5000
FORM = Signature(value="v4", key_transform=True)
"""The signature of another test, which shares the library."""
OFFSETS = (0, N, N + 1, 2**31, 2**32 - 1)


def main() -> None:
    """See above."""
    toolchain.prepare_opencl()
    api, name, path, device = sys.argv[1:5]
    harness = Harness(Path(path))
    index = next(h.handle for h in harness.hosts(api) if device in f"{h.platform} {h.name}")
    engine = Native(harness, api, target.find(name).sort("segmented_sort", "u32", FORM), index, "")
    keys, said = np.arange(N, dtype=np.uint32)[::-1].copy(), []
    slots = {KEYS: keys, KEYS_OUT: np.full(N, 7, np.uint32), VALUES: keys + 1, VALUES_OUT: np.full(N, 8, np.uint32)}
    for slot in slots:
        engine.allocate(slot, keys.nbytes)
    engine.allocate(OTHER, 4)
    for in_place in (False, True):
        to = {"destination": (KEYS if in_place else KEYS_OUT, 0), "values_out": (VALUES if in_place else VALUES_OUT, 0)}
        places = {"source": (KEYS, 0), "values": (VALUES, 0), "other": (OTHER, 0), **to}
        for offset in OFFSETS:
            for slot, image in slots.items():
                engine.write(slot, image)
            engine.write(OTHER, np.array([offset], np.uint32))
            engine.run(N, places, Options(segment_count=0))
            found = {slot: np.zeros(N, np.uint32) for slot in slots}
            for slot, image in found.items():
                engine.read(slot, image)
            kept = all(np.array_equal(found[slot], slots[slot]) for slot in slots)
            copied = all(np.array_equal(found[slot], slots[slot & ~1]) for slot in slots)
            said.append([in_place, offset, refused(engine), "kept" if kept else "copied" if copied else "wrong"])
    print(json.dumps(said))
    engine.close()


def refused(engine: Native) -> bool:
    """Whether the runtime reports refused offsets."""
    try:
        return engine.device_status() != 0
    except Wrong as e:
        return "offset of a segment" in str(e)


if __name__ == "__main__":
    main()
