"""hsgen.dask on Dask's threads and on a cluster of one process: results are those of one sort."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from doc_blocks import ROOT, only
from nightly import nightly

from hsgen.core.errors import Usage

da = pytest.importorskip("dask.array", reason="Dask is not installed (pip install 'hsgen[dask]')")
import dask  # noqa: E402

import hsgen.dask  # noqa: E402

RNG = np.random.default_rng(4)


@pytest.fixture
def threads() -> Iterator[None]:
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def order_of(keys: Any, descending: bool) -> Any:
    _, rank = np.unique(keys, return_inverse=True, equal_nan=True)
    return np.argsort(-rank if descending else rank, kind="stable")


def check(keys: Any, chunks: Any, descending: bool) -> None:
    a, order = da.from_array(keys, chunks), order_of(keys, descending)
    result = hsgen.dask.sort(a, descending=descending)
    assert result.chunks == a.chunks and result.dtype == keys.dtype
    assert np.array_equal(result.compute(), keys[order], equal_nan=keys.dtype.kind == "f")
    assert np.array_equal(hsgen.dask.argsort(a, descending=descending).compute(), order)
    for k in (0, 1, min(40, len(keys)), len(keys)):
        best = hsgen.dask.topk(a, k, largest=descending)
        assert np.array_equal(best.keys.compute(), keys[order[:k]], equal_nan=keys.dtype.kind == "f")
        assert np.array_equal(best.indices.compute(), order[:k])


@pytest.mark.parametrize("kind", ["i4", "f8", nightly("u1"), nightly("f2"), nightly("u8"), nightly("?")])
@pytest.mark.parametrize("descending", [False, True])
def test_results_are_those_of_one_sort(kind: str, descending: bool, threads: None) -> None:
    keys = RNG.integers(0 if kind[0] in "u?" else -30, 30, 500).astype(kind)
    if kind[0] == "f":
        keys[::9], keys[::10] = np.nan, -0.0
    check(keys, ((100, 1, 250, 149),), descending)


def test_a_cluster_sorts() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (pip install 'hsgen[dask]')")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        check(RNG.integers(0, 1 << 62, 3000), 700, False)
        exec(only(ROOT / "docs/guides/dask.md", "python")[0], {})


def test_misuse_is_one_line(threads: None) -> None:
    a = da.from_array(np.arange(10), 3)
    with pytest.raises(TypeError, match=r"^a is a ndarray; give a Dask array"):
        hsgen.dask.sort(np.arange(3))
    with pytest.raises(ValueError, match=r"^a has the shape \(5, 2\); give one dimension"):
        hsgen.dask.sort(a.reshape(5, 2))
    with pytest.raises(TypeError, match=r"^keys are complex128; give "):
        hsgen.dask.argsort(a.astype(complex))
    with pytest.raises(Usage, match=r"unknown size; call a.compute_chunk_sizes"):
        hsgen.dask.sort(a[a > 3])
    with pytest.raises(ValueError, match=r"^k 11: give 0 to 10$"):
        hsgen.dask.topk(a, 11)


def test_a_device_sorts_chunks(embedded: Any, threads: None) -> None:
    keys = RNG.integers(-99, 99, 2000).astype(np.int16)
    result = hsgen.dask.sort(da.from_array(keys, 600), device=embedded.name)
    assert np.array_equal(result.compute(), np.sort(keys))
