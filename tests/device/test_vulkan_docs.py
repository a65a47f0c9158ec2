"""The program of docs/guides/vulkan-pairs.md, and that of a bundle with a file of pipelines, sort on lavapipe."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import missing
from test_vulkan import Lavapipe, example, lavapipe, sanitizers

from hsgen.cli import main
from hsgen.system import compilers

__all__ = ["lavapipe"]  # a fixture
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/vulkan-pairs.md"
LAYER = "VK_LAYER_KHRONOS_validation"


@pytest.fixture
def place(lavapipe: Lavapipe, tmp_path: Path) -> Path:
    """A folder with the bundle of the page, and its program."""
    if shutil.which("cc") is None:
        missing("a C compiler is not installed (apt-get install gcc)")
    lavapipe(8)
    text = DOCUMENT.read_text(encoding="utf-8")
    line = re.search(r"^hsgen (generate .*) -o sorts$", text, re.MULTILINE)
    source = re.search(r"^```c\n(/\* pairs\.c: .*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert line and source
    assert len(source[1].splitlines()) <= 120
    assert main([*line[1].split(), "-o", str(tmp_path / "sorts")]) == 0
    (tmp_path / "pairs.c").write_text(source[1], encoding="utf-8")
    return tmp_path


def built(place: Path, *options: str) -> Path:
    """The program, compiled by the command of the page with more options."""
    line = re.search(r"^cc (.*) -o pairs$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert line
    command = f"{' '.join(compilers.c_compiler())} {' '.join(options)} {line[1]} -o pairs"
    done = subprocess.run(["sh", "-ec", command], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / "pairs"


@pytest.mark.device
def test_the_program_sorts_as_many_pairs_as_the_device_counted(place: Path) -> None:
    program = built(place, "-Wall", "-Wpedantic", "-Werror", *sanitizers(place))
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # the program leaves its end to the process
    done = subprocess.run([program], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stdout) == (0, "sorted 65432 of 100000 pairs with target lavapipe\n"), done.stderr


@pytest.mark.device
def test_the_layers_find_nothing(place: Path) -> None:
    """A wrong program, without the barrier of the count, is found."""
    program = built(place)
    env = {
        **os.environ,
        "VK_INSTANCE_LAYERS": LAYER,
        "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
    }
    done = subprocess.run([program], capture_output=True, text=True, env=env, check=False)
    if done.returncode and "vkCreateInstance" in done.stderr:
        missing("the validation layers are not installed (apt-get install vulkan-validationlayers)")
    assert done.returncode == 0 and "Validation" not in done.stdout + done.stderr, done.stdout + done.stderr
    text = (place / "pairs.c").read_text(encoding="utf-8")
    barrier = "args.stages = VK_PIPELINE_STAGE_TRANSFER_BIT, args.accesses = VK_ACCESS_TRANSFER_WRITE_BIT;"
    assert barrier in text
    (place / "pairs.c").write_text(text.replace(barrier, ""), encoding="utf-8")
    done = subprocess.run([built(place)], capture_output=True, text=True, env=env, check=False)
    assert "SYNC-HAZARD" in done.stdout + done.stderr


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
