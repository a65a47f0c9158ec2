"""Baselines that sort in place on one thread of the host.  The copy of the input before each sort is not timed."""

from __future__ import annotations

import ctypes

import numpy as np

from hsgen.engines.engine import Engine
from hsgen.operations.inputs import Keys
from hsgen.tools.bench.baselines import build
from hsgen.tools.bench.baselines.baseline import Run


def numpy(engine: Engine, keys: Keys) -> Run:
    """Return a run of `numpy.sort`; numpy chooses the vector instructions for this CPU."""
    work = np.empty_like(keys)
    return Run(
        name="numpy",
        prepare=lambda: np.copyto(work, keys),
        sort=lambda: work.sort(),
        result=lambda: work,
        version=np.__version__,
    )


def std(engine: Engine, keys: Keys) -> Run:
    """Return a run of C++'s `std::sort`.

    Raises:
        Unavailable: no C++ compiler is found.
    """
    return _native("std", keys)


def lsd(engine: Engine, keys: Keys) -> Run:
    """Return a run of an LSD radix sort of 8 bits per pass, without vector instructions or threads.

    Raises:
        Unavailable: no C compiler is found.
    """
    return _native("lsd", keys)


def vqsort(engine: Engine, keys: Keys) -> Run:
    """Return a run of Highway's vectorized quicksort; Highway chooses the vector instructions for this CPU.

    Raises:
        Unavailable: no C++ compiler is found, or Highway is not installed.
    """
    return _native("vqsort", keys)


def _native(name: str, keys: Keys) -> Run:
    """Return a run of a library that implements ``native/baseline.h``; its sort measures its own time."""
    library = build.load(name)
    function = library.baseline_sort
    function.restype = ctypes.c_double
    work, spare = np.empty_like(keys), np.empty_like(keys)
    n, size = ctypes.c_size_t(len(keys)), ctypes.c_int(keys.dtype.itemsize)

    def sort() -> float:
        places = [a.ctypes.data_as(ctypes.c_void_p) for a in (work, spare)]
        return float(function(*places, n, size))

    return Run(
        name=name,
        prepare=lambda: np.copyto(work, keys),
        sort=sort,
        result=lambda: work,
        version=build.version(library),
    )
