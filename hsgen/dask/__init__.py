"""Sorts of Dask arrays by Dask's scheduler; see docs/guides/dask.md."""

from hsgen.dask.sorting import Sorted, argsort, sort, topk

__all__ = ["Sorted", "argsort", "sort", "topk"]
