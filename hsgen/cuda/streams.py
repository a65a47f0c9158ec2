"""Streams of any library: get their handles, make one stream wait for another, and keep arrays alive until a stream has
executed a call.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Any

from hsgen.core.errors import Wrong, wrong_type
from hsgen.core.numbers import integer
from hsgen.cuda.driver import Device, bindings, done

_HANDLES = ("cuda_stream", "ptr", "handle")  # attributes in PyTorch, CuPy, and cuda.core or Numba
_MOST = (1 << 64) - 1  # greatest handle


def handle(stream: Any, device: Device, noun: str) -> int:
    """Return the handle of a stream.

    `stream` is a stream of any library, an object with ``__cuda_stream__``, or the handle itself.

    Raises:
        TypeError: the argument is not a stream.
        OutOfRange: the argument is a number that cannot be a handle.
        ValueError: the stream belongs to another GPU.
    """
    number = _number(stream)
    if number is None:
        raise wrong_type("stream", "a stream of PyTorch, CuPy or Numba, or its handle", stream)
    if number > 2 and (owner := _device(number)) != device.number:
        raise ValueError(f"the stream belongs to GPU {owner}, this {noun} to GPU {device.number}")
    return number


def _number(stream: Any) -> int | None:
    if hasattr(stream, "__index__"):
        return integer("stream", stream, 0, _MOST)
    if hasattr(stream, "__cuda_stream__"):
        pair = stream.__cuda_stream__
        return int((pair() if callable(pair) else pair)[1])
    for name in _HANDLES:
        value = getattr(stream, name, None)
        value = getattr(value, "value", value) if value is not None else None
        if value is not None or hasattr(stream, name):
            return int(value or 0)
    return None


def _device(stream: int) -> int:
    """Return the number of the GPU to which a stream belongs."""
    driver = bindings()
    context = done(driver.cuStreamGetCtx(stream), "stream")
    done(driver.cuCtxPushCurrent(context), "cuCtxPushCurrent")
    try:
        return int(done(driver.cuCtxGetDevice(), "cuCtxGetDevice"))
    finally:
        driver.cuCtxPopCurrent()


def order(first: int, then: int) -> None:
    """Make later work of the stream `then` wait for all enqueued work of the stream `first`."""
    driver = bindings()
    event = _created()
    done(driver.cuEventRecord(event, first), "cuEventRecord")
    done(driver.cuStreamWaitEvent(then, event, 0), "cuStreamWaitEvent")
    driver.cuEventDestroy(event)  # the driver destroys the event once the event has completed


def _created() -> Any:
    driver = bindings()
    return done(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING), "cuEventCreate")


class Kept:
    """Keeps objects, such as arrays, alive until a stream has executed all work that was enqueued before the call of
    `hold`.
    """

    def __init__(self) -> None:
        self._held: deque[tuple[Any, Any]] = deque()
        self._free: list[Any] = []  # events to use again
        self._lock = Lock()

    def hold(self, stream: int, objects: Any) -> None:
        """Keep objects until the stream has executed all work that is enqueued so far.

        While the stream captures a graph, nothing is kept, because the graph may run at any later time.  The user of
        the graph must then keep the arrays alive.
        """
        driver = bindings()
        if int(done(driver.cuStreamIsCapturing(stream), "cuStreamIsCapturing")) == 0:
            try:
                event = self._free.pop()
            except IndexError:
                event = _created()
            done(driver.cuEventRecord(event, stream), "cuEventRecord")
            self._held.append((event, objects))
            self.sweep()

    def sweep(self) -> None:
        """Release kept objects, oldest first; stop at the first objects whose stream has not yet executed the work
        before `hold`.
        """
        driver = bindings()
        with self._lock:
            while self._held:
                event = self._held[0][0]
                code = driver.cuEventQuery(event)[0]
                if code == driver.CUresult.CUDA_ERROR_NOT_READY:
                    return
                self._held.popleft()
                self._free.append(event)
                if code != 0:
                    raise Wrong(f"a call before says {code.name}")

    def __len__(self) -> int:
        """Return the number of calls of `hold` whose objects are still kept."""
        return len(self._held)


KEPT = Kept()
"""The arrays that calls in this process keep alive."""
