"""The Python API for OpenCL, by pyopencl: made once for a context, called as often as wanted."""

from types import ModuleType

from hsgen.opencl.digest import Checker
from hsgen.opencl.merger import Merger
from hsgen.opencl.scanner import Scanner
from hsgen.opencl.segmented_sorter import SegmentedSorter
from hsgen.opencl.sorter import Sorter
from hsgen.system import toolchain

__all__ = ["Checker", "Merger", "Scanner", "SegmentedSorter", "Sorter", "import_pyopencl"]


def import_pyopencl() -> ModuleType:
    """Return pyopencl with the embedded CPU runtime visible, where one is installed, with the machine's own platforms.

    The OpenCL loader reads its list of platforms once: call this before pyopencl is used in any other way.

    Raises:
        hsgen.core.errors.Unavailable: pyopencl is not installed, or finds no OpenCL loader.
    """
    return toolchain.pyopencl()
