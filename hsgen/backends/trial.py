"""Compiling in a process of its own, so that a compiler that crashes or hangs ends in a line, not in a lost tool.

A build that succeeds lands in pyopencl's cache of binaries, from which the caller's own build then takes it.
Run as a module it is that process: a request as JSON on stdin, exit code 0 when it built, REPORTED when the
compiler reported errors.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from hsgen import folders, processes
from hsgen.backends.hosts import hosts
from hsgen.backends.opencl import build, context_for, keep_log, standard
from hsgen.errors import Wrong
from hsgen.render import Source
from hsgen.spec import Sort

SECONDS = 300
REPORTED = 10  # exit code: the compiler said what is wrong, and will say it again


def check(device: str, sort: Sort, source: Source, seconds: float = SECONDS, *, which: bool = True) -> None:
    """Compile `source` for the device of that label in another process.

    Raises:
        Wrong: the compiler crashed or took longer than `seconds`; the line names the log file, and the kernel where
            one alone does it (`which`; to find it takes as long again for each kernel).
            (Errors that the compiler reports are left to the build that follows.)
    """
    names = [k.name for k in sort.kernels]
    problem = _attempt(device, sort, source, names, seconds)
    if problem is None:
        return
    for name in names if which else ():
        if found := _attempt(device, sort, source, [name], seconds):
            raise Wrong(_line(source, f"kernel {name}", device, found, source.only(name)))
    raise Wrong(_line(source, f"kernels {', '.join(names)}", device, problem, source.text))


def _line(source: Source, what: str, device: str, problem: str, text: str) -> str:
    log = keep_log(f"{what} on {device}: {problem}\n\n{text}")
    return (
        f"{source.path}: {what}: the compiler of {device} {problem.splitlines()[0]}; "
        f"try a smaller scale or height; the log is {log}"
    )


def _attempt(device: str, sort: Sort, source: Source, kernels: Sequence[str], seconds: float) -> str | None:
    """Say how the compiler failed to answer, or return None."""
    text = source.text if len(kernels) == len(sort.kernels) else source.only(*kernels)
    request = {"device": device, "text": text, "kernels": list(kernels), "lanes": sort.lanes > 1}
    request["option"] = source.option
    with folders.scratch() as folder:  # what the other process leaves there goes with it
        try:
            done = processes.run(processes.python(__name__), seconds, folder, json.dumps(request), os.curdir)
        except subprocess.TimeoutExpired:
            return f"did not end within {seconds:g} seconds"
    if done.returncode in (0, REPORTED):
        return None
    return f"ended with {_how(done.returncode)}\n{done.stderr}"


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"


def main() -> int:
    """Build what stdin asks for; REPORTED where the compiler reported an error."""
    request = json.loads(sys.stdin.read())
    host = next(h for h in hosts() if h.label == request["device"])
    context = context_for(host)
    try:
        option = request["option"] or standard(context, lanes=request["lanes"])
        build(context, request["text"], "stdin", request["kernels"], option)
    except Wrong:
        return REPORTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
