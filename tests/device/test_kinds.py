"""Segmented sorts, merges and digests through every runtime here: buffers, arguments and status arrive."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from kinds import KINDS, label, sort_of, wrong
from lavapipe import Lavapipe
from lavapipe import lavapipe as lavapipe
from nightly import nightly
from tools import C, need

from hsgen.cli import main
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.interpreter import Options
from hsgen.engines import metal_shim, native, pyopencl
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.operations import settled
from hsgen.targets import target

SCRIPT = Path(__file__).with_name("kinds.py")


def without(*kinds: str) -> list[Any]:
    """Return all kinds, with these tried only nightly."""
    return [nightly(k) if k in kinds else k for k in KINDS]


def through_c(api: str, name: str, kind: str, options: str) -> tuple[int, str]:
    """Return the result through the C runtime of an API."""
    sort = sort_of(name, kind)
    need(C)
    try:
        place = native.library(api, [target.find(name)], "u32", algorithms=[label(kind)], signature=sort.signature)
    except Unavailable as e:
        missing(str(e))
    command = [sys.executable, str(SCRIPT), api, str(place), name, kind, options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "VK_LAYER_KHRONOS_validation is not installed" in done.stderr:
        missing("the validation layers are not installed (apt-get install vulkan-validationlayers)")
    assert done.returncode == 0, done.stderr
    count, problem = json.loads(done.stdout)
    return count, problem


@pytest.mark.device
@pytest.mark.parametrize("kind", without("segmented_sort", "epilogue"))  # test_segments and test_epilogues cover it
def test_through_pyopencl(embedded: Host, kind: str) -> None:
    context = pyopencl.context_for(embedded)
    engine = pyopencl.Direct(context, Compiled(context, sort_of("generic", kind)))
    count, problem = wrong(engine, kind)
    assert count > 10 and not problem


@pytest.mark.device
@pytest.mark.parametrize("kind", KINDS)
def test_through_opencl_in_c(embedded: Host, kind: str) -> None:
    count, problem = through_c("opencl", "generic", kind, "poison=1")
    assert count > 10 and not problem


@pytest.mark.device
@pytest.mark.parametrize("kind", without("segmented_sort", "changes", "epilogue"))  # lavapipe compiles these slowly
def test_through_vulkan_in_c(lavapipe: Lavapipe, kind: str) -> None:
    """With buffers by descriptor, and larger ones by address, under the validation layers."""
    lavapipe(8)
    count, problem = through_c("vulkan", "generic", kind, "poison=1 validation=1 binding_limit=65536")
    assert count > 10 and not problem


@pytest.mark.device
@pytest.mark.parametrize("kind", without("epilogue"))  # test_epilogues covers it too
def test_metal_text(embedded: Host, kind: str) -> None:
    """As C++ for OpenCL, which does not replace Apple's compiler."""
    try:
        host = metal_shim.takers()[0]
    except Unavailable as e:
        missing(str(e))
    context, sort = pyopencl.context_for(host), sort_of("generic", kind)
    count, problem = wrong(pyopencl.Direct(context, Compiled(context, sort, metal_shim.source(sort))), kind)
    assert count > 10 and not problem


@pytest.mark.device
@pytest.mark.parametrize(
    ("algorithm", "value"), [("digest", "v8"), nightly("segmented_sort", "v16"), nightly("merge_path", "v8")]
)
def test_wide_values_through_vulkan(lavapipe: Lavapipe, algorithm: str, value: str) -> None:
    """Of arrays that start at any value, below the device's binding alignment, all u32 are read."""
    lavapipe(8)
    command = ["validate", "-t", "lavapipe", "--api", "vulkan", "--key", "u32", "--algorithm", algorithm]
    assert main([*command, "--value", value]) == 0


@pytest.mark.parametrize(
    ("algorithm", "n", "number", "line"),
    [
        ("merge_path", 10, {"first_count": 11}, "first_count 11: exceeds n, the 10 keys of both arrays"),
        (
            "segmented_sort",
            10,
            {"segment_count": 3},
            "segment_count 3: 10 keys cannot be divided into that number of equal rows",
        ),
        ("segmented_sort", 10, {}, "segment_count 0: 10 keys"),
        ("digest", 10, {"capacity": 2**31}, "capacity 2147483648: give 0 to 2147483647"),
        ("digest", 10, {"capacity": -1}, "capacity -1: give 0"),
    ],
)
def test_numbers_that_do_not_fit(algorithm: str, n: int, number: dict[str, int], line: str) -> None:
    with pytest.raises(Usage, match=line):
        settled(sort_of("generic", algorithm), n, Options(**number), ())


def test_what_follows_from_a_call() -> None:
    check, segments = sort_of("generic", "digest"), sort_of("generic", "segmented_sort")
    assert [settled(check, 10, Options(capacity=p), ()).capacity for p in (0, 9, 11)] == [10, 10, 11]
    assert settled(segments, 10, Options(segment_count=5), ("source",)).rows
    assert not settled(segments, 10, Options(segment_count=3), ("source", "other")).rows
