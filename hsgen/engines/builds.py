"""Compilation of OpenCL source through pyopencl, with logs of failed compilations."""

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

if TYPE_CHECKING:  # the process that `isolated_build` starts should import little
    from hsgen.emit.kernels import Source

LOGS = "HSGEN_LOGS"
"""The environment variable that names the folder for logs.

A process whose temporary folder is removed when it ends needs the variable.
"""


SWITCH = "HSGEN_OPTIMIZE"
"""The environment variable that turns optimization off if its value is 0."""


def chosen(source: Source) -> Source:
    """Return a source unchanged, or without optimization if the variable HSGEN_OPTIMIZE is 0.

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
    """Return the language option: OpenCL C 1.2, or the newest language if `lanes` says that lanes exchange values."""
    return newest(context) if lanes else "-cl-std=CL1.2"


def options(context: Any, language: str, *, lanes: bool, optimized: bool) -> str:
    """Return the compiler options.  If `language` is not empty, it replaces the option that `standard` returns."""
    return (language or standard(context, lanes=lanes)) + ("" if optimized else " -cl-opt-disable")


def build(context: Any, source: str, path: str, kernels: Sequence[str], option: str) -> dict[str, Any]:
    """Compile `source` and return its kernels by name.

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
    """Write a compiler's output and source to a log file, which hsgen does not remove; return the path of the file."""
    log = Path(tempfile.mkdtemp(prefix="hsgen-", dir=os.environ.get(LOGS))) / "build.log"
    log.write_text(text, encoding="utf-8")
    return log


def _culprit(log: str, source: str, kernels: Sequence[str]) -> str:
    """Return the kernel in which the compiler reports its first error, or a phrase with several names."""
    match = re.search(r":(\d+):\d+:\s*(?:fatal )?error", log)
    if match is None:
        return next(
            (k for k in kernels if k in log), kernels[0] if len(kernels) == 1 else f"among {', '.join(kernels)}"
        )
    before = source.splitlines()[: int(match.group(1))]
    names = [k for line in before for k in kernels if re.search(rf"\b{k}\b", line) and "__kernel" in line]
    return names[-1] if names else kernels[0]
