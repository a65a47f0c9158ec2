"""A candidate of a race on the device: a sort with its buffers."""

from __future__ import annotations

import time

import numpy as np

from hsgen.core.errors import Wrong
from hsgen.engines.engine import KEYS, KEYS_OUT, VALUES, VALUES_OUT, Engine
from hsgen.operations.calls import Call


class Candidate:
    """A sort on the device that takes part in a race."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name, self.engine = name, engine
        self._places: dict[str, tuple[int, int]] = {}
        self._n = 0

    def load(self, work: Call) -> None:
        """Fill the buffers, sort once, and check the result.

        Raises:
            Wrong: the result is not sorted.
        """
        engine, keys, self._n = self.engine, work.keys, work.n
        assert work.expected is not None
        images = {KEYS: keys, KEYS_OUT: np.zeros_like(keys)}
        self._places = {"source": (KEYS, 0), "destination": (KEYS_OUT, 0)}
        if work.values_expected is not None:
            images |= {VALUES_OUT: np.zeros_like(work.values_expected)}
            self._places["values_out"] = (VALUES_OUT, 0)
            if work.values is not None:
                images |= {VALUES: work.values}
                self._places["values"] = (VALUES, 0)
        for slot, image in images.items():
            engine.allocate(slot, image.nbytes)
            engine.write(slot, image)
        self.seconds()
        for slot, expected in ((KEYS_OUT, work.expected), (VALUES_OUT, work.values_expected)):
            if expected is not None:
                out = np.empty_like(expected)
                engine.read(slot, out)
                if not np.array_equal(out, expected):
                    raise Wrong(f"{self._n} {keys.dtype.name} keys came back wrong")

    def seconds(self) -> float:
        """Sort once; return the wall time."""
        begin = time.perf_counter()
        self.engine.run(self._n, self._places)
        return time.perf_counter() - begin

    def unload(self) -> None:
        """Shrink the buffers; some engines release the memory."""
        for slot in (KEYS, KEYS_OUT, VALUES, VALUES_OUT):
            self.engine.allocate(slot, 1024)
