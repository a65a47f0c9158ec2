"""The functions in README.md, called as it says: they sort, and leave nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from building import COMPILERS, CONSUMERS, SMALL, WARNINGS, bundle, folder, need, opencl, program, run, sources

README = Path(__file__).resolve().parents[2] / "README.md"
HEAD = """#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"
hs_status make_sorter(cl_context context, cl_device_id device, hs_opencl **sorter);
hs_status sort_keys(hs_opencl *sorter, cl_command_queue queue, cl_mem keys, uint64_t n, cl_mem scratch);
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_sorter_is_made_once_and_released(compiler: str) -> None:
    need(compiler)
    opencl()
    (text,) = re.findall(r"^```c\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    written = folder("readme") / "readme.h"
    written.write_text(HEAD + text, encoding="utf-8")
    place = bundle(SMALL)
    include = [f"-I{path}" for path in (place / "include", CONSUMERS, written.parent)]
    files = [CONSUMERS / "readme.c", CONSUMERS / "fake_opencl.c", *sources(place)]
    out = run(program("readme", compiler, "-std=c99", *WARNINGS, *include, *files))
    assert re.fullmatch(r"[1-9]\d* kernels, 0 objects left\n", out)
