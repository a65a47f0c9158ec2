"""Deferred signals reach the previous handler, once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from hsgen.core.errors import Terminated
from hsgen.system.interrupts import deferred

NUMBERS = [signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.fixture
def came() -> Iterator[list[int]]:
    """The signals received by handlers, the first of which raises."""
    found: list[int] = []

    def handler(number: int, frame: object) -> None:
        found.append(number)
        if len(found) == 1:
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    before = {n: signal.signal(n, handler) for n in NUMBERS}
    yield found
    for number, old in before.items():
        signal.signal(number, old)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("asks", [False, True])
def test_it_comes_at_the_end_once(number: signal.Signals, asks: bool, came: list[int]) -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else Terminated), deferred() as check:
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGTERM)
        assert came == []
        if asks:
            check()
        reached.append(number)
    assert came == [number] and reached == ([] if asks else [number])
    signal.raise_signal(number)  # the handlers are restored
    assert came == [number] * 2


def test_one_that_is_ignored_stays_so(came: list[int]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with deferred() as check:
        signal.raise_signal(signal.SIGTERM)
        check()
    assert came == [] and signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_a_handler_may_let_it_go_on(came: list[int]) -> None:
    came.append(0)  # so that it does not raise
    with deferred():
        signal.raise_signal(signal.SIGTERM)
    assert came == [0, signal.SIGTERM]


def test_other_threads_get_none(came: list[int]) -> None:
    handlers: list[object] = []

    def work() -> None:
        with deferred() as check:
            check()
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    before = signal.getsignal(signal.SIGTERM)
    thread.start()
    thread.join()
    assert handlers == [before]
