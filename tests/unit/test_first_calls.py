"""Calls whose kernels are loaded do nothing slow, and calls whose kernels are not loaded say so before slow work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from hsgen.cuda import background, compiler, kernels, offline, order, selections
from hsgen.cuda.subjects import Shape, Take


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The number of a GPU of sm_90 that is not there, without loaded kernels."""
    for module, name in (
        (order, "_orders"),
        (order, "_runners"),
        (selections, "_selections"),
        (selections, "_selectors"),
        (kernels, "_single"),
    ):
        monkeypatch.setattr(module, name, {})
    monkeypatch.setattr(background, "_known", {})
    with offline.devices([offline.gpu("sm_90")]) as numbers, compiler.collecting():
        yield numbers[0]
        assert background.wait_for_thread(60)


def _sort(number: int, n: int, rows: int, *, keys: bool) -> Any:
    return order.order(Shape(number=number, key="f32", rows=rows, length=n, keys=keys))


def _selected(number: int, n: int, rows: int, *, k: int) -> Any:
    return selections.selection(Take(number=number, key="f32", rows=rows, length=n, k=k))


@pytest.mark.parametrize(
    ("n", "rows", "keys"), [(1000, 1, True), (1 << 20, 1, True), (1 << 22, 1, False), (1000, 64, True)]
)
def test_another_length_of_a_prepared_sort_needs_nothing_slow(gpu: int, n: int, rows: int, keys: bool) -> None:
    assert background.pending("first", lambda: _sort(gpu, n, rows, keys=keys))
    assert background.wait_for_thread(60)
    assert not background.pending("first", lambda: _sort(gpu, n, rows, keys=keys))
    for length in (n - 1, n - 2):
        with background.quick():
            assert _sort(gpu, length, rows, keys=keys) is not None


def test_another_length_of_a_prepared_selection_needs_nothing_slow(gpu: int) -> None:
    assert background.pending("first", lambda: _selected(gpu, 1 << 17, 64, k=2048))
    assert background.wait_for_thread(60)
    with background.quick():
        assert _selected(gpu, (1 << 17) - 1, 64, k=2048) is not None


def test_missing_kernels_and_sorters_are_slow(gpu: int) -> None:
    with pytest.raises(background.Slow), background.quick():
        _sort(gpu, 1000, 1, keys=True)
    with pytest.raises(background.Slow), background.quick():
        _selected(gpu, 1 << 17, 64, k=2048)
    assert _sort(gpu, 1000, 1, keys=True) is not None
    with pytest.raises(background.Slow), background.quick():  # the sorter is known, its kernels for this length are not
        _sort(gpu, 1 << 22, 1, keys=True)
    assert not background.hasty()


_LIGHT = """
import sys
from hsgen.cuda import background, driver
driver.stand_in = object()
try:
    with background.quick():
        background.module("hsgen.cuda.order")
except background.Slow:
    pass
assert "hsgen.cuda.order" not in sys.modules and "jinja2" not in sys.modules
assert background.module("hsgen.cuda.order").__name__ == "hsgen.cuda.order"
with background.quick():
    background.module("hsgen.cuda.order")
"""


def test_the_modules_that_prepare_are_not_imported_by_a_quick_call() -> None:
    done = subprocess.run([sys.executable, "-c", _LIGHT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


_PRELOADED = """
import sys
import numpy
sys.modules["cupy"] = numpy
import hsgen.cupy
from hsgen.cuda import background
assert all(name in sys.modules for name in background.MODULES) and "cuda.bindings" not in sys.modules
with background.quick():
    assert background.module("hsgen.cuda.order").__name__ == "hsgen.cuda.order"
"""


def test_packages_of_array_libraries_import_the_modules_that_prepare() -> None:
    """The thread then has less to do; without cuda.bindings, the import succeeds, and a call says what is missing."""
    done = subprocess.run([sys.executable, "-c", _PRELOADED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
