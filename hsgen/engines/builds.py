"""Compile OpenCL source through pyopencl, and write log files of failed compilations."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsgen.core.errors import Usage, Wrong
from hsgen.engines.hosts import Host, newest
from hsgen.system import toolchain

if TYPE_CHECKING:  # at run time, the process that `isolated_build` starts should import few modules
    from hsgen.emit.kernels import Source

LOGS = "HSGEN_LOGS"
"""The environment variable that names the folder for logs of failed compilations; by default the temporary folder.

The variable is needed for processes whose temporary folder is removed when they end.
"""


SWITCH = "HSGEN_OPTIMIZE"
"""The environment variable that turns optimization off if its value is 0."""


def chosen(source: Source) -> Source:
    """Return `source`, or if the variable HSGEN_OPTIMIZE is 0, a copy that is compiled without optimization.

    Without optimization, Intel's CPU runtime compiles a kernel in a third of the time or less; the kernel is slower.

    Raises:
        Usage: the variable is neither 0 nor 1.
    """
    switch = os.environ.get(SWITCH) or "1"
    if switch not in ("0", "1"):
        raise Usage(f"{SWITCH}={switch}: unknown; give 0 to compile without optimization, or 1")
    return source if switch == "1" else replace(source, optimized=False)


def context_for(host: Host) -> Any:
    """Return a new pyopencl context for one device."""
    return toolchain.pyopencl().Context([host.handle])


def standard(context: Any, *, lanes: bool) -> str:
    """Return the compiler option for the language: OpenCL C 1.2, or the newest version if lanes exchange values.

    lanes: whether lanes of a subgroup exchange values.
    """
    return newest(context) if lanes else "-cl-std=CL1.2"


def options(context: Any, language: str, *, lanes: bool, optimized: bool) -> str:
    """Return the compiler options, as one text.

    language: the option that selects the language; with "", the result of `standard` is used.
    """
    return (language or standard(context, lanes=lanes)) + ("" if optimized else " -cl-opt-disable")


def build(context: Any, source: str, path: str, kernels: Sequence[str], option: str) -> dict[str, Any]:
    """Compile `source`, a text, and return the pyopencl kernels by name.

    Raises:
        Wrong: the source does not build; the message names the kernel and the file with the log.
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
    """Write `text`, a compiler's output and source, to a new log file, and return the path of the file.

    hsgen does not remove the file.
    """
    log = Path(tempfile.mkdtemp(prefix="hsgen-", dir=os.environ.get(LOGS))) / "build.log"
    log.write_text(text, encoding="utf-8")
    return log


def _culprit(log: str, source: str, kernels: Sequence[str]) -> str:
    """Return the kernel in which the compiler reports its first error.

    If the log does not show the kernel, return a phrase with the names of all kernels.
    """
    match = re.search(r":(\d+):\d+:\s*(?:fatal )?error", log)
    if match is None:
        return next(
            (k for k in kernels if k in log), kernels[0] if len(kernels) == 1 else f"among {', '.join(kernels)}"
        )
    before = source.splitlines()[: int(match.group(1))]
    names = [k for line in before for k in kernels if re.search(rf"\b{k}\b", line) and "__kernel" in line]
    return names[-1] if names else kernels[0]
