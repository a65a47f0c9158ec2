"""A process group within one process: each rank is a thread, and sorts arrays of numpy.

>>> ranks = Threads(4)
>>> parts = ranks.run(lambda rank: hsgen.distributed.sort(shards[rank.rank], group=rank))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Barrier, BrokenBarrierError, Thread
from typing import Any, TypeVar

import numpy as np

from hsgen.core.errors import Wrong
from hsgen.core.numbers import MOST, integer
from hsgen.distributed.communicator import Communicator, Span, Words

Result = TypeVar("Result")


class _Broken(Wrong):
    """The error of a rank that waited in vain: another rank had ended, or did not come in time."""


class Threads:
    """A process group of `size` threads.

    Args:
        size: the number of ranks.
        timeout: the greatest time in seconds that a rank waits for all other ranks.
        device: the device that sorts arrays, as in `hsgen.sort`; "" is the default device, None sorts with numpy.
    """

    def __init__(self, size: int, *, timeout: float = 60.0, device: str | None = None) -> None:
        self.size, self.timeout, self.device = integer("size", size, 1, MOST), timeout, device

    def __repr__(self) -> str:
        """The number of ranks and the device as text."""
        return f"<Threads: size={self.size}, device={self.device!r}>"

    def run(self, function: Callable[[ThreadRank], Result]) -> list[Result]:
        """Start the threads, and call `function(rank)` in each; return the results in the order of ranks.

        Raises:
            Exception: the error of the lowest rank that raised one.  Errors of ranks that only waited for a failed rank
            do not count.
        """
        barrier = Barrier(self.size)
        slots: list[Any] = [None] * self.size
        results: list[Any] = [None] * self.size
        errors: list[BaseException | None] = [None] * self.size

        def work(rank: int) -> None:
            try:
                results[rank] = function(ThreadRank(self, rank, barrier, slots))
            except BaseException as e:
                errors[rank] = e
                barrier.abort()

        threads = [Thread(target=work, args=(rank,), name=f"rank {rank}") for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        raised = [e for e in errors if e is not None]
        if raised:
            raise next((e for e in raised if not isinstance(e, _Broken)), raised[0])
        return results


class ThreadRank(Communicator):
    """A rank of `Threads`; pass it as the argument `group` of the functions of `hsgen.distributed`."""

    def __init__(self, group: Threads, rank: int, barrier: Barrier, slots: list[Any]) -> None:
        self.rank, self.size, self.device = rank, group.size, group.device
        self._timeout, self._barrier, self._slots = group.timeout, barrier, slots

    def _all(self, passed: Any) -> list[Any]:
        """Wait for all ranks; return the objects that they pass, in the order of ranks."""
        self._slots[self.rank] = passed
        self._wait()
        every = list(self._slots)
        self._wait()
        return every

    def _wait(self) -> None:
        try:
            self._barrier.wait(self._timeout)
        except BrokenBarrierError:
            raise _Broken(f"rank {self.rank}: a rank has ended, or did not come within {self._timeout} s") from None

    def gather(self, words: Any) -> Words:
        """See `Communicator`."""
        return np.stack(self._all(words.copy()))

    def gather_rows(self, words: Any) -> Any:
        """See `Communicator`."""
        return self.gather(words)

    def gather_arrays(self, arrays: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """See `Communicator`."""
        result = [np.concatenate(column) for column in zip(*self._all(arrays), strict=True)]
        self._wait()  # all ranks have copied from this rank's arrays, which may change again
        return result

    def exchange(self, source: Any, sent: Sequence[Span], out: Any, received: Sequence[Span]) -> None:
        """See `Communicator`."""
        for (array, spans), (begin, end) in zip(self._all((source, sent)), received, strict=True):
            out[begin:end] = array[slice(*spans[self.rank])]
        self._wait()  # all ranks have copied from this rank's arrays, which may change again
