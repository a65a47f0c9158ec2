"""The Python API for OpenCL, by pyopencl: made once for a context, called as often as wanted."""

from hsgen.opencl.digest import Checker
from hsgen.opencl.merger import Merger
from hsgen.opencl.scanner import Scanner
from hsgen.opencl.segmented_sorter import SegmentedSorter
from hsgen.opencl.sorter import Sorter

__all__ = ["Checker", "Merger", "Scanner", "SegmentedSorter", "Sorter"]
