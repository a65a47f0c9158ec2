"""Random calls of every runtime, over drivers that compute nothing, under the sanitizers.

Members of arguments and options are random or at their limits; buffers are absent, short, misaligned or overlap;
drivers fail.  A call that docs/reference/c-api.md allows launches the plan within its buffers; any other returns an
error and launches nothing; nothing leaks.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Mapping

import pytest
from fuzzing import APIS, built, text
from nightly import EVERY, NIGHTLY

SECONDS = 140 if EVERY else 30
"""Of each API in the nightly run."""
MUTANTS: list[tuple[str, Mapping[str, tuple[str, str]]]] = [
    ("cuda", {"hs_call.c": (" && span->bytes <= UINT64_MAX - span->begin", "")}),
    ("opencl", {"hs_call.c": ("return span->bytes <= span->room", "return span->bytes <= span->room + 1")}),
    (
        "metal",
        {"hs_call.c": ("if (spans[i].bytes && spans[i].begin %", "if (i < 5 && spans[i].bytes && spans[i].begin %")},
    ),
    ("vulkan", {"hs_call.c": ("a->begin < b->begin + b->bytes &&", "a->begin + 4 < b->begin + b->bytes &&")}),
    (
        "opencl",
        {"hs_call.c": ("if (spans[i].where && !(uses >> i & 1))", "if (i < 7 && spans[i].where && !(uses >> i & 1))")},
    ),
    ("metal", {"hs_call.c": ("if (call->number > call->n) return", "if (call->number > call->n + 1) return")}),
    (
        "opencl",
        {"hs_opencl_enqueue.c": ("if (cut[bound]) clReleaseMemObject", "if (cut[bound] && bound) clReleaseMemObject")},
    ),
    (
        "opencl",
        {
            "hs_opencl_enqueue.c": (
                "const uint64_t begin = span->begin +",
                "const uint64_t begin = span->begin + bound *",
            )
        },
    ),
    ("vulkan", {"hs_vulkan_create.c": ("free(s->set_of);", "")}),
    ("vulkan", {"hs_vulkan_record.c": ("one->size == VK_WHOLE_SIZE || ", "")}),
    (
        "vulkan",
        {"hs_vulkan_record.c": ("    if (record->accesses && !record->stages) return HS_ERROR_ARGUMENT;\n", "")},
    ),
    (
        "vulkan",
        {"hs_vulkan_record.c": ("given[i].address % hs_element(sort, (hs_role)i))", "given[i].address == 1)")},
    ),
    ("cuda", {"hs_cuda_device.cu": ("} else if (!known) {", "} else if (0) {")}),
    ("cuda", {"hs_cuda_create.cu": ("if (!made) return HS_ERROR_HOST_MEMORY;", "if (!made) return HS_ERROR_DEVICE;")}),
    ("metal", {"hs_metal_create.m": ("HS_DROP(name);", "")}),
]
"""An API, and a fault in a file of its runtime."""


def run(
    api: str, changed: Mapping[str, tuple[str, str]], seed: int, seconds: int = 0, *options: str
) -> tuple[int, str]:
    """The exit code and the output, whose first line is the seed."""
    command = [str(built(api, changed, *options)), str(seed), *([str(seconds)] if seconds else [])]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=seconds + 300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("api", APIS)
def test_calls_by_chance(api: str) -> None:
    seed = random.SystemRandom().randrange(1 << 32) if NIGHTLY else 1
    code, said = run(api, {}, seed, SECONDS if NIGHTLY else 0)
    found = re.search(r"^(\d+) calls, (\d+) right, (\d+) with a failing driver, 0 wrong$", said, re.MULTILINE)
    assert code == 0 and found, said
    calls, right, failed = (int(x) for x in found.groups())
    assert calls >= 20_000 and right > calls / 5 and failed > calls / 100


@pytest.mark.nightly
@pytest.mark.parametrize("api", ["opencl", "vulkan"])
def test_a_build_that_checks_more_refuses_no_right_call(api: str) -> None:
    code, said = run(api, {}, 1, 0, "-DHS_CHECK=1")
    assert code == 0 and re.search(" 0 wrong$", said, re.MULTILINE), said


def test_each_fault_changes_one_place() -> None:
    for _, changed in MUTANTS:
        for name, (old, new) in changed.items():
            assert old != new and text(name).count(old) == 1, (name, old)


@pytest.mark.nightly
@pytest.mark.parametrize(("api", "changed"), MUTANTS)
def test_a_wrong_runtime_is_found(api: str, changed: Mapping[str, tuple[str, str]]) -> None:
    code, said = run(api, changed, 1)
    assert code != 0 and not re.search(" 0 wrong$", said, re.MULTILINE), said
