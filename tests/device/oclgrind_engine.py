"""The engine of the scripts that run inside oclgrind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines.builds import build
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import hosts
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.system import toolchain

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the scripts, which run without pytest


def engine(sort: Sort, *, dropped: int = 0) -> Direct:
    """Return the sort, compiled by oclgrind without its first `dropped` barriers (-1: without any barrier)."""
    context, source = context_for(hosts()[0]), render(sort, "opencl")
    text = source.text.replace("hs_barrier();\n", "\n", dropped)
    kernels = build(context, text, source.path, [k.name for k in sort.kernels], "-cl-std=CL1.2 -cl-opt-disable")
    driven = Direct(context, Compiled(context, sort, source, kernels))
    scratch = driven._compiled.scratch

    def copied(queue: Any, number: int, byte: int, at: int, size: int) -> None:
        """oclgrind loses track of parts of buffers that are filled, or written from the middle on."""
        if at == 0:
            toolchain.pyopencl().enqueue_copy(queue, scratch._buffers[number], np.full(size, byte, np.uint8))

    scratch._fill = copied  # type: ignore[method-assign]
    scratch.intact = lambda queue: True  # type: ignore[method-assign]
    return driven
