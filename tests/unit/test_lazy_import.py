"""`import hsgen` loads nothing else, and its functions when they are first used; extras are missed in one line."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import hsgen
from hsgen.core.errors import Unavailable
from hsgen.cuda import driver

_LIGHT = """
import sys
before = set(sys.modules)
import hsgen
assert sorted(set(sys.modules) - before) == ["hsgen"], sorted(set(sys.modules) - before)
from hsgen import Sorter, argsort, sort
assert Sorter.__module__ == "hsgen.numpy.sorter" and "pyopencl" not in sys.modules
assert {"Sorter", "argsort", "sort", "__version__"} <= set(dir(hsgen))
"""


def test_hsgen_imports_nothing_and_then_what_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", _LIGHT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_other_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match=r"^module 'hsgen' has no attribute 'sorts'$"):
        hsgen.sorts  # noqa: B018


@pytest.mark.parametrize("name", ["cuda.bindings.driver", "cuda.bindings.nvrtc"])
def test_a_missing_package_is_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(Unavailable, match=r"^cuda\.bindings is not installed; pip install '.*\[cuda\]'$"):
        driver.package(name.rpartition(".")[2])


@pytest.mark.parametrize(("module", "library"), [("hsgen.torch", "torch"), ("hsgen.cupy", "cupy")])
def test_a_missing_library_is_one_line(module: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for name in [m for m in sys.modules if m.startswith(module)]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError) as found:
        importlib.import_module(module)
    said = str(found.value)
    assert "\n" not in said and library in said
