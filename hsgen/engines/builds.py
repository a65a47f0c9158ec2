"""Compiling OpenCL source through pyopencl, and keeping what compilers say of it."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hsgen.core.errors import Wrong
from hsgen.engines.hosts import newest
from hsgen.system import toolchain

LOGS = "HSGEN_LOGS"
"""The variable that names the folder for logs to processes whose temporary folder goes when they end."""


def standard(context: Any, *, lanes: bool) -> str:
    """Return the language option: OpenCL C 1.2 unless `lanes` exchange values."""
    return newest(context) if lanes else "-cl-std=CL1.2"


def options(context: Any, language: str, *, lanes: bool, optimized: bool) -> str:
    """Return the options of a compilation; `language` is the option for it where it is not the usual one."""
    return (language or standard(context, lanes=lanes)) + ("" if optimized else " -cl-opt-disable")


def build(context: Any, source: str, path: str, kernels: Sequence[str], option: str) -> dict[str, Any]:
    """Compile `source` and return its kernels by name.

    Raises:
        Wrong: it does not build; the line names the kernel and the file that holds the log.
    """
    cl = toolchain.pyopencl()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = cl.Program(context, source).build(options=option.split())
            return {name: cl.Kernel(program, name) for name in kernels}
        except cl.Error as e:
            log = keep_log(f"{path}\n\n{e}\n\n{source}")
            raise Wrong(
                f"{path}: kernel {_culprit(str(e), source, kernels)} does not build on "
                f"{context.devices[0].name.strip()}; the compiler's log is {log}"
            ) from None


def keep_log(text: str) -> Path:
    """Write what a compiler said, with its source, to a file that stays; return its path."""
    log = Path(tempfile.mkdtemp(prefix="hsgen-", dir=os.environ.get(LOGS))) / "build.log"
    log.write_text(text, encoding="utf-8")
    return log


def _culprit(log: str, source: str, kernels: Sequence[str]) -> str:
    """The kernel in which the log's first error lies."""
    found = re.search(r":(\d+):\d+:\s*(?:fatal )?error", log)
    if found is None:
        return next(
            (k for k in kernels if k in log), kernels[0] if len(kernels) == 1 else f"among {', '.join(kernels)}"
        )
    before = source.splitlines()[: int(found.group(1))]
    names = [k for line in before for k in kernels if re.search(rf"\b{k}\b", line) and "__kernel" in line]
    return names[-1] if names else kernels[0]
