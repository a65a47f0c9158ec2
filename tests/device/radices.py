"""Radix sorts of shapes that no target has, compiled for tests on devices."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms import radix
from hsgen.algorithms.radix import reduce_scan
from hsgen.core.keys import KEYS
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.operations.calls import Call
from hsgen.tools.validate.guarded import Frame

sys.path.insert(0, str(Path(__file__).parents[1]))  # for scripts, which run without pytest
from every import direct
from models.radix.shapes import made
from sorts import sort_by

Keys = NDArray[np.unsignedinteger[Any]]


def shape(key: str = "u32", **values: Any) -> radix.Params:
    """Return a shape with defaults: tiles of 128 keys, 4 work-groups, up to 50 keys by a single work-group.

    The split ranker keeps adjacent keys in a lane, so it has few lanes; serial chunks have at least 32 keys.
    """
    small: dict[str, Any] = {
        "bits": 8,
        "items": 4,
        "work_group": 32,
        "subgroup": 1,
        "ranker": "bitmask",
        "coordination": "scan",
        "groups": 4,
        "single": 50,
    }
    return made(key, {**small, **values})


def sort_of(p: radix.Params) -> Sort:
    """Return the sort of a shape."""
    return sort_by("radix", p, p.signature)


def engine(host: Host, p: radix.Params) -> Direct:
    """Return the sort of a shape, compiled in a context of its own."""
    return direct(host, sort_of(p))


def alone(p: radix.Params) -> radix.Params:
    """Return the shape of the kernels for 64-bit indices, for use with small counts."""
    return reduce_scan.large(p)


def payloads(rng: np.random.Generator, n: int, key: str, values: int = 7) -> tuple[Keys, Keys]:
    """Return keys whose upper half has few values and whose lower half is their index, and their stable sort by the
    upper half."""
    dtype = np.dtype(f"u{KEYS[key].bytes}")
    half = dtype.itemsize * 4
    step = (1 << half) // values - 1
    upper = rng.integers(0, values, n).astype(dtype) * dtype.type(step)
    keys = upper << dtype.type(half) | np.arange(n, dtype=dtype)
    return keys, keys[np.argsort(upper, kind="stable")]


def frame(made: Direct, greatest: int) -> Frame:
    """Return framed buffers for up to `greatest` keys."""
    return Frame(made, greatest)


def tried(frame: Frame, keys: Keys, right: Keys, *, in_place: bool, shifts: tuple[int, int] = (0, 0)) -> str | None:
    """Sort keys in framed buffers; return the error, or None."""
    return frame.run(Call(n=len(keys), keys=keys, expected=right, in_place=in_place), shifts)
