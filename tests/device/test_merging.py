"""Merges of two sorted arrays on devices: OpenCL, Metal's kernels as C++, Vulkan on lavapipe, C and Python.

- Lanes alone and work-groups, every width and every value (nightly each with each), all types and both orders: sizes of
  both arrays around tiles, either of them empty, between guard bytes, inputs unchanged.
- Equal keys keep their order, those of the first array first, which distinct values show.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every import changed
from lavapipe import Lavapipe, lavapipe, validated
from nightly import nightly, thinned
from sorts import sort_by
from tools import OPENCL, need

from hsgen.algorithms import bitonic, merge_path
from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, TYPES, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import metal_shim
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.opencl import Merger
from hsgen.operations import oracle
from hsgen.operations.inputs import KINDS
from hsgen.operations.merge import MERGED
from hsgen.system import toolchain
from hsgen.targets import target
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/merge.md"
VALUES = ("none", "v4", "v8", "v16")


def check(made: Direct) -> None:
    """Merge at the counts around which a merge changes its way, many kinds of keys and sizes of the first array."""
    tile, kinds = validation.block_of(made.sort), list(MERGED)
    some = [0, 1, 2, 3, 5, 64, *(t * tile + d for t in (1, 2, 3) for d in (-1, 0, 1)), tile // 2, 5 * tile + 7]
    pairs = [(n, kinds[i % len(kinds)]) for i, n in enumerate(some + [tile] * 14)]  # these with every size
    report = validation.run(made, pairs, 1, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), (made.sort.parts[0].params, report.failures)


def ways() -> Iterator[Any]:
    """Three targets with every width and value, types and orders in turn, on two devices."""
    for i, name in enumerate(("cpu", "generic", "intel-gen8")):
        for j, key in enumerate(KEYS):
            for k, value in enumerate(VALUES):
                if (i + j + k) % 2 and value != "none":
                    continue
                key_transform = (i + j + k) % 3 > 0
                host = "pocl" if name == "generic" and (j + k) % 2 else "embedded"
                yield pytest.param(
                    host, name, key, value, key_transform, id=f"{host}-{name}-{key}-{value}{'-typed' * key_transform}"
                )


@pytest.mark.parametrize(("host", "name", "key", "value", "key_transform"), thinned(ways(), 3))
def test_merges(
    host: str, name: str, key: str, value: str, key_transform: bool, request: pytest.FixtureRequest
) -> None:
    context = context_for(request.getfixturevalue(host))
    sort = target.find(name).sort("merge_path", key, Signature(value=value, key_transform=key_transform))
    check(Direct(context, Compiled(context, sort)))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("generic", "!hs_less(y, x)", "hs_less(x, y)"),  # equal keys of the second array first
        ("cpu", "!hs_less(hs_twiddle_in(y0), hs_twiddle_in(x0))", "hs_less(hs_twiddle_in(x0), hs_twiddle_in(y0))"),
        (
            "generic",
            "hs_less(tile[TILE - d + middle], tile[middle])",
            "!hs_less(tile[middle], tile[TILE - d + middle])",
        ),
        ("generic", "a < mine && !", "!"),  # at the end of the first array, equal keys of the second from the back
        ("cpu", "<= parts &&", "<= parts + 1 &&"),
        ("cpu", "<= rest)", "<= rest + 1)"),
    ],
)
def test_wrong_kernels_are_found(embedded: Host, name: str, old: str, new: str) -> None:
    """At the end of an array, reading too far shows only if the next element is taken: hence the smallest keys."""
    sort = target.find(name).sort("merge_path", "u64" if name == "cpu" else "u32", Signature(value="v4"))
    source, tile = render(sort, "opencl"), validation.block_of(sort)
    old, new = (text.replace("TILE", str(tile)) for text in (old, new))
    parts = {k: text.replace(old, new) for k, text in source.parts.items()}
    assert parts != source.parts, old
    made = changed(embedded, sort, replace(source, parts=parts))
    report = validation.run(made, [(n, kind) for n in (tile, 2 * tile, 3 * tile + 5) for kind in MERGED], 1, stop=1)
    assert report.failed


def rowed(key: str, signature: Signature, row: int) -> Sort:
    """A merge by rows with chains so short that a few hundred keys fill many."""
    p = merge_path.Params(
        key=KEYS[key], work_group=1, items=2 * row, chains=4, walks=True, row=row, signature=signature
    )
    return sort_by("merge_path", p, signature)


RANGES = [("u32", "none", 4, False), ("u32", "v4", 4, True), ("u64", "v8", 6, False), ("u32", "v16", 8, True)]
"""Key, value and keys of a lane of merges in which a few work-groups merge ranges of tiles; whether they know types."""


def ranged(key: str, value: str, items: int, key_transform: bool) -> Sort:
    """A merge of ranges, up to 2000 keys, by work-groups of four subgroups."""
    signature = Signature(value=value, key_transform=key_transform)
    shape: dict[str, Any] = {"work_group": 16, "items": 3, "vectors": True, "ranged": 2000, "range_items": items}
    p = merge_path.Params(key=KEYS[key], signature=signature, subgroup=8, range_lanes=32, ranges=2, resident=1, **shape)
    return sort_by("merge_path", p, signature)


@pytest.mark.usefixtures("optimized")  # without, Intel's compiler (2026.22) sorts one key wrongly
@pytest.mark.parametrize(("key", "value", "items", "key_transform"), RANGES)
def test_ranges(embedded: Host, key: str, value: str, items: int, key_transform: bool) -> None:
    """Counts around tiles of ranges, from none to several a work-group, where a dialect has no vectors."""
    context = context_for(embedded)
    made, kinds, tile = (
        Direct(context, Compiled(context, ranged(key, value, items, key_transform))),
        list(MERGED),
        32 * items,
    )
    some = sorted({0, 1, 2, *(tile * t + d for t in (1, 2, 3, 4, 5, 7) for d in (-1, 0, 1)), 1999, 2000, 2001})
    pairs = [(n, kinds[i % len(kinds)]) for i, n in enumerate(some * 3)]
    report = validation.run(made, pairs, 1, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@pytest.mark.usefixtures("optimized")  # as above
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("!hs_less(y, x)", "hs_less(x, y)"),
        ("a < stop && !", "!"),
        ("copied = spot < 8", "copied = spot < 0"),
        ("tiles % ranges * (hs_group_id() + 1) / ranges", "tiles % ranges * hs_group_id() / ranges"),
        ("int stop = a + (left_a - low)", "int stop = a + left_a"),
        ("if (x < 0) x += 144", "if (x < 0) x += 143"),
    ],
)
def test_wrong_ranges_are_found(embedded: Host, old: str, new: str) -> None:
    sort = ranged("u32", "v4", 4, False)
    source = render(sort, "opencl")
    parts = {k: text.replace(old, new) for k, text in source.parts.items()}
    assert parts != source.parts, old
    made = changed(embedded, sort, replace(source, parts=parts))
    report = validation.run(made, [(n, kind) for n in (128, 300, 1000, 1990) for kind in MERGED], 1, stop=1)
    assert report.failed


def rows() -> Iterator[Any]:
    """Every width with every value that its rows may have, on two devices: rows of all lengths, types in turn."""
    for i, key in enumerate(KEYS):
        for j, value in enumerate(VALUES if key != "u64" else VALUES[:1]):
            for k, row in enumerate((2, 4, 8, 16)):
                key_transform = (i + j + k) % 2 > 0
                for host in ("embedded", "pocl")[: 1 + (row == 8)]:
                    yield pytest.param(
                        host, key, value, row, key_transform, id=f"{host}-{key}-{value}-{row}{'-typed' * key_transform}"
                    )


@pytest.mark.parametrize(("host", "key", "value", "row", "key_transform"), thinned(rows(), 7))
def test_rows(host: str, key: str, value: str, row: int, key_transform: bool, request: pytest.FixtureRequest) -> None:
    """Every count up to some chunks, so that each array ends at every position of a row, and so does the output."""
    context = context_for(request.getfixturevalue(host))
    made = Direct(context, Compiled(context, rowed(key, Signature(value=value, key_transform=key_transform), row)))
    tile, kinds = validation.block_of(made.sort), list(MERGED)
    most = 2 * tile + row if host == "embedded" else tile + row
    pairs = [(n, kinds[n * 5 % len(kinds)]) for n in range(most)]
    pairs += [(4 * tile + d, kind) for d in (-1, 0, 1) for kind in kinds]
    report = validation.run(made, pairs, 1, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(parts - 16 - p3)", "(parts - 15 - p3)"),  # a row reads a key beyond its array
        ("(rest - 16 - b3)", "(rest - 15 - b3)"),
        ("hs_row_count(x0, y0)", "hs_row_count(y0, x0)"),
        ("p < parts ? hs_twiddle_in(source[p]) : HS_GREATEST", "p < parts ? hs_twiddle_in(source[p]) : HS_LEAST"),
        ("d + k < stop; k++", "k < 16; k++"),
        ("hs_row_min(x2, y2)", "y2"),
        ("hs_row_cut(HS_FIRST_SLOTS, parts - a)", "HS_FIRST_SLOTS"),  # only the code that ties keys to slots shows it
        ("slot - 16]", "slot - 15]"),
        ("values_in[p1], second_values[b1]", "values_in[p1], second_values[p1]"),
    ],
)
def test_wrong_rows_are_found(embedded: Host, old: str, new: str) -> None:
    sort = rowed("u32", Signature(value="v4"), 16)
    source = render(sort, "opencl")
    parts = {k: text.replace(old, new) for k, text in source.parts.items()}
    assert parts != source.parts, old
    made = changed(embedded, sort, replace(source, parts=parts))
    whole = [(chunks * 128, kind) for chunks in (1, 2, 3) for kind in MERGED] * 4  # two rows are left to the last step
    assert validation.run(made, [(100, "random"), *whole], 1, stop=1).failed


@pytest.mark.parametrize(
    ("host", "name", "key", "value"),
    [
        ("embedded", "cpu", "u32", "none"),
        nightly("embedded", "cpu", "u64", "v4"),
        ("embedded", "generic", "u32", "v8"),
        nightly("pocl", "generic", "u64", "none"),
        nightly("pocl", "generic", "u32", "index"),
    ],
)
def test_sorts_whose_runs_are_merged_by_paths(
    host: str, name: str, key: str, value: str, request: pytest.FixtureRequest
) -> None:
    """In and out of place, around every number of levels up to six, between guard bytes."""
    found, signature = target.find(name), Signature(value=value, key_transform=True)
    block = found.choices["bitonic", key].block
    own = {k: replace(p, path_from=block + 1) for (a, k), p in found.choices.items() if a == "bitonic"}
    p = bitonic.specialize(own, KEYS[key], signature, found.device)
    sort = sort_by("bitonic", p, signature)
    assert "path" in {k.name for k in sort.kernels}
    context = context_for(request.getfixturevalue(host))
    block, kinds = p.block, list(KINDS)
    some = [0, 1, block, *((block << level) + d for level in range(1, 6) for d in (-1, 0, 1)), 33 * block + 5]
    pairs = [(n, kinds[i % len(kinds)]) for i, n in enumerate(some)]
    report = validation.run(Direct(context, Compiled(context, sort)), pairs, 1, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@pytest.mark.parametrize("case", ["u32 v4", "u64 none", "i16 v16"])
def test_metal_kernels_as_another_language(embedded: Host, case: str) -> None:
    key, value = case.split()
    sort = target.find("apple-m1").sort("merge_path", key, Signature(value=value, key_transform=key[0] != "u"))
    context = context_for(embedded)
    check(Direct(context, Compiled(context, sort, metal_shim.source(sort))))


@pytest.mark.nightly  # the fast run does so through Vulkan
def test_the_command_line_validates_merges(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [
        "--device",
        "Intel(R) OpenCL",
        "--key",
        "f32",
        "--order",
        "both",
        "--value",
        "v8",
        "--algorithm",
        "merge_path",
    ]
    assert main(["validate", "-t", "intel-gen8", *chosen, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "merge_path" and row["failures"] == 0 and row["cases"] >= 4000


@pytest.mark.nightly  # the fast run has test_kinds.py, at fewer counts
def test_the_c_runtime_merges(embedded: Host, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    more = ["--runtime", "c", "--device", "Intel(R) OpenCL", "--key", "u64", "--value", "v4", "--json"]
    code = main(["validate", "-t", "generic", "--algorithm", "merge_path", *more])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert [(r["algorithm"], r["failures"]) for r in json.loads(out)] == [("merge_path", 0)]


@pytest.mark.nightly  # lavapipe compiles it for half a minute; the fast run merges through Vulkan in test_kinds.py
@pytest.mark.parametrize(
    ("name", "key", "value"), [("lavapipe", "u32", "none"), ("generic", "u64", "v16"), ("intel-gen8", "u16", "v4")]
)
def test_vulkan_merges(lavapipe: Lavapipe, name: str, key: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    lavapipe(16)
    chosen = ["-t", name, "--key", key, "--value", value, "--order", "both", "--algorithm", "merge_path"]
    code, rows, err = validated(capsys, *chosen, "--option=validation=1")
    assert code == 0 and len(rows) == 1, err
    assert rows[0]["failures"] == 0 and rows[0]["cases"] >= 4000


def orders() -> list[Any]:
    """Every type in both orders; the fast run in one order, in turn."""
    both = ("ascending", "descending")
    ways = [(i + j, t, order) for i, t in enumerate(sorted(TYPES)) for j, order in enumerate(both)]
    return [nightly(*way) if turn % 2 else way for turn, *way in ways]


@pytest.mark.parametrize(("type_", "order"), orders())
def test_the_python_api(queue: Any, type_: str, order: str) -> None:
    merger = Merger(queue.context, type_, value=8, order=order)
    assert (merger.target, merger.key, merger.value, merger.order) == ("cpu", type_, "v8", order)
    bits, kind = np.dtype(f"u{KEYS[TYPES[type_].key].bytes}"), TYPES[type_].kind
    rng, descending = np.random.default_rng(3), order == "descending"
    for na, nb in ((30_000, 4_000), (0, 700), (700, 0), (1, 1), (0, 0)):
        pool = rng.integers(0, np.iinfo(bits).max, 1000, bits, endpoint=True)
        halves = [pool[rng.integers(0, 1000, size)] for size in (na, nb)]
        halves = [x[np.argsort(oracle.ordered(x, kind, descending=descending), kind="stable")] for x in halves]
        both, values = np.concatenate(halves), rng.integers(0, 2**63, na + nb, np.int64)
        a, b = (array.to_device(queue, x.view(TYPES[type_].numpy)) for x in halves)
        va, vb = array.to_device(queue, values[:na]), array.to_device(queue, values[na:])
        out, out_values = array.zeros(queue, na + nb + 3, a.dtype), array.zeros(queue, na + nb + 3, np.int64)
        merger(queue, a, b, out, a_values=va, b_values=vb, values_out=out_values).wait()
        by = np.argsort(oracle.ordered(both, kind, descending=descending), kind="stable")
        assert np.array_equal(out.get().view(bits), np.append(both[by], np.zeros(3, bits)))
        assert np.array_equal(out_values.get(), np.append(values[by], [0, 0, 0]))
        assert np.array_equal(a.get().view(bits), halves[0]) and np.array_equal(b.get().view(bits), halves[1])


def test_buffers_are_merged_whole(queue: Any) -> None:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    a, b = (cl.Buffer(queue.context, flags, hostbuf=np.arange(i, 200, 2, dtype=np.uint64)) for i in (0, 1))
    out = array.empty(queue, 200, np.uint64)
    Merger(queue.context, np.uint64)(queue, a, b, out)
    assert np.array_equal(out.get(), np.arange(200))


def test_what_the_python_api_refuses(queue: Any) -> None:
    merger, pairs = Merger(queue.context), Merger(queue.context, value=4)
    empty = lambda n, dtype=np.uint32: array.empty(queue, n, dtype)  # noqa: E731
    a, b = empty(10), empty(20)
    for given, line in (
        ((a, b, empty(29)), "out holds 29 keys, 30 are to be merged"),
        ((a, b, empty(30, np.uint64)), "out has elements of uint64, this merge takes uint32"),
        ((a, empty(20, np.int32), empty(30)), "b has elements of int32, this merge takes uint32"),
        ((a, b, empty((15, 2))), r"out has the shape \(15, 2\); give one dimension, as out.ravel\(\) has"),
    ):
        with pytest.raises(ValueError, match=line):
            merger(queue, *given)
    with pytest.raises(ValueError, match="a_values is given, but this merger has none; give value="):
        merger(queue, a, b, empty(30), a_values=a, b_values=b, values_out=empty(30))
    whole = empty(60)
    for one, other, out in ((whole[:20], b, whole), (b, whole[:20], whole), (whole[32:], b, whole[:60])):
        with pytest.raises(ValueError, match="overlap"):
            merger(queue, one, other, out)
    with pytest.raises(ValueError, match="b_values is missing: this merger takes 4 bytes a key"):
        pairs(queue, a, b, empty(30), a_values=empty(10), values_out=empty(30))
    with pytest.raises(ValueError, match="b_values holds 19 values, 20 are to be merged"):
        pairs(queue, a, b, empty(30), a_values=empty(10), b_values=empty(19), values_out=empty(30))
    with pytest.raises(TypeError, match="out is None; give a pyopencl array or buffer"):
        merger(queue, a, b, None)
    with pytest.raises(Usage, match="value index: merges take values of 4, 8 or 16 bytes"):
        Merger(queue.context, value="index")
    with pytest.raises(Usage, match="order up: unknown"):
        Merger(queue.context, order="up")


def test_the_document_says_what_happens(embedded: Host, tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command, root = [sys.executable, tmp_path / "program.py"], str(DOCUMENT.parents[2])
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
