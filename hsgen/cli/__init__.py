"""The command line of hsgen.  Only this package uses argv, stdout, stderr, signals and exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from typing import Any

import click

from hsgen import __version__
from hsgen.cli import terminal
from hsgen.cli.help_format import Command, Group
from hsgen.cli.help_sections import SUMMARIES
from hsgen.core.errors import HsgenError, Notice, Terminated, Usage, printable
from hsgen.system import folders, processes

PATIENCE = 10.0  # after a signal, seconds until the process is ended by force; a call of a driver may never return
_settled = False  # True when this process is ending; then further signals are ignored
_number: int = signal.SIGTERM  # the signal that has terminated this process


class Commands(MutableMapping[str, click.Command]):
    """The commands by name.

    A command is imported when it is first used.  `hsgen --help` and the completion of names import no command.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(SUMMARIES)

    def __getitem__(self, name: str) -> click.Command:
        if (known := self._loaded[name]) is not None:
            return known
        command = getattr(importlib.import_module(f"hsgen.cli.{name}"), name)
        self._loaded[name] = loaded = Command.of(command, SUMMARIES[name])
        return loaded

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)


@click.group(
    cls=Group, commands=Commands(), context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="hsgen")
def group() -> None:
    """Generate, check, validate and measure GPU sort kernels.

    Exit codes: 0 success; 1 a negative result (stale files, a wrong sort, a kernel that does not build); 2 wrong usage
    or configuration; 3 no answer on this machine (no device, no compiler), which --require turns into 1.
    """


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Non-empty compiler output")  # pyopencl; logs are kept on errors
        warnings.filterwarnings("always", category=Notice)
        warnings.showwarning = _show_warning
        return _main(argv)


def _main(argv: list[str] | None) -> int:
    try:
        if any("\0" in word for word in argv or ()):
            raise Usage("arguments: hold a null character, which no file name can; omit it")
        group.main(argv, prog_name="hsgen", standalone_mode=False)
    except HsgenError as e:
        for line in e.lines:
            _say(line, "red")
        if e.detail:
            click.echo(e.detail, err=True)
        return e.exit_code
    except click.exceptions.NoArgsIsHelpError as e:
        click.echo(e.format_message(), err=True)
        return e.exit_code
    except click.ClickException as e:
        _say(" ".join(e.format_message().split()), "red")
        return e.exit_code
    except click.exceptions.Exit as e:
        return e.exit_code
    except (click.Abort, KeyboardInterrupt, Terminated) as e:
        return _ended(e)
    except OSError as e:  # an error that no command handles, for example if a file system disappears
        _say(f"{e.filename or 'the system'}: {e.strerror or e}")
        return Usage.exit_code
    except Exception as e:
        if not type(e).__module__.startswith("pyopencl"):
            raise
        _say(f"the OpenCL runtime failed: {' '.join(str(e).split())[:300]}")
        return 1
    return 0


def _say(line: str, colour: str = "yellow") -> None:
    """Print a line on stderr after the prefix "hsgen:", which is coloured on a terminal."""
    click.echo(f"{terminal.styled('hsgen:', sys.stderr, fg=colour)} {printable(line)}", err=True)


def _ended(by: BaseException) -> int:
    """Kill all child processes, print that a signal ended this process, and return the exit code.

    The thread of `_watch_signals` kills the child processes too, but this process may exit before that thread runs.
    """
    processes.stop()
    terminated = isinstance(by, Terminated)
    try:
        _say("terminated" if terminated else "interrupted")
    except OSError:  # the terminal no longer exists; without stderr, Python does not try to flush it at exit
        sys.stderr = None
    return 128 + (_number if terminated else signal.SIGINT)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print a warning as one line; a warning that is not hsgen's begins with the name of its class."""
    _say(str(message) if issubclass(category, Notice) else f"{category.__name__}: {message}")


def _watch_signals() -> None:
    """Install handlers for SIGTERM, SIGHUP and SIGINT.

    A signal raises an exception in the main thread, which then removes temporary folders.  But the main thread may be
    in a call of a driver.  Therefore a second thread kills all child processes at once.  After SIGTERM or SIGHUP, this
    thread also ends the process if the main thread does not end it within `PATIENCE` seconds.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores SIGHUP
        signal.signal(signal.SIGHUP, _terminate)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background jobs ignore SIGINT
        signal.signal(signal.SIGINT, _interrupt)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_ending, args=(reader,), daemon=True).start()


def _terminate(number: int, frame: object) -> None:
    global _number, _settled
    if not _settled:
        _number, _settled = number, True  # the cleanup is not interrupted
        processes.interrupt()


def _interrupt(number: int, frame: object) -> None:
    if not _settled:
        processes.interrupt(KeyboardInterrupt)


def _ending(reader: int) -> None:
    """Run the second thread of `_watch_signals`.

    After any of the signals, kill all child processes.  After SIGTERM or SIGHUP, wait for `PATIENCE` seconds, then end
    this process.  Usually the main thread ends the process earlier.
    """
    terminating = (signal.SIGTERM, signal.SIGHUP)
    while (number := os.read(reader, 1)[0]) not in (*terminating, signal.SIGINT):
        pass
    processes.close()
    while number not in terminating:
        number = os.read(reader, 1)[0]
    time.sleep(PATIENCE)
    folders.sweep()
    with suppress(OSError):
        # progress bars hide the cursor, so show it again
        shown = b"\x1b[?25h" if terminal.is_terminal(sys.stderr) and not terminal.is_dumb() else b""
        os.write(2, shown + b"hsgen: terminated\n")
    os._exit(128 + number)


def run() -> None:
    """Run the command line as the console script `hsgen`, and exit."""
    global _settled
    try:
        if os.name == "posix":
            _watch_signals()
        code = main()
        _settled = True
    except (KeyboardInterrupt, Terminated) as e:  # outside `main`
        _settled = True
        code = _ended(e)
    sys.exit(code)
