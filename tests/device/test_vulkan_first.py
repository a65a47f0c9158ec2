"""Sorters that take calls by compact kernels until the pipelines of the other kernels are made, on lavapipe."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from lavapipe import Lavapipe, lanes, lavapipe, validated
from nightly import NIGHTLY
from vulkan_guide import OPTIONS, built, changed, program

from hsgen.cli import main

__all__ = ["lavapipe"]  # a fixture
FORMS = ("--value", "v4", "--feature", "bit-range", "--feature", "device-count", "--order", "both")
LOOP = "    do TRY(hs_vulkan_create_next(sorter, &left, NULL)); /* in a renderer, once a frame */\n    while (left);\n"
THREAD = """    shared = sorter;
    TRY(pthread_create(&thread, NULL, work, NULL));
"""
JOIN = "    TRY(pthread_join(thread, NULL));\n"
WORK = """
#include <pthread.h>
static hs_vulkan *shared;
static void *work(void *unused)
{
    uint32_t i;
    for (i = 0; i < hs_vulkan_pipeline_count(shared); i++) TRY(hs_vulkan_create_pipeline(shared, i, NULL));
    return unused;
}

int main(void)
"""


@pytest.mark.nightly
@pytest.mark.device
@pytest.mark.parametrize("more", [(), FORMS], ids=["keys", "forms"])
@pytest.mark.parametrize("option", ["first=1", "first=2"])
def test_every_call_is_right_before_and_after(
    lavapipe: Lavapipe, capsys: pytest.CaptureFixture[str], option: str, more: tuple[str, ...]
) -> None:
    """1: no other pipelines exist yet; 2: all do, and calls use them."""
    lavapipe(8)
    chosen = ("-t", lanes("first8"), "--key", "u32", "--max-n", "2000", *more)
    code, rows, err = validated(capsys, *chosen, f"--option={option}")
    assert (code, {r["failures"] for r in rows}) == (0, {0}), err
    assert rows[0]["cases"] > 500


@pytest.mark.device
def test_a_thread_makes_the_pipelines_while_calls_are_recorded(lavapipe: Lavapipe, tmp_path: Path) -> None:
    """The program of the guide sorts at once, by a sorter without options, while a thread works.

    Its scratch has the size of `hs_scratch`.  Nightly, in a second run, it waits for the thread.
    """
    lavapipe(8)
    request = [
        "--api",
        "vulkan",
        "--key",
        "u32",
        "--value",
        "v4",
        "--feature",
        "device-count",
        "--feature",
        "bit-range",
    ]
    assert main(["generate", "-t", lanes("first8"), *request, "-o", str(tmp_path / "sorts")]) == 0
    files = (tmp_path / "sorts/sources/vulkan.txt").read_text(encoding="utf-8").split()
    assert "targets/first8/spirv/first8_radix-first_u32_v4.c" in files
    (tmp_path / "pairs.c").write_text(program(), encoding="utf-8")
    changed(
        tmp_path,
        (OPTIONS, "(void)options;\n    pthread_t thread;"),
        (
            "hs_vulkan_create_with(sort, &where, &options, &sorter, NULL)",
            "hs_vulkan_create(sort, &where, &sorter, NULL)",
        ),
        (LOOP, f"    TRY(!hs_vulkan_first_count(sorter));\n{THREAD}"),
        ("\nint main(void)\n", WORK),
        ("    return 0; /*", f"{JOIN}    return 0; /*"),
    )
    arguments = f"-g -O1 -Isorts/include pairs.c {' '.join('sorts/' + f for f in files)} -lvulkan -lpthread"
    for waits in (False, True) if NIGHTLY else (False,):
        if waits:
            changed(
                tmp_path,
                (JOIN, ""),
                (THREAD, f"{THREAD}{JOIN}    TRY(hs_vulkan_create_next(sorter, &left, NULL) || left);\n"),
            )
        done = subprocess.run([built(tmp_path, arguments)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "sorted 65432 of 100000 pairs with target first8\n"), done.stderr
    source = Path(__file__).with_name("vulkan_start.c")
    start = built(tmp_path, arguments.replace("pairs.c", str(source)))
    measured = subprocess.run([start, "u32", "v4", "2", "100000"], capture_output=True, text=True, check=False)
    assert re.search(
        r"^up to 100000 keys: the first sort \d+ ms, in 2 threads \d+ ms$", measured.stdout, re.MULTILINE
    ), measured.stderr
