"""What takes turns in a benchmark beside peers: hsgen's sorts, and the copy that they are held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.backends.engine import COUNT, KEYS, KEYS_OUT, VALUES, VALUES_OUT, Engine
from hsgen.bench.inputs import Load
from hsgen.cases import Keys
from hsgen.peers import Run
from hsgen.peers.run import copied, timed

OWN = "hsgen"
COPY = "copy"


def fill(engine: Engine, work: Load) -> None:
    """Make the buffers, and write what is sorted; those of keys also hold what a copy of all moves."""
    for slot in (KEYS, KEYS_OUT):
        engine.allocate(slot, work.copied)
    engine.write(KEYS, work.keys)
    if work.values_expected is not None:
        engine.allocate(VALUES_OUT, work.values_expected.nbytes)
    if work.values is not None:
        engine.allocate(VALUES, work.values.nbytes)
        engine.write(VALUES, work.values)
    if work.how.counted:
        engine.allocate(COUNT, 4)
        engine.write(COUNT, np.array([len(work.keys)], np.uint32))


def wipe(engine: Engine, work: Load) -> None:
    """Write what no sort makes of the load to where results go."""
    engine.write(KEYS_OUT, ~work.expected)
    if work.values_expected is not None:
        engine.write(VALUES_OUT, ~work.values_expected)


def sorting(engine: Engine, work: Load, name: str = OWN) -> Run:
    """A sort of hsgen, from one device buffer into another.

    Its buffers are copied before each sort, untimed, so that caches hold the same of every engine whoever was before.
    """
    places = {"source": (KEYS, 0), "destination": (KEYS_OUT, 0)}
    if work.values is not None:
        places["values"] = (VALUES, 0)
    if work.values_expected is not None:
        places["values_out"] = (VALUES_OUT, 0)
    if work.how.counted:
        places["count"] = (COUNT, 0)
    sort, device = timed(lambda: engine.run(len(work.keys), places, work.how))

    def result() -> Keys:
        out = np.empty_like(work.keys)
        engine.read(KEYS_OUT, out)
        return out

    def values() -> NDArray[Any]:
        assert work.values_expected is not None
        out = np.empty_like(work.values_expected)
        engine.read(VALUES_OUT, out)
        return out

    return Run(
        name=name,
        prepare=lambda: copied(engine, work.copied),
        sort=sort,
        result=result,
        values=values,
        device=device,
        version=None if name == OWN else engine.sort.name,
    )


def copying(engine: Engine, work: Load) -> Run:
    """A copy of keys and values on the device: the bandwidth that sorts are held against.

    One copy goes untimed before each timed one, so that caches hold the keys as they do during a sort.
    """
    copy, device = timed(lambda: engine.copy(work.copied))
    return Run(
        name=COPY, prepare=lambda: copied(engine, work.copied), sort=copy, result=lambda: work.keys, device=device
    )
