"""Sorts of the rows of an array with the results of torch.sort: numeric order, and 64-bit indices that count within the
row.

An `Order` has the kernel launches for one number of rows, one row length and one key type.  A call only stores
addresses in the arguments of these launches, and launches them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from threading import RLock
from typing import Any

from hsgen.algorithms.radix import floats
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, TYPES
from hsgen.core.plan import ROLES
from hsgen.cuda import background
from hsgen.cuda.choices import EACH, RAW_UP_TO, ROWS, SEGMENTS, UNEVEN_UP_TO, WHOLE, WIDE_UP_TO, WIDEST, choice
from hsgen.cuda.driver import device
from hsgen.cuda.finish import Finish, loading
from hsgen.cuda.kernels import relaxed
from hsgen.cuda.prepared import SCRATCH, Prepared, Recorded
from hsgen.cuda.runner import Runner
from hsgen.cuda.segmented_sorter import SegmentedSorter
from hsgen.cuda.sorter import Sorter
from hsgen.cuda.subjects import Shape as Shape

_SOURCE, _OUT, _VALUES_OUT, _INDICES = (
    ROLES.index(r) for r in ("source", "destination", "values_out", floats.INDICES.role)
)
_ALIGNED = 256  # each part of scratch memory begins at a multiple of this number of bytes
_lock = RLock()


_runners: dict[tuple[Shape, str, bool], Runner] = {}


def runner(shape: Shape, value: str, *, single: bool) -> Runner:
    """Return the sorter for the GPU, key type and order of `shape`; `value` is its kind of values, such as "index64".

    single: whether to return a `Sorter`, not a `SegmentedSorter`.
    """
    alike = Shape(number=shape.number, key=shape.key, rows=0, length=0, descending=shape.descending)
    known = _runners.get((alike, value, single))
    if known is not None:
        return known
    background.slow()
    with _lock:
        if (alike, value, single) not in _runners:
            kind: Any = Sorter if single else SegmentedSorter
            order = "descending" if shape.descending else "ascending"
            _runners[alike, value, single] = kind(
                shape.key, value=value, order=order, numeric=True, device=shape.number
            )
        return _runners[alike, value, single]


class Order:
    """The kernel launches that sort the rows that a `Shape` describes, by a method of `hsgen.cuda.choices`.  Each call
    passes its arrays' addresses.

    A sort may store 32-bit indices, indices that count within the whole array, or replaced NaNs and zeros.  After such
    a sort, the *completing launch* (`hsgen.cuda.finish`) stores 64-bit indices within rows and the original bits.
    `scratch` is the size of a call's scratch memory in bytes.
    """

    def __init__(self, shape: Shape, method: str) -> None:
        self.shape, self.method = shape, method
        self.gpu = device(shape.number)
        done = self._short_rows() if method == ROWS else None
        if method == ROWS and done is None:  # no tile of this GPU holds a row
            self.method = choice(shape.key, shape.rows, shape.length, without=ROWS) or SEGMENTS
        each = self.method == EACH
        self._rows, n = (shape.rows, shape.length) if each else (1, shape.n)
        self._key_bytes = KEYS[TYPES[shape.key].key].bytes
        if done is None:
            done = self._raw(n)
        value = "none" if not shape.indices else "index" if not done and self._narrow() else "index64"
        self._index_bytes = 4 if value == "index" else 8
        self._turn: int | None = None
        if done is not None:
            self._prepared, self._finish = done, None
        else:
            key, widen = self._finish_of()
            with loading(self.gpu, key, self._index_bytes) if key or widen else nullcontext():
                self._prepared = self._launches(n, value)
            self._finish = self._finishing(key, widen=widen) if key or widen else None
        sort_scratch = -(-self._prepared.scratch // _ALIGNED) * _ALIGNED
        self._index_at = sort_scratch if shape.indices and value == "index" else -1
        self.scratch = sort_scratch + (4 * (shape.n if self._turn is None else n) if self._index_at >= 0 else 0)

    def _launches(self, n: int, value: str) -> Prepared:
        """Return the launches that sort `n` keys, without the completing launch.

        The last pass of a sort by `Argsorts.widened` may itself do the work of the completing launch.  A word in
        scratch memory tells whether the pass has done it; `_turn` receives the offset of this word.  The completing
        launch then runs after the sort of each row, and reads the word first.
        """
        sorter, options = self._sorter(value), self._options(value)
        if value == "index" and isinstance(sorter, Sorter):
            if n <= UNEVEN_UP_TO and (uneven := sorter.argsorts.uneven(n, options)):
                return uneven
            if widened := sorter.argsorts.widened(n, options):
                self._turn = widened[1]
                return widened[0]
        return sorter.prepared(n, options, in_place=False)

    def _sorter(self, value: str) -> Runner:
        """Return the `Sorter` or `SegmentedSorter` that the method uses, with values of the kind `value`."""
        return runner(self.shape, value, single=self.method in (WHOLE, EACH))

    def _options(self, value: str) -> Options:
        """Return the options of the sorter's calls, which state whether keys are written, and the number of rows."""
        options = self._sorter(value).options(discard=not self.shape.keys)
        return options if self.method in (WHOLE, EACH) else replace(options, segment_count=self.shape.rows, rows=True)

    def _short_rows(self) -> Prepared | None:
        """Return the launch by which the method `ROWS` sorts all rows; None if no launch serves such rows.

        With indices, the launch itself stores 64-bit indices within rows, and the original bits of zeros and NaNs.
        """
        shape, value = self.shape, "index64" if self.shape.indices else "none"
        sorter = self._sorter(value)
        assert isinstance(sorter, SegmentedSorter)
        raw = shape.keys and TYPES[shape.key].kind == 2
        return sorter.short_rows(shape.n, self._options(value), in_place=False, in_row=True, raw=raw)

    def _raw(self, n: int) -> Prepared | None:
        """Return the single launch that sorts `n` floats and keeps the bits of zeros and NaNs; None if there is none.

        The launch itself stores 64-bit indices.
        """
        shape = self.shape
        if n > RAW_UP_TO or TYPES[shape.key].kind != 2 or not (shape.keys and shape.indices):
            return None
        if self.method not in (WHOLE, EACH):
            return None
        sorter = self._sorter("index64")
        assert isinstance(sorter, Sorter)
        return sorter.argsorts.raw(n, self._options("index64"))

    def _narrow(self) -> bool:
        """Return True if the sort writes 32-bit indices, which the completing launch then widens."""
        floating = TYPES[self.shape.key].kind == 2 and self.shape.keys
        return self.shape.n < WIDEST and (
            floating or (self.method != EACH and self.shape.rows > 1) or self.shape.n > WIDE_UP_TO
        )

    def _finish_of(self) -> tuple[str, bool]:
        """Return what the completing launch must do: the float type whose zeros and NaNs it restores, and whether it
        widens indices.

        The type is "" if the bits of keys need no change.  With ("", False), there is no completing launch.
        """
        shape = self.shape
        if not shape.indices:
            return "", False
        key = shape.key if TYPES[shape.key].kind == 2 and shape.keys else ""
        return key, self._index_bytes == 4 or (shape.rows > 1 and self.method != EACH)

    def _finishing(self, key: str, *, widen: bool) -> Finish:
        """Return the completing launch; `key` and `widen` are the result of `_finish_of`."""
        shape, in_row = self.shape, self.method == EACH
        n = shape.n if self._turn is None else shape.length
        return Finish(self.gpu, key, n, shape.length, index_bytes=self._index_bytes, widen=widen, in_row=in_row)

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """Enqueue the sort; the arguments are the addresses of keys, sorted keys, 64-bit indices and scratch memory.

        Raises:
            Wrong: the driver refuses a launch.
        """
        entered = self.gpu.enter()
        try:
            finish = self._finish.run if self._finish else None
            self._each(source, keys, indices, scratch, self._prepared.run, finish, stream)
        finally:
            if entered:
                self.gpu.leave()

    def recorded(self, source: int, keys: int, indices: int, scratch: int) -> list[Recorded]:
        """Return the launches that `run` would do with these addresses, without launching them; see
        `Prepared.recorded`.
        """
        launches: list[Recorded] = []

        def sort(bases: list[int], stream: int) -> None:
            launches.extend(self._prepared.recorded(bases))

        def finish(index: int, to: int, keys: int, source: int, stream: int, turn: int = 0) -> None:
            if self._finish is not None:
                launches.append(self._finish.recorded(index, to, keys, source, turn))

        self._each(source, keys, indices, scratch, sort, finish if self._finish else None, 0)
        return launches

    def _each(
        self,
        source: int,
        keys: int,
        indices: int,
        scratch: int,
        sort: Callable[[list[int], int], None],
        finish: Callable[..., None] | None,
        stream: int,
    ) -> None:
        """Call `sort` once for all rows, or in the method `EACH` once for each row, with the addresses of the arrays.

        If `_turn` is set, the sort itself may do the work of the completing launch; `finish` is then called after each
        `sort`.  Otherwise, `finish` is called once at the end.

        sort, finish: `Prepared.run` and `Finish.run`, or functions with the same arguments that record the launches.
        """
        index = scratch + self._index_at if self._index_at >= 0 else indices
        keys = keys if self.shape.keys else source  # a placeholder: this sort writes no keys
        bases = [source] * len(ROLES)
        for row in range(self._rows):
            at = row * self.shape.length
            bases[_SOURCE], bases[_OUT] = source + at * self._key_bytes, keys + at * self._key_bytes
            bases[_VALUES_OUT], bases[SCRATCH] = index + at * self._index_bytes, scratch
            if self._turn is not None:
                bases[_VALUES_OUT], bases[_INDICES] = index, indices + 8 * at
            sort(bases, stream)
            if self._turn is not None and finish is not None:
                finish(index, indices + 8 * at, bases[_OUT], bases[_SOURCE], stream, scratch + self._turn)
        if self._turn is None and finish is not None:
            finish(index, indices, keys, source, stream)


_orders: dict[tuple[Shape, str], Order] = {}
_KEPT = 256


def order(shape: Shape, method: str = "") -> Order | None:
    """Return the `Order` for `shape` by `method`, by default the method that `choice` returns.  The result is None if
    `choice` prefers the array library's own sort.

    Raises:
        Usage: no target sorts such keys.
        Unavailable, Wrong: a kernel does not compile, or the GPU cannot run it.
    """
    known = _orders.get((shape, method))
    if known is None:
        used = method or choice(shape.key, shape.rows, shape.length)
        if not used:
            return None
        with relaxed():
            known = Order(shape, used)
        with _lock:
            if len(_orders) >= _KEPT:
                _orders.clear()
            _orders[shape, method] = known
    return known
