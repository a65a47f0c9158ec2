"""Vulkan on Mesa's lavapipe: tiny sorts in every subgroup width that it has, under the validation layers."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from changed_templates import templates
from lavapipe import Lavapipe, lanes, lavapipe, validated
from nightly import nightly
from vulkan_examples import example

from hsgen.cli import main
from hsgen.targets import target

__all__ = ["lavapipe", "templates"]  # fixtures


def ways() -> Iterator[Any]:
    """64-bit keys, pairs of u32, and buffers by device address; nightly every width and key in every combination.

    GPU-assisted validation includes the other kinds, but a driver compiles its instrumented kernels much more slowly:
    it is nightly too.  Without subgroup operations, the layers' own test sorts in the fast run.
    """
    fast = [
        (8, "lanes8", "u64", "validation=1", "binding_limit=4096"),  # larger ones by device address
        (4, "pairs4", "u64", "validation=1"),  # 64-bit keys as pairs of u32
    ]
    some = [
        *fast,
        (4, "lanes4", "u32", "validation=2"),
        (4, "lanes4", "u64", "validation=1", "size_control=0"),  # the only width, which suits anyway
        (8, "lanes8", "u32", "validation=1", "binding=1"),  # push descriptors
        (16, "lanes16", "u32", "validation=1", "binding=2"),  # device addresses alone
        (16, "lanes16", "u64", "validation=1"),
        (8, "lanes1", "u32", "validation=1"),  # no subgroup operations
    ]
    names = {1: "lanes1", 4: "lanes4", 8: "lanes8", 16: "lanes16"}
    more = (("validation=2",), ("validation=1", "size_control=0"), ("validation=1", "binding_limit=4096"), ())
    rest = [(max(w, 4), name, key, *x) for w, name in names.items() for key in ("u32", "u64") for x in more]
    rest += [(4, "pairs4", "u64", *x) for x in more] + [(8, "generic", key) for key in ("u32", "u64")]
    for way in some + [r for r in rest if r not in some]:
        name = "-".join(map(str, way))
        yield (pytest.param if way in fast else nightly)(*way[:3], way[3:], id=name)


@pytest.mark.device
@pytest.mark.parametrize(("width", "name", "key", "options"), list(ways()))
def test_sorts(
    lavapipe: Lavapipe,
    width: int,
    name: str,
    key: str,
    options: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every result is right, and the layers stay silent."""
    lavapipe(width)
    where = name if name == "generic" else lanes(name)
    code, rows, err = validated(capsys, "-t", where, "--key", key, *(f"--option={x}" for x in options))
    assert code == 0 and len(rows) == 1, err
    row = rows[0]
    assert row["api"] == "vulkan" and row["target"] == name and row["key"] == key and "llvmpipe" in row["device"]
    assert row["failures"] == 0 and row["cases"] > 500 and row["greatest_n"] >= 1 << 17


@pytest.mark.device
def test_a_width_that_the_device_has_not(lavapipe: Lavapipe, capsys: pytest.CaptureFixture[str]) -> None:
    lavapipe(8)
    for more, expected in (((), 3), (("--require",), 1)):
        code, rows, err = validated(capsys, "-t", lanes("lanes4"), "--key", "u32", *more)
        assert code == expected and not rows
        assert err.count("\n") == 1 and "has no subgroups of 4 lanes that lanes4 needs" in err


@pytest.mark.device
def test_a_wrong_kernel_is_caught(
    lavapipe: Lavapipe, templates: Callable[[str, str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A comparator that keeps the larger key twice."""
    lavapipe(4)
    templates("dialects/glsl/words.j2", "#define hs_min(a, b) min(a, b)", "#define hs_min(a, b) max(a, b)")
    code, rows, err = validated(capsys, "-t", lanes("lanes1"), "--key", "u32")
    assert code == 1 and rows[0]["failures"] > 500
    assert "lanes1 u32: 2 keys" in err and "out of place: key 0 is" in err and "repeat with --seed 1" in err


@pytest.mark.device
def test_messages_of_the_layers_are_failures(
    lavapipe: Lavapipe, templates: Callable[[str, str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any barrier keys are still sorted, since lavapipe runs dispatches sequentially.

    (The layers do not report two dispatches that write to one binding; tests/vendor/recording.c does.)
    """
    lavapipe(4)
    barrier = "if (stages) hs_vulkan_barrier(s, commands, stages, accesses, grids);"
    templates("apis/vulkan/hs_vulkan_record.c", barrier, "(void)hs_vulkan_barrier;")
    code, rows, err = validated(capsys, "-t", lanes("lanes4"), "--key", "u32", "--option", "validation=1")
    assert code == 1 and rows[0]["failures"] == 1
    assert "lanes4 u32: the validation layers report: error: " in err and "SYNC-HAZARD-WRITE-AFTER-READ" in err


@pytest.mark.device
def test_a_kernel_that_does_not_compile(
    lavapipe: Lavapipe, templates: Callable[[str, str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(4)
    templates("bitonic/clean.j2", "int start =", "int start = oops +")
    code, rows, err = validated(capsys, "-t", lanes("lanes1"), "--key", "u32")
    assert code == 1 and not rows and err.count("\n") == 1
    assert "targets/lanes1/kernels/glsl/bitonic_u32.comp: kernel clean: " in err and "'oops'" in err


@pytest.mark.device
@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("lanes4", "lanes8"), nightly("generic", "lavapipe")],  # lavapipe compiles generic's kernels for half a minute
)
def test_the_example_picks_the_target_that_matches(lavapipe: Lavapipe, tmp_path: Path, narrow: str, wide: str) -> None:
    """It sorts with lavapipe's own target if the width suits, and with the generic one elsewhere, and checks the
    result."""
    lavapipe(8)
    place = tmp_path / "bundle"
    both = [name if name in target.names() else lanes(name) for name in (narrow, wide)]
    chosen = ["-t", both[0], "-t", both[1], "--api", "vulkan", "--key", "u32", "--algorithm", "bitonic"]
    assert main(["generate", *chosen, "--algorithm", "digest", "-o", str(place)]) == 0
    text = (place / "examples/sort_vulkan.c").read_text(encoding="utf-8")
    program = example(place, tmp_path / "sort_vulkan", text)
    for width, name in ((4, narrow), (8, wide)):
        lavapipe(width)
        env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # the driver keeps some memory
        done = subprocess.run([program], capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(rf"sorted 100003 keys on llvmpipe .* with target {name}\n", done.stdout)
    done = subprocess.run([program, "Voodoo"], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 1 and done.stderr.startswith("not sorted: the device lacks what the sort needs")

    sort = "hs_vulkan_sort(p->sorter, commands, &args, code)"
    host = "right && memcmp(before, keys, (size_t)COUNT * KEY_BYTES) == 0"
    assert sort in text and host in text
    unsorted = example(place, tmp_path / "unsorted", text.replace(sort, "HS_OK").replace(host, "1"))
    done = subprocess.run([unsorted], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (1, "not sorted: wrong order (VkResult 0)\n")
