"""Prefix sums on devices: OpenCL with and without subgroups, Vulkan on lavapipe, the command line and the Python API.

- Both coordinations, lanes alone and work-groups, 1 to 16 columns, both element types: counts around every boundary, in
  and out of place, between guard bytes, with sums that wrap.
- Tiles that publish late, or give up, or never wait: the result is the same, and repeated work is reported.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every import direct, faulty
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lavapipe import Lavapipe, lanes, lavapipe, validated
from nightly import NIGHTLY, nightly, thinned
from oclgrind import grind
from planted import Planted, all_caught
from sums import SHAPES, sum_of
from tools import OPENCL, need

from hsgen.algorithms import scan
from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.opencl import Scanner
from hsgen.operations.scan import SUMMANDS
from hsgen.system import toolchain
from hsgen.targets import target
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/scan.md"

WITHIN = ("sections", "local")
"""The shapes with look-back within sections."""

ELEMENTS = ("u32", "u64")
"""The element types."""

MUTANTS = {
    "a round of the tile's scan too few": ("far < 32; far *= 2", "far < 16; far *= 2"),
    "the sums of the lanes before": ("if (hs_local_id() > 0) {", "if (hs_local_id() > 1) {"),
    "the prefix of the tile": ("b0 = bases[0]; s0", "b0 = HS_LEAST; s0"),
    "the last row of a lane": ("at <= last; at += 3", "at < last; at += 3"),
    "the last row of all": ("hs_n() - begin < 96 ? hs_n() - begin", "hs_n() - begin < 96 ? hs_n() - begin - 1"),
    "the last tile of a work-group": ("tile_begin < tile_end; tile_begin++", "tile_begin < tile_end - 1; tile_begin++"),
    "the odd row of lanes": ("int keep = (left + 1) / 2", "int keep = left / 2"),
    "a work-group's own sum": ("sums[g * 3 + column] = before;", "sums[g * 3 + column] = hs_sum(before, x);"),
    "the sum of the first work-group": ("lane > 0 ? lane_sums[", "lane > 1 ? lane_sums["),
    "a column for another": ("tile[at + 1] = hs_sum(tile[at + 1], b1)", "tile[at + 1] = hs_sum(tile[at + 1], b0)"),
    "four elements as three": ("hs_sum(hs_sum(k0, k1), hs_sum(k2, k3))", "hs_sum(hs_sum(k0, k1), k2)"),
}
"""Faults planted in the text of the kernels of three columns: a text and its replacement."""


def engine(host: Host, key: str, **values: Any) -> Direct:
    """The sum of a shape, compiled; 5 work-groups."""
    return direct(host, sum_of(key, **values))


def check(made: Direct, counts: Sequence[int] = (95, 96, 97, 200, 961, 96 * 37)) -> None:
    """Sum every count, at least twice with each kind of elements."""
    kinds = list(SUMMANDS)
    pairs = [(n, kinds[(i + j) % len(kinds)]) for i, n in enumerate(counts) for j in (0, 1)]
    report = validation.run(made, pairs, 1, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), (made.sort.parts[0].params, report.failures)


def ways() -> Iterator[Any]:
    """Every shape with some numbers of columns of both types on two devices, inclusive and exclusive in turn."""
    for number, (name, columns) in enumerate((s, c) for c in (1, 2, 3, 4, 7, 16) for s in SHAPES):
        if name in WITHIN and columns > 4:
            continue
        for key in ELEMENTS if columns in (1, 3) else ELEMENTS[number % 2 : number % 2 + 1]:
            exclusive = bool((number // 4 + number + (key == "u64")) % 2)
            for host in ("embedded",) if name in WITHIN else ("embedded", "pocl"):
                way = f"{name}-{key}-{columns}{'-ex' * exclusive}-{host}"
                yield pytest.param(name, key, columns, exclusive, host, id=way)


@pytest.mark.parametrize(("name", "key", "columns", "exclusive", "host"), thinned(ways(), 7))
def test_sums(host: str, name: str, key: str, columns: int, exclusive: bool, request: pytest.FixtureRequest) -> None:
    made = engine(request.getfixturevalue(host), key, columns=columns, exclusive=exclusive, **SHAPES[name])
    tile = validation.block_of(made.sort)
    test_counts = around([0, tile, 2 * tile, 5 * tile, 6 * tile, 10 * tile], 37 * tile)
    check(made, sorted({*test_counts, 37 * tile}))
    assert made.device_status() == 0


STARVING = ("starve=1", "starve=3", "withhold=2", "starve=2 withhold=3", "spins=1")


@pytest.mark.parametrize(
    ("key", "name", "test"),
    thinned([(key, name, test) for key in ELEMENTS for name in ("lookback", "alone-lookback") for test in STARVING], 3),
)
def test_tiles_that_starve_are_done_again(embedded: Host, key: str, name: str, test: str) -> None:
    """In place these tiles must find their rows unchanged."""
    values = {k: int(v) for k, _, v in (word.partition("=") for word in test.split())}
    made = engine(embedded, key, **{"spins": 1 << 24, **SHAPES[name], **values}, columns=3, exclusive=key == "u64")
    tile = validation.block_of(made.sort)
    for n in (tile, tile + 1, 2 * tile, 11 * tile - 1, 90 * tile + 7):
        check(made, [n])
        if "spins" not in values:  # unchanged
            assert made.device_status() == int(n > values.get("starve", 1 << 20) * tile - tile and n > tile)


def test_sums_of_many_tiles_wrap(embedded: Host) -> None:
    """A million rows of the largest element."""
    for shape in ("lookback", "alone"):
        made = engine(embedded, "u32", **{**SHAPES[shape], "items": 16, "spins": 1 << 24})
        report = validation.run(made, [(1_000_003, kind) for kind in SUMMANDS], 1)
        assert not report.failed, report.failures


def test_a_wrong_sum_is_caught(embedded: Host) -> None:
    """Exclusive sums instead of inclusive ones, which differ except for rows of zeros."""
    made = engine(embedded, "u32", **SHAPES["scan"], exclusive=True)
    expecting = engine(embedded, "u32", **SHAPES["scan"])
    made.sort = expecting.sort
    report = validation.run(made, [(10, "random"), (200, "all greatest")], 1)
    assert report.failed == 4
    assert report.failures[0].startswith("10 rows, random, out of place: element 0 is 0, should be ")


@settings(max_examples=40 if NIGHTLY else 5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.sampled_from(ELEMENTS),
    lanes=st.integers(0, 6),
    columns=st.integers(1, 16),
    items=st.integers(1, 9),
    groups=st.integers(1, 9),
    exclusive=st.booleans(),
    counts=st.lists(st.integers(0, 4000), min_size=3, max_size=3),
)
def test_shapes(
    embedded: Host, key: str, lanes: int, columns: int, items: int, groups: int, exclusive: bool, counts: list[int]
) -> None:
    """A work-group has a lane for each column, or is one lane."""
    lanes = 1 << lanes if 1 << lanes >= columns else 1
    shape = {"work_group": lanes, "items": items, "coordination": "scan", "groups": groups}
    check(engine(embedded, key, columns=columns, exclusive=exclusive, **shape), counts)


def planted(host: Host) -> Iterator[Planted]:
    for name, fault in MUTANTS.items():
        yield name, partial(faulty, host, sum_of("u32", **SHAPES["scan"], columns=3), fault)


def test_planted_faults_are_caught(embedded: Host) -> None:
    all_caught(__name__, embedded, len(MUTANTS))


@pytest.mark.parametrize(
    ("key", "shape", "columns"), [("u32", "scan", "3"), nightly("u64", "scan", "2"), nightly("u32", "alone", "4")]
)
def test_oclgrind_reports_nothing(key: str, shape: str, columns: str) -> None:
    done = grind(key, shape, columns, script="grind_scanning.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "summed up Oclgrind" in done.stdout and done.stderr.strip() == ""


@pytest.mark.parametrize("label", [nightly("scan-x1"), "scan-x4ex"])
def test_the_command_line_validates_scans(embedded: Host, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["validate", "-t", "cpu", "--device", "Intel(R) OpenCL", "--key", "u32", "--algorithm", label, "--json"])
        == 0
    )
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == label and row["failures"] == 0 and row["cases"] >= 4000


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["validate", "-t", "cpu", "--algorithm", "scan-x99"], "target cpu: has no algorithm scan-x99; it has auto,"),
        (["show", "cpu", "--algorithm", "scan-x99"], "target cpu: has no algorithm scan-x99; it has auto,"),
        (["bench", "-t", "cpu", "--algorithm", "digest"], "algorithm digest: bench times sorts"),
    ],
)
def test_invalid_requests_exit_with_2(
    embedded: Host, arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert line in capsys.readouterr().err


@pytest.mark.parametrize(("name", "label"), [("cpu", "scan-x4"), nightly("generic", "scan-x1ex")])
def test_the_c_runtime_sums(embedded: Host, name: str, label: str, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    more = ["--runtime", "c", "--device", "Intel(R) OpenCL", "--key", "u64", "--json"]
    code = main(["validate", "-t", name, "--algorithm", label, *more])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert [(r["algorithm"], r["failures"]) for r in json.loads(out)] == [(label, 0)]


@pytest.mark.parametrize(
    ("label", "key", "options"),
    [
        nightly("look", "u32", ("validation=1",)),
        nightly("look", "u64", ("validation=1",)),  # pairs of u32
        nightly("hasty", "u32", ()),
        nightly("hasty", "u64", ("binding_limit=4096",)),
        ("walk", "u64", ()),
        nightly("wide", "u32", ("validation=1", "binding_limit=4096")),
        nightly("wide", "u64", ("validation=1",)),
    ],
)
def test_vulkan_sums(
    lavapipe: Lavapipe,
    label: str,
    key: str,
    options: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    lavapipe(8)
    chosen = ["-t", lanes("scans"), "--key", key, "--algorithm", f"scan-{label}"]
    code, rows, err = validated(capsys, *chosen, *(f"--option={x}" for x in options))
    assert code == 0 and len(rows) == 1, err
    assert rows[0]["failures"] == 0 and rows[0]["cases"] > 300 and rows[0]["algorithm"] == f"scan-{label}"


@pytest.mark.parametrize(("columns", "exclusive"), [(1, False), (4, True)])
@pytest.mark.parametrize("n", [0, 1, 5000, 100_003])
def test_the_python_api(queue: Any, columns: int, exclusive: bool, n: int) -> None:
    scanner = Scanner(queue.context, np.uint32, columns=columns, exclusive=exclusive)
    assert (scanner.target, scanner.columns, scanner.dtype) == ("cpu", columns, np.uint32)
    host = np.random.default_rng(n).integers(0, 2**32 - 1, (n, columns), np.uint32)
    expected = np.cumsum(host, axis=0, dtype=np.uint32) - (host if exclusive else np.uint32(0))
    rows, out = array.to_device(queue, host), array.empty(queue, (n, columns), np.uint32)
    scanner(queue, rows, out=out).wait()
    assert np.array_equal(out.get(), expected) and np.array_equal(rows.get(), host)
    scanner(queue, rows, n=n // 2)
    assert np.array_equal(rows.get(), np.concatenate([expected[: n // 2], host[n // 2 :]]))
    flat = array.to_device(queue, host.reshape(-1))
    scanner(queue, flat)
    assert np.array_equal(flat.get(), expected.reshape(-1))


@pytest.mark.parametrize("columns", [2, 3])
def test_sums_of_floats(queue: Any, columns: int) -> None:
    """Close to the exact ones, the same in every call; NaN spreads, infinities stay, and nothing is flushed or -0."""
    host = np.random.default_rng(1).standard_normal((100_003, columns)).astype(np.float32)
    scanner = Scanner(queue.context, "f32", columns=columns)
    rows, out = array.to_device(queue, host), array.empty(queue, host.shape, np.float32)
    scanner(queue, rows, out=out).wait()
    first = out.get()
    assert np.abs(first - np.cumsum(host, axis=0, dtype=np.float64)).max() < 1e-2
    scanner(queue, rows).wait()
    assert np.array_equal(rows.get(), first)
    host[:] = -0.0
    host[40_000:, 0], host[50_000, 1], host[60_000, 1] = np.float32(1e-40), np.inf, np.nan
    found = array.to_device(queue, host)
    scanner(queue, found)
    one, two = found.get()[:, 0], found.get()[:, 1]
    assert (
        not np.signbit(one).any() and one[39_999] == 0 and one[40_000] == host[40_000, 0] and one[40_001] > one[40_000]
    )
    assert (two[:50_000] == 0).all() and np.isposinf(two[50_000:60_000]).all() and np.isnan(two[60_000:]).all()


@pytest.mark.parametrize("key", ["i32", "i64"])
def test_signed_sums(queue: Any, key: str) -> None:
    scanner = Scanner(queue.context, key, columns=3, exclusive=True, target="intel-gen8")
    host = np.random.default_rng(2).integers(-(2**31), 2**31, (5000, 3)).astype(scanner.dtype)
    rows = array.to_device(queue, host)
    scanner(queue, rows)
    assert np.array_equal(rows.get(), np.cumsum(host, axis=0, dtype=host.dtype) - host) and scanner.key == key


def test_what_the_python_api_refuses(queue: Any) -> None:
    scanner = Scanner(queue.context, "u32", columns=4)
    empty = lambda *shape, **more: array.empty(queue, shape, np.uint32, **more)  # noqa: E731
    for rows, line in (
        (empty(10, 3), r"shape \(10, 3\); give \(rows, 4\)"),
        (empty(10, 4, order="F"), "not in C order"),
        (empty(10), "10 elements, which are no whole rows of 4"),
        (array.empty(queue, (10, 4), np.uint64), "elements of uint64"),
    ):
        with pytest.raises(ValueError, match=line):
            scanner(queue, rows)
    with pytest.raises(ValueError, match="holds 10 rows of 4, 11 are to be summed up"):
        scanner(queue, empty(10, 4), n=11)
    both = empty(20, 4)
    with pytest.raises(ValueError, match="overlap"):
        scanner(queue, both[:12], out=both[8:])
    with pytest.raises(
        Usage, match=r"generic: no inclusive sum of 5 columns of u32; it has scan-x1, .*\[scan\.u32\.NAME\]"
    ):
        Scanner(queue.context, "u32", columns=5)


def test_the_document_says_what_happens(embedded: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(DOCUMENT.parents[2])}
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    (table,) = re.findall(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    values = tomllib.loads(table)["scan"]["u32"]["x4"]
    assert scan.problems(scan.params(KEYS["u32"], values), target.find("generic").device) == []
    (lines,) = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    for line in lines.splitlines():
        assert main(line.split()[1:]) == 0, line
    assert "cpu/scan-x4_u32" in capsys.readouterr().out
