"""Sorts of Dask arrays, whose tasks run on Dask's workers; see docs/guides/dask.md."""

from hsgen.dask.sorting import Sorted, argsort, sort, topk

__all__ = ["Sorted", "argsort", "sort", "topk"]
