"""Compilation in a separate process, so that a compiler that crashes or hangs does not end the caller.

A successful build is stored in pyopencl's cache of binaries; the caller's own build reads it from there.  Run as a
module, this file is the separate process.  The request is JSON on stdin.  The process prints the line BEGUN before it
compiles.  Its exit code is 0 after a build, and REPORTED if the compiler reported errors.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from hsgen.core.errors import Notice, Unavailable, Usage, Wrong
from hsgen.engines.builds import build, context_for, keep_log, options
from hsgen.engines.hosts import Host, labelled
from hsgen.system import folders, processes

if TYPE_CHECKING:  # the separate process imports little
    from hsgen.core.sort import Sort
    from hsgen.emit.kernels import Source

SECONDS = 300
PATIENT = 1800  # seconds, for trials that nobody asked for
REPORTED = 10  # exit code: the compiler reported errors, and the caller's build will report them again
BEGUN = "begun"  # if the process ends after this line, the compiler ended it
SWITCH = "HSGEN_TRIAL"
"""The environment variable that turns `once` off, if it is 0."""
_OPTIMIZED, _PLAIN = b"optimized", b"without optimization"  # contents of marks


def once(host: Host, sort: Sort, source: Source) -> Source:
    """Return the result of `accepted` for a device; a file in the user's cache records each text and driver that was
    tried.

    If no compiling process can be started, the function warns and returns `source`.

    Raises:
        Wrong: as `check`.
        Usage: the variable HSGEN_TRIAL is neither 0 nor 1.
    """
    switch = os.environ.get(SWITCH) or "1"
    if switch not in ("0", "1"):
        raise Usage(f"{SWITCH}={switch}: unknown; give 0 to compile without a trial, or 1")
    if switch == "0":
        return source
    about = [host.name, host.platform, host.driver, host.version, source.option, sort.lanes > 1, source.text]
    about += [] if source.optimized else [_PLAIN.decode()]
    mark = folders.cached("tried") / hashlib.sha256(json.dumps(about).encode()).hexdigest()
    if (known := folders.load(mark)) is not None:
        if known == _PLAIN:
            notice = "the optimizer of its compiler crashed before; these kernels are compiled without optimization"
            warnings.warn(f"{source.path}: {host.label}: {notice}", Notice, stacklevel=4)
            return replace(source, optimized=False)
        return source
    try:
        result = accepted(host.label, sort, source, PATIENT, which=False)
    except Unavailable as e:
        hint = f"a crash of the compiler would end this one; {SWITCH}=0 accepts that"
        warnings.warn(f"{e}: {hint}", Notice, stacklevel=4)
        return source
    with suppress(Unavailable):  # without the mark, the next call tries again
        folders.keep(mark, _OPTIMIZED if result.optimized else _PLAIN)
    return result


def accepted(device: str, sort: Sort, source: Source, seconds: float = SECONDS, *, which: bool = True) -> Source:
    """Return the source that the compiler of a device compiles without a crash.

    The result is `source`, or `source` without optimization and with a notice.  Intel's CPU runtime 2026.22 with
    AVX-512 crashes in LLVM's machine passes on some kernels of 16 keys per lane.

    Raises:
        Wrong, Unavailable: as `check`.
    """
    try:
        check(device, sort, source, seconds, which=which)
    except Wrong as e:
        plain = replace(source, optimized=False)
        if _attempt(device, sort, plain, [k.name for k in sort.kernels], seconds) is not None:
            raise
        warnings.warn(f"{e.lines[0]}; these kernels are compiled without optimization", Notice, stacklevel=3)
        return plain
    return source


def check(device: str, sort: Sort, source: Source, seconds: float = SECONDS, *, which: bool = True) -> None:
    """Compile `source` for the device of that label in another process.

    Raises:
        Wrong: the compiler crashed or took longer than `seconds`; the message names the log file.  With `which`, the
            message names the kernel that alone is the cause; to find it takes as long again for each kernel.
            Errors that the compiler reports are left to the build that follows.
        Unavailable: no compiling process can be started.
    """
    names = [k.name for k in sort.kernels]
    problem = _attempt(device, sort, source, names, seconds)
    if problem is None:
        return
    for name in names if which else ():
        if failure := _attempt(device, sort, source, [name], seconds):
            raise Wrong(_line(source, f"kernel {name}", device, failure, source.only(name)))
    raise Wrong(_line(source, f"kernels {', '.join(names)}", device, problem, source.text))


def _line(source: Source, title: str, device: str, problem: str, text: str) -> str:
    log = keep_log(f"{title} on {device}: {problem}\n\n{text}")
    return (
        f"{source.path}: {title}: the compiler of {device} {problem.splitlines()[0]}; "
        f"try a smaller scale or height; the log is {log}"
    )


def _attempt(device: str, sort: Sort, source: Source, kernels: Sequence[str], seconds: float) -> str | None:
    """Return a description of a crash or a timeout of the compiler, or None."""
    text = source.text if len(kernels) == len(sort.kernels) else source.only(*kernels)
    request = {"device": device, "text": text, "kernels": list(kernels), "lanes": sort.lanes > 1}
    request |= {"option": source.option, "optimized": source.optimized}
    if not processes.has_interpreter():
        raise Unavailable("kernels are compiled in this process, which is no Python interpreter that starts another")
    with folders.scratch() as folder:  # the folder is removed, with any files of the other process
        try:
            done = processes.run(processes.python(__name__), seconds, folder, json.dumps(request), os.curdir)
        except subprocess.TimeoutExpired:
            return f"did not end within {seconds:g} seconds"
        except OSError as e:
            raise Unavailable(f"no process can be started that compiles: {e.strerror}") from None
    if done.returncode in (0, REPORTED):
        return None
    if 0 < done.returncode < 256 and BEGUN not in done.stdout.split():
        message = (done.stderr.split("\n")[-2:-1] or [""])[0]
        raise Unavailable(
            f"no process can be started that compiles: {processes.status(done.returncode)}, {message or 'no word'}"
        )
    return f"ended with {processes.status(done.returncode)}\n{done.stderr}"


def main() -> int:
    """Perform the request on stdin; return 0, or REPORTED if the compiler reported an error."""
    request = json.loads(sys.stdin.read())
    host = labelled(request["device"])
    context = context_for(host)
    try:
        option = options(context, request["option"], lanes=request["lanes"], optimized=request["optimized"])
        print(BEGUN, flush=True)
        build(context, request["text"], "stdin", request["kernels"], option)
    except Wrong:
        return REPORTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
