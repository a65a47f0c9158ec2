"""The Python API for NVIDIA GPUs: objects that are built once and called many times, for arrays of any library."""

from hsgen.cuda.digest import Checker
from hsgen.cuda.merger import Merger
from hsgen.cuda.scanner import Scanner
from hsgen.cuda.segmented_sorter import SegmentedSorter
from hsgen.cuda.sorter import Sorter

__all__ = ["Checker", "Merger", "Scanner", "SegmentedSorter", "Sorter"]
