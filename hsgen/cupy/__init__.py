"""`sort` and `argsort` for CuPy, with the results of cupy.sort; see docs/guides/python-nvidia.md."""

from hsgen.cupy.sorting import argsort, method, sort

__all__ = ["argsort", "method", "sort"]
