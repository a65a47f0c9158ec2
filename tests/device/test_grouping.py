"""Reductions by key on devices: OpenCL with Intel's runtime and PoCL, Vulkan on lavapipe, the shims of Metal and HIP.

Small shapes, whose tiles have 24 to 96 keys and whose spans have several tiles: runs of every length, every reduction
of every type of values, between guard bytes; planted faults; sums of floats in the order that the guide documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import operation_guide
import pytest
from every import direct
from grouping_faults import SECTIONS, small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lavapipe import Lavapipe, lavapipe, validated
from models import sections
from nightly import NIGHTLY, nightly, thinned
from numpy.typing import NDArray
from planted import assert_caught, states
from tools import OPENCL, need

from hsgen.algorithms import reduce_by_key
from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS
from hsgen.engines import hip_shim, metal_shim
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.opencl import GroupBy, ReduceByKey, run_length_encode, unique
from hsgen.operations.calls import Call
from hsgen.operations.reduce_by_key import RUNS, number, starts
from hsgen.system import toolchain
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/reduce-by-key.md"
COUNTS = (0, 1, 2, 3, 23, 24, 25, 47, 48, 49, 95, 96, 97, 119, 120, 121, 300, 479, 480, 481, 1000, 2001, 5003)
WORKER = Path(__file__).with_name("grouping_faults.py")
EXAMPLES = settings(
    max_examples=60 if NIGHTLY else 30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def check(made: Direct, counts: tuple[int, ...] = COUNTS, seed: int = 1) -> None:
    pairs = [(n, kind) for n in counts for kind in RUNS]
    report = validation.run(made, pairs, seed, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


def ways() -> Iterator[Any]:
    """Every key width with and without values and a device-side count on two devices, and shapes in turn."""
    shapes: tuple[dict[str, Any], ...] = (
        {},
        {"items": 1},
        {"work_group": 32},
        {"items": 7, "groups": 2},
        {"groups": 64},
    )
    for i, key in enumerate(KEYS):
        for j, value in enumerate(("v4", "none")):
            for device_count in (False, True):
                for k, host in enumerate(("embedded", "pocl")):
                    shape = shapes[(2 * i + j + k + 2 * device_count) % len(shapes)]
                    yield pytest.param(key, value, device_count, shape, host, id=f"{key}-{value}-{device_count}-{host}")
                shape = ({}, {"items": 4}, {"work_group": 32, "section": 5}, {"subgroup": 4, "groups": 2})[(i + j) % 4]
                name = f"{key}-{value}-{device_count}-sections"
                yield pytest.param(key, value, device_count, {**SECTIONS, **shape}, "embedded", id=name)


@pytest.mark.parametrize(("key", "value", "device_count", "values", "host"), thinned(ways(), 5))
def test_reductions(
    host: str, key: str, value: str, device_count: bool, values: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    check(direct(request.getfixturevalue(host), small(key, value, device_count=device_count, **values)))


@pytest.mark.parametrize("shim", [metal_shim, nightly(hip_shim)], ids=lambda shim: shim.API.name)
@pytest.mark.parametrize("key", ["u32", nightly("u64"), nightly("u8")])
def test_kernels_of_other_languages_reduce(embedded: Host, shim: Any, key: str) -> None:
    """Metal's and HIP's, as C++ for OpenCL."""
    sort, context = small(key, device_count=True), context_for(embedded)
    check(Direct(context, Compiled(context, sort, shim.source(sort))), COUNTS[::2])


@pytest.mark.parametrize(("lanes", "key"), [(8, "u32"), nightly(4, "u64"), nightly(16, "u8")])
def test_vulkan_reduces(lavapipe: Lavapipe, lanes: int, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    lavapipe(lanes)
    chosen = ["-t", "lavapipe", "--key", key, "--value", "v4", "--algorithm", "reduce_by_key"]
    code, rows, err = validated(capsys, *chosen, "--option=validation=1")
    assert code == 0 and [(r["failures"], r["cases"] > 4000) for r in rows] == [(0, True)], err


@pytest.mark.parametrize("key", ["u32", nightly("u8"), nightly("f32"), nightly("u64")])
def test_the_command_line_validates_reductions(embedded: Host, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    more = ["--device", "Intel(R) OpenCL", "--key", key, "--value", "v4", "--feature", "device-count", "--json"]
    assert main(["validate", "-t", "cpu", "--algorithm", "reduce_by_key", *more, "--runtime", "c"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "reduce_by_key" and row["failures"] == 0 and row["cases"] >= 4000


@pytest.mark.parametrize("shape", ["spans", "sections"])
def test_planted_faults_are_caught(embedded: Host, shape: str) -> None:
    """In processes, which faults may crash, which counts as caught; one in 13 in the fast run."""
    assert_caught(states(str(WORKER), embedded.label, shape, "1" if NIGHTLY else "13"), 51 if NIGHTLY else 4)


def added(values: NDArray[np.float32], keys: NDArray[np.uint32], p: reduce_by_key.Params) -> NDArray[np.float32]:
    """The sums of floats in the documented order: within a lane from left to right; over lanes by doubling distances,
    from the last start of a run on; tiles of a span from left to right; over spans as over lanes."""
    heads = set(starts(keys).tolist())
    n, tile, out = len(keys), p.tile, []
    tiles = -(-n // tile)
    each = -(-tiles // p.groups)
    spans = [(g * each * tile, min((g + 1) * each * tile, n)) for g in range(-(-tiles // each))]

    def scan(parts: list[list[Any]]) -> list[list[Any]]:
        """An inclusive scan of (has a start, sum)."""
        far = 1
        while far < p.work_group:
            old = [list(x) for x in parts]
            for i in range(far, len(parts)):
                if not old[i][0]:
                    parts[i] = [old[i - far][0], old[i - far][1] + old[i][1]]
            far *= 2
        return parts

    shared: list[tuple[bool, Any, Any]] = []  # of each span: has a start; the sums before the first, from the last on
    for begin, end in spans:
        carry, before, closed = None, None, []
        for first in range(begin, end, tile):
            lanes = [range(x, min(x + p.items, end)) for x in range(first, min(first + tile, end), p.items)]
            parts = []
            for lane, at in enumerate(lanes):
                total, has = carry if lane == 0 else None, False
                for i in at:
                    total = values[i] if i in heads or total is None else total + values[i]
                    has = has or i in heads
                parts.append([has, total])
            parts = scan(parts)
            for lane, at in enumerate(lanes):
                total = carry if lane == 0 else parts[lane - 1][1]
                for i in at:
                    if i in heads:
                        closed.append(total)
                        total = values[i]
                    else:
                        total = values[i] if total is None else total + values[i]
            carry = parts[-1][1]
        before = closed[0] if closed else carry
        out.append(closed[1:])
        shared.append((bool(closed), before, carry))
    share = -(-len(spans) // p.work_group)
    parts = []
    for at in range(0, len(spans), share):
        total, has = None, False
        for starts_here, before, after in shared[at : at + share]:
            total = after if starts_here else before if total is None else total + before
            has = has or starts_here
        parts.append([has, total])
    parts = scan(parts)
    sums: list[Any] = []
    for g, (starts_here, before, after) in enumerate(shared):
        if g % share == 0:
            total = parts[g // share - 1][1] if g else None
        if starts_here:
            if g:
                sums.append(total if before is None else total + before)
            sums += out[g]
            total = after
        else:
            total = total + before
    return np.array([*sums, total], np.float32)


@pytest.mark.parametrize("shape", [{"groups": 5}, {"groups": 64}, SECTIONS, {**SECTIONS, "items": 4, "section": 5}])
def test_sums_of_floats_are_in_the_documented_order(embedded: Host, pocl: Host, shape: dict[str, int]) -> None:
    rng = np.random.default_rng(4)
    sort = small("u32", **shape)
    for n in (20, 24, 25, 300, 481, 1999, 4000):
        for kind in ("runs of 1 to 300", "long runs", "short runs"):
            keys = RUNS[kind](rng, n, np.dtype(np.uint32))
            values = (rng.standard_normal(n) * 10.0 ** rng.integers(-6, 7, n)).astype(np.float32)
            p = sort.parts[0].params
            expected = (sections.sums if p.sections else added)(values, keys, p)
            call = Call(
                n=n,
                keys=keys,
                expected=keys[starts(keys)],
                in_place=False,
                values=values.view(np.uint32).reshape(-1, 1),
                values_expected=expected.view(np.uint32).reshape(-1, 1),
                how=Options(reduction=number("sum", "f32")),
                report=np.array([len(expected)], np.uint32),
            )
            for host in (embedded, *(() if p.sections else (pocl,))):
                problem = Frame(direct(host, sort), n).run(call) if n in (300, 1999) or host is embedded else None
                assert problem is None, (n, kind, problem)


@pytest.mark.parametrize("n", [3, 700])
def test_sums_of_minus_zeros_are_minus_zero(embedded: Host, n: int) -> None:
    keys = np.repeat(np.arange(n, dtype=np.uint32), 2)[:n]
    values = np.full(n, -0.0, np.float32)
    for shape in ({}, SECTIONS):
        call = Call(
            n=n,
            keys=keys,
            expected=keys[starts(keys)],
            in_place=False,
            values=values.view(np.uint32).reshape(-1, 1),
            values_expected=values[starts(keys)].view(np.uint32).reshape(-1, 1),
            how=Options(reduction=number("sum", "f32")),
            report=np.array([len(starts(keys))], np.uint32),
        )
        assert Frame(direct(embedded, small("u32", **shape)), n).run(call) is None


@EXAMPLES
@given(data=st.data())
def test_any_call_matches_numpy(queue: Any, data: st.DataObject) -> None:
    """Of the Python API: sorted or not, all reductions, optional outputs, a count on the device."""
    value = data.draw(st.sampled_from(["u32", "i32"]), "value")
    reduction = data.draw(st.sampled_from(["sum", "min", "max"]), "reduction")
    n = data.draw(st.integers(0, 3000) | st.integers(0, 70000), "n")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), "seed"))
    keys = rng.integers(0, data.draw(st.sampled_from([1, 2, 50, 10**9]), "distinct"), n).astype(np.uint32)
    keys = np.sort(keys) if data.draw(st.booleans(), "sorted") else keys
    values = (
        rng.integers(-(2**31), 2**31, n)
        .astype(np.int32)
        .view(np.dtype(value.replace("u", "uint").replace("i3", "int3")))
    )
    live = data.draw(st.none() | st.integers(0, 2 * n + 1), "count")
    reduce = made(queue, value)
    out, counts, firsts, groups = (array.zeros(queue, max(n, 1), np.uint32) for _ in range(4))
    reduced_values = array.zeros(queue, max(n, 1), values.dtype)
    given_counts = counts if data.draw(st.booleans(), "counts") else None
    number_of = None if live is None else array.to_device(queue, np.array([live], np.uint32))
    dev = [array.to_device(queue, x) if n else array.zeros(queue, 1, x.dtype) for x in (keys, values)]
    reduce(
        queue, dev[0], out=out, groups=groups, values=dev[1], values_out=reduced_values, reduction=reduction,
        counts=given_counts, first_indices=firsts, n=n, count=number_of,
    )  # fmt: skip
    m = n if live is None else min(n, live)
    begins = starts(keys[:m])
    assert groups.get()[0] == len(begins)
    whole = {"sum": np.add, "min": np.minimum, "max": np.maximum}[reduction]
    expected = whole.reduceat(values[:m], begins, dtype=values.dtype) if m else values[:0]
    for found, wanted in ((out, keys[begins]), (firsts, begins), (reduced_values, expected)):
        assert np.array_equal(found.get()[: len(begins)], wanted) and not found.get()[len(begins) : n].any()
    if given_counts is not None:
        assert np.array_equal(counts.get()[: len(begins)], np.diff(begins, append=m))
    else:
        assert not counts.get().any()


_made: dict[str, ReduceByKey] = {}


def made(queue: Any, value: str) -> ReduceByKey:
    """The reduction of a type of values, compiled once."""
    if value not in _made:
        _made[value] = ReduceByKey(queue.context, "u32", value=value, device_count=True)
    return _made[value]


def test_groups_and_distinct_keys(queue: Any) -> None:
    rng = np.random.default_rng(3)
    host = rng.integers(-300, 300, 50000).astype(np.int32)
    weights = rng.integers(0, 100, 50000).astype(np.float32)
    keys = array.to_device(queue, host)
    expected, counts = np.unique(host, return_counts=True)
    found, lengths = unique(queue, keys, return_counts=True)
    assert np.array_equal(found.get(), expected) and np.array_equal(lengths.get(), counts)
    assert np.array_equal(unique(queue, keys, order="descending").get(), expected[::-1])
    runs, lengths = run_length_encode(queue, keys)
    assert np.array_equal(np.repeat(runs.get(), lengths.get()), host) and (runs.get()[1:] != runs.get()[:-1]).all()
    group_by = GroupBy(queue.context, "i32", value="f32")
    out, groups = array.empty(queue, 50000, np.int32), array.empty(queue, 1, np.uint32)
    sums = array.empty(queue, 50000, np.float32)
    for n in (50000, 100, 50000):
        group_by(queue, keys[:n], out=out, groups=groups, values=array.to_device(queue, weights[:n]), values_out=sums)
        expected, inverse = np.unique(host[:n], return_inverse=True)
        assert groups.get()[0] == len(expected) and np.array_equal(out.get()[: len(expected)], expected)
        assert np.array_equal(sums.get()[: len(expected)], np.bincount(inverse, weights[:n]).astype(np.float32))
    assert np.array_equal(keys.get(), host) and "GroupBy: group_by" in repr(group_by)
    assert [len(x) for x in run_length_encode(queue, array.empty(queue, 0, np.uint32))] == [0, 0]


def test_what_the_python_api_refuses(queue: Any) -> None:
    reduce = ReduceByKey(queue.context, "u32", value=np.float32)
    keys, groups = array.zeros(queue, 10, np.uint32), array.zeros(queue, 1, np.uint32)
    values, out, sums = (
        array.zeros(queue, 10, np.float32),
        array.zeros(queue, 10, np.uint32),
        array.zeros(queue, 10, np.float32),
    )
    good = {"out": out, "groups": groups, "values": values, "values_out": sums}
    for changed, line in (
        ({"values": None}, "values is missing"),
        ({"values_out": None}, "values_out is missing"),
        ({"out": keys}, "keys and out overlap"),
        ({"counts": keys}, "keys and counts overlap"),
        ({"first_indices": out}, "out and first_indices overlap"),
        ({"counts": array.zeros(queue, 9, np.uint32)}, "^counts holds 9 numbers, 10 are needed$"),
        ({"first_indices": array.zeros(queue, 9, np.int32)}, "^first_indices holds 9 numbers, 10 are needed$"),
        ({"groups": array.zeros(queue, 0, np.int32)}, "^groups holds 0 words, 1 is needed$"),
        ({"counts": array.zeros(queue, 10, np.int64)}, "counts has .* int64, this reduction takes uint32 or int32$"),
        ({"counts": sums}, "counts has elements of float32"),
        ({"values": keys}, "values has elements of uint32, this reduction takes float32"),
        ({"count": groups}, "count is given"),
    ):
        with pytest.raises(ValueError, match=line):
            reduce(queue, keys, **{**good, **changed})
    with pytest.raises(Usage, match="reduction mean"):
        reduce(queue, keys, **good, reduction="mean")
    with pytest.raises(Usage, match="values to reduce are"):
        ReduceByKey(queue.context, "u32", value="u64")
    with pytest.raises(ValueError, match="values is given"):
        ReduceByKey(queue.context, "u32")(queue, keys, out=out, groups=groups, values=values)
    reduce(queue, keys, **good)
    assert groups.get()[0] == 1


@pytest.mark.parametrize("value", [4, "4", "v4", "u32", np.uint32, np.int64(4)])
def test_values_of_4_bytes_are_unsigned_unless_their_type_is_named(queue: Any, value: Any) -> None:
    """Counts and numbers of groups may be signed; values may not, since their order would be another."""
    reduce = ReduceByKey(queue.context, "u32", value=value)
    assert reduce.value == "u32"
    keys = array.to_device(queue, np.array([1, 1, 2], np.uint32))
    values = array.to_device(queue, np.array([5, (1 << 32) - 1, 9], np.uint32))
    out, sums = array.zeros(queue, 3, np.uint32), array.zeros(queue, 3, np.uint32)
    counts, groups = array.zeros(queue, 3, np.int32), array.zeros(queue, 1, np.int32)
    given = {"out": out, "groups": groups, "values_out": sums, "counts": counts}
    reduce(queue, keys, values=values, reduction="max", **given)
    assert groups.get().tolist() == [2] and counts.get()[:2].tolist() == [2, 1]
    assert sums.get()[:2].tolist() == [(1 << 32) - 1, 9]
    with pytest.raises(ValueError, match=r"^values has elements of int32, this reduction takes uint32$"):
        reduce(queue, keys, values=values.view(np.int32), **given)


def test_the_document_says_what_happens(embedded: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "reduce_by_key" in operation_guide.check(DOCUMENT, tmp_path, capsys)
