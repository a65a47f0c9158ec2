"""Selections of the first k keys of rows with the results of torch.topk: in numeric order, with 64-bit indices.

A `Selection` has the kernel launches for one number of rows, one row length, one k and one key type.  A call only
stores addresses in the arguments of these launches, and launches them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from threading import RLock

from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, TYPES
from hsgen.core.plan import ROLES
from hsgen.cuda import background
from hsgen.cuda.choices import EACH
from hsgen.cuda.driver import device
from hsgen.cuda.kernels import relaxed
from hsgen.cuda.numeric import rewriting
from hsgen.cuda.order import Order, order
from hsgen.cuda.prepared import SCRATCH, Prepared
from hsgen.cuda.runner import Runner
from hsgen.cuda.selected import BOUNDS, MASKED, SELECTED, Around, Kind, loading
from hsgen.cuda.subjects import Shape
from hsgen.cuda.subjects import Take as Take
from hsgen.cuda.top_k import TopK, prepared_selection
from hsgen.cuda.top_k_choices import LONGEST, SELECT, SORT, choice
from hsgen.operations.top_k import sorted_up_to
from hsgen.runners import row_numbers
from hsgen.runners.top_k import Features, TopKCalls

_SOURCE, _OUT, _VALUES_OUT = (ROLES.index(r) for r in ("source", "destination", "values_out"))
_ROLES = {"lengths": ROLES.index("other"), "starts": ROLES.index("other_values")}
"""The index in `ROLES` for the arrays with the length and with the start of each row."""
_NONE: Mapping[str, int] = {}
_INDEX_BYTES = 8
_NUMBER_BYTES = 4
_ALIGNED = 256  # each region of scratch memory begins at a multiple of this number of bytes
_lock = RLock()


class Selector(TopK):
    """A `TopK` in numeric order with 64-bit indices, for the key type, order and GPU that a `Take` states."""

    def __init__(self, take: Take) -> None:
        order = "descending" if take.largest else "ascending"
        features = Features(lengths="lengths" in take.numbers, starts="starts" in take.numbers)
        calls = TopKCalls(take.key, "index64", order, features)
        Runner.__init__(self, take.number, None, calls, rewriting(take.key, "index64", selects=True))
        self.sorted_up_to = sorted_up_to(self._sort)

    def launches(self, take: Take) -> Prepared:
        """Return the launches that select the first k keys of the rows that a `Take` describes."""
        return prepared_selection(self, take.n, take.k, take.rows)[0]


_selectors: dict[Take, Selector] = {}


def selector(take: Take) -> Selector:
    """Return the selector for a `Take`.  All `Take` objects with the same key type, order, GPU and `numbers` share one
    selector.
    """
    alike = replace(take, rows=0, length=0, k=0, sorted=False, entry=4)
    known = _selectors.get(alike)
    if known is not None:
        return known
    background.slow()
    with _lock:
        if alike not in _selectors:
            _selectors[alike] = Selector(alike)
        return _selectors[alike]


def sorts_after(take: Take) -> bool:
    """Return True if a sort of the selected keys must follow the selection.

    The result must be sorted, but a selection itself sorts only up to k = `sorted_up_to`.  With a k for each row
    (`takes`), the result must always be sorted: the first 3 of 5 sorted keys are the result for k = 3.
    """
    limit = selector(replace(take, numbers=())).sorted_up_to
    return (take.sorted or "takes" in take.numbers) and min(take.k, take.length) > limit


class _Select:
    """The launches of a selection from any number of rows.

    A call of a selector takes at most 2^30 keys, and so at most `turn` rows.  More rows are divided into *turns*: one
    call selects from the first `turn` rows, another from the next, and so on.
    """

    def __init__(self, take: Take) -> None:
        self._selector, self._take = selector(take), take
        self._bytes = KEYS[TYPES[take.key].key].bytes
        self.turn = max(1, min(LONGEST, self._selector.max_n) // take.length)
        counts = [min(self.turn, take.rows - first) for first in range(0, take.rows, self.turn)]
        prepared = {count: self._selector.launches(replace(take, rows=count)) for count in dict.fromkeys(counts)}
        self._parts = [(i * self.turn, prepared[count]) for i, count in enumerate(counts)]
        self.scratch = max(x.scratch for x in prepared.values())

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int, numbers: Mapping[str, int]) -> None:
        """Launch all turns on a stream; the first arguments are the addresses of the arrays.

        numbers: the addresses of the arrays "lengths" and "starts", by name.  The starts of a turn's rows count from
        the first key of the turn.
        """
        bases, take = [source] * len(ROLES), self._take
        for first, prepared in self._parts:
            bases[_SOURCE] = source + first * take.length * self._bytes
            bases[_OUT] = keys + first * take.k * self._bytes
            bases[_VALUES_OUT], bases[SCRATCH] = indices + first * take.k * _INDEX_BYTES, scratch
            for name in take.numbers:
                bases[_ROLES[name]] = numbers[name] + first * _NUMBER_BYTES
            prepared.run(bases, stream)


def _sort(take: Take, length: int) -> Order:
    """Return a sort of rows of `length` keys in the order of the selection `take`."""
    shape = Shape(number=take.number, key=take.key, rows=take.rows, length=length, descending=take.largest)
    ready = order(shape) or order(shape, EACH)
    if ready is None:  # `EACH` sorts all shapes
        raise Usage(f"{take.rows} rows of {length} keys: no sort")
    return ready


class Room:
    """An allocator of regions in scratch memory; `size` is the size of all regions so far, in bytes."""

    def __init__(self) -> None:
        self.size = 0

    def add(self, size: int) -> int:
        """Return the offset of a new region of `size` bytes, a multiple of 256."""
        at, self.size = self.size, self.size + -(-size // _ALIGNED) * _ALIGNED
        return at


class Selection:
    """The launches that select the first k keys of each row of a `Take`, by a method of `hsgen.cuda.top_k_choices`.

    `scratch` is the size of a call's scratch memory in bytes.  `steps` names the steps that run: "select" (a
    selection), "select, sort" (a sort of the selected keys follows) or "sort" (a sort of all rows).
    """

    def __init__(self, take: Take, method: str) -> None:
        self.take, self.method = take, method
        self.gpu, kind = device(take.number), Kind(take.key, take.largest, take.entry)
        size, room = KEYS[TYPES[take.key].key].bytes, Room()
        ragged = any(name in take.numbers for name in row_numbers.BOUNDS)
        masks = ragged and (method == SORT or (sorts_after(take) and TYPES[take.key].kind == 2))
        self._mask = Around(self.gpu, MASKED, kind, take.n, [take.length]) if masks else None
        self._masked_at = room.add(take.n * size) if masks else -1
        sorts = method == SORT or sorts_after(take)
        # _apart: the result of a sort of all rows, or of a selection before a sort, is stored in scratch memory
        self._apart = sorts and (method == SELECT or take.k < take.length)
        self._cuts = self._apart or masks or "takes" in take.numbers  # whether the kernel SELECTED stores all indices
        finishes = self._cuts or "table" in take.numbers or (TYPES[take.key].kind == 2 and method == SELECT)
        self._select, self._sort, self._bounds = None, None, None
        with loading(self.gpu, SELECTED, kind) if finishes else nullcontext():
            if method == SELECT:
                begun = "starts" in take.numbers
                read = () if masks or not ragged else ("lengths", "starts") if begun else ("lengths",)
                self._select = _Select(replace(take, numbers=read))
            if sorts:
                self._sort = _sort(take, take.length if method == SORT else take.k)
        self.steps = ", ".join(name for name, x in (("select", self._select), ("sort", self._sort)) if x)
        if "starts" in take.numbers or "count" in take.numbers:
            turn = self._select.turn if self._select else take.rows
            self._bounds = Around(self.gpu, BOUNDS, None, take.rows, [take.length, turn])
            self._sizes_at, self._begins_at = (room.add(take.rows * _NUMBER_BYTES) for _ in range(2))
        stride = take.length if method == SORT else take.k
        self._keys_at = room.add(take.rows * stride * size) if self._apart else -1
        self._indices_at = room.add(take.rows * stride * _INDEX_BYTES) if self._apart else -1
        self._finish = (
            Around(self.gpu, SELECTED, kind, take.selected, [take.k, stride, take.length]) if finishes else None
        )
        self._work_at = room.add(max(x.scratch for x in (self._select, self._sort) if x is not None))
        self.scratch = room.size

    def run(
        self,
        source: int,
        keys: int,
        indices: int,
        scratch: int,
        stream: int,
        numbers: Mapping[str, int] = _NONE,
    ) -> None:
        """Enqueue the selection; arguments: the addresses of keys, selected keys, 64-bit indices and scratch memory.

        numbers: the address of each array with a number per row, by name.  The numbers in "table_starts" have 64 bits,
        all others 32 bits.  For a look-up table, `numbers` has three more items.  "table" is its address, "size" its
        number of entries, and "entries" the address of the output for selected entries.

        Raises:
            Wrong: the driver refuses a launch.
        """
        entered = self.gpu.enter()
        try:
            self._run(source, keys, indices, scratch, stream, numbers)
        finally:
            if entered:
                self.gpu.leave()

    def _run(self, source: int, keys: int, indices: int, scratch: int, stream: int, numbers: Mapping[str, int]) -> None:
        work, rows = scratch + self._work_at, source
        starts, lengths = numbers.get("starts", 0), numbers.get("lengths", 0)
        begins = 0
        if self._bounds is not None:
            sizes, begins = scratch + self._sizes_at, scratch + self._begins_at
            self._bounds.run((starts, lengths, numbers.get("count", 0), sizes, begins), stream)
            lengths = sizes
        if self._mask is not None:
            rows = scratch + self._masked_at
            self._mask.run((source, rows, starts, lengths), stream)
        first_keys, first_indices, ranks = keys, indices, 0
        if self._apart:
            first_keys, first_indices = scratch + self._keys_at, scratch + self._indices_at
        if self._select is not None:
            self._select.run(rows, first_keys, first_indices, work, stream, {"lengths": lengths, "starts": begins})
            if self._sort is not None:
                self._sort.run(first_keys, keys, indices, work, stream)
                first_keys, ranks = keys, indices
        elif self._sort is not None:
            self._sort.run(rows, first_keys, first_indices, work, stream)
        if self._finish is not None:
            to = indices if self._cuts else 0
            more = (numbers.get(name, 0) for name in ("takes", "table", "table_starts", "entries", "size"))
            self._finish.run((first_indices, ranks, to, first_keys, keys, source, starts, lengths, *more), stream)


_selections: dict[tuple[Take, str], Selection] = {}
_KEPT = 256


def selection(take: Take, method: str = "") -> Selection | None:
    """Return the `Selection` for a `Take` by `method`, by default the method that `choice` returns.  The result is None
    if `choice` prefers the array library's own function.

    Raises:
        Usage: no target selects from such keys.
        Unavailable, Wrong: a kernel does not compile, or the GPU cannot run it.
    """
    known = _selections.get((take, method))
    if known is None:
        used = method or choice(take.key, take.rows, take.length, take.k, sorts=sorts_after(take))
        if not used:
            return None
        with relaxed():
            known = Selection(take, used)
        with _lock:
            if len(_selections) >= _KEPT:
                _selections.clear()
            _selections[take, method] = known
    return known
