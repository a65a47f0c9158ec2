"""oclgrind simulates kernels without subgroups and reports races, uninitialised reads and accesses out of bounds."""

from __future__ import annotations

import pytest
from nightly import nightly
from oclgrind import grind


@pytest.mark.device
@pytest.mark.parametrize("key", [nightly("u32"), "u64"])
def test_nothing_is_reported(key: str) -> None:
    """The nightly run has whole blocks of the shipped shape, too; the tests of values below sort 32-bit keys."""
    done = grind(key)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.device
@pytest.mark.parametrize(("algorithm", "value"), [("bitonic", "v4"), ("radix", "v8"), nightly("radix", "index")])
def test_nothing_is_reported_of_sorts_with_values(algorithm: str, value: str) -> None:
    """Types, orders, bit ranges and device-side counts take turns; values show whether a sort is stable."""
    done = grind(algorithm, value, script="grind_forms.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.device
@pytest.mark.parametrize(
    ("ranker", "value"),
    [("bitmask", "v4"), nightly("serial", "none"), ("serial", "v4"), ("bins", "v4"), nightly("bins", "none")],
)
def test_nothing_is_reported_of_segmented_sorts(ranker: str, value: str) -> None:
    """Of every layout, in and out of place."""
    done = grind(ranker, value, script="grind_segments.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.device
def test_a_missing_barrier_is_reported() -> None:
    assert "race" in grind("u32", "drop-barrier").stderr


@pytest.mark.device
def test_nothing_is_reported_of_merges_by_paths() -> None:
    """Of two arrays, sorted or not, and of the runs of sorts."""
    done = grind(script="grind_merging.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.device
def test_a_missing_barrier_of_a_merge_is_reported() -> None:
    assert "race" in grind("drop-barrier", script="grind_merging.py").stderr


@pytest.mark.device
def test_nothing_is_reported_of_reductions_by_key() -> None:
    """With and without values, and with a count on the device."""
    done = grind(script="grind_grouping.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sorted Oclgrind" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.device
def test_a_missing_barrier_of_a_reduction_is_reported() -> None:
    assert "race" in grind("drop-barrier", script="grind_grouping.py").stderr
