"""Repeated calls: a call with the same queue, arrays and numbers as the last call is not checked again."""

from __future__ import annotations

import weakref
from collections.abc import Container, Mapping, Sequence
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.engines.compiled import Compiled
from hsgen.engines.launches import in_order
from hsgen.opencl.arrays import Memory

State = tuple[int, int, tuple[int, ...], Any]
"""The state of an array: the handle of its buffer, its offset, its shape and its element type."""


def _state(x: Any) -> State:
    return x.base_data.int_ptr, x.offset, x.shape, x.dtype


def repeatable(queue: Any, arrays: Sequence[Any]) -> bool:
    """Return True if a `Repeat` can serve later equal calls, because the queue is in-order and each array is a whole
    buffer.
    """
    present = [x for x in arrays if x is not None]
    buffers = all(getattr(x, "base_data", None) is not None and not x.offset for x in present)
    return buffers and in_order(queue) and all(x.base_data.associated_memobject is None for x in present)


class Repeat:
    """A checked call with its launches, which an equal next call enqueues again.

    The method `fits` compares the next call with the stored call.  An equal call has the same queue, arrays and
    numbers, and each array still has the same buffer, offset, shape and element type.  Also, no array has a new event
    of another queue.  The method `run` enqueues an equal call without further checks.  The caller must check any other
    call in full.

    A `Repeat` has weak references to the arrays, and does not keep them alive.
    """

    def __init__(
        self,
        compiled: Compiled,
        queue: Any,
        arrays: Sequence[Any],
        numbers: tuple[Any, ...],
        placed: Mapping[str, Memory],
        n: int,
        options: Options,
        written: Container[str],
    ) -> None:
        """Store a checked call for `n` items.

        placed: the memory range of each array, by role.  written: the roles of the arrays that the call writes.
        """
        self._compiled, self._queue, self._numbers, self._n = compiled, queue, numbers, n
        self._given = [x is not None for x in arrays]
        self._refs = [(i, weakref.ref(x), _state(x)) for i, x in enumerate(arrays) if x is not None]
        self._events = {i: [*x.events] for i, x in enumerate(arrays) if x is not None}
        index = {id(x): i for i, x in enumerate(arrays)}
        self._roles = [(role, index[id(m.argument)]) for role, m in placed.items()]
        self._written = {i for role, i in self._roles if role in written}
        self._launches = compiled.launches(n, options, self._bound(arrays))

    def _bound(self, arrays: Sequence[Any]) -> dict[str, Any]:
        return {role: arrays[i].base_data for role, i in self._roles}

    def fits(self, queue: Any, arrays: Sequence[Any], numbers: tuple[Any, ...]) -> bool:
        """Return True if a call equals the stored call, and the queue will run the call after all earlier commands that
        use its arrays.
        """
        if queue is not self._queue or numbers != self._numbers:
            return False
        if [x is not None for x in arrays] != self._given:
            return False
        for i, ref, state in self._refs:
            x, known = arrays[i], ref()
            if known is None or x is not known or known.base_data is None:
                return False
            if _state(known) != state or not self._after(i, known.events):
                return False
        return True

    def _after(self, number: int, events: list[Any]) -> bool:
        """Return True if the next call runs after all `events` of array `number`.

        The next call runs after the events that the last call waited for, and after all events of its own queue.
        """
        known = self._events[number]
        if events and events != known:
            if any(e not in known and e.command_queue != self._queue for e in events):
                return False
            self._events[number] = [*events]
        return True

    def run(self, arrays: Sequence[Any]) -> Any:
        """Enqueue the stored call without checks; return the event of its end."""
        event = self._compiled.enqueue(self._queue, self._bound(arrays), self._n, self._launches, True)
        for i in self._written:
            arrays[i].events[:] = self._events[i] = [event]  # the in-order queue ends this event after all earlier ones
        return event
