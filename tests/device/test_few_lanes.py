"""Targets whose work-groups have one lane or one subgroup do all that lanes do by their number.

The targets are those of `tests/data/few_lanes`, each of which was accepted and sorted wrong, crashed a compiler, or did
not end.
"""

from __future__ import annotations

from pathlib import Path

import every
import numpy as np
import pytest
from nightly import nightly_except

from hsgen.algorithms import operation
from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.engines.builds import build
from hsgen.engines.hosts import Host
from hsgen.system import toolchain
from hsgen.targets import target
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device

FILES = Path(__file__).parents[1] / "data" / "few_lanes"
NEAR = (0, 1, 2, 3, 7, 16, 63, 64, 65, 66, 127, 128, 129, 500, 999, 2049, 3000)
"""Counts: merges by paths begin at 65 keys, tables of counts of partitions at 2 049."""
KINDS = ("random", "few distinct", "sorted", "all equal")
V4 = Signature(value="v4")
CASES = {
    "paths": ("one-lane-merge-path", "bitonic", Signature(), NEAR),
    "paths-v4": ("one-lane-merge-path", "bitonic", V4, NEAR),
    "merge": ("one-subgroup-merge", "merge_path", Signature(), NEAR),
    "merge-v4": ("one-subgroup-merge", "merge_path", V4, NEAR),
    "buckets": ("one-lane-buckets", "radix", Signature(), NEAR),
    "buckets-v4": ("one-lane-buckets", "radix", V4, NEAR),
    "partition": ("one-subgroup-partition", "radix", Signature(), NEAR),
    "groups": ("few-lanes-device", "group_by", Signature(), (1, 100, 65536, 65537, 70001)),
    "selections": ("few-lanes-device", "radix_select", operation("radix_select").tuned, NEAR),
    "segments": ("few-lanes-device", "segmented_sort", Signature(), NEAR),
    "segments-1": ("one-lane-buckets", "segmented_sort", Signature(), NEAR),
    "counted": ("few-lanes-device", "radix", Signature(device_count=True), NEAR),
}


def wrong(host: Host, name: str) -> list[str]:
    """What is wrong with the results of a case on a device."""
    file, label, signature, counts = CASES[name]
    sort = target.find(str(FILES / f"{file}.toml")).sort(label, "u32", signature)
    kinds = [k for k in KINDS if k in validation.operations.of(sort).kinds]
    pairs = [(n, kinds[(i + j) % len(kinds)]) for j in range(2) for i, n in enumerate(counts)]
    report = validation.run(every.direct(host, sort), pairs, 46, stop=1)
    assert report.failures or report.cases == 2 * len(pairs)
    return [str(x) for x in report.failures]


FAST = [name for name in CASES if name not in ("buckets", "buckets-v4", "merge", "partition", "paths")]
"""Plain keys run nightly where pairs do here, and what compiles for long."""


@pytest.mark.parametrize("name", nightly_except(CASES, FAST))
def test_results_are_right(embedded: Host, name: str) -> None:
    assert wrong(embedded, name) == []


def test_a_lane_sorts_a_row_by_bins(embedded: Host) -> None:
    """The kernel `row` alone, for the fast run: a compiler was wrong about the ranges of 16 keys in registers."""
    cl = toolchain.pyopencl()
    sort = target.find(str(FILES / "few-lanes-device.toml")).sort("radix_select", "u32", CASES["selections"][2])
    context = cl.Context([embedded.handle])
    row = build(context, render(sort, "opencl").only("row"), "row", ["row"], "-cl-std=CL1.2")["row"]
    length, queue, rng = 8, cl.CommandQueue(context), np.random.default_rng(1)
    keys = rng.integers(0, 1 << 32, (2000, length), np.uint32)
    source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=keys)
    destination = cl.Buffer(context, cl.mem_flags.READ_WRITE, keys.nbytes)
    numbers = [np.int32(x) for x in (keys.size, 0, len(keys), length)]
    row(queue, (len(keys),), (1,), source, destination, *numbers)
    result = np.empty_like(keys)
    cl.enqueue_copy(queue, result, destination)
    assert (result == np.sort(keys, axis=1)).all()


@pytest.mark.parametrize("name", ["paths", "groups"])
def test_another_runtime_agrees(pocl: Host, name: str) -> None:
    """PoCL has no subgroups, and compiles barriers in nested branches, as of buckets and segments, for minutes.

    PoCL 3.1 aborts the process while it compiles `small_row` of a selection for work-groups of one lane.
    """
    assert wrong(pocl, name) == []


@pytest.mark.parametrize("file", sorted(FILES.glob("*.toml")), ids=lambda file: file.stem)
def test_each_file_has_a_case(file: Path) -> None:
    assert file.stem in {case[0] for case in CASES.values()}
