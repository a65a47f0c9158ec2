"""Termination signals, deferred during a critical section."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from hsgen.core.errors import Terminated

_ENDING = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def deferred() -> Iterator[Callable[[], None]]:
    """Defer SIGINT, SIGTERM and SIGHUP to the end of the block; yield a function that raises after such a signal.

    At the end of the block, the previous handler receives the first signal once.  An exception of the handler replaces
    the exception of the function.

    Raises:
        KeyboardInterrupt, Terminated: by the yielded function, after such a signal.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    def check() -> None:
        if came:
            raise KeyboardInterrupt if came[0] == signal.SIGINT else Terminated

    if threading.current_thread() is not threading.main_thread():  # Python delivers signals to the main thread only
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
