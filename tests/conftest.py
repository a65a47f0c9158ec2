"""Fixtures: devices and tools.  A missing one skips with its reason; HSGEN_REQUIRE=1 (CI) makes that a failure."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import NoReturn

import pytest

from hsgen import toolchain
from hsgen.backends.hosts import Host, hosts

OCLGRIND = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"


def missing(reason: str) -> NoReturn:
    """Skip, or fail where everything must be there."""
    if os.environ.get("HSGEN_REQUIRE") == "1":
        pytest.fail(f"required but missing: {reason}")
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """pyopencl warns of every compiler that prints anything."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Non-empty compiler output")
        yield


@pytest.fixture(scope="session")
def embedded() -> Host:
    """The OpenCL CPU device that hsgen embeds."""
    if problem := toolchain.embedded_problem():
        missing(f"the embedded OpenCL runtime: {problem} (pip install 'hsgen[cpu-device]')")
    found = [h for h in hosts() if "Intel" in h.platform and h.type == "cpu"]
    if not found:
        missing("the embedded OpenCL runtime is installed but shows no device")
    return found[0]


@pytest.fixture(scope="session")
def pocl() -> Host:
    """A second OpenCL device, without subgroups."""
    found = [h for h in hosts() if "Portable" in h.platform]
    if not found:
        missing("PoCL is not installed (apt-get install pocl-opencl-icd)")
    return found[0]
