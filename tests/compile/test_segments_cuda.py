"""CUDA kernels of segmented sorts: they compile without a warning, and lanes have registers for what they hold."""

from __future__ import annotations

import pytest
from test_cuda import ARCHS, compilers

from hsgen import target
from hsgen.keys import Form
from hsgen.render import render

FORMS = {
    "u32": Form(),
    "u64": Form(),
    "f32": Form(value="v4", typed=True),
    "i64": Form(value="v8", typed=True),
    "u16": Form(value="v16"),
    "u8": Form(value="index64"),
}


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["nvidia-hopper", "generic"])
@pytest.mark.parametrize("key", FORMS)
def test_every_kernel_compiles(name: str, key: str, arch: int) -> None:
    sort = target.find(name).sort("segments", key, FORMS[key])
    for compiler in compilers(arch):
        found = compiler.compile(render(sort, "cuda").text, arch)
        assert set(found) == {k.name for k in sort.kernels}
        if arch >= 80:
            assert {k: u for k, u in found.items() if u.spills} == {}, compiler.name
