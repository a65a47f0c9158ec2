"""The Python API for NVIDIA GPUs: build an object once, call it many times with arrays on the GPU.

Arrays may be those of PyTorch, CuPy or Numba, or of any library with ``__cuda_array_interface__`` or DLPack.
"""

from typing import TYPE_CHECKING

from hsgen.system import lazy

if TYPE_CHECKING:
    from hsgen.cuda.columns import ColumnSorter
    from hsgen.cuda.digest import Checker
    from hsgen.cuda.gatherer import Gatherer
    from hsgen.cuda.groups import GroupBy, run_length_encode, unique
    from hsgen.cuda.merger import Merger
    from hsgen.cuda.operation import Operation
    from hsgen.cuda.reduce_by_key import ReduceByKey
    from hsgen.cuda.scanner import Scanner
    from hsgen.cuda.segmented_sorter import SegmentedSorter
    from hsgen.cuda.sorter import Sorter
    from hsgen.cuda.top_k import TopK
    from hsgen.runners.rows import Field

__all__ = [
    "Checker",
    "ColumnSorter",
    "Field",
    "Gatherer",
    "GroupBy",
    "Merger",
    "Operation",
    "ReduceByKey",
    "Scanner",
    "SegmentedSorter",
    "Sorter",
    "TopK",
    "run_length_encode",
    "unique",
]

__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "Checker": "hsgen.cuda.digest",
        "ColumnSorter": "hsgen.cuda.columns",
        "Field": "hsgen.runners.rows",
        "Gatherer": "hsgen.cuda.gatherer",
        "GroupBy": "hsgen.cuda.groups",
        "Merger": "hsgen.cuda.merger",
        "Operation": "hsgen.cuda.operation",
        "ReduceByKey": "hsgen.cuda.reduce_by_key",
        "Scanner": "hsgen.cuda.scanner",
        "SegmentedSorter": "hsgen.cuda.segmented_sorter",
        "Sorter": "hsgen.cuda.sorter",
        "TopK": "hsgen.cuda.top_k",
        "run_length_encode": "hsgen.cuda.groups",
        "unique": "hsgen.cuda.groups",
    },
)
