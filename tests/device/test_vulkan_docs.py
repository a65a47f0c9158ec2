"""The program of docs/guides/vulkan-pairs.md, and that of a bundle with a file of pipelines, sort on lavapipe."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import missing
from lavapipe import Lavapipe, lavapipe
from tools import GLSL, VULKAN, C, need
from vulkan_examples import example, sanitizers
from vulkan_guide import OPTIONS, TEXT, built, changed, program

from hsgen.cli import main
from hsgen.system import compilers

__all__ = ["lavapipe"]  # a fixture
SORTED = (0, "sorted 65432 of 100000 pairs with target lavapipe\n")
LAYER = "VK_LAYER_KHRONOS_validation"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundle of the page, and its compiled files."""
    need(C, GLSL, VULKAN)
    folder = tmp_path_factory.mktemp("pairs")
    line = re.search(r"^hsgen (generate .*) -o sorts$", TEXT, re.MULTILINE)
    assert line and main([*line[1].split(), "-o", str(folder / "sorts")]) == 0
    (folder / "objects").mkdir()
    files = (folder / "sorts/sources/vulkan.txt").read_text(encoding="utf-8").split()
    command = [*compilers.c_compiler(), "-c", f"-I{folder / 'sorts/include'}", *(folder / "sorts" / f for f in files)]
    done = subprocess.run(command, cwd=folder / "objects", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def place(lavapipe: Lavapipe, bundle: Path, tmp_path: Path) -> Path:
    """A folder with the bundle of the page, and its program."""
    lavapipe(8)
    (tmp_path / "pairs.c").write_text(program(), encoding="utf-8")
    for name in ("sorts", "objects"):
        (tmp_path / name).symlink_to(bundle / name)
    return tmp_path


@pytest.mark.device
def test_the_program_sorts_as_many_pairs_as_the_device_counted(place: Path) -> None:
    """Compiled by the command of the page, with warnings as errors."""
    line = re.search(r"^cc (.*) -o pairs$", TEXT, re.MULTILINE)
    assert line
    program = built(place, " ".join(["-Wall -Wextra -Wpedantic -Werror", *sanitizers(place), line[1]]))
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # the program leaves its end to the process
    done = subprocess.run([program], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout) == SORTED, done.stderr


def layered(place: Path) -> tuple[int, str]:
    """Build the program and run it under the validation layers: exit code and output."""
    enables = "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"
    env = {**os.environ, "VK_INSTANCE_LAYERS": LAYER, "VK_LAYER_ENABLES": enables}
    done = subprocess.run(
        [built(place, "-pthread -Isorts/include pairs.c objects/*.o -lvulkan")],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    if done.returncode and "vkCreateInstance" in done.stderr:
        missing("the validation layers are not installed (apt-get install vulkan-validationlayers)")
    return done.returncode, done.stdout + done.stderr


BARRIER = "args.stages = VK_PIPELINE_STAGE_TRANSFER_BIT, args.accesses = VK_ACCESS_TRANSFER_WRITE_BIT;"


@pytest.mark.device
def test_the_layers_find_nothing_but_a_missing_barrier(place: Path) -> None:
    assert layered(place) == SORTED
    changed(place, (BARRIER, ""))
    assert "SYNC-HAZARD" in layered(place)[1]


def without_pool(place: Path) -> None:
    """Remove the descriptor pool from the program."""
    text = (place / "pairs.c").read_text(encoding="utf-8")
    lines = re.search(r"^    VkDescriptorPoolSize .*?&args\.pool\)\);\n", text, re.MULTILINE | re.DOTALL)
    assert lines
    changed(place, (lines[0], "    hs_vulkan_descriptors(sorter, &sets, NULL);\n    if (sets) return 1;\n"))


CREATE = "    TRY(vkCreateDevice("


@pytest.mark.device
def test_it_sorts_with_push_descriptors(place: Path) -> None:
    extension = 'static const char *const push[] = {"VK_KHR_push_descriptor"};'
    enabled = "device_info.enabledExtensionCount = 1, device_info.ppEnabledExtensionNames = push;"
    changed(
        place,
        (CREATE, f"    {extension}\n    {enabled}\n{CREATE}"),
        (OPTIONS, f"{OPTIONS} options.binding = HS_VULKAN_BY_PUSH;"),
    )
    without_pool(place)
    assert layered(place) == SORTED


@pytest.mark.device
def test_it_sorts_with_addresses_alone(place: Path) -> None:
    flags = "{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, NULL, VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0}"
    info = "{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, NULL, made.buffer}"
    changed(
        place,
        (
            "usage = VK_BUFFER_USAGE_STORAGE",
            "usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE",
        ),
        (
            "    TRY(vkAllocateMemory",
            f"    VkMemoryAllocateFlagsInfo flags = {flags};\n    allocate.pNext = &flags;\n    TRY(vkAllocateMemory",
        ),
        (
            "    return made;",
            f"    VkBufferDeviceAddressInfo info2 = {info};\n"
            "    made.address = vkGetBufferDeviceAddress(device, &info2);\n    return made;",
        ),
        (
            CREATE,
            "    VkPhysicalDeviceVulkan12Features more = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};\n"
            f"    more.bufferDeviceAddress = 1, enable.pNext = &more, where.features |= HS_VULKAN_ADDRESS;\n{CREATE}",
        ),
        (OPTIONS, f"{OPTIONS} options.binding = HS_VULKAN_BY_ADDRESS;"),
    )
    without_pool(place)
    assert layered(place) == SORTED


@pytest.mark.device
def test_threads_make_its_pipelines(place: Path) -> None:
    """Each makes every fourth one; the layers would report calls that may not be concurrent."""
    text = (place / "pairs.c").read_text(encoding="utf-8")
    loop = re.search(r"^    do TRY\(hs_vulkan_create_next.*?while \(left\);\n", text, re.MULTILINE | re.DOTALL)
    assert loop
    work = """
#include <pthread.h>
static hs_vulkan *shared;
static void *work(void *first)
{
    uint32_t i;
    for (i = (uint32_t)(uintptr_t)first; i < hs_vulkan_pipeline_count(shared); i += 4)
        TRY(hs_vulkan_create_pipeline(shared, i, NULL));
    return NULL;
}

int main(void)
"""
    threads = """
    pthread_t threads[4];
    for (shared = sorter, i = 0; i < 4; i++) TRY(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i));
    for (i = 0; i < 4; i++) TRY(pthread_join(threads[i], NULL));
    TRY(hs_vulkan_create_next(sorter, &left, NULL) || left);
"""
    changed(place, (loop[0], threads), ("\nint main(void)\n", work))
    assert layered(place) == SORTED


@pytest.mark.device
def test_its_timestamps_ascend(place: Path) -> None:
    """The lines of the page in its program, which then prints them."""
    block = re.search(r"^```c\n(uint32_t most, written;.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert block
    before = """
    VkQueryPool queries;
    VkQueryPoolCreateInfo made = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, NULL, 0, VK_QUERY_TYPE_TIMESTAMP, 64, 0};
    TRY(vkCreateQueryPool(where.device, &made, NULL, &queries));
    hs_status status;
"""
    after = """
    uint64_t times[64];
    if (status || written < 3 || written > most || most > 64) return 2;
    TRY(vkGetQueryPoolResults(where.device, queries, 0, written, sizeof times, times, 8, 3)); /* 64 bits, wait */
    for (i = 1; i < written; i++) if (times[i] < times[i - 1]) return 3;
    if (times[written - 1] == times[0]) return 4;
"""
    wait = "    TRY(vkQueueWaitIdle(queue));\n"
    sort = "    TRY(hs_vulkan_sort("
    changed(place, (wait, wait + after), (sort, before + block[1] + sort))
    assert layered(place) == SORTED


@pytest.mark.device
def test_the_example_keeps_its_pipelines_in_a_file(lavapipe: Lavapipe, tmp_path: Path) -> None:
    lavapipe(8)
    assert main(["generate", "-t", "lavapipe", "--api", "vulkan", "--key", "u32", "-o", str(tmp_path / "sorts")]) == 0
    text = (tmp_path / "sorts/examples/sort_vulkan.c").read_text(encoding="utf-8")
    program = example(tmp_path / "sorts", tmp_path / "sort_vulkan", text)
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # the driver keeps some memory
    kept, stored = tmp_path / "pipelines", b""
    for damaged in (False, False, True):
        if damaged:
            kept.write_bytes(bytes(100) + stored[100:])
        done = subprocess.run([program, "", kept], capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0 and done.stdout.startswith("sorted 100003 keys"), done.stderr
        assert len(kept.read_bytes()) >= 32  # the header of a cache; lavapipe keeps its pipelines elsewhere
        stored = kept.read_bytes()
    kept = tmp_path / "no folder/pipelines"
    done = subprocess.run([program, "", kept], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 1 and "not sorted: the API reported an error" in done.stderr


@pytest.mark.device
def test_the_time_to_create_pipelines_is_measured(place: Path) -> None:
    source = Path(__file__).with_name("vulkan_start.c")
    program = built(place, f"-O1 -Isorts/include {source} objects/*.o -lvulkan -lpthread")
    done = subprocess.run([str(program), "u32", "v4", "2", "100000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    times = re.search(
        r"^up to 100000 keys: one thread (\d+) ms, 2 threads \d+ ms, with a warm cache [\d.]+ ms$", done.stdout, re.M
    )
    pipelines = re.findall(r"^  pipeline +\d+: +([\d.]+) ms$", done.stdout, re.M)
    assert times and len(pipelines) > 1 and all(float(t) > 0 for t in pipelines)
    assert subprocess.run([str(program)], capture_output=True, check=False).returncode == 2
