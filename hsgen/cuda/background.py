"""Prepare sorts in a thread, while the array library's own functions serve the calls; on by default.

Before the first sort of a key type and shape in a process, kernels must be selected, rendered, compiled and loaded.
Without cached machine code, this takes up to several seconds.  A thread does this work, one sort after another, and
ends when no sort is left.  A process that ends waits only for the sort that the thread is preparing.

Once the kernels are loaded, a call prepares its sort itself, in less than a millisecond.  Therefore hsgen also serves a
program in which every call has a new array length.
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
"""The environment variable that turns the thread off by the value 0; `prepare_in_thread` overrides the variable."""
MODULES = "hsgen.cuda.order", "hsgen.cuda.selections"
"""The modules that prepare the launches of sorts and selections; to import them takes half a second of processor time.
"""
_KEPT = 1 << 12
_lock = threading.Lock()
_importing = threading.Lock()
_known: dict[Hashable, Future[Any]] = {}
_queue: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
_running = False
_on: bool | None = None


class Slow(Exception):
    """The code in a `quick` block has reached work that takes long: to import, render, compile or load."""


class _Here(threading.local):
    quick = False


_here = _Here()


@contextmanager
def quick() -> Iterator[None]:
    """In the block, `slow` raises `Slow` if this thread calls it, so that the block does no work that takes long."""
    _here.quick = True
    try:
        yield
    finally:
        _here.quick = False


def hasty() -> bool:
    """Return True if this thread is in a `quick` block."""
    return _here.quick


def slow() -> None:
    """Announce that slow work follows: raise `Slow` in a `quick` block, and do nothing elsewhere.

    Raises:
        Slow: the caller is in a `quick` block.
    """
    if _here.quick:
        raise Slow


def module(name: str) -> Any:
    """Return one of the modules `MODULES`.  The first call imports the module, which counts as slow work."""
    if name not in _imported:
        driver.bindings()  # raises the error of a missing package or driver in the call, not in the thread
        slow()
        _imports(name)
    return sys.modules[name]


_imported: set[str] = set()


def preload() -> None:
    """Import `MODULES` now, so that no sort waits for the import; `hsgen.torch` and `hsgen.cupy` call this function
    when they are imported.
    """
    _imports(*MODULES)


def attribute(package: Any, name: str) -> Any:
    """Return an attribute of a package that may import a module for it; a fork waits until the import ends."""
    with _importing:
        return getattr(package, name)


def _imports(*names: str) -> None:
    with _importing:  # `fork` acquires this lock: a module that is being imported would stay locked in the child
        for name in names:
            import_module(name)
            _imported.add(name)


def prepare_in_thread(on: bool = True) -> None:
    """Turn preparation in a thread on or off; the thread still completes a preparation that it has begun.

    While the thread prepares a sort, calls of this sort run the array library's own functions, with the same results.
    """
    global _on
    _on = bool(on)
    if on:
        pending(_preload, _preload)


def _preload() -> None:
    """Import `MODULES`, and load NVRTC; `prepare_in_thread` enqueues this function for the thread."""
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
    """Return True while the thread prepares the sort called `key`; the first call enqueues `prepare` for the thread.

    If `prepare` reaches no slow work, the first call runs it to its end, and returns False.

    Raises:
        Exception: `prepare` raised this error in the thread; the next call enqueues `prepare` again.
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
    """Return the result of `call`; while the thread still runs `prepare` for this key, return the result of `instead`.

    For a new key, this function tries `call` in a `quick` block.  If `call` reaches slow work, it raises `Slow`; it
    must not have changed anything before.  The thread then runs `prepare`.

    Raises:
        Exception: `prepare` raised this error in the thread; the next call starts again.
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
    """Return True while the thread prepares the sort of a key; raise the error of a failed preparation."""
    if not known.done():
        return True
    failure = known.exception()
    if failure is not None:
        with _lock:
            _known.pop(key, None)
        raise failure
    return False


def _begun(key: Hashable, prepare: Callable[[], Any]) -> Future[Any]:
    """Enqueue `prepare` for the thread, unless another caller has done so for this key; return its future."""
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
    """Run the thread: prepare sorts until none is left, or the main thread has ended."""
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
        except BaseException as e:  # `_waits` raises it in the thread of a later call
            future.set_exception(e)


def _reset() -> None:
    """In a forked process: forget the thread, which `fork` does not copy, and its unfinished preparations."""
    global _running, _lock
    _lock, _running = threading.Lock(), False
    _queue.clear()
    for key in [key for key, future in _known.items() if not future.done()]:
        del _known[key]
    _importing.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_reset)
