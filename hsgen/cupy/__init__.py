"""`sort`, `argsort` and `topk` for CuPy, with the results of cupy.sort; see docs/guides/python-nvidia.md."""

from hsgen.cupy.sorting import Selected, argsort, method, sort, topk, topk_method

__all__ = ["Selected", "argsort", "method", "sort", "topk", "topk_method"]
