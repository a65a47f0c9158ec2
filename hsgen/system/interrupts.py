"""Signals that ask a process to end, held back while it is in the middle of something."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from hsgen.core.errors import Terminated

_ENDING = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Hold back SIGINT, SIGTERM and SIGHUP to the end of the block; the function that it gives ends the block by them.

    At the end of the block the first that has come goes to the handler that was there before, once: what that raises
    takes the place of what the function has raised.

    Raises:
        KeyboardInterrupt, Terminated: such a signal has come, at a call of the function.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    def check() -> None:
        if came:
            raise KeyboardInterrupt if came[0] == signal.SIGINT else Terminated

    if threading.current_thread() is not threading.main_thread():  # to which Python gives no signals
        yield check
        return
    before = {n: signal.getsignal(n) for n in _ENDING}
    listening = {n: handler for n, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in listening:
            signal.signal(number, note)
        yield check
    finally:
        for number, handler in listening.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
