"""Makes small shapes of radix sorts, and the counts, keys and failing passes to try them with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from models.radix.shapes import made
from numpy.typing import NDArray

from hsgen.algorithms import radix
from hsgen.algorithms.radix import portions
from hsgen.core.keys import KEYS
from hsgen.tools.validate.cases import around

Keys = NDArray[np.unsignedinteger[Any]]


def shape(key: str = "u32", **values: Any) -> radix.Params:
    """Return a shape with defaults: tiles of 32 keys, 5 work-groups, up to 20 keys by a single work-group."""
    small: dict[str, Any] = {"bits": 8, "items": 4, "work_group": 8, "subgroup": 1, "groups": 5, "single": 20}
    return made(key, {"ranker": "bitmask", "coordination": "scan", **small, **values})


WAYS: dict[str, dict[str, Any]] = {
    "scan": {},
    "lookback": {"coordination": "lookback"},
    "endless": {"coordination": "lookback", "redo": False},
    "folded": {"ranker": "serial", "work_group": 1, "items": 32},
    "serial": {"ranker": "serial", "work_group": 4, "items": 8},
    "subgroups walk": {"ranker": "serial", "work_group": 8, "subgroup": 8, "items": 4},
    "serial, one lane alone": {"ranker": "serial", "work_group": 4, "items": 8, "single_lanes": 1, "loads": 4},
    "compact": {"ranker": "serial", "work_group": 4, "items": 8, "single_lanes": 1, "compact": True},
    "compact lanes alone": {"ranker": "serial", "work_group": 1, "items": 32, "compact": True, "single_bits": 9},
    "lines": {"ranker": "serial", "work_group": 1, "items": 32, "stream_from": 70},
    "never alone": {"single": 0},
    "a tile alone": {"single": None, "coordination": "lookback"},
    "no cap": {"groups": 65535},
    "portions": {"coordination": "lookback", "split_above": 352},
    "endless portions": {"coordination": "lookback", "split_above": 352, "redo": False},
}
"""The variants of plans other than by digits, by name."""


def boundary(p: radix.Params) -> list[int]:
    """Return the counts at which a plan or its kernels change their way, and their neighbours."""
    cap = p.groups * p.tile if p.groups < 100 else 0
    test_counts = [0, p.alone, p.tile, 2 * p.tile, cap, 2 * cap, p.stream or 0, *(p.tile * k for k in (3, 4))]
    test_counts += [p.split_above, p.tile * portions.count(p), 2 * p.tile * portions.count(p)] * (p.split_above > 0)
    return sorted(around(test_counts, 1 << 20))


def kinds(rng: np.random.Generator, n: int, key: str) -> Iterator[Keys]:
    """Yield random keys, few distinct ones, and some with constant digits: all, the first, the last, inner ones, all
    except the last."""
    dtype = np.dtype(f"u{KEYS[key].bytes}")
    top = np.iinfo(dtype).max
    keys = rng.integers(0, top, n, dtype, endpoint=True)
    yield keys
    yield keys % dtype.type(5)
    yield np.full(n, top, dtype)
    yield keys & ~dtype.type(0x7FF & top)
    yield keys & dtype.type(top >> 11)
    yield keys & dtype.type(0xFF00F0 & top)
    yield keys & ~dtype.type(top >> 5)


def failures(p: radix.Params) -> list[tuple[int, ...]]:
    """Return sets of passes whose look-back fails: none, the first, the last, all, some."""
    last = len(p.digits) - 1
    if not p.looks_back or p.forward_progress:
        return [()]
    return [(), (0,), (last,), tuple(range(last + 1)), tuple(range(1, last + 1, 2))]
