"""The Python API for OpenCL: objects that are built once for a context of pyopencl and called many times."""

from types import ModuleType
from typing import TYPE_CHECKING

from hsgen.system import lazy, toolchain

if TYPE_CHECKING:
    from hsgen.opencl.columns import ColumnSorter
    from hsgen.opencl.digest import Checker
    from hsgen.opencl.gatherer import Gatherer
    from hsgen.opencl.groups import GroupBy, run_length_encode, unique
    from hsgen.opencl.merger import Merger
    from hsgen.opencl.operation import Operation
    from hsgen.opencl.reduce_by_key import ReduceByKey
    from hsgen.opencl.scanner import Scanner
    from hsgen.opencl.segmented_sorter import SegmentedSorter
    from hsgen.opencl.sorter import Sorter
    from hsgen.opencl.top_k import TopK
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
    "import_pyopencl",
    "run_length_encode",
    "unique",
]

__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "Checker": "hsgen.opencl.digest",
        "ColumnSorter": "hsgen.opencl.columns",
        "Field": "hsgen.runners.rows",
        "Gatherer": "hsgen.opencl.gatherer",
        "GroupBy": "hsgen.opencl.groups",
        "Merger": "hsgen.opencl.merger",
        "Operation": "hsgen.opencl.operation",
        "ReduceByKey": "hsgen.opencl.reduce_by_key",
        "Scanner": "hsgen.opencl.scanner",
        "SegmentedSorter": "hsgen.opencl.segmented_sorter",
        "Sorter": "hsgen.opencl.sorter",
        "TopK": "hsgen.opencl.top_k",
        "run_length_encode": "hsgen.opencl.groups",
        "unique": "hsgen.opencl.groups",
    },
)


def import_pyopencl() -> ModuleType:
    """Import and return pyopencl; if hsgen's embedded CPU runtime is installed, pyopencl lists it as a platform.

    The OpenCL loader reads its list of platforms only once.  Call this function before any other use of pyopencl.

    Raises:
        hsgen.core.errors.Unavailable: pyopencl is not installed, or finds no OpenCL loader.
    """
    return toolchain.pyopencl()
