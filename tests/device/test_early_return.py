"""Kernels with an early return on OpenCL runtimes that turn the lanes of a work-group into loops.

PoCL 3.1 miscompiles such a kernel if its last barrier is followed by a loop that LLVM vectorizes: it takes one lane's
branches for those of all.  With a final barrier the kernel is right, so the OpenCL dialect adds one for PoCL
(`hs_end`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.engines.hosts import Host
from hsgen.targets import target

CHILD = Path(__file__).with_name("early_return.py")
WAYS = (Signature(), Signature(value="v4", device_count=True), Signature(key_transform=True, run_boundaries=True))


def run(host: Host, end: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CHILD), host.platform, end]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_barrier_at_the_end_makes_it_right_on_pocl(pocl: Host) -> None:
    done = run(pocl, "yes")
    assert done.returncode == 0, done.stderr


def test_the_reduced_kernel_shows_the_fault_of_pocl_3_1(pocl: Host) -> None:
    """A release that is right without the barrier does not need `hs_end`."""
    if not pocl.driver.startswith("3.1"):
        pytest.skip(f"PoCL {pocl.driver}: the fault was found in 3.1")
    assert run(pocl, "no").returncode != 0


def test_it_is_right_on_the_embedded_runtime_either_way(embedded: Host) -> None:
    for end in ("no", "yes"):
        done = run(embedded, end)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [n for n in target.names() if "opencl" in target.find(n).apis])
def test_kernels_that_may_return_before_a_barrier_end_with_one(name: str) -> None:
    """Except kernels that may also return after their last barrier."""
    found, seen = target.find(name), 0
    for key in ("u32", "u64"):
        for label in (*found.labels(key), *found.implicit(key)):
            for signature in WAYS:
                try:
                    sort = found.sort(label, key, signature)
                except Usage:
                    continue
                for kernel, text in render(sort, "opencl").parts.items():
                    before, barrier, after = text.rpartition("hs_barrier")
                    ends = text.rstrip().endswith("    hs_end();\n}")
                    assert ends == bool(barrier and "return;" in before and "return" not in after), (label, kernel)
                    seen += ends
    assert seen
