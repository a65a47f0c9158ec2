"""Signals that ask a process to end, held back while it is in the middle of something."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from hsgen.errors import Terminated


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Hold back SIGINT and SIGTERM to the end of the block; the function that it gives lets them through.

    Raises:
        KeyboardInterrupt, Terminated: such a signal has come, at a call of the function or at the end of the block.
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
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    listening = {n: handler for n, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in listening:
            signal.signal(number, note)
        yield check
    finally:
        for number, handler in listening.items():
            signal.signal(number, handler)
    check()
