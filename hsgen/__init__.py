"""hsgen: one generator of GPU sort kernels, driven by target descriptions.

`sort`, `argsort`, `topk` and `Sorter`, for numpy arrays, are those of `hsgen.numpy`, which is imported when a name is
first used.  Nothing is imported before, since `hsgen.__main__` first takes the current folder from Python's path.
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
