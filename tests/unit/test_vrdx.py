"""The baseline vulkan_radix_sort: built from a header that the user names, and refused where it cannot sort."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tools import VULKAN, need

from hsgen.cli import main
from hsgen.core.errors import Unavailable
from hsgen.engines.harness import Native
from hsgen.tools.bench.baselines import BASELINES, VALUED, build

HEADER = """
#include <vulkan/vulkan_core.h>
#define VRDX_VERSION_MAJOR 9
#define VRDX_VERSION_MINOR 8
#define VRDX_VERSION_PATCH 7
typedef struct VrdxSorter_T *VrdxSorter;
struct VrdxSorterCreateInfo { VkPhysicalDevice physicalDevice; VkDevice device; VkPipelineCache pipelineCache; };
struct VrdxSorterStorageRequirements { VkDeviceSize size; VkBufferUsageFlags usage; };
static VkResult vrdxCreateSorter(const VrdxSorterCreateInfo *, VrdxSorter *) { return VK_SUCCESS; }
static void vrdxGetSorterStorageRequirements(VrdxSorter, uint32_t, VrdxSorterStorageRequirements *) {}
static void vrdxGetSorterKeyValueStorageRequirements(VrdxSorter, uint32_t, VrdxSorterStorageRequirements *) {}
typedef VkDeviceSize At;
static void vrdxCmdSort(VkCommandBuffer, VrdxSorter, uint32_t, VkBuffer, At, VkBuffer, At, VkQueryPool, uint32_t) {}
static void vrdxCmdSortKeyValue(VkCommandBuffer, VrdxSorter, uint32_t, VkBuffer, At, VkBuffer, At, VkBuffer, At,
                                VkQueryPool, uint32_t) {}
"""
"""What the baseline uses of the library."""


def vulkan() -> Any:
    """An engine of the Vulkan harness, without a library."""
    engine = Native.__new__(Native)
    engine.api, engine.index = "vulkan", 0
    return engine


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for the header; nothing is built yet."""
    need("g++", VULKAN)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "g++")
    monkeypatch.setenv(build.PEERS, "")
    build.load.cache_clear()
    return tmp_path


def test_it_is_built_from_the_folder_that_is_named(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (fresh / "own", fresh / "checkout" / "include"):
        place.mkdir(parents=True)
        (place / "vk_radix_sort.h").write_text(HEADER)
        monkeypatch.setenv(build.PEERS, str(place.parent if place.name == "include" else place))
        build.load.cache_clear()
        assert build.version(build.load("vrdx")) == "9.8.7"


def test_without_the_header_one_line_says_what_is_missing(fresh: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        BASELINES["vrdx"](vulkan(), np.zeros(10, np.uint32))
    (line,) = caught.value.lines
    assert line.startswith("baseline vrdx: does not build with g++: ") and "vk_radix_sort.h: No such file" in line
    assert line.endswith("name the folder of vk_radix_sort.h with --peer-source")


@pytest.mark.parametrize(
    ("dtype", "engine", "line"),
    [("u8", vulkan(), "sorts keys of 4 bytes"), ("u4", SimpleNamespace(api="opencl"), "runs on Vulkan only")],
)
def test_what_it_cannot_sort_is_refused(dtype: str, engine: Any, line: str) -> None:
    with pytest.raises(Unavailable, match=rf"^baseline vrdx: {line}"):
        BASELINES["vrdx"](engine, np.zeros(10, dtype))


@pytest.mark.parametrize("values", [None, np.zeros((10, 2), np.uint32)])
def test_it_sorts_values_of_four_bytes_only(values: Any) -> None:
    with pytest.raises(Unavailable, match=r"^baseline vrdx: sorts values of 4 bytes"):
        VALUED["vrdx"](vulkan(), np.zeros(10, np.uint32), values)


def test_a_folder_that_is_none_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "-t", "cpu", "--peer-source", "nowhere"]) == 2
    assert capsys.readouterr().err == "hsgen: --peer-source nowhere: is no folder; give that of a baseline's sources\n"
