"""The class `Work`, which describes what a custom call of XLA does: a sort of rows, or a selection.  A compiled program
stores a `Work` as eight numbers.

At run time, the handler of the custom call turns these numbers into a `Work` again, and runs its kernel launches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import ClassVar, Protocol

from hsgen.core.keys import TYPES
from hsgen.core.plan import ROLES
from hsgen.cuda.choices import ROWS, SEGMENTS, UNEVEN_UP_TO, WHOLE, choice
from hsgen.cuda.driver import Device, device
from hsgen.cuda.order import Shape, order, runner
from hsgen.cuda.prepared import DESTINATION, SCRATCH, Prepared, Recorded
from hsgen.cuda.sorter import Sorter
from hsgen.cuda.top_k import TopK, prepared_selection

NAMES = tuple(sorted(TYPES))
"""The key types; a compiled program contains a key type as its index in this tuple."""
_VALUES, _VALUES_OUT = ROLES.index("values"), ROLES.index("values_out")


class Launches(Protocol):
    """The prepared launches of a `Work`; `scratch` is the size of scratch memory in bytes."""

    scratch: int

    @property
    def run(self) -> Callable[..., None]:
        """A function that launches the kernels; its arguments are the addresses that `Work.addresses` returns, then the
        handle of a stream.
        """

    @property
    def recorded(self) -> Callable[..., list[Recorded]]:
        """A function that returns the launches that `run` would do, without launching; its arguments are the addresses,
        as in `run`.
        """


@dataclass(frozen=True, slots=True)
class Work:
    """A sort of rows, or a selection of the first `take` keys of each row if `take` is not 0.

    key: the index of the key type in `NAMES`.  keys, indices: whether sorted keys and indices are results.  Indices of
    a selection have 32 bits; those of a sort have 32 bits if `narrow` is True, else 64.  value: the size in bytes of
    values that are sorted with the keys, or 0.  With values, the result has them in place of the indices.
    """

    COUNT: ClassVar[int] = 8
    """How many numbers describe a `Work`; see `numbers`."""

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
        """Return the `Work` for which `numbers` returns these numbers."""
        key, rows, length, descending, keys, indices, take, value = numbers
        return cls(key, rows, length, bool(descending), bool(keys), bool(indices), take, value)

    @property
    def buffers(self) -> int:
        """How many buffers a custom call has: the keys, the values if there are any, one or two results, and scratch
        memory.
        """
        return 2 + bool(self.value) + self.keys + self.indices

    @property
    def narrow(self) -> bool:
        """True if a sort returns 32-bit indices: it sorts a single row, and does not return keys that are floats.

        All other sorts are those of `hsgen.cuda.order`, whose indices have 64 bits.
        """
        key = NAMES[self.key]
        plain = self.indices and not self.take and not self.value and not (self.keys and TYPES[key].kind == 2)
        return plain and choice(key, self.rows, self.length) == WHOLE

    def addresses(self, buffers: Sequence[int]) -> tuple[int, ...]:
        """Return the addresses that `Launches.run` takes, in this order: keys, sorted keys, indices, scratch memory,
        values.

        The address is 0 for a result that the `Work` does not have.  If values are sorted with the keys, the third
        address is that of the sorted values.  Otherwise, there is no fifth address.

        buffers: the addresses of the buffers in the order of the custom call.
        """
        source, *more = buffers
        values = [more.pop(0)] if self.value else []
        return source, more[0] if self.keys else 0, more[self.keys] if self.indices else 0, more[-1], *values

    def numbers(self) -> list[int]:
        """Return the eight numbers that describe the `Work` in a compiled program: its fields in order."""
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
        """Return the sort on GPU `number` as a `Shape`."""
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
        """Return the prepared sort, whose indices have 64 bits."""
        ready = order(self.shape(number))
        assert ready is not None  # `hsgen.jax.sorting` creates a `Work` only for rows that hsgen sorts
        return ready


@lru_cache(maxsize=64)
def selector(key: str, number: int, *, descending: bool) -> TopK:
    """Return the `TopK` with 32-bit indices for a key type on GPU `number`."""
    return TopK(key, value="index", order="descending" if descending else "ascending", device=number)


class _Single:
    """Adapts a `Prepared`, the kernel launches of a sort, to the interface of `Launches`."""

    def __init__(self, prepared: Prepared, gpu: Device) -> None:
        self._prepared, self._gpu, self.scratch = prepared, gpu, prepared.scratch

    def run(self, source: int, keys: int, values_out: int, scratch: int, *more: int) -> None:
        """Launch the kernels.

        values_out: the address of indices or sorted values.  more: the address of values if there are any, then the
        stream.
        """
        *values, stream = more
        with self._gpu.current():
            self._prepared.run(self._bases(source, keys, values_out, scratch, values), stream)

    def recorded(self, source: int, keys: int, values_out: int, scratch: int, *values: int) -> list[Recorded]:
        """Return the launches of `run`, without launching."""
        return self._prepared.recorded(self._bases(source, keys, values_out, scratch, values))

    def _bases(self, source: int, keys: int, values_out: int, scratch: int, values: Sequence[int]) -> list[int]:
        """Return the addresses in the order of `ROLES`; for a role that the launches do not use, the list has the
        address of the keys.
        """
        bases = [source] * len(ROLES)
        bases[DESTINATION], bases[_VALUES_OUT], bases[SCRATCH] = keys or source, values_out, scratch
        if values:
            bases[_VALUES] = values[0]
        return bases


class Selection(_Single):
    """The kernel launches of a selection of the first `take` keys of each row."""

    def __init__(self, work: Work, number: int) -> None:
        select = selector(NAMES[work.key], number, descending=work.descending)
        super().__init__(*prepared_selection(select, work.rows * work.length, work.take, work.rows))


class Indices(_Single):
    """The kernel launches that sort a single row, with 32-bit indices."""

    def __init__(self, work: Work, number: int) -> None:
        sorter, n = runner(work.shape(number), "index", single=True), work.length
        assert isinstance(sorter, Sorter)
        options = sorter.options(discard=not work.keys)
        uneven = sorter.argsorts.uneven(n, options) if n <= UNEVEN_UP_TO else None
        super().__init__(uneven or sorter.prepared(n, options, in_place=False), device(number))


def moves(key: str, rows: int, length: int, value: int) -> bool:
    """Return True if hsgen has a sort that moves values of `value` bytes with the keys of such rows.

    There is none for floats: their bits must not change, but a sort in numeric order changes those of zeros and NaNs.
    Rows that `hsgen.cuda.choices` sorts by the method `EACH` have no such sort either.
    """
    methods = (WHOLE, ROWS, SEGMENTS)
    return TYPES[key].kind < 2 and value in (4, 8) and choice(key, rows, length) in methods


class Pairs(_Single):
    """The kernel launches that sort rows of keys together with their values."""

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
    """Return the prepared launches of a `Work` on GPU `number`; a cache keeps up to 256 of them."""
    ready = _known.get((work, number))
    if ready is None:
        with _lock:
            ready = work.launches(number)
            if len(_known) >= _KEPT:
                _known.clear()
            _known[work, number] = ready
    return ready
