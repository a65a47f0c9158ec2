"""Preparation of sorts in a thread, while an array library's own functions serve the calls; off by default.

A sort that no call used before is planned, rendered, compiled and loaded, which takes up to seconds without a cache.
A thread prepares one sort after another, and ends when no sort is left.  A process that ends waits only for the
sort in preparation.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from contextlib import suppress
from importlib import import_module
from typing import Any

from hsgen.core.errors import HsgenError, Usage

SWITCH = "HSGEN_BACKGROUND"
"""The environment variable that turns the thread on, if it is 1 and `prepare_in_thread` was not called."""
_KEPT = 1 << 12
_lock = threading.Lock()
_known: dict[Hashable, Future[Any]] = {}
_queue: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
_running = False
_on: bool | None = None


def prepare_in_thread(on: bool = True) -> None:
    """Turn preparation in a thread on or off; sorts in preparation are still prepared.

    While the thread prepares a sort, the array library's own functions serve its calls, with the same results.
    """
    global _on
    _on = bool(on)
    if on:
        pending(_preload, _preload)


def _preload() -> None:
    """Import the modules that prepare sorts, and load NVRTC."""
    import_module("hsgen.cuda.order")
    with suppress(HsgenError):  # a call needs no NVRTC if the cache has its kernels
        import_module("hsgen.cuda.compiler").version()


def enabled() -> bool:
    """Return True if preparation in a thread is on.

    Raises:
        Usage: the variable HSGEN_BACKGROUND is neither 0 nor 1.
    """
    if _on is not None:
        return _on
    value = os.environ.get(SWITCH) or "0"
    if value not in ("0", "1"):
        raise Usage(f"{SWITCH}={value}: unknown; give 1 to compile in a thread, or 0")
    return value == "1"


def pending(key: Hashable, prepare: Callable[[], Any]) -> bool:
    """Return True while the thread prepares the sort of a key; the first call starts the preparation.

    Raises:
        Exception: the error of the preparation; the next call starts again.
    """
    global _running
    with _lock:
        known = _known.get(key)
        if known is None:
            if len(_known) >= _KEPT:
                for one in [one for one, future in _known.items() if future.done()]:
                    del _known[one]
            known = _known[key] = Future()
            _queue.append((known, prepare))
            if not _running:
                _running = True
                threading.Thread(target=_work, name="hsgen").start()
        if not known.done():
            return True
        failure = known.exception()
        if failure is not None:
            del _known[key]
            raise failure
        return False


def wait_for_thread(seconds: float | None = None) -> bool:
    """Wait until all sorts in preparation are prepared; return False if they take longer than `seconds`."""
    with _lock:
        futures = [future for future in _known.values() if not future.done()]
    return not wait(futures, seconds).not_done


def _work() -> None:
    """Prepare sorts until none is left, or the main thread has ended."""
    global _running
    while True:
        with _lock:
            if not _queue or not threading.main_thread().is_alive():
                _running = False
                return
            future, prepare = _queue.popleft()
        try:
            prepare()
            future.set_result(None)
        except BaseException as e:  # the caller's thread raises it
            future.set_exception(e)


def _reset() -> None:
    """Forget the thread, which a forked process does not have."""
    global _running, _lock
    _lock, _running = threading.Lock(), False
    _queue.clear()
    for key in [key for key, future in _known.items() if not future.done()]:
        del _known[key]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)
