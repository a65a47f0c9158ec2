"""The programs and headers that tests need, and what installs each of them.

`need` skips a test where a tool is missing, with a reason; with HSGEN_REQUIRE=1 (CI) the test fails.  `WATCH` finds
tests that start a program without `need`: such a test would fail instead of being skipped on a machine without it.
It watches all tests but those of the folders `UNWATCHED`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from hsgen.core.errors import Unavailable
from hsgen.emit import spirv
from hsgen.system import compilers, toolchain

C = "a C compiler"
"""The compiler that hsgen uses for C runtimes."""
GLSL = "a GLSL compiler"
"""The compiler that hsgen uses for SPIR-V; `make setup` brings one on Linux."""
OPENCL = "CL/cl.h"
"""OpenCL's headers."""
VULKAN = "vulkan/vulkan_core.h"
"""Vulkan's headers."""

DEBIAN = {
    C: "gcc",
    GLSL: "glslang-tools",
    OPENCL: "ocl-icd-opencl-dev",
    VULKAN: "libvulkan-dev",
    "c++": "g++",
    "cc": "gcc",
    "clang": "clang",
    "clang++": "clang",
    "cmake": "cmake",
    "g++": "g++",
    "gcc": "gcc",
    "git": "git",
    "glslangValidator": "glslang-tools",
    "mcs": "mono-mcs",
    "meson": "meson",
    "mono": "mono-runtime",
    "ninja": "ninja-build",
    "nm": "binutils",
    "node": "nodejs npm",
    "npm": "nodejs npm",
    "nvcc": "nvidia-cuda-toolkit",
    "pkg-config": "pkg-config",
    "spin": "spin",
    "spirv-cross": "spirv-cross",
    "spirv-val": "spirv-tools",
    "strace": "strace",
    "x86_64-w64-mingw32-g++": "g++-mingw-w64-x86-64",
    "x86_64-w64-mingw32-gcc": "g++-mingw-w64-x86-64",
}
"""Every tool that a test may need, and the packages of Debian that hold it."""

HEADERS = (OPENCL, VULKAN)
_C = frozenset({"cc", "gcc", "clang"})
_GLSL = frozenset({"glslangValidator", "glslang", "glslc"})
_ALWAYS = frozenset({"git"})
_QUESTIONS = frozenset({"--version", "-dumpversion", "-v"})
"""Arguments with which hsgen asks whether a program works; hsgen needs no answer."""
_TESTS = Path(__file__).parent
_PRODUCT = Path(spirv.__file__).parents[1]


def missing(reason: str) -> NoReturn:
    """Skip, or fail with HSGEN_REQUIRE=1."""
    if os.environ.get("HSGEN_REQUIRE") == "1":
        pytest.fail(f"required but missing: {reason}")
    pytest.skip(reason)


def need(*names: str) -> None:
    """Skip where one of these tools is not installed."""
    for name in names:
        WATCH.allow(name)
        if name in HEADERS:
            need(C)
        if not has(name):
            _lacking(name)


def tool(name: str) -> str:
    """Return the path of a program on the PATH or among the scripts of the virtual environment; skip without it."""
    WATCH.allow(name)
    scripts = Path(sysconfig.get_path("scripts"))
    return toolchain.tool(name) or toolchain.tool(str(scripts / name)) or _lacking(name)


def has(name: str) -> bool:
    """Whether a tool is installed, a program on the PATH."""
    if name == GLSL:
        return spirv.compiler() is not None
    if name in HEADERS:
        return _includes(name)
    if name != C:
        return toolchain.tool(name) is not None
    try:
        return bool(compilers.c_compiler())
    except Unavailable:
        return False


def _lacking(name: str) -> NoReturn:
    missing(f"no {name.removeprefix('a ')} (apt-get install {DEBIAN[name]})")


@cache
def _includes(header: str) -> bool:
    """Whether the C compiler finds a header without options."""
    try:
        command = [*compilers.c_compiler(), "-fsyntax-only", "-xc", "-"]
    except Unavailable:
        return False
    return subprocess.run(command, input=f"#include <{header}>\n", text=True, capture_output=True).returncode == 0


class Watch:
    """The programs that the current test starts without having asked for them with `need`.

    A test may start what it or a fixture of its module, package or session asked for.
    """

    def __init__(self) -> None:
        self.started: set[str] = set()
        self._fixtures: dict[str, set[str]] = {}
        self._test: set[str] = set()
        self._fixture: str | None = None

    def begin(self) -> None:
        """Start a test: forget what the last one started and asked for."""
        self.started.clear()
        self._test.clear()

    @contextmanager
    def fixture(self, place: str | None) -> Iterator[None]:
        """Allow meanwhile for all tests below `place`, a node of pytest; None: for the current test alone."""
        before, self._fixture = self._fixture, place
        try:
            yield
        finally:
            self._fixture = before

    def allow(self, name: str) -> None:
        """Allow the programs of a tool."""
        names = {C: _C, GLSL: _GLSL}.get(name, {name})
        if self._fixture is not None:
            self._fixtures.setdefault(self._fixture, set()).update(names)
        self._test.update(names)

    def allowed(self, test: str) -> set[str]:
        """Return the programs that a test, a node of pytest, may start."""
        return self._test.union(*(names for place, names in self._fixtures.items() if test.startswith(place)))

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note the start of a program; an audit hook of Python."""
        if event != "subprocess.Popen" or not isinstance(arguments[1], list | tuple):
            return
        file = Path(os.fsdecode(arguments[0]))
        known = file.name in DEBIAN or file.name in _GLSL
        if not known or file.name in _ALWAYS or _QUESTIONS & set(map(str, arguments[1])):
            return
        if Path(shutil.which(file) or file).is_relative_to(tempfile.gettempdir()):  # a program that tests wrote
            return
        if file.name in _C | _GLSL or _starter(sys._getframe(1)) == _TESTS:
            self.started.add(file.name)

    def surplus(self, test: str) -> set[str]:
        """Return the programs that a test started and may not start."""
        return self.started - self.allowed(test)


def _starter(frame: FrameType | None) -> Path | None:
    """The folder, tests or hsgen, of the function that starts a program."""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        for folder in (_TESTS, _PRODUCT):
            if file.is_relative_to(folder):
                return folder
        frame = frame.f_back
    return None


WATCH = Watch()
UNWATCHED = frozenset({"compile", "device", "docs", "packaging", "unit", "vendor"})
"""The folders whose tests also skip by what hsgen says of compilers and devices.  The run in a bare root (.ci/bare)
shows that they do."""


def pytest_configure() -> None:
    """Note the starts of programs from now on."""
    sys.addaudithook(WATCH.note)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Let all tests that share a fixture start the programs that the fixture asks for."""
    with WATCH.fixture(request.node.nodeid if request.scope != "function" else None):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Forget what the last test started."""
    WATCH.begin()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test that starts a program which other machines may lack, unless the test asks for it: see `tools`."""
    yield
    if item.path.parent.name in UNWATCHED:
        return
    if surplus := sorted(WATCH.surplus(item.nodeid)):
        pytest.fail(f"starts {', '.join(surplus)} without tools.need, so it fails where this is missing", pytrace=False)


def chromium() -> str:
    """The path of a browser that can run without a screen."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    missing("no browser (apt-get install chromium)")
