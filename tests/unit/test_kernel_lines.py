"""The lines at which C files say that the parts of kernels start."""

from __future__ import annotations

import pytest
from nightly import nightly

from hsgen.emit import kernels
from hsgen.emit.c_values import starts
from hsgen.targets import target


@pytest.mark.parametrize("name", ["generic", "cpu", nightly("nvidia-sm90")])
@pytest.mark.parametrize("algorithm", ["auto", "digest"])
def test_kernels_start_where_a_bundle_says(name: str, algorithm: str) -> None:
    sort = target.find(name).sort(algorithm, "u32")
    source = kernels.render(sort, "opencl")
    lines, begins = source.text.splitlines(), starts(source)
    assert list(source.parts) == [k.name for k in sort.kernels]  # in the order of a C file's table
    for kernel, begin, end in zip(source.parts, begins, [*begins[1:], len(lines)], strict=True):
        assert "\n".join(lines[begin:end]) + "\n" == source.parts[kernel]
    assert "\n".join(lines[: begins[0]]) + "\n" == source.header + source.prelude
