"""Deferral of termination signals during a critical section."""

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
    """Defer SIGINT, SIGTERM and SIGHUP until the context ends; yield a function that raises if a signal has arrived.

    When the context ends, the first signal that has arrived is sent again, to the previous handler.  If the handler
    raises an exception, this exception replaces that of the yielded function.

    Raises:
        KeyboardInterrupt, Terminated: raised by the yielded function after SIGINT, and after any other signal.
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
