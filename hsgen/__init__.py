"""hsgen: a generator of GPU sort kernels for the devices that target files describe.

`sort`, `argsort`, `topk` and `Sorter` are those of `hsgen.numpy`, for numpy arrays.  The first use of a name imports
`hsgen.numpy`.  Nothing is imported earlier, because `hsgen.__main__` must first remove the current folder from Python's
path.
"""

__version__ = "1.0.0"
__all__ = ["Sorter", "argsort", "sort", "topk"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hsgen.numpy import Sorter, argsort, sort, topk


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'hsgen' has no attribute '{name}'")
    from hsgen import numpy

    return getattr(numpy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
