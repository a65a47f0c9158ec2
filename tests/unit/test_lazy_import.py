"""`import hsgen` loads nothing else, and its functions when they are first used; extras are missed in one line."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hsgen
from hsgen.cli import main
from hsgen.core.errors import Unavailable
from hsgen.cuda import driver

_LIGHT = """
import sys
before = set(sys.modules)
import hsgen
assert sorted(set(sys.modules) - before) == ["hsgen"], sorted(set(sys.modules) - before)
from hsgen import Sorter, argsort, sort, topk
assert Sorter.__module__ == "hsgen.numpy.sorter" and "pyopencl" not in sys.modules
heavy = ["jinja2", "tomllib", "hsgen.algorithms", "hsgen.targets.target", "hsgen.emit", "hsgen.cuda.prepared"]
assert not [name for name in heavy if name in sys.modules]  # numpy serves the first call without these
assert {"Sorter", "argsort", "sort", "topk", "__version__"} <= set(dir(hsgen))
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


@pytest.mark.parametrize(
    ("module", "library"), [("hsgen.torch", "torch"), ("hsgen.cupy", "cupy"), ("hsgen.jax", "jax")]
)
def test_a_missing_library_is_one_line(module: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for name in [m for m in sys.modules if m.startswith(module)]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError) as found:
        importlib.import_module(module)
    said = str(found.value)
    assert "\n" not in said and library in said


_IMPORTED = """
import sys
from hsgen.cli import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""
SLOW = {"numpy", "jinja2", "pyopencl", "rich", "tomllib", "importlib.metadata", "ctypes", "multiprocessing", "asyncio"}
"""Modules that take 10 ms or more to import, or load such ones."""
LAYERS = ("algorithms", "operations", "targets", "engines", "dialects", "stages", "tools", "runners", "opencl")
"""Packages of hsgen that commands need which generate, or run on a device."""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lazy") / "b"
    assert main(["generate", "-t", "cpu", "--key", "u32", "--api", "opencl", "-o", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("command", "code", "apis"),
    [
        ("--version", 0, False),
        ("", 2, False),
        ("--help", 0, False),
        ("help", 0, False),
        ("help sizes", 0, False),
        ("help exit-codes", 0, False),
        ("verify BUNDLE", 0, True),
        ("verify BUNDLE --json", 0, True),
        ("verify --help", 0, True),
        ("help verify", 0, True),
    ],
)
def test_a_light_command_imports_little(command: str, code: int, apis: bool, bundle: Path) -> None:
    """So they take 0.1 s (`verify` 0.15 s), of which Python and click take 50 ms."""
    words = [str(bundle) if word == "BUNDLE" else word for word in command.split()]
    done = subprocess.run([sys.executable, "-c", _IMPORTED, *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    modules = set(done.stderr.splitlines()[-1].split())
    assert "click" in modules and not SLOW & modules, SLOW & modules
    assert not [m for m in modules if m.split(".")[0] == "hsgen" and m.split(".")[1:2] and m.split(".")[1] in LAYERS]
    assert ("hsgen.apis" in modules) == apis


def test_a_completion_imports_no_command() -> None:
    env = {**os.environ, "_HSGEN_COMPLETE": "bash_complete", "COMP_WORDS": "hsgen ge", "COMP_CWORD": "1"}
    code = _IMPORTED.replace("code = main(sys.argv[1:])", "code = 0\ntry:\n    main([])\nexcept SystemExit:\n    pass")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.stdout == "plain,generate\n", done.stderr
    modules = set(done.stderr.splitlines()[-1].split())
    assert not SLOW & modules and not [m for m in modules if m.startswith("hsgen.apis")]
