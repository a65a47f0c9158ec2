"""Starting other programs: nothing of them is left at the end, and no file of the current folder becomes their code."""

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

LONGEST = 1e6  # seconds that the system can wait for, at least
_ROOT = Path(__file__).resolve().parents[2]  # what must be on the path of a Python that imports hsgen
_live: set[int] = set()
_lock = threading.RLock()  # a signal handler of the thread that holds it may take it again
_closed = threading.Event()
_asked: type[BaseException] | None = None  # what a signal has asked the main thread to end by
_starting = False  # whether the main thread is starting a program, of which nobody could know yet


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module by this Python; -P keeps the current folder off the path of modules."""
    return [sys.executable, "-P", "-m", module, *arguments]


def has_interpreter() -> bool:
    """Whether `python` names a Python interpreter; inside another program, or frozen, it names that program."""
    return not getattr(sys, "frozen", False) and Path(sys.executable or "").name.startswith(("python", "pypy"))


def environment(**variables: str) -> dict[str, str]:
    """Return the variables for another program: this process's own and `variables`.

    PATH and PYTHONPATH lose their empty and relative entries, which stand for the current folder; a Python finds the
    same hsgen as this one.
    """
    found = {**os.environ, **variables}
    modules = _absolute(found.get("PYTHONPATH", ""))
    if str(_ROOT) not in (*modules, *site.getsitepackages(), site.getusersitepackages()):
        modules.append(str(_ROOT))
    found.pop("PYTHONPATH", None)
    return {
        **found,
        "PATH": os.pathsep.join(search_path()),
        **({"PYTHONPATH": os.pathsep.join(modules)} if modules else {}),
    }


def search_path() -> list[str]:
    """Return the folders in which programs are looked for, without those that depend on the current one."""
    return _absolute(os.environ.get("PATH", os.defpath))


def _absolute(paths: str) -> list[str]:
    return [p for p in paths.split(os.pathsep) if Path(p).is_absolute()]


def start(command: Sequence[str], variables: dict[str, str] | None = None, **more: Any) -> subprocess.Popen[Any]:
    """Start a program in a process group of its own, until `end`; `variables` are all that it gets (`environment`).

    Raises:
        Terminated, KeyboardInterrupt: this process has been asked to end.
        OSError: it does not start.
    """
    global _asked, _starting
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
    if _asked and main:
        asked, _asked = _asked, Terminated if _asked is Terminated else None
        end(process)
        raise asked
    return process


def interrupt(by: type[BaseException] = Terminated) -> None:
    """End the main thread by an exception: what a signal handler calls.

    Raises:
        Terminated, KeyboardInterrupt: `by`, but while a program is being started, after which `start` raises it.
    """
    global _asked
    if _starting or by is Terminated:
        _asked = by
    if not _starting:
        raise by


def end(process: subprocess.Popen[Any]) -> None:
    """End a program and whatever it began."""
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
    """Run a program with `text` on stdin and return what it said; at the end nothing that it began is left.

    `folder` is where it puts temporary files, and its current folder unless `cwd` is given; `variables` are added to
    its environment.

    Raises:
        subprocess.TimeoutExpired: it does not end within `seconds`.
        Terminated: this process has been asked to end.
        OSError: it does not start.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    words = {"encoding": "utf-8", "errors": "replace", "cwd": cwd or folder}
    with start(command, environment(TMPDIR=str(folder), **variables), **pipes, **words) as process:
        try:
            out, err = process.communicate(text, timeout=min(seconds, LONGEST))
        finally:
            end(process)
    if _closed.is_set():  # it may have been killed for that
        raise Terminated
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def stop() -> None:
    """End every program that any thread waits for: nobody wants its answer any more."""
    with _lock:
        for group in list(_live):
            _kill(group)


def close() -> None:
    """End every program, and start none from now on: this process is to end."""
    _closed.set()
    stop()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def status(code: int) -> str:
    """Name the signal or the exit code that a program ended with."""
    return f"signal {-code}" if code < 0 else f"code {code}"


def ending(code: int) -> str:
    """Say how a program ended that did not end well."""
    return f"{'crashes' if code < 0 else 'ends'} with {status(code)}"
