"""The version of Vulkan in a target decides the version of its SPIR-V."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from tools import GLSL, need

from hsgen.bundle.build import glsl_hash
from hsgen.emit import spirv, spirv_text
from hsgen.emit.kernels import render
from hsgen.targets import target

DEBUG = {2, 3, 4, 5, 6, 7, 8, 317, 330}
"""The opcodes of names, sources and lines."""


@pytest.mark.parametrize(("vulkan", "version"), [("1.1", 0x10300), ("1.2", 0x10500), ("1.3", 0x10600)])
def test_spirv_is_of_the_version_that_vulkan_takes(vulkan: str, version: int) -> None:
    need(GLSL)
    using = spirv.compiler()
    assert using
    sort = replace(target.find("generic").sort("bitonic", "u32"), vulkan=vulkan)
    source = render(sort, "vulkan")
    module = spirv.compile_one(source.text, source.path, spirv.Module("flip_1", True), using, vulkan)
    assert [int.from_bytes(module[i : i + 4], "little") for i in (0, 4)] == [0x07230203, version]
    codes = {code for code, _ in spirv_text.instructions([*struct.unpack(f"<{len(module) // 4}I", module)])}
    assert codes & {17, 71} == {17, 71} and not codes & DEBUG


def test_words_are_not_kept_for_another_version() -> None:
    sort = target.find("generic").sort("bitonic", "u32")
    source = render(sort, "vulkan")
    assert glsl_hash(sort, source) != glsl_hash(replace(sort, vulkan="1.2"), source)
    # a kernel without GLSL, which takes n as a 64-bit number, still has a position in the file
    assert glsl_hash(sort, source) != glsl_hash(replace(sort, kernels=sort.kernels[:-1]), source)
