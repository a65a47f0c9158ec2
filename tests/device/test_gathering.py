"""Gathers on devices: OpenCL with Intel's runtime and PoCL, in oclgrind, Vulkan on lavapipe, the command line, Python.

Small shapes, whose tiles have a few items: items of every size, indices in any order and beyond the table, between
guard bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from every import direct, faulty
from gathers import SHAPES, sort_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lavapipe import Lavapipe, lavapipe, validated
from nightly import nightly, thinned
from oclgrind import grind
from planted import Planted, all_caught
from tools import OPENCL, need

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.emit.kernels import render
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.opencl import Gatherer
from hsgen.operations.gather import OPERATION
from hsgen.system import toolchain
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture
VALUES = ("v4", "v8", "v16")
COUNTS = (0, 1, 2, 9, 10, 11, 19, 20, 21, 47, 48, 49, 96, 97, 300, 1000, 2477)
MUTANTS = {
    "the last item of a tile is left out": (
        r"(int count = hs_n\(\) - first < \d+ \? hs_n\(\) - first : \d+);",
        r"\1 - 1;",
    ),
    "the last item of all is left out": (r"(int count = hs_n\(\) - first < \d+ \? hs_n\(\) - first) : ", r"\1 - 1 : "),
    "an index beyond the table": (r"index < hs_to_u32\(hs_rows\(\)\)", "index <= hs_to_u32(hs_rows())"),
    "the first tile only": (r"first = hs_group_id\(\) \* ", "first = (hs_group_id() & 0) * "),
    "columns not carried": (r"column -= width;", "column = 0;"),
    "items not carried": (r"item\+\+;", ";"),
    "a value skipped": (r"at \+= (\d+)\)", r"at += \1 + 1)"),
    "the item before": (r"source\[first \+ (item|i)\]", r"source[first + \1 - (\1 > 0)]"),
    "another column": (r"(\* width \+ column|values_in\[from \+ column\])", r"\1 * 0"),
    "the table's base": (r"hs_to_int\(index\) \* width", "hs_to_int(index)"),
    "the result's base": (r"(base|to) = first \* width|to = \(first \+ i\) \* width", r"base = first, to = first"),
}
"""Faults planted in the text of the kernel: a pattern and its replacement."""
FAULTY = ("together", "batches", "alone", "lanes alone")
"""The shapes in whose kernels they are planted."""


def check(made: Direct, seed: int = 1) -> None:
    kinds = list(OPERATION.kinds)
    pairs = [(n, kinds[(i + j) % len(kinds)]) for i, n in enumerate(COUNTS) for j in range(0, len(kinds), 2)]
    report = validation.run(made, pairs, seed, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


def ways() -> Iterator[Any]:
    for value in VALUES:
        for shape in SHAPES:
            for host in ("embedded", "pocl"):
                yield pytest.param(value, shape, host, id=f"{value}-{shape.replace(' ', '-')}-{host}")


@pytest.mark.parametrize(("value", "shape", "host"), thinned(ways(), 8))
def test_gathers(host: str, value: str, shape: str, request: pytest.FixtureRequest) -> None:
    check(direct(request.getfixturevalue(host), sort_of(value, shape)))


def planted(host: Host, shapes: Sequence[str] = FAULTY) -> Iterator[Planted]:
    for shape in shapes:
        sort = sort_of("v8", shape)
        text = render(sort, "opencl").text
        for name, (pattern, replacement) in MUTANTS.items():
            if found := re.search(pattern, text):
                fault = text[: found.end()], text[: found.start()] + found.expand(replacement)
                yield f"{shape}: {name}", partial(faulty, host, sort, fault)


def test_planted_faults_are_caught(embedded: Host) -> None:
    all_caught(__name__, embedded, len([*planted(embedded)]))


@pytest.mark.parametrize("shape", FAULTY)
def test_every_shape_has_planted_faults(embedded: Host, shape: str) -> None:
    assert len([*planted(embedded, (shape,))]) >= 6


@pytest.mark.parametrize(("value", "shape"), [("v8", "together"), nightly("v4", "batches"), nightly("v16", "alone")])
def test_oclgrind_reports_nothing(value: str, shape: str) -> None:
    done = grind(value, shape, script="grind_gathers.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gathered Oclgrind" in done.stdout and done.stderr.strip() == ""


@pytest.mark.parametrize("value", ["v4", nightly("v8"), nightly("v16")])
def test_the_command_line_validates_gathers(embedded: Host, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    more = ["--device", "Intel(R) OpenCL", "--key", "u32", "--value", value, "--json", "--runtime", "c"]
    assert main(["validate", "-t", "generic", "--algorithm", "gather", *more]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "gather" and row["failures"] == 0 and row["cases"] >= 4000


@pytest.mark.parametrize(("lanes", "value"), [nightly(8, "v4"), nightly(4, "v8"), nightly(16, "v16")])
def test_vulkan_gathers(lavapipe: Lavapipe, lanes: int, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    lavapipe(lanes)
    for name in ("lavapipe", "generic"):
        chosen = ["-t", name, "--key", "u32", "--value", value, "--algorithm", "gather"]
        code, rows, err = validated(capsys, *chosen, "--option=validation=1", "--device", "llvmpipe")
        assert code == 0 and [(r["failures"], r["cases"] > 4000) for r in rows] == [(0, True)], err


def test_a_benchmark_compares_with_numpy(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--take", "3", "--sizes", "2^10", "--rounds", "2", "--device", "Intel(R) OpenCL"]
    assert main(["bench", "-t", "cpu", "--algorithm", "gather", "--key", "u32", "--value", "v8", *more]) == 0
    out = capsys.readouterr().out
    assert "items of 3 values" in out and "numpy" in out and "copy" in out


@pytest.fixture(scope="module")
def gather(queue: Any) -> Gatherer:
    return Gatherer(queue.context)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.integers(1, 64), rows=st.integers(1, 3000), n=st.integers(0, 5000), seed=st.integers(0, 2**32 - 1))
def test_python_gathers_items_of_every_size(
    queue: Any, gather: Gatherer, words: int, rows: int, n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table, index = rng.integers(0, 1 << 32, (rows, words), np.uint32), rng.integers(0, rows, n, np.uint32)
    out = array.zeros(queue, (n + 1, words), np.uint32)
    gather(queue, array.to_device(queue, index), array.to_device(queue, table), out, n=n)
    assert np.array_equal(out.get()[:n], np.take(table, index, axis=0)) and not out.get()[n:].any()


def test_structures_and_flat_arrays(queue: Any, gather: Gatherer) -> None:
    index = array.to_device(queue, np.array([3, 0, 9, 3], np.uint32))
    records = np.zeros(5, np.dtype([("a", "<u2"), ("b", "<f4"), ("c", "<u1", 6)]))
    records["a"] = range(1, 6)
    out = array.zeros(queue, 4, records.dtype)
    gather(queue, index, array.to_device(queue, records), out)
    assert out.get()["a"].tolist() == [4, 1, 0, 4], "nothing is written where an index is beyond the table"
    flat, to = array.arange(queue, 15, dtype=np.float32), array.zeros(queue, 12, np.float32)
    gather(queue, index, flat, to, item_bytes=12)
    assert to.get().reshape(4, 3)[:, 0].tolist() == [9, 0, 0, 9]
    assert "gather" in repr(gather)


def test_what_the_python_api_refuses(queue: Any, gather: Gatherer) -> None:
    index, table = array.zeros(queue, 4, np.uint32), array.zeros(queue, (5, 3), np.uint32)
    out = array.zeros(queue, (4, 3), np.uint32)
    with pytest.raises(ValueError, match="out has items of 4 bytes, source of 12"):
        gather(queue, index, table, array.zeros(queue, 12, np.uint32))
    with pytest.raises(Usage, match="item_bytes 6: give a multiple of 4"):
        gather(queue, index, table, out, item_bytes=6)
    with pytest.raises(ValueError, match=r"out holds 9 values, 12 are to be gathered"):
        gather(queue, index, table, out[:3])
    with pytest.raises(ValueError, match="overlap"):
        gather(queue, index, table, table[:4])
    with pytest.raises(ValueError, match="index has elements of float32, this gather takes uint32 or int32"):
        gather(queue, index.view(np.float32), table, out)
    with pytest.raises(ValueError, match="source is not in C order"):
        gather(queue, index, array.to_device(queue, np.zeros((5, 3), np.uint32, order="F")), out)
    with pytest.raises(ValueError, match="is a buffer; give item_bytes"):
        gather(queue, index, table.base_data, out)
    with pytest.raises(TypeError):
        gather(queue, np.zeros(4, np.uint32), table, out)
