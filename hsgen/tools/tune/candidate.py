"""A candidate of a race on the device: a sort with its buffers."""

from __future__ import annotations

import time

import numpy as np

from hsgen import operations
from hsgen.core.errors import Wrong
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines import Run
from hsgen.tools.bench.candidates import SLOTS, fill, sorting, wipe

_SMALL = 1024  # bytes of each buffer while a candidate is unloaded


class Candidate:
    """A sort on the device that takes part in a race."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name, self.engine = name, engine
        self._run: Run | None = None

    def load(self, work: Load) -> None:
        """Fill the buffers with a call's data, run the call once, and check its results.

        Raises:
            Wrong: the result is wrong.
        """
        fill(self.engine, work)
        wipe(self.engine, work)
        self._run = run = sorting(self.engine, work)
        self.seconds()
        pairs = [(run.result, work.expected), (run.values, work.values_expected), (run.report, work.report)]
        for read, expected in pairs:
            if expected is not None and read is not None and not np.array_equal(read(), expected):
                items = operations.of(self.engine.sort).items
                raise Wrong(f"{work.n} {work.keys.dtype.name} {items} came back wrong")

    def seconds(self) -> float:
        """Sort once; return the wall time."""
        assert self._run is not None
        begin = time.perf_counter()
        self._run.sort()
        return time.perf_counter() - begin

    def unload(self) -> None:
        """Shrink each buffer to `_SMALL` bytes; some engines then release the memory."""
        for slot in SLOTS:
            self.engine.allocate(slot, _SMALL)
