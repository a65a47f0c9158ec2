"""The embedded runtime's compiler with kernels for CPUs with AVX-512 and AMX, on any CPU.

Compiled only: the variable of Intel's runtime that names another CPU does not allow running there.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from nightly import nightly

from hsgen.core.errors import Notice
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines import isolated_build, metal_shim
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.system import resources
from hsgen.targets import target
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
TYPED = Signature(key_transform=True)
"""Between the key transforms of such keys the compiler crashed on networks of min and max."""


def aim(cpu: str, patch: pytest.MonkeyPatch) -> None:
    """Have the compiler generate code for a CPU."""
    patch.setenv("CL_CONFIG_CPU_TARGET_ARCH", cpu)
    patch.setenv("PYOPENCL_NO_CACHE", "1")  # its key does not include that CPU


def short(sort: Sort, source: Source, kernels: int) -> tuple[Sort, Source]:
    """Return a sort of the first kernels alone, which does not sort every count."""
    some = sort.kernels[: kernels or None]
    return replace(sort, kernels=some), replace(source, parts={k.name: source.parts[k.name] for k in some})


@pytest.mark.parametrize("cpu", [nightly("skx"), "sapphirerapids"])
@pytest.mark.parametrize(
    ("api", "kernels"), [("opencl", 1), nightly("opencl", 0), nightly("metal", 0)], ids=lambda x: str(x)
)
def test_typed_keys_of_a_target_without_subgroups(
    api: str, kernels: int, cpu: str, embedded: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With selects, as shipped, it passes the optimizer."""
    aim(cpu, monkeypatch)
    sort = target.find("apple-m1").default("u32", TYPED)
    source = metal_shim.source(sort) if api == "metal" else render(sort, "opencl")
    isolated_build.check(embedded.label, *short(sort, source, kernels), which=False)


def test_kernels_that_crash_the_compiler_are_built_without_optimization(
    embedded: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same target with min and max; kernels that compile sort on this machine."""
    text = (resources.targets() / "apple-m1.toml").read_text(encoding="utf-8")
    text = text.replace('name = "apple-m1"', 'name = "minmax"').replace('exchange = "select"', 'exchange = "minmax"')
    (tmp_path / "minmax.toml").write_text(text, encoding="utf-8")
    sort = target.find(str(tmp_path / "minmax.toml")).sort("bitonic", "u32", TYPED)
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as said:
        aim("skx", patch)
        warnings.simplefilter("always")
        source = isolated_build.accepted(embedded.label, sort, metal_shim.source(sort), which=False)
    assert source.optimized is not any(issubclass(w.category, Notice) for w in said)
    if embedded.driver.startswith("2026.22."):
        assert not source.optimized
    context = context_for(embedded)
    engine = Direct(context, Compiled(context, sort, source))
    report = validation.run(engine, [(n, "random") for n in (1, 1000, 40_000)], 1)
    assert report.cases and not report.failed, report.failures
