"""The Python API for NVIDIA GPUs: objects are built once and called many times, with arrays of any library."""

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
