"""Copies of long arrays, by the C function and by numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hsgen.core.errors import Unavailable
from hsgen.numpy import copies
from hsgen.system import compilers


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    copies.copier.cache_clear()
    yield
    copies.copier.cache_clear()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.uint64])
def test_nothing_but_the_part_changes(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_LEAST", 0)
    copy, rng = copies.copier(), np.random.default_rng(1)
    for n in (0, 1, 15, 63, 64, 65, 200, 5000):
        for begin, first in ((0, 0), (1, 3), (7, 0), (16, 9)):
            source = rng.integers(0, 255, n + 20).astype(dtype)
            to = rng.integers(0, 255, n + 40).astype(dtype)
            expected = to.copy()
            expected[begin : begin + n] = source[first : first + n]
            copy(to[begin : begin + n], source[first : first + n])
            assert to.tobytes() == expected.tobytes(), (n, begin, first)


def test_long_and_strided_arrays_are_copied() -> None:
    copy, source = copies.copier(), np.random.default_rng(2).integers(0, 1 << 63, 300_001)
    to = np.zeros((300_001, 2), np.int64)
    copy(to[:, 1], source)
    assert (to[:, 1] == source).all() and not to[:, 0].any()
    copy(flat := np.zeros_like(source), source)
    assert (flat == source).all()


def test_numpy_copies_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> list[str]:
        raise Unavailable("no C compiler")

    monkeypatch.setattr(compilers, "c_compiler", missing)
    assert copies.copier() is np.copyto
