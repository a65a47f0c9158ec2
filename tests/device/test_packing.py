"""Packs on devices: OpenCL with Intel's runtime and PoCL, in oclgrind, Vulkan on lavapipe, the C runtime.

Small shapes, whose tiles have a few rows: columns of every type and order, in any part of the key, between guard bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from every import direct, faulty
from lavapipe import Lavapipe, lavapipe, validated
from nightly import nightly
from oclgrind import grind
from packs import SHAPES, sort_of
from planted import Planted, all_caught
from tools import OPENCL, need

from hsgen.cli import main
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.operations.pack import OPERATION
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
__all__ = ["lavapipe"]  # a fixture
COUNTS = (0, 1, 2, 9, 10, 11, 17, 18, 19, 47, 48, 49, 96, 97, 300, 1000, 2477)
MUTANTS = {
    "the last row of a tile is left out": ("hs_n() : first + ", "hs_n() : first - 1 + "),
    "the last row of all is left out": ("? hs_n() : first", "? hs_n() - 1 : first"),
    "the first tile only": ("first = hs_group_id() * ", "first = (hs_group_id() & 0) * "),
    "the element before": ("= source[at] >> begin", "= source[at > 0 ? at - 1 : 0] >> begin"),
    "the first element of a word": ("(i & ((1 << part) - 1)) * bits + ", ""),
    "no mask": ("mask = ~0u >> (32 - bits)", "mask = ~0u"),
    "the lower half twice": ("high = source[at + 1]", "high = source[at]"),
    "no sign": ("(column & 12u) != 0u ? sign : 0u", "0u"),
    "signed as float": ("if ((column & 8u) != 0u && ", "if ((column & 12u) != 0u && "),
    "negative floats in reverse": (
        "rest = ~0u;\n                flip = mask;",
        "rest = 0u;\n                flip = mask;",
    ),
    "descending as ascending": ("(column & 16u) != 0u", "(column & 64u) != 0u"),
    "the lower half of a descending column": ("rest = ~rest;", ";"),
    "a word lost": ("d = b;\n", "d = 0u;\n"),
    "a carry lost": ("b = b << bits | a >> (32 - bits)", "b = b << bits"),
    "the low end of all": ("word > 0; word--", "word > 3; word--"),
    "wide arrays of one word": ("size == 3 ? 2 : 1", "1"),
    "records of two words": ("(pitch != 0 ? pitch : size == 3 ? 2 : 1)", "(size == 3 ? 2 : 1)"),
    "arrays as records": ("part = pitch != 0 || size > 1 ? 0 : 2 - size", "part = 0"),
    "records as arrays": ("part = pitch != 0 || size > 1", "part = size > 1"),
    "the record after": ("(i * (pitch", "((i + 1 < hs_n() ? i + 1 : i) * (pitch"),
    "the first field of a record": (" >> part) + (skip >> 2)", " >> part)"),
    "the first field of a word": (" + (skip & 3) * 8", ""),
    "the greatest stride": ("place & 127u", "place & 63u"),
    "the second half of a record": ("place >> 7 & 255u", "place >> 7 & 127u"),
    "the layout of the column before": ("hs_rows()) >> 15", "hs_rows())"),
    "the layouts of the columns before": ("hs_take()", "hs_rows()"),
    "the column before": ("(columns >> 18 & 32u)", "(columns >> 12 & 32u)"),
}
"""Faults planted in the text of the kernel: a text and its replacement."""


def check(made: Direct, seed: int = 1) -> None:
    kinds = list(OPERATION.kinds)
    pairs = [(n, kinds[(i + j) % len(kinds)]) for i, n in enumerate(COUNTS) for j in range(10)]
    report = validation.run(made, pairs, seed, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@pytest.mark.parametrize("host", ["embedded", "pocl"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_packs(host: str, key: str, shape: str, request: pytest.FixtureRequest) -> None:
    check(direct(request.getfixturevalue(host), sort_of(key, shape)))


def planted(host: Host) -> Iterator[Planted]:
    for name, fault in MUTANTS.items():
        yield name, partial(faulty, host, sort_of("u64", "together"), fault)


def test_planted_faults_are_caught(embedded: Host) -> None:
    all_caught(__name__, embedded, len(MUTANTS))


@pytest.mark.parametrize(("key", "shape"), [("u64", "together"), nightly("u32", "uneven"), nightly("u64", "alone")])
def test_oclgrind_reports_nothing(key: str, shape: str) -> None:
    done = grind(key, shape, script="grind_packs.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "packed Oclgrind" in done.stdout and done.stderr.strip() == ""


@pytest.mark.parametrize("key", ["u32", nightly("u64")])
def test_the_c_runtime_packs(embedded: Host, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    more = ["--device", "Intel(R) OpenCL", "--key", key, "--json", "--runtime", "c"]
    assert main(["validate", "-t", "generic", "--algorithm", "pack", *more]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "pack" and row["failures"] == 0 and row["cases"] >= 4000


def ways() -> Iterator[Any]:
    yield 8, "u64"
    yield from (nightly(lanes, key) for lanes in (4, 8, 16) for key in ("u32", "u64") if (lanes, key) != (8, "u64"))


@pytest.mark.parametrize("name", ["lavapipe", nightly("generic")])
@pytest.mark.parametrize(("lanes", "key"), [*ways()])
def test_vulkan_packs(lavapipe: Lavapipe, lanes: int, key: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    lavapipe(lanes)
    chosen = ["-t", name, "--key", key, "--algorithm", "pack"]
    code, rows, err = validated(capsys, *chosen, "--option=validation=1", "--device", "llvmpipe")
    assert code == 0 and [(r["failures"], r["cases"] > 4000) for r in rows] == [(0, True)], err
