"""Run a call with arrays of any library: check that they are on the GPU, choose the stream, and make streams wait for
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hsgen.cuda import streams
from hsgen.cuda.driver import Device
from hsgen.cuda.libraries import HOST, NOWHERE, Facts, Library, library_of

Enqueue = Callable[[int, bool], None]
"""A function that enqueues a call.  Its arguments are the handle of a stream, and whether it is the library's current
stream.
"""


def check_place(facts: Facts, name: str, noun: str, device: Device) -> None:
    """Check that an array is on `device`; messages call the array `name` and the operation `noun`.

    Raises:
        ValueError: the array is on another GPU, or on the host.
    """
    if facts.device not in (device.number, NOWHERE):
        where = "the CPU" if facts.device == HOST else f"GPU {facts.device}"
        raise ValueError(f"{name} is on {where}, this {noun} on GPU {device.number}")


def run(device: Device, noun: str, library: Library, arrays: Sequence[Any], stream: Any, enqueue: Enqueue) -> int:
    """Enqueue a call on `stream`, or the current stream of the library; return the handle of the stream.

    The arrays of a call without `stream` may belong to several libraries.  The call then waits for the current streams
    of all these libraries, and these streams wait for the call.

    library: the library of the first array.  arrays: the arrays of the call, None for absent arrays.  The arrays stay
    alive until the GPU has executed the call.

    Raises:
        TypeError, ValueError: `stream` is not a stream, or is a stream of another GPU.
    """
    entered = device.enter()
    try:
        now, number = library.stream(arrays[0], device.number), device.number
        on = now if stream is None else streams.handle(stream, device, noun)
        mixed = stream is None and len({type(x) for x in arrays if x is not None}) > 1
        further = _others(arrays, number) - {on} if mixed else set()
        for one in further:
            streams.order(one, on)
        enqueue(on, now == on)
        if now != on:
            for x in arrays:
                if x is not None and library_of(x, "array") is library:
                    library.record(x, number, on)
        if library.keeps or further or now != on:
            streams.KEPT.hold(on, arrays)
        for one in further:
            streams.order(on, one)
        return on
    finally:
        if entered:
            device.leave()


def _others(arrays: Sequence[Any], number: int) -> set[int]:
    """Return the current streams of the libraries of all arrays."""
    return {library_of(x, "array").stream(x, number) for x in arrays if x is not None}
