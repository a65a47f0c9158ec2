"""Run boundaries reported by sorts on the embedded device and on PoCL, compared with numpy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from nightly import NIGHTLY, nightly, nightly_except
from oclgrind import grind

from hsgen.core.errors import Usage
from hsgen.core.interpreter import offset, scratch_bytes
from hsgen.core.keys import Signature
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Sorter
from hsgen.operations import oracle
from hsgen.stages.run_boundaries import Shape
from hsgen.system import toolchain
from hsgen.targets import target

COUNTS = (0, 1, 2, 31, 33, 255, 4095, 4097, 4129, 8191, 8193, 8224, 16384, 32768, 33001, 140_000)
"""Around u32 of bits, tiles of single lanes (4096 keys, two each from 32769 on) and of work-groups (8192)."""
GUARD = 0xDEADBEEF
FAST = {("u32", "cpu"), ("f64", "generic"), ("i16", "intel-gen8")}
"""Each type and each target once."""


def keys_of(rng: np.random.Generator, n: int, bits: int, kind: str) -> Any:
    """Return unsigned keys: random, of few values, all equal, with long runs next to single keys, about half of them
    equal to others, or all different if the type has enough values."""
    dtype = np.dtype(f"u{bits // 8}")
    keys = rng.integers(0, 1 << bits, n, np.uint64).astype(dtype)
    if kind == "few":
        keys %= dtype.type(7)
    if kind == "equal":
        keys[:] = 5
    if kind == "half":
        keys %= dtype.type(min(max(n, 1), (1 << bits) - 1))
    if kind == "distinct":
        keys[:] = rng.permutation(n).astype(dtype)
    if kind == "runs":
        keys[: n // 2] = dtype.type(1 << (bits - 2))
    return keys


def told(sorter: Sorter, queue: Any, keys: Any, shift: int, **more: Any) -> tuple[Any, Any]:
    """Sort keys in place; return the sorted keys as unsigned, and the report, after which nothing was written."""
    import pyopencl.array as cl_array

    raw = np.dtype(f"u{sorter.dtype.itemsize}")
    given = cl_array.to_device(queue, keys.view(sorter.dtype)) if len(keys) else cl_array.zeros(queue, 1, sorter.dtype)
    report = cl_array.empty(queue, len(keys) + 2, np.uint32)
    report.fill(GUARD)
    sorter(queue, given, n=len(keys), report=report, shift=shift, **more).wait()
    found = report.get()
    assert (found[int(found[0]) + 1 :] == GUARD).all()
    return given.get().view(raw)[: len(keys)], found[: int(found[0]) + 1]


@pytest.mark.device
@pytest.mark.parametrize(
    ("key", "name"),
    nightly_except([(key, name) for key in ("u32", "f64", "i16") for name in ("cpu", "generic", "intel-gen8")], FAST),
)
def test_runs_of_equal_keys_are_reported(embedded: Host, name: str, key: str) -> None:
    context = context_for(embedded)
    queue = toolchain.pyopencl().CommandQueue(context)
    order = "descending" if key == "f64" else "ascending"
    sorter = Sorter(context, key, target=name, order=order, bit_range=key == "i16", run_boundaries=True)
    rng, bits = np.random.default_rng(5), int(key[1:])
    bit_range: dict[str, Any] = {"begin_bit": 2, "end_bit": 11} if key == "i16" else {}
    for number, n in enumerate(COUNTS):
        for kind in ("random", "few", "equal", "runs", "half", "distinct"):
            shift = (0, 3, bits - 1, bits // 2)[number % 4]
            keys, report = told(sorter, queue, keys_of(rng, n, bits, kind), shift, **bit_range)
            assert np.array_equal(report, oracle.changes(keys, sorter._sort, shift)), (n, kind, shift)


@pytest.mark.device
@pytest.mark.parametrize("value", ["v4", "index", nightly("packed")])
@pytest.mark.parametrize("discard", [False, True])
def test_run_boundaries_with_values_and_discarded_keys(embedded: Host, value: str, discard: bool) -> None:
    import pyopencl.array as cl_array

    if discard and value != "index":
        return  # only argsorts discard keys
    context = context_for(embedded)
    queue = toolchain.pyopencl().CommandQueue(context)
    for name in ("cpu", "generic") if NIGHTLY else ("cpu",) if value == "index" else ("generic",):
        sorter, rng = Sorter(context, "u32", target=name, value=value, run_boundaries=True), np.random.default_rng(6)
        bits = 64 if value == "packed" else 32
        for n in (100, 5000, 140_000):
            raw = keys_of(rng, n, bits, "runs")
            more: dict[str, Any] = {}
            if value == "v4":
                more["values"] = cl_array.to_device(queue, np.arange(n, dtype=np.uint32))
            if value == "index":
                more |= {"values_out": cl_array.empty(queue, n, np.uint32), "discard_keys": discard}
            keys, report = told(sorter, queue, raw, 4, **more)
            keys = raw[more["values_out"].get()] if value == "index" else keys
            assert np.array_equal(report, oracle.changes(keys, sorter._sort, 4)), (name, n)


@pytest.mark.device
@pytest.mark.usefixtures("optimized")  # it sorts for longer than it compiles
@pytest.mark.parametrize("name", ["cpu", "generic"])
def test_work_groups_of_several_tiles_report_it(embedded: Host, name: str) -> None:
    """The last of 512 has fewer tiles than the others, and the last tile fewer keys."""
    context = context_for(embedded)
    queue = toolchain.pyopencl().CommandQueue(context)
    sorter, rng, n = (
        Sorter(context, "u32", target=name, run_boundaries=True),
        np.random.default_rng(8),
        512 * 8192 + 12345,
    )
    for kind, shift in (("half", 0), ("distinct", 3), ("few", 1), ("runs", 0)):
        keys, report = told(sorter, queue, keys_of(rng, n, 32, kind), shift)
        assert np.array_equal(report, oracle.changes(keys, sorter._sort, shift)), kind


@pytest.mark.device
@pytest.mark.parametrize(("lanes", "dropped"), [("1", False), ("32", False), ("32", True)])
def test_oclgrind_reports_a_missing_barrier_and_nothing_else(lanes: str, dropped: bool) -> None:
    done = grind(lanes, *["drop-barrier"] * dropped, script="grind_changes.py")
    if dropped:
        assert "race" in done.stderr
        return
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.device
def test_a_device_without_subgroups_reports_the_same(pocl: Host) -> None:
    context = context_for(pocl)
    queue = toolchain.pyopencl().CommandQueue(context)
    sorter, rng = Sorter(context, "u32", target="generic", run_boundaries=True), np.random.default_rng(5)
    for n in (0, 2049, 33001):
        keys, report = told(sorter, queue, keys_of(rng, n, 32, "runs"), 2)
        assert np.array_equal(report, oracle.changes(keys, sorter._sort, 2)), n


@pytest.mark.device
def test_what_a_call_lacks_is_named(embedded: Host) -> None:
    import pyopencl.array as cl_array

    context = context_for(embedded)
    queue = toolchain.pyopencl().CommandQueue(context)
    keys, report = cl_array.zeros(queue, 10, np.uint32), cl_array.zeros(queue, 11, np.uint32)
    told_of = Sorter(context, "u32", target="generic", run_boundaries=True)
    with pytest.raises(ValueError, match="report is missing: this sorter reports run boundaries"):
        told_of(queue, keys)
    with pytest.raises(ValueError, match="report is given; make the sorter with run_boundaries=True"):
        Sorter(context, "u32", target="generic")(queue, keys, report=report)
    with pytest.raises(ValueError, match="shift 32: give 0 to 31"):
        told_of(queue, keys, report=report, shift=32)
    with pytest.raises(ValueError, match="report holds 10 words, 11 are needed"):
        told_of(queue, keys, report=report[:10])


FORMS = [
    Signature(),
    Signature(value="v4"),
    Signature(value="v16", key_transform=True),
    Signature(value="index"),
    Signature(value="packed", bit_range=True),
]


@pytest.mark.parametrize("name", target.names())
def test_the_bitmap_is_in_scratch_and_keeps_the_status(name: str) -> None:
    found, done = target.find(name), 0
    for key in ("u8", "u32", "u64"):
        for label in ["auto", *found.labels(key)]:
            for signature in FORMS:
                try:
                    sort = found.sort(label, key, replace(signature, run_boundaries=True))
                except Usage:
                    continue  # no such sort, with or without run boundaries
                made = sort.kernel("boundaries_count").data
                assert isinstance(made, Shape)
                test_counts = [
                    made.tile * k + more for k in (1, 2, made.groups, 2 * made.groups) for more in (1, made.tile)
                ]
                for n in [x for x in (*test_counts, sort.plan.max_n) if made.tile < x <= sort.plan.max_n]:
                    end = offset(made.bindings["bitmap"], n) + -(-n // made.tile) * made.tile // 8
                    assert end <= scratch_bytes(sort, n), (label, key, signature, n)
                    told = sort.plan.device_status
                    assert told is None or n <= told.min_n or end <= offset(told.binding, n), (label, key, signature, n)
                    done += 1
    assert done


def test_lanes_walk_alone_on_cpus_only() -> None:
    """Some GPUs keep local memory in ordinary memory, too."""
    sorts = {name: target.find(name).default("u32", Signature(run_boundaries=True)) for name in target.names()}
    alone = {name for name, sort in sorts.items() if sort.kernel("boundaries_count").work_group == 1}
    assert alone == {"cpu", "lavapipe", "swiftshader", "webgpu-cpu"}


def test_a_count_on_the_device_is_refused() -> None:
    with pytest.raises(
        Usage, match="feature run-boundaries: cannot be combined with a device-side count; omit one of them"
    ):
        target.find("generic").default("u32", Signature(run_boundaries=True, device_count=True))
