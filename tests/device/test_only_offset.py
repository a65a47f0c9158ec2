"""Segmented sorts with zero segments: the only offset is checked like any other, and nothing beyond the keys is
written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import missing
from lavapipe import Lavapipe, lanes, lavapipe
from nightly import nightly
from offset_worker import FORM, OFFSETS, N
from queues import queue_of
from tools import C, need

from hsgen.core.errors import Unavailable
from hsgen.engines import native
from hsgen.engines.hosts import Host
from hsgen.opencl import SegmentedSorter
from hsgen.system import toolchain
from hsgen.targets import target

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture


@pytest.mark.parametrize("name", ["cpu", nightly("generic"), nightly("intel-gen8")])
@pytest.mark.parametrize("in_place", [False, True])
def test_by_the_python_api(embedded: Host, name: str, in_place: bool) -> None:
    queue = queue_of(embedded)
    sorter = SegmentedSorter(queue.context, "u32", value=4, target=name)
    keys, values = (np.random.default_rng(3).integers(0, 1 << 32, N, np.uint32) for _ in range(2))
    for offset in OFFSETS:
        given = [array.to_device(queue, x) for x in (keys, values)]
        kept = [array.to_device(queue, np.full(N, 7, np.uint32)) for _ in range(2)]
        out = {} if in_place else {"out": kept[0], "values_out": kept[1]}
        sorter(queue, given[0], array.to_device(queue, np.array([offset], np.uint32)), values=given[1], **out)
        if offset > N:
            with pytest.raises(ValueError, match="nothing was written"):
                sorter.check()
        else:
            sorter.check()
        assert np.array_equal(given[0].get(), keys) and np.array_equal(given[1].get(), values)
        copied = not in_place and offset <= N
        for found, from_ in zip(kept, (keys, values), strict=True):
            assert np.array_equal(found.get(), from_ if copied else np.full(N, 7, np.uint32)), offset


def through_c(api: str, name: str, device: str) -> None:
    """Compare the C runtime's report and effect with the expected ones."""
    need(C)
    try:
        place = native.library(api, [target.find(name)], "u32", algorithms=("segmented_sort",), signature=FORM)
    except Unavailable as e:
        missing(str(e))
    script = str(Path(__file__).with_name("offset_worker.py"))
    done = subprocess.run(
        [sys.executable, script, api, name, str(place), device], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = [
        [in_place, offset, offset > N, "kept" if in_place or offset > N else "copied"]
        for in_place in (False, True)
        for offset in OFFSETS
    ]
    assert json.loads(done.stdout) == expected


@pytest.mark.nightly
@pytest.mark.usefixtures("embedded")
def test_opencl_through_c() -> None:
    through_c("opencl", "cpu", "Intel(R) OpenCL")


def test_vulkan_through_c(lavapipe: Lavapipe) -> None:
    lavapipe(8)
    through_c("vulkan", lanes("radix8"), "llvmpipe")
