"""Start and end child processes.  `run` kills all processes of a child before it returns.  No child loads code from the
current folder.
"""

from __future__ import annotations

import os
import signal
import site
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hsgen.core.errors import Terminated

LONGEST = 1e6  # seconds; the longest timeout that every system accepts
_ROOT = Path(__file__).resolve().parents[2]  # the folder from which Python imports hsgen
_live: set[int] = set()
_lock = threading.RLock()  # reentrant, because a signal handler may run in the thread that holds the lock
_closed = threading.Event()
_requested: type[BaseException] | None = None  # the exception that a signal requested in the main thread
_starting = False  # whether the main thread is starting a program that is not yet in `_live`


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module with this Python interpreter.

    The option -P keeps the current folder off the module path.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def has_interpreter() -> bool:
    """Return True if sys.executable is a Python interpreter.

    In a frozen program, and in a program that embeds Python, sys.executable may be that program.
    """
    return not getattr(sys, "frozen", False) and Path(sys.executable or "").name.startswith(("python", "pypy"))


def environment(**variables: str) -> dict[str, str]:
    """Return the environment for another program: that of this process, with `variables` added.

    Empty and relative entries of PATH and PYTHONPATH are removed, because they depend on the current folder.  A Python
    program with this environment imports the same hsgen as this process.
    """
    inherited = {**os.environ, **variables}
    modules = _absolute(inherited.get("PYTHONPATH", ""))
    if str(_ROOT) not in (*modules, *site.getsitepackages(), site.getusersitepackages()):
        modules.append(str(_ROOT))
    inherited.pop("PYTHONPATH", None)
    return {
        **inherited,
        "PATH": os.pathsep.join(search_path()),
        **({"PYTHONPATH": os.pathsep.join(modules)} if modules else {}),
    }


def search_path() -> list[str]:
    """Return the absolute entries of PATH."""
    return _absolute(os.environ.get("PATH", os.defpath))


def _absolute(paths: str) -> list[str]:
    return [p for p in paths.split(os.pathsep) if Path(p).is_absolute()]


def start(command: Sequence[str], variables: dict[str, str] | None = None, **more: Any) -> subprocess.Popen[Any]:
    """Start a program in a new process group, and return its process, which `end` kills.

    variables: the complete environment of the program; by default the result of `environment`.
    more: further arguments of `subprocess.Popen`.

    Raises:
        Terminated, KeyboardInterrupt: this process has been asked to terminate.
        OSError: the program does not start.
    """
    global _requested, _starting
    more = {"env": environment() if variables is None else variables, "start_new_session": True, **more}
    main = threading.current_thread() is threading.main_thread()
    with _lock:
        if _closed.is_set():
            raise Terminated
        try:
            _starting = main
            process = subprocess.Popen(command, **more)
            _live.add(process.pid)
        finally:
            _starting = False if main else _starting
    if _requested and main:
        exception, _requested = _requested, Terminated if _requested is Terminated else None
        end(process)
        raise exception
    return process


def interrupt(by: type[BaseException] = Terminated) -> None:
    """Raise the exception `by` in the main thread, in which signal handlers call this function.

    While the main thread starts a program, this function only records the exception and returns.  `start` then ends the
    program and raises the exception.

    Raises:
        Terminated, KeyboardInterrupt: the exception `by`.
    """
    global _requested
    if _starting or by is Terminated:
        _requested = by
    if not _starting:
        raise by


def end(process: subprocess.Popen[Any]) -> None:
    """Kill the process of a program and all processes of its group."""
    _kill(process.pid)
    process.kill()
    process.wait()
    with _lock:
        _live.discard(process.pid)


def run(
    command: Sequence[str],
    seconds: float,
    folder: Path,
    text: str = "",
    cwd: Path | str | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run a program with `text` on stdin, and return its output and exit code.

    When the program has ended, all remaining processes of its group are killed.

    seconds: the time limit.
    folder: the folder for temporary files of the program.
    cwd: the current folder of the program; by default `folder`.
    variables: additions to the environment of the program.

    Raises:
        subprocess.TimeoutExpired: the program does not end within `seconds`.
        Terminated: this process has been asked to terminate.
        OSError: the program does not start.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    words = {"encoding": "utf-8", "errors": "replace", "cwd": cwd or folder}
    with start(command, environment(TMPDIR=str(folder), **variables), **pipes, **words) as process:
        try:
            out, err = process.communicate(text, timeout=min(seconds, LONGEST))
        finally:
            end(process)
    if _closed.is_set():  # the program may have ended only because `close` killed it
        raise Terminated
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def stop() -> None:
    """Kill all running programs that any thread has started."""
    with _lock:
        for group in list(_live):
            _kill(group)


def close() -> None:
    """Kill all running programs, and let `start` start no more of them, because this process terminates."""
    _closed.set()
    stop()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def status(code: int) -> str:
    """Return a description of an exit status, such as "signal 9" or "code 1"."""
    return f"signal {-code}" if code < 0 else f"code {code}"


def ending(code: int) -> str:
    """Return a verb phrase for the exit status of a failed program, such as "crashes with signal 11"."""
    return f"{'crashes' if code < 0 else 'ends'} with {status(code)}"
