"""What the embedded runtime's compiler makes of kernels for CPUs with AVX-512 and AMX, on whatever CPU this is.

Compiled only: the variable of Intel's runtime that names another CPU says nothing of running there.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from nightly import nightly

from hsgen import target
from hsgen.backends import shim, trial
from hsgen.backends.hosts import Host
from hsgen.keys import Form
from hsgen.render import Source, render
from hsgen.spec import Sort

pytestmark = pytest.mark.device


def short(sort: Sort, source: Source, kernels: int) -> tuple[Sort, Source]:
    """Return a sort of the first kernels alone, none of them for all."""
    some = sort.kernels[: kernels or None]
    return replace(sort, kernels=some), replace(source, parts={k.name: source.parts[k.name] for k in some})


@pytest.mark.parametrize("cpu", [nightly("skx"), "sapphirerapids"])
@pytest.mark.parametrize(
    ("api", "kernels"), [("opencl", 1), nightly("opencl", 0), nightly("metal", 0)], ids=lambda x: str(x)
)
def test_typed_keys_of_a_target_without_subgroups(
    api: str, kernels: int, cpu: str, embedded: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler crashed on networks of min and max between the transforms of keys."""
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", cpu)
    monkeypatch.setenv("PYOPENCL_NO_CACHE", "1")  # whose key does not know of that CPU
    sort = target.find("apple-m1").default("u32", Form(typed=True))
    source = shim.source(sort) if api == "metal" else render(sort, "opencl")
    trial.check(embedded.label, *short(sort, source, kernels), which=False)
