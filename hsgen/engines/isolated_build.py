"""Compile kernels on trial in a separate process, so that a compiler that crashes or hangs does not end the caller.

After a successful trial, pyopencl's cache has the binary, so the caller's own build need not compile again.

The separate process runs this file as a module.  The process reads a request as JSON from stdin, and prints the line
BEGUN before it compiles.  Its exit code is 0 after a build, and REPORTED if the compiler reported errors.
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

if TYPE_CHECKING:  # at run time, the separate process should import few modules
    from hsgen.core.sort import Sort
    from hsgen.emit.kernels import Source

SECONDS = 300
PATIENT = 1800  # the limit in seconds of trials that the user did not request
REPORTED = 10  # the exit code if the compiler reported errors; the caller's own build will report these errors
BEGUN = "begun"  # if the process dies after it has printed this line, the compiler is the cause
SWITCH = "HSGEN_TRIAL"
"""The environment variable that turns the trials of `once` off if its value is 0."""
_OPTIMIZED, _PLAIN = b"optimized", b"without optimization"  # the possible contents of a file that records a trial


def once(host: Host, sort: Sort, source: Source) -> Source:
    """Return the result of `accepted` for a device; the trial compilation runs only once for each text, device and
    driver.

    A file in the user's cache records the result of each trial.  If no process can be started for a trial, the function
    warns and returns `source`.

    Raises:
        Wrong: for the same reasons as in `check`.
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
    with suppress(Unavailable):  # if the file cannot be written, the next call repeats the trial
        folders.keep(mark, _OPTIMIZED if result.optimized else _PLAIN)
    return result


def accepted(device: str, sort: Sort, source: Source, seconds: float = SECONDS, *, which: bool = True) -> Source:
    """Return `source`, or `source` without optimization if the compiler of the device crashes or hangs with it.

    In the second case, the function issues a notice.  For example, Intel's CPU runtime 2026.22 with AVX-512 crashes in
    LLVM's machine passes on some kernels of 16 keys per lane.

    Raises:
        Wrong, Unavailable: for the same reasons as in `check`.
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
    """Compile `source` in another process, for the device with the label `device`.

    Errors that the compiler reports are ignored, because the caller's own build reports them.

    Raises:
        Wrong: the compiler crashed or took longer than `seconds`; the message names the log file.  With `which`, the
            function then compiles the kernels one by one, each for at most `seconds`, and the message names the first
            kernel that fails.
        Unavailable: the process that compiles cannot be started.
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
    """Compile `kernels` of the source in another process.

    Return a description of the compiler's crash or timeout; None if the compiler ended normally.
    """
    text = source.text if len(kernels) == len(sort.kernels) else source.only(*kernels)
    request = {"device": device, "text": text, "kernels": list(kernels), "lanes": sort.lanes > 1}
    request |= {"option": source.option, "optimized": source.optimized}
    if not processes.has_interpreter():
        raise Unavailable("kernels are compiled in this process, which is no Python interpreter that starts another")
    with folders.scratch() as folder:  # the folder is removed with all files that the other process leaves in it
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
    """Compile what the request on stdin describes; return 0, or REPORTED if the compiler reported an error."""
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
