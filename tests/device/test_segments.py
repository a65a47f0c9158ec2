"""Segmented sorts on devices: OpenCL with and without subgroups, Vulkan on lavapipe, the command line, the Python API.

- Targets with lanes that work alone, bitmask histograms, comparison and match-by-ballot: all layouts of segments and
  rows of equal length, in and out of place, between guard bytes, with values, types and orders.
- Offsets that decrease or end beyond the keys leave everything unchanged.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import missing
from every import changed, direct, faulty
from lavapipe import Lavapipe, lanes, lavapipe, validated
from nightly import nightly
from queues import queue_of
from sorters import SMALL, order_of, random_keys, random_values

from hsgen.algorithms.segmented.capacity import CROWD
from hsgen.algorithms.segmented.params import LARGE, Params
from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.opencl import SegmentedSorter
from hsgen.operations import layouts
from hsgen.operations.inputs import KINDS
from hsgen.system import toolchain
from hsgen.targets import target
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/segmented-sort.md"

WAYS = [
    ("cpu", "u32", Signature()),
    nightly("cpu", "u64", Signature(key_transform=True)),
    ("cpu", "f32", Signature(value="v16", key_transform=True)),
    ("cpu", "u8", Signature(value="index")),
    ("generic", "u32", Signature(key_transform=True)),
    nightly("generic", "u64", Signature(value="index64")),
    nightly("generic", "u8", Signature(value="v4")),
    nightly("intel-gen8", "f64", Signature(value="v8", key_transform=True)),
    ("intel-gen8", "u16", Signature()),
    nightly("intel-gen12", "u8", Signature(value="v16", key_transform=True)),
    nightly("intel-dg2", "u64", Signature(value="index")),
    nightly("amd-rdna", "i32", Signature(value="v4", key_transform=True)),
    ("amd-rdna", "u64", Signature()),
    ("apple-m1", "u32", Signature(value="index", key_transform=True)),
    ("cpu", "i64", Signature(key_transform=True, bit_range=True)),
    ("generic", "f32", Signature(value="v4", key_transform=True, bit_range=True)),
    nightly("generic", "u8", Signature(bit_range=True)),
    nightly("intel-gen8", "u64", Signature(value="index", bit_range=True)),
    ("amd-rdna", "u32", Signature(bit_range=True)),
    ("cpu", "u32", Signature(segment_ends=True)),
    ("generic", "u16", Signature(value="v8", segment_ends=True)),
    nightly("generic", "u64", Signature(bit_range=True, segment_ends=True)),
    nightly("intel-gen8", "u32", Signature(value="index", segment_ends=True)),
    ("amd-rdna", "u32", Signature(segment_ends=True)),
    ("cpu", "u32", Signature(segment_count=True)),
    ("cpu", "u64", Signature(value="v4", segment_count=True, segment_ends=True)),
    ("generic", "u32", Signature(value="index", segment_count=True)),
    nightly("generic", "u16", Signature(bit_range=True, segment_count=True, segment_ends=True)),
    nightly("intel-gen8", "u32", Signature(value="v8", segment_count=True)),
    ("amd-rdna", "u8", Signature(segment_count=True)),
    ("nvidia-sm90", "u32", Signature()),
    ("nvidia-sm90", "f32", Signature(value="v4", key_transform=True)),
    nightly("nvidia-sm90", "u64", Signature(value="index", key_transform=True)),
    nightly("nvidia-sm90", "u8", Signature(bit_range=True, key_transform=True)),
    nightly("nvidia-sm90", "u64", Signature(value="v8", bit_range=True)),
    nightly("nvidia-sm90", "u16", Signature(value="v16", segment_count=True)),
    nightly("nvidia-sm90", "u32", Signature(value="v4", bit_range=True, segment_ends=True)),
    nightly("nvidia-sm90", "u32", Signature(segment_ends=True)),
]
"""Target, key and signature: lanes that work alone, bitmask histograms, comparison in 16 lanes, ballots of 32,
radix-split, bins: the fast run has each too."""


def engine(host: Host, name: str, key: str, signature: Signature) -> Direct:
    return direct(host, target.find(name).sort("segmented_sort", key, signature))


@pytest.mark.parametrize(("name", "key", "signature"), WAYS, ids=lambda x: x.value if isinstance(x, Signature) else x)
def test_segments_of_targets(embedded: Host, name: str, key: str, signature: Signature) -> None:
    made = engine(embedded, name, key, signature)
    small, tile = layouts.test_counts(made.sort)
    counts = [0, 1, 2, 33, small, small + 1, tile - 1, tile, tile + 1, 2 * tile + 1, 5 * tile + 17]
    kinds = list(KINDS)
    pairs = [(n, kinds[(i * 3 + j) % len(kinds)]) for i, n in enumerate(counts * 3) for j in range(4)]
    report = validation.run(made, pairs, 7, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@pytest.mark.parametrize(
    ("value", "key"), [("index", "u32"), ("v4", "u64"), nightly("none", "u32"), nightly("index", "u64")]
)
def test_longer_segments_within_a_window(embedded: Host, key: str, value: str) -> None:
    """Where windows are longer than the segments that are short, one launch sorts each of those between: in place, an
    argsort by a second one would find the keys sorted."""
    found = target.find("nvidia-sm90")
    sort = replace(found, device=replace(found.device, local_bytes=LARGE)).sort(
        "segmented_sort", key, Signature(value=value)
    )
    p = sort.parts[0].params
    assert isinstance(p, Params) and p.together
    pairs = [(n, kind) for n in (p.small + 1, p.window, p.window + 1, 9_001) for kind in ("random", "few distinct")]
    report = validation.run(direct(embedded, sort), pairs * 4, 7, stop=1)
    assert not report.failed and report.cases == 8 * len(pairs), report.failures
    if value == "index":
        fault = (f"size > {p.small}u && closes", f"size > {p.small}u")
        assert validation.run(faulty(embedded, sort, fault), pairs * 4, 7, stop=1).failed


@pytest.mark.parametrize("name", ["cpu", nightly("generic")])  # PoCL compiles its kernels for most of a minute
def test_a_million_keys(pocl: Host, name: str) -> None:
    """In many tiny segments, in a few huge ones, and in one, on another OpenCL runtime."""
    made = engine(pocl, name, "u32", Signature())
    report = validation.run(made, [(1_000_003, "random"), (1_000_000, "entropy 0.34")], 3)
    assert not report.failed, report.failures


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ("if (size > 64) hs_local_atomic_or(ends[2]", "if (size < 0) hs_local_atomic_or(ends[2]", True),
        nightly("if (ends[2] == 0u)", "if (ends[2] > 1u)", True),
        ("&& j < q) ? 1", "&& j > q) ? 1", False),  # equal keys in reverse order
        nightly(": valid;", ": valid - 1;", False),  # the end of the last segment
        nightly("from += hs_to_int(ends[side]) * step;", "", False),  # the limits of a window
    ],
)
def test_short_segments_are_compared_or_ranked(embedded: Host, old: str, new: str, right: bool) -> None:
    """Both ways sort all short segments, and a wrong comparison is detected."""
    sort = target.find("generic").sort("segmented_sort", "u32", Signature(value="v4"))
    source = render(sort, "opencl")
    parts = {k: text.replace(old, new) if k == "windows" else text for k, text in source.parts.items()}
    assert parts != source.parts, old
    made = changed(embedded, sort, replace(source, parts=parts))
    counts = [1, 33, 3000, 3000, 20_001, 20_001]
    report = validation.run(made, [(n, "few distinct") for n in counts * 4], 5, stop=1)
    assert bool(report.failed) is not right, report.failures


@pytest.mark.parametrize(
    ("kernel", "old", "new", "right"),
    [
        nightly("windows", f"if (crowd > {CROWD}u)", "if (crowd > 0u)", True),  # all windows are crowded
        ("windows", f"if (crowd > {CROWD}u)", "if (crowd > 60000u)", True),  # or none
        nightly("windows", "= (before << 19)", "= 0u * (before << 19)", True),  # other bins in their order
        nightly("windows", "< (mine & 65535u)", "> (mine & 65535u)", False),  # equal keys in reverse order
        # a fault must not leave local memory: a number of a segment that is too small by one, and a count of 2 at most
        nightly("windows", "prior[hs_local_id()] = before;", "prior[hs_local_id()] = before - (before > 1u);", False),
        nightly("windows", "before | c << 16", "before | (c > 2u ? 2u : c) << 16", False),
        ("windows_rest", "number < hs_to_int", "number < 0 * hs_to_int", False),  # nobody sorts what is crowded
    ],
)
def test_segments_are_sorted_by_bins_or_ranked(embedded: Host, kernel: str, old: str, new: str, right: bool) -> None:
    """Both ways sort all short segments, with crowded bins and without, and a fault of either is detected."""
    sort = target.find("nvidia-sm90").sort("segmented_sort", "u32", Signature(value="v4"))
    source = render(sort, "opencl")
    parts = {k: text.replace(old, new) if k == kernel else text for k, text in source.parts.items()}
    assert parts != source.parts, old
    made = changed(embedded, sort, replace(source, parts=parts))
    counts = [1, 33, 3000, 3000, 20_001, 20_001]
    pairs = [(n, kind) for n in counts * 4 for kind in ("few distinct", "random", "all equal", "normal floats")]
    report = validation.run(made, pairs, 5, stop=1)
    assert bool(report.failed) is not right, report.failures


def test_a_wrong_sort_is_caught(embedded: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sort with wrong segment starts."""
    made = engine(embedded, "generic", "u32", Signature())
    monkeypatch.setitem(layouts.LAYOUTS, "some", lambda rng, n, small, tile: np.array([0, n // 2, n]))
    right = layouts.permutation
    monkeypatch.setattr(layouts, "permutation", lambda k, o, s, h: right(k, np.minimum(o + 1, len(k)), s, h))
    report = validation.run(made, [(3000, "random")] * 10, 1)
    assert report.failed and "should be" in report.failures[0]


def test_the_command_line_validates_segments(
    embedded: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    options = ["--device", "Intel(R) OpenCL", "--key", "u32", "--algorithm", "segmented_sort", "--json"]
    assert main(["validate", "-t", str(path), *options]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "segmented_sort" and row["failures"] == 0 and row["cases"] >= 1000


@pytest.mark.parametrize(
    ("width", "name", "key", "value"),
    [(8, "radix8", "u32", "v4"), nightly(4, "radix4", "u64", "none")],
)
def test_segments_through_vulkan(
    lavapipe: Lavapipe, width: int, name: str, key: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(width)
    code, rows, said = validated(
        capsys, "-t", lanes(name), "--algorithm", "segmented_sort", "--key", key, "--value", value, "--order", "both"
    )
    assert code == 0 and rows[0]["failures"] == 0 and rows[0]["cases"] > 400, (rows, said)


@pytest.mark.parametrize(("key", "value"), [("u32", "none"), nightly("u64", "v4")])
def test_segments_by_bins_through_vulkan(
    lavapipe: Lavapipe, key: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(8)
    path, text = tmp_path / "bins8.toml", Path(lanes("radix8")).read_text(encoding="utf-8")
    path.write_text(text.replace('name = "radix8"', 'name = "bins8"').replace('"started"', '"guaranteed"'))
    options = ["--algorithm", "segmented_sort", "--key", key, "--value", value, "--order", "both"]
    assert target.find(str(path)).sort("segmented_sort", key, Signature(value=value)).parts[0].params.bin_items
    code, rows, said = validated(capsys, "-t", str(path), *options)
    assert code == 0 and rows[0]["failures"] == 0 and rows[0]["cases"] > 400, (rows, said)


@pytest.mark.parametrize("name", ["cpu", "generic", "intel-gen8"])
@pytest.mark.parametrize("bad", [[0, 900, 800, 4000], [0, 4001], [4100, 4100], [0, *[4000, 0] * 500], [0, 2**32 - 1]])
@pytest.mark.parametrize("in_place", [False, True])
def test_bad_offsets_change_nothing(embedded: Host, name: str, bad: list[int], in_place: bool) -> None:
    queue, rng = queue_of(embedded), np.random.default_rng(len(bad))
    sorter = SegmentedSorter(queue.context, "u32", value=4, target=name)
    keys, values = (rng.integers(0, 1 << 32, 4000, np.uint32) for _ in range(2))
    given = [array.to_device(queue, x) for x in (keys, values)]
    kept = [array.to_device(queue, np.full(4000, 7, np.uint32)) for _ in range(2)]
    offsets = array.to_device(queue, np.array(bad, np.uint32))
    out = {} if in_place else {"out": kept[0], "values_out": kept[1]}
    sorter(queue, given[0], offsets, values=given[1], **out)
    with pytest.raises(ValueError, match="nothing was written"):
        sorter.check()
    assert np.array_equal(given[0].get(), keys) and np.array_equal(given[1].get(), values)
    assert all((x.get() == 7).all() for x in kept)
    good = array.to_device(queue, np.array([0, 4000], np.uint32))
    sorter(queue, given[0], good, values=given[1])
    sorter.check()
    order = np.argsort(keys, kind="stable")
    assert np.array_equal(given[0].get(), keys[order]) and np.array_equal(given[1].get(), values[order])


@pytest.mark.parametrize(("key", "value", "order"), [("f32", None, "descending"), ("i16", 8, "ascending")])
def test_rows_by_the_python_api(embedded: Host, key: str, value: Any, order: str) -> None:
    """Of every length at which the sort changes its way, stable, and with types and orders."""
    queue, rng = queue_of(embedded), np.random.default_rng(5)
    sorter = SegmentedSorter(queue.context, key, value=value, order=order, target="generic")
    small, tile = layouts.test_counts(sorter._sort)
    for length in (1, 2, 3, small, small + 1, tile, tile + 1):
        keys = random_keys(rng, length * 9, key, distinct=40)
        orders = [order_of(row, key, order) + i * length for i, row in enumerate(keys.reshape(9, length))]
        values = random_values(rng, length * 9, f"v{value}") if value else None
        given = array.to_device(queue, keys)
        at = None if values is None else array.to_device(queue, values)
        sorter(queue, given, segments=9, values=at)
        sorter.check()
        width = f"u{keys.dtype.itemsize}"
        assert np.array_equal(given.get().view(width), keys[np.concatenate(orders)].view(width))
        assert at is None or np.array_equal(at.get(), values[np.concatenate(orders)])  # type: ignore[index]


def test_places_are_those_in_the_whole_array(embedded: Host) -> None:
    queue = queue_of(embedded)
    sorter = SegmentedSorter(queue.context, "u32", value="index", target="cpu")
    keys = array.to_device(queue, np.array([9, 5, 4, 7, 7, 1, 0], np.uint32))
    places = array.to_device(queue, np.zeros(7, np.uint32))
    sorter(queue, keys, array.to_device(queue, np.array([1, 1, 3, 6], np.uint32)), values_out=places)
    assert keys.get().tolist() == [9, 4, 5, 1, 7, 7, 0]
    assert places.get().tolist() == [0, 2, 1, 5, 3, 4, 6]


def test_bit_ranges_by_the_python_api(embedded: Host) -> None:
    """Keys with the same bits keep their order, in short, medium and long segments."""
    queue, rng = queue_of(embedded), np.random.default_rng(2)
    sorter = SegmentedSorter(queue.context, "u32", target="generic", bit_range=True)
    keys, offsets = rng.integers(0, 1 << 32, 30_000, np.uint32), [0, 7, 700, 3000, 29_000, 29_990]
    for begin, end in ((0, None), (8, 20), (31, 32), (4, 4)):
        given = array.to_device(queue, keys)
        sorter(queue, given, array.to_device(queue, np.array(offsets, np.uint32)), begin_bit=begin, end_bit=end)
        sorter.check()
        order = np.arange(len(keys))
        for a, b in pairwise(offsets):
            order[a:b] = a + np.argsort(keys[a:b] >> begin & (1 << (end or 32) - begin) - 1, kind="stable")
        assert np.array_equal(given.get(), keys[order]), (begin, end)
    with pytest.raises(Usage, match="end_bit 33: give 0 to 32"):
        sorter(queue, given, segments=3, begin_bit=9, end_bit=33)
    with pytest.raises(ValueError, match="make the sorter with bit_range=True"):
        SegmentedSorter(queue.context, "u32", target="cpu")(queue, given, segments=3, begin_bit=9)


@pytest.mark.parametrize("name", ["cpu", "generic"])
def test_segments_with_ends_by_the_python_api(embedded: Host, name: str) -> None:
    queue = queue_of(embedded)
    sorter = SegmentedSorter(queue.context, "u32", target=name, segment_ends=True)
    data = np.array([9, 5, 4, 8, 7, 1, 6, 3], np.uint32)

    def run(starts: list[int], ends: list[int], **more: Any) -> list[int]:
        keys = array.to_device(queue, data)
        bounds = [array.to_device(queue, np.array(x, np.uint32)) for x in (starts, ends)]
        sorter(queue, keys, bounds[0], ends=bounds[1], **more)
        return [int(x) for x in keys.get()]

    out = array.to_device(queue, np.full(8, 77, np.uint32))
    assert run([1, 4, 5], [3, 4, 8]) == [9, 4, 5, 8, 7, 1, 3, 6]
    assert run([1, 4, 5], [3, 4, 8], out=out) == data.tolist()
    sorter.check()
    assert out.get().tolist() == [77, 4, 5, 77, 77, 1, 3, 6]
    for starts, ends in (
        ([1, 2], [3, 4]),
        ([3, 0], [5, 2]),
        ([2, 5], [1, 6]),
        ([0, 4], [2, 9]),
        ([0, 3, 2], [1, 3, 2]),
    ):
        assert run(starts, ends) == data.tolist()
        with pytest.raises(ValueError, match="segments overlap"):
            sorter.check()
    keys = array.to_device(queue, data)
    sorter(queue, keys, segments=2)
    assert keys.get().tolist() == [4, 5, 8, 9, 1, 3, 6, 7]
    with pytest.raises(ValueError, match="ends is missing"):
        sorter(queue, keys, out)
    with pytest.raises(ValueError, match="make the sorter with segment_ends=True"):
        SegmentedSorter(queue.context, "u32", target=name)(queue, keys, out, ends=out)


@pytest.mark.parametrize("name", ["cpu", "generic"])
def test_a_number_of_segments_on_the_device_by_the_python_api(embedded: Host, name: str) -> None:
    queue = queue_of(embedded)
    sorter = SegmentedSorter(queue.context, "u32", target=name, segment_count=True)
    data = np.array([9, 5, 4, 8, 7, 1, 6, 3], np.uint32)
    offsets = array.to_device(queue, np.array([1, 3, 3, 6, 8], np.uint32))

    def run(count: int | None, *given: Any, **more: Any) -> list[int]:
        keys, number = array.to_device(queue, data), array.to_device(queue, np.array([count or 0], np.uint32))
        sorter(queue, keys, *given, count=None if count is None else number, **more)
        sorter.check()
        return [int(x) for x in keys.get()]

    whole = [9, 4, 5, 1, 7, 8, 3, 6]
    for count, expected in (
        (0, data.tolist()),
        (1, [9, 4, 5, 8, 7, 1, 6, 3]),
        (2, [9, 4, 5, 8, 7, 1, 6, 3]),
        (3, [9, 4, 5, 1, 7, 8, 6, 3]),
        (4, whole),
        (5, whole),
        (None, whole),
    ):
        assert run(count, offsets) == expected
    assert run(1, segments=4) == [5, 9, 4, 8, 7, 1, 6, 3] and run(3, segments=2) == [4, 5, 8, 9, 1, 3, 6, 7]
    out = array.to_device(queue, np.full(8, 77, np.uint32))
    run(3, offsets, out=out)
    assert out.get().tolist() == [9, 4, 5, 1, 7, 8, 6, 3]
    with pytest.raises(ValueError, match="make the sorter with segment_count=True"):
        SegmentedSorter(queue.context, "u32", target=name)(queue, out, offsets, count=out)
    with pytest.raises(ValueError, match="count has elements of uint64, this sort takes uint32"):
        sorter(queue, out, offsets, count=array.to_device(queue, data.view(np.uint64)))


def test_what_the_python_api_refuses(embedded: Host) -> None:
    queue = queue_of(embedded)
    sorter = SegmentedSorter(queue.context, "u32", target="cpu")
    keys, offsets = (array.to_device(queue, np.zeros(12, np.uint32)) for _ in range(2))
    for arguments, line in (
        ({}, "offsets is missing"),
        ({"segments": 2, "values": keys}, "values is given, but this sorter has none"),
        ({"offsets": offsets, "segments": 12}, "^offsets holds 12 numbers, 13 are needed for 12 segments$"),
        ({"offsets": array.zeros(queue, 0, np.int32)}, "^offsets holds 0 numbers, 1 is needed for 0 segments$"),
        ({"offsets": array.zeros(queue, 0, np.int32), "segments": 3}, "^offsets holds 0 numbers, 4 are needed for 3 "),
        ({"offsets": offsets, "out": offsets}, "overlap"),
        ({"offsets": array.to_device(queue, np.zeros(3, np.int64))}, "takes uint32 or int32$"),
    ):
        with pytest.raises(ValueError, match=line):
            sorter(queue, keys, **arguments)
    with pytest.raises(Usage, match=r"^segments 5: 12 keys cannot be divided into that number of equal rows"):
        sorter(queue, keys, segments=5)
    ended = SegmentedSorter(queue.context, "u32", target="cpu", segment_ends=True)
    with pytest.raises(ValueError, match=r"^ends holds 3 numbers, 12 are needed for 12 segments$"):
        ended(queue, keys, offsets, ends=array.zeros(queue, 3, np.int32))
    with pytest.raises(ValueError, match="values_out is missing"):
        SegmentedSorter(queue.context, "u32", value="index", target="cpu")(queue, keys, segments=2)
    with pytest.raises(Usage, match="order up"):
        SegmentedSorter(queue.context, order="up")


def test_offsets_ends_and_counts_may_be_signed(embedded: Host) -> None:
    """As scipy makes offsets; a negative one is beyond all keys."""
    queue = queue_of(embedded)
    sorter = SegmentedSorter(queue.context, "u32", target="cpu", segment_ends=True, segment_count=True)
    host = np.random.default_rng(5).integers(0, 1 << 32, 400, np.uint32)
    starts, ends = np.array([0, 10, 200], np.int32), np.array([10, 150, 400], np.int32)
    given = [array.to_device(queue, x) for x in (starts, ends, np.array([2], np.int32))]
    keys = array.to_device(queue, host)
    sorter(queue, keys, given[0], ends=given[1], count=given[2])
    sorter.check()
    expected = host.copy()
    expected[:10].sort()
    expected[10:150].sort()
    assert np.array_equal(keys.get(), expected)
    plain = SegmentedSorter(queue.context, "u32", target="cpu")
    plain(queue, keys, array.to_device(queue, np.array([0, -5, 400], np.int32)))
    with pytest.raises(ValueError, match="nothing was written"):
        plain.check()
    assert np.array_equal(keys.get(), expected)


def test_the_example_of_the_document_runs(embedded: Host) -> None:
    code = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)
    if not code:
        missing("docs/guides/segmented-sort.md has no example")
    context = context_for(embedded)
    exec(compile(code[0].replace("cl.create_some_context()", "context"), "segments.md", "exec"), {"context": context})
