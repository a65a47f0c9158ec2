"""Selections next to each bound of a plan: lengths of rows and k at the bound and one beside, on runtimes for CPUs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from every import direct
from lavapipe import Lavapipe, lavapipe
from nightly import NIGHTLY, nightly
from selection_bounds import fault, form, selection

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options
from hsgen.engines import native
from hsgen.engines.hosts import Host
from hsgen.operations import top_k
from hsgen.targets.target import find

pytestmark = pytest.mark.device
__all__ = ["lavapipe"]  # a fixture
WORKER = Path(__file__).with_name("selection_bounds.py")
MOST = 40_000 if NIGHTLY else 5_000
"""The greatest number of keys of a call."""
CASES = [
    pytest.param("embedded", "cpu", "u32", "index"),
    nightly("embedded", "cpu", "u64", "v8"),
    nightly("embedded", "cpu", "u8", "none"),
    nightly("embedded", "generic", "u32", "index64"),
    nightly("embedded", "generic", "u16", "v4"),
    nightly("pocl", "generic", "u32", "index"),
    nightly("pocl", "generic", "u64", "v16"),
]


@pytest.mark.parametrize(("device", "target", "key", "value"), CASES)
def test_shapes_next_to_each_bound(
    device: str, target: str, key: str, value: str, request: pytest.FixtureRequest
) -> None:
    host: Host = request.getfixturevalue(device)
    count, problem = fault(direct(host, selection(target, key, value)), MOST)
    assert not problem and count > 50, (count, problem)


@pytest.mark.parametrize(("key", "value"), [nightly("u32", "index"), nightly("u64", "v8")])
def test_shapes_next_to_each_bound_on_lavapipe(lavapipe: Lavapipe, key: str, value: str) -> None:
    lavapipe(8)
    library = native.library(
        "vulkan", [find("lavapipe")], key, algorithms=["radix_select"], signature=form(value), max_n=1 << 20
    )
    command = [sys.executable, WORKER, library, "lavapipe", key, value, "5000"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    count, *problem = done.stdout.split(maxsplit=1) or ["0"]
    assert (done.returncode, problem) == (0, []) and int(count) > 50, done.stdout + done.stderr


def test_numbers_that_no_call_has() -> None:
    """No row, k beyond a row, and k = 0 are refused; no keys are a call that selects nothing."""
    sort = selection("cpu", "u32", "index")
    completed: Any = top_k.OPERATION.settled
    for rows, k, argument in ((0, 1, "segment_count"), (3, 1, "segment_count"), (2, 0, "take"), (2, 51, "take")):
        with pytest.raises(OutOfRange, match=rf"^{argument} "):
            completed(100, Options(segment_count=rows, take=k), ())
    for rows, k in ((0, 0), (1, 0), (0, 5)):
        assert completed(0, Options(segment_count=rows, take=k), ()).take == k
    assert sort.plan.max_n >= 1 << 20
