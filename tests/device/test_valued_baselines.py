"""Baselines that sort keys with values: each returns a stable sort, or says why it cannot."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tools import C, need

from hsgen.core.errors import Unavailable
from hsgen.tools.bench.baselines import VALUED

KEYS = np.random.default_rng(3).integers(0, 50, 3000, np.uint32)
ORDER = np.argsort(KEYS, kind="stable")
WORDS = np.arange(3000, dtype=np.uint32).reshape(-1, 1) ^ np.uint32(77)


@pytest.mark.parametrize(("name", "values"), [("numpy", WORDS), ("lsd", WORDS), ("numpy", None), ("numpy-quick", None)])
def test_baselines_move_values_with_keys(name: str, values: np.ndarray | None) -> None:  # type: ignore[type-arg]
    if name == "lsd":
        need(C)
    run = VALUED[name](SimpleNamespace(), KEYS, values)  # type: ignore[arg-type]
    for _ in range(2):
        run.prepare()
        run.sort()
        assert (run.result() == KEYS[ORDER]).all()
        assert run.values is not None
        expected = ORDER.reshape(-1, 1) if values is None else values[ORDER]
        assert (run.values() == expected).all()


@pytest.mark.parametrize(
    ("name", "values", "line"),
    [
        ("numpy-quick", WORDS, "finds orders only"),
        ("lsd", None, "packs 32-bit keys with 32-bit values"),
        ("cub", None, "has no argsort"),
    ],
)
def test_baselines_that_cannot_sort_say_so(name: str, values: np.ndarray | None, line: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(Unavailable, match=line):
        VALUED[name](SimpleNamespace(), KEYS, values)  # type: ignore[arg-type]
