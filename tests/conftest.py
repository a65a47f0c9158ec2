"""Fixtures for devices and tools.  A missing one skips the test with a reason; with HSGEN_REQUIRE=1 (CI) it fails."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tools
from fast import FAST
from night import MOST, NIGHT, OTHERS
from nightly import EVERY, NIGHTLY
from tools import missing

from hsgen.engines import selection
from hsgen.engines.hosts import Host, hosts
from hsgen.system import toolchain
from hsgen.targets import target

LONG = (
    "docs/test_docs.py",
    "device/test_tuning.py",
    "compile/test_cuda.py",
    "device/test_validate.py",
    "device/test_vulkan.py",
    "device/test_mutants.py",
    "cli/test_choosing.py",
    "device/test_vulkan_forms.py",
    "device/test_scanning.py",
    "device/test_oclgrind.py",
    "device/test_native.py",
    "packaging/test_wheel.py",
    "docs/test_add_algorithm.py",
    "docs/test_add_operation.py",
)
"""Slow modules, the slowest first; an early start balances the workers."""

__all__ = ["missing"]
OCLGRIND = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"


def pytest_configure(config: pytest.Config) -> None:
    """Speed up the run, and the processes that tests start.

    Processes of tests multiply no matrices, so numpy need not start threads, which is slow.  Processes keep the
    bytecode of hsgen, also where PYTHONDONTWRITEBYTECODE is set: the first compiles all modules, the others load them.
    Sorters are compiled without a trial process, which would start Python for each sorter.  Sorters are also compiled
    without optimization, the slowest part of Intel's compiler; the fixture `optimized` and the nightly run turn
    optimization on.  No library's own sort serves first calls.  A worker keeps many objects, so a full garbage
    collection takes long: at the default thresholds, collections take a sixth of the time of tests/unit.  `tools`
    watches the programs that tests start.
    """
    gc.set_threshold(100_000, 20, 20)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("HSGEN_TRIAL", "0")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("HSGEN_BACKGROUND", "0")
    if not NIGHTLY:
        os.environ.setdefault("HSGEN_OPTIMIZE", "0")
    config.pluginmanager.register(tools)


def thinned(
    items: list[pytest.Item],
    here: Path,
    table: Mapping[str, Mapping[str, int]],
    most: Callable[[str], int] = lambda _: sys.maxsize,
) -> set[pytest.Item]:
    """Return the tests without those that a table thins: of each test in it, its number of cases, evenly spaced.

    most: the number of cases of a test that is not in the table, by the folder of its module.
    """
    cases: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        cases.setdefault((item.path.relative_to(here).as_posix(), getattr(item, "originalname", item.name)), []).append(
            item
        )
    kept: set[pytest.Item] = set()
    for (module, name), found in cases.items():
        number = min(table.get(module, {}).get(name, most(module.split("/")[0])), len(found))
        kept.update(found[i * len(found) // number] for i in range(number))
    return kept


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what the run leaves out; order slow modules first, and those without devices or compilers last."""
    here = Path(__file__).parent
    if not EVERY:
        kept = thinned([i for i in items if not i.get_closest_marker("nightly")], here, FAST)
        if NIGHTLY:
            kept |= thinned([i for i in items if i not in kept], here, NIGHT, lambda folder: MOST.get(folder, OTHERS))
        config.hook.pytest_deselected(items=[i for i in items if i not in kept])
        items[:] = [i for i in items if i in kept]

    def rank(item: pytest.Item) -> int:
        name = item.path.relative_to(here).as_posix()
        return LONG.index(name) if name in LONG else len(LONG) + name.startswith("unit/")

    items.sort(key=rank)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence pyopencl, which warns whenever a compiler prints anything."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Non-empty compiler output")
        yield


@pytest.fixture
def optimized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled with optimization, as users have them."""
    monkeypatch.setenv("HSGEN_OPTIMIZE", "1")


@pytest.fixture
def unkept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets are read each time, for tests that change how."""
    monkeypatch.setattr(target, "parse", target.parse.__wrapped__)


@pytest.fixture(scope="session")
def embedded() -> Host:
    """The embedded OpenCL CPU device."""
    if problem := toolchain.embedded_problem():
        missing(f"the embedded OpenCL runtime: {problem} (pip install 'hsgen[cpu-device]')")
    found = [h for h in hosts() if selection.embedded(h)]
    if not found:
        missing("the embedded OpenCL runtime is installed but shows no device")
    return found[0]


@pytest.fixture(scope="module")
def queue(embedded: Host) -> Iterator[Any]:
    """A queue of pyopencl on the embedded device."""
    from hsgen.engines.pyopencl import context_for

    context = context_for(embedded)  # kept: Intel's runtime frees a context that only a queue holds
    yield toolchain.pyopencl().CommandQueue(context)
    del context


@pytest.fixture(scope="session")
def pocl() -> Host:
    """A second OpenCL device, without subgroups."""
    found = [h for h in hosts() if h.platform == "Portable Computing Language"]
    if not found:
        missing("PoCL is not installed (apt-get install pocl-opencl-icd)")
    return found[0]
