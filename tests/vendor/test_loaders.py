"""Vulkan's functions by a loader such as volk: the runtime declares and links none of them, in both layouts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from building import CONSUMERS, LANES, WARNINGS, bundle, folder, lavapipe, need, program, run, single, sources, vulkan


@pytest.mark.device
@pytest.mark.parametrize("one_header", [False, True])
@pytest.mark.parametrize("compiler", ["gcc", "clang++"])
def test_a_table_of_functions_in_place_of_prototypes(compiler: str, one_header: bool) -> None:
    """Every file includes the loader's header, which defines VK_NO_PROTOTYPES; the program sorts without -lvulkan."""
    need(compiler)
    vulkan()
    place = single(LANES) if one_header else bundle(LANES, apis=("opencl", "vulkan"), words=True)
    files = [] if one_header else sources(place, "vulkan")
    language = ["-xc++", "-std=c++11"] if "++" in compiler else ["-std=c99"]
    loader = [f"-I{CONSUMERS}", "-include", "fake_loader.h", f"-I{place}", f"-I{place / 'include'}"]
    command = [compiler, *language, *WARNINGS, *loader, place / "examples/sort_vulkan.c", *files]
    own = folder("loader") / "loader.o"
    run("gcc", *WARNINGS, "-c", CONSUMERS / "fake_loader.c", "-o", own)
    found = program("loaded", *command, "-xnone", own, "-ldl")
    assert not re.search(r" U vk", run("nm", found))
    assert re.fullmatch(r"sorted 100003 keys on llvmpipe .* with target lanes8\n", run(found, env=lavapipe()))


def test_the_runtime_has_no_function_of_vulkan(tmp_path: Path) -> None:
    """Neither with prototypes does an object refer to one."""
    need("gcc", "nm")
    place = single(LANES)
    (tmp_path / "one.c").write_text('#define HS_VULKAN_IMPLEMENTATION\n#include "hs_sort_vulkan.h"\n')
    run("gcc", "-std=c99", f"-I{place}", "-c", tmp_path / "one.c", "-o", tmp_path / "one.o")
    folders = bundle(LANES, apis=("opencl", "vulkan"), words=True)
    run("gcc", "-std=c99", f"-I{folders / 'include'}", "-c", *sources(folders, "vulkan"), cwd=tmp_path)
    objects = sorted(tmp_path.glob("*.o"))
    assert len(objects) > 6
    for made in objects:
        names = run("nm", made)
        assert not re.search(r"\bvk[A-Z]", names), made.name
