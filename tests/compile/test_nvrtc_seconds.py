"""The program that measures NVRTC: the kernels of each call, their names, and a compilation."""

from __future__ import annotations

import nvrtc_seconds
import pytest
from conftest import missing

from hsgen.core.errors import Unavailable


def test_names_are_those_of_the_kernels_of_calls() -> None:
    names = [nvrtc_seconds.name_of(text) for text in nvrtc_seconds.texts("sm_90", "torch.sort 512 x 40000")]
    assert set(names) == {"hs_finish", "begin", "sift", "count", "rows", "scatter"}  # no launch without work
    assert names.index("scatter") < names.index("begin")  # kernels with most shared arrays first
    (name,) = {nvrtc_seconds.name_of(text) for text in nvrtc_seconds.texts("sm_90", "cupy.sort 2^20")}
    assert name == "grid"


@pytest.mark.parametrize("options", [[], ["--ptxas-options=-O1"]])
def test_a_compilation_takes_time(options: list[str]) -> None:
    try:
        used, size = nvrtc_seconds.seconds('extern "C" __global__ void hs_one(int *x) { *x = 1; }', 90, options)
    except Unavailable:
        missing("NVRTC is not installed (pip install nvidia-cuda-nvrtc)")
    assert used > 0 and size > 500
