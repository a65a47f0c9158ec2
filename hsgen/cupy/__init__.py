"""Functions for CuPy arrays that run hsgen's sorts: `sort` and `argsort`, which replace those of cupy, and `topk`.

See docs/guides/python-nvidia.md.
"""

from hsgen.cuda.background import preload, prepare_in_thread, wait_for_thread
from hsgen.cupy.sorting import argsort, method, sort, topk, topk_method
from hsgen.runners.row_numbers import Selected, SelectedEntries

__all__ = [
    "Selected",
    "SelectedEntries",
    "argsort",
    "method",
    "prepare_in_thread",
    "sort",
    "topk",
    "topk_method",
    "wait_for_thread",
]

preload()
