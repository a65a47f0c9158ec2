"""The work of a call, a sort or a selection of rows: its numbers in compiled programs, and its prepared launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import ClassVar, Protocol

from hsgen.core.keys import TYPES
from hsgen.core.plan import ROLES
from hsgen.cuda.choices import SEGMENTS, UNEVEN_UP_TO, WHOLE, choice
from hsgen.cuda.driver import Device, device
from hsgen.cuda.order import Shape, order, runner
from hsgen.cuda.prepared import DESTINATION, SCRATCH, Prepared, Recorded
from hsgen.cuda.sorter import Sorter
from hsgen.cuda.top_k import TopK, prepared_selection

NAMES = tuple(sorted(TYPES))
"""The key types; compiled programs contain the index of a type in this tuple."""
_VALUES, _VALUES_OUT = ROLES.index("values"), ROLES.index("values_out")


class Launches(Protocol):
    """Prepared launches; `scratch` is the size of scratch memory in bytes."""

    scratch: int

    @property
    def run(self) -> Callable[..., None]:
        """A function that launches with the numbers of `Work.addresses`, and the handle of a stream."""

    @property
    def recorded(self) -> Callable[..., list[Recorded]]:
        """A function that returns the launches of `run` for the numbers of `Work.addresses`, without launching."""


@dataclass(frozen=True, slots=True)
class Work:
    """A sort of rows, or a selection of the first `take` keys of each row if `take` is not 0.

    keys, indices: whether these are results.  Indices of a selection have 32 bits, those of a sort as `narrow` says.
    value: the size in bytes of values that are sorted with keys, or 0.  Sorted values replace the indices.
    """

    COUNT: ClassVar[int] = 8
    """The count of the numbers of work."""

    key: int
    rows: int
    length: int
    descending: bool
    keys: bool
    indices: bool
    take: int = 0
    value: int = 0

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Work:
        """Return the work that has these numbers."""
        key, rows, length, descending, keys, indices, take, value = numbers
        return cls(key, rows, length, bool(descending), bool(keys), bool(indices), take, value)

    @property
    def buffers(self) -> int:
        """The number of buffers of a custom call: keys, values, the results, and scratch memory."""
        return 2 + bool(self.value) + self.keys + self.indices

    @property
    def narrow(self) -> bool:
        """Whether indices of a sort have 32 bits: one row, and no keys of floats, whose bits a further launch restores.
        Otherwise indices have 64 bits.
        """
        key = NAMES[self.key]
        plain = self.indices and not self.take and not self.value and not (self.keys and TYPES[key].kind == 2)
        return plain and choice(key, self.rows, self.length) == WHOLE

    def addresses(self, buffers: Sequence[int]) -> tuple[int, ...]:
        """Return the addresses of keys, sorted keys, indices or sorted values, scratch memory, and values if there are
        values; 0 for a result that is not wanted.

        buffers: the addresses of the buffers in the order of the custom call.
        """
        source, *more = buffers
        values = [more.pop(0)] if self.value else []
        return source, more[0] if self.keys else 0, more[self.keys] if self.indices else 0, more[-1], *values

    def numbers(self) -> list[int]:
        """Return the work as numbers."""
        return [int(x) for x in astuple(self)]

    def launches(self, number: int) -> Launches:
        """Return the prepared launches on a GPU.

        Raises:
            Usage: no target has such a sort.
            Unavailable, Wrong: a kernel does not compile, or the GPU cannot run it.
        """
        if self.take:
            return Selection(self, number)
        if self.value:
            return Pairs(self, number)
        if self.narrow:
            return Indices(self, number)
        return self._order(number)

    def shape(self, number: int) -> Shape:
        """Return the sort on a GPU."""
        return Shape(
            number=number,
            key=NAMES[self.key],
            rows=self.rows,
            length=self.length,
            descending=self.descending,
            keys=self.keys,
            indices=self.indices,
        )

    def _order(self, number: int) -> Launches:
        """Return the prepared sort without values."""
        ready = order(self.shape(number))
        assert ready is not None  # rows that hsgen does not sort never become work
        return ready


@lru_cache(maxsize=64)
def selector(key: str, number: int, *, descending: bool) -> TopK:
    """Return the selection, with 32-bit indices, from keys of a type."""
    return TopK(key, value="index", order="descending" if descending else "ascending", device=number)


class _Single:
    """Launches of one prepared call, with the interface of `Launches`."""

    def __init__(self, prepared: Prepared, gpu: Device) -> None:
        self._prepared, self._gpu, self.scratch = prepared, gpu, prepared.scratch

    def run(self, source: int, keys: int, values_out: int, scratch: int, *more: int) -> None:
        """Launch; `more` has the address of values, if there are values, and the stream."""
        *values, stream = more
        with self._gpu.current():
            self._prepared.run(self._bases(source, keys, values_out, scratch, values), stream)

    def recorded(self, source: int, keys: int, values_out: int, scratch: int, *values: int) -> list[Recorded]:
        """Return the launches of `run`, without launching."""
        return self._prepared.recorded(self._bases(source, keys, values_out, scratch, values))

    def _bases(self, source: int, keys: int, values_out: int, scratch: int, values: Sequence[int]) -> list[int]:
        """Return the addresses in the order of `ROLES`; unused roles have the address of the keys."""
        bases = [source] * len(ROLES)
        bases[DESTINATION], bases[_VALUES_OUT], bases[SCRATCH] = keys or source, values_out, scratch
        if values:
            bases[_VALUES] = values[0]
        return bases


class Selection(_Single):
    """The launches of a selection."""

    def __init__(self, work: Work, number: int) -> None:
        select = selector(NAMES[work.key], number, descending=work.descending)
        super().__init__(*prepared_selection(select, work.rows * work.length, work.take, work.rows))


class Indices(_Single):
    """The launches of a sort with 32-bit indices."""

    def __init__(self, work: Work, number: int) -> None:
        sorter, n = runner(work.shape(number), "index", single=True), work.length
        assert isinstance(sorter, Sorter)
        options = sorter.options(discard=not work.keys)
        uneven = sorter.argsorts.uneven(n, options) if n <= UNEVEN_UP_TO else None
        super().__init__(uneven or sorter.prepared(n, options, in_place=False), device(number))


def moves(key: str, rows: int, length: int, value: int) -> bool:
    """Return True if a sort moves values of this size in bytes with keys of this type.

    Keys that are floats must keep their bits, which a sort in numeric order changes.  Rows that one work-group sorts,
    and rows that are sorted one by one, have no sort that moves values.
    """
    methods = (WHOLE, SEGMENTS)
    return TYPES[key].kind < 2 and value in (4, 8) and choice(key, rows, length) in methods


class Pairs(_Single):
    """The launches of a sort of keys with values."""

    def __init__(self, work: Work, number: int) -> None:
        single = choice(NAMES[work.key], work.rows, work.length) == WHOLE
        sorter, n = runner(work.shape(number), f"v{work.value}", single=single), work.rows * work.length
        options = sorter.options()
        if not single:
            options = replace(options, segment_count=work.rows, rows=True)
        super().__init__(sorter.prepared(n, options, in_place=False), device(number))


_known: dict[tuple[Work, int], Launches] = {}
_KEPT = 256
_lock = Lock()


def launches(work: Work, number: int) -> Launches:
    """Return the prepared launches of work on a GPU; equal work is prepared once."""
    ready = _known.get((work, number))
    if ready is None:
        with _lock:
            ready = work.launches(number)
            if len(_known) >= _KEPT:
                _known.clear()
            _known[work, number] = ready
    return ready
