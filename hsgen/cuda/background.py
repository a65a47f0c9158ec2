"""Prepare sorts in a thread, while the array library's own functions serve the calls; on by default.

Unless this process has loaded the kernels of a sort, the sort is planned, rendered, compiled and loaded.  Without a
cache, this takes up to seconds.  A thread prepares one sort after another, and ends when no sort is left.  A process
that ends waits only for the sort in preparation.  If the kernels of a sort are loaded, the call itself prepares the
sort in less than a millisecond.  Hence hsgen also serves calls whose lengths keep changing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, TypeVar

from hsgen.core.errors import HsgenError, Usage
from hsgen.cuda import driver

T = TypeVar("T")
SWITCH = "HSGEN_BACKGROUND"
"""The environment variable whose value 0 turns the thread off; a call of `prepare_in_thread` overrides the variable."""
MODULES = "hsgen.cuda.order", "hsgen.cuda.selections"
"""The modules that prepare calls; importing them takes half a second of processor time."""
_KEPT = 1 << 12
_lock = threading.Lock()
_importing = threading.Lock()
_known: dict[Hashable, Future[Any]] = {}
_queue: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
_running = False
_on: bool | None = None


class Slow(Exception):
    """The work in a `quick` block would import, render, compile or load."""


class _Here(threading.local):
    quick = False


_here = _Here()


@contextmanager
def quick() -> Iterator[None]:
    """In the block, `slow` raises `Slow` in this thread."""
    _here.quick = True
    try:
        yield
    finally:
        _here.quick = False


def hasty() -> bool:
    """Return True in a `quick` block."""
    return _here.quick


def slow() -> None:
    """Announce slow work: raise `Slow` in a `quick` block.

    Raises:
        Slow: the caller is in a `quick` block.
    """
    if _here.quick:
        raise Slow


def module(name: str) -> Any:
    """Return one of `MODULES`, imported at its first use."""
    if name not in _imported:
        driver.bindings()  # a missing package or driver is an error at once
        slow()
        _imports(name)
    return sys.modules[name]


_imported: set[str] = set()


def preload() -> None:
    """Import `MODULES`, so that the thread need not; the packages of array libraries do so when they are imported."""
    _imports(*MODULES)


def attribute(package: Any, name: str) -> Any:
    """Return an attribute of a package that imports modules lazily; a fork waits until the import ends."""
    with _importing:
        return getattr(package, name)


def _imports(*names: str) -> None:
    with _importing:  # a fork waits: a module whose import is under way would stay locked in the new process
        for name in names:
            import_module(name)
            _imported.add(name)


def prepare_in_thread(on: bool = True) -> None:
    """Turn preparation in a thread on or off; a preparation that has begun goes on.

    While the thread prepares a sort, the array library's own functions serve its calls, with the same results.
    """
    global _on
    _on = bool(on)
    if on:
        pending(_preload, _preload)


def _preload() -> None:
    """Import the modules that prepare sorts, and load NVRTC."""
    slow()
    _imports(*MODULES)
    with suppress(HsgenError):  # a call needs no NVRTC if the cache has its kernels
        import_module("hsgen.cuda.compiler").version()


def enabled() -> bool:
    """Return True if preparation in a thread is on.

    Raises:
        Usage: the variable HSGEN_BACKGROUND is neither 0 nor 1.
    """
    if _on is not None:
        return _on
    value = os.environ.get(SWITCH) or "1"
    if value not in ("0", "1"):
        raise Usage(f"{SWITCH}={value}: unknown; give 0 to compile in calls, or 1 to compile in a thread")
    return value == "1"


def pending(key: Hashable, prepare: Callable[[], Any]) -> bool:
    """Return True while the thread runs `prepare` for the sort called `key`; the first call starts the thread's work.

    A sort that needs no slow work is prepared in the call itself, which then returns False.

    Raises:
        Exception: the preparation raised this error; the next call starts a new preparation.
    """
    with _lock:
        known = _known.get(key)
    if known is None:
        try:
            with quick():
                prepare()
        except Slow:
            known = _begun(key, prepare)
        else:
            return False
    return _waits(key, known)


def served(key: Hashable, call: Callable[[], T], prepare: Callable[[], Any], instead: Callable[[], T]) -> T:
    """Return the result of `call`, or of `instead` while the thread runs `prepare` for calls with this key.

    A `call` that raises `Slow` must not have changed anything.

    Raises:
        Exception: the preparation raised this error; the next call starts a new preparation.
    """
    with _lock:
        known = _known.get(key)
    if known is None:
        try:
            with quick():
                return call()
        except Slow:
            known = _begun(key, prepare)
    return instead() if _waits(key, known) else call()


def _waits(key: Hashable, known: Future[Any]) -> bool:
    """Return True while the sort of a key is being prepared."""
    if not known.done():
        return True
    failure = known.exception()
    if failure is not None:
        with _lock:
            _known.pop(key, None)
        raise failure
    return False


def _begun(key: Hashable, prepare: Callable[[], Any]) -> Future[Any]:
    """Return the preparation of a key, which the thread runs; enqueue it unless another caller has done so."""
    global _running
    with _lock:
        if key not in _known:
            if len(_known) >= _KEPT:
                for one in [one for one, future in _known.items() if future.done()]:
                    del _known[one]
            _known[key] = Future()
            _queue.append((_known[key], prepare))
            if not _running:
                _running = True
                threading.Thread(target=_work, name="hsgen").start()
        return _known[key]


def wait_for_thread(seconds: float | None = None) -> bool:
    """Wait until the thread has prepared all enqueued sorts; return False if it takes longer than `seconds`."""
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
        except BaseException as e:  # a later call raises it in its own thread
            future.set_exception(e)


def _reset() -> None:
    """Forget the thread, which a forked process does not have."""
    global _running, _lock
    _lock, _running = threading.Lock(), False
    _queue.clear()
    for key in [key for key, future in _known.items() if not future.done()]:
        del _known[key]
    _importing.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_reset)
