"""The program that measures how long sorters take to be made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from building import WARNINGS, bundle, embedded_only, need, objects, opencl, program, run

from hsgen.engines.hosts import Host

SOURCE = Path(__file__).parent.parent / "device/opencl_start.c"


@pytest.mark.device
def test_sorters_are_made_from_source_and_from_a_binary(embedded: Host) -> None:
    """A sorter for any count, and one for counts up to 2^10, which the block sort alone serves."""
    need("gcc")
    opencl()
    place = bundle("cpu")
    files = objects(place, "gcc").values()
    path = program(
        "start", "gcc", *WARNINGS, "-D_POSIX_C_SOURCE=199309L", f"-I{place / 'include'}", SOURCE, *files, "-lOpenCL"
    )
    out = run(path, "Intel", "u32", "none", "0", "0", "2^10", env=embedded_only())
    kernels = re.findall(
        r"^cpu u32 none, up to (\S+) keys: (\d+) kernels, CPU time \d+ ms, time \d+ ms; from a", out, re.M
    )
    assert kernels == [("0", "5"), ("2^10", "1")]
