"""The base class of `Sorter`, `Merger` and the other classes of `hsgen.cuda`.

The first call with given array shapes, element types and numbers is checked in full, and its kernel launches are
prepared.  Later equal calls reuse these launches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hsgen.core.errors import wrong_type
from hsgen.core.interpreter import Options
from hsgen.core.plan import ROLES
from hsgen.cuda import calls
from hsgen.cuda.driver import chosen
from hsgen.cuda.kernels import Kernels
from hsgen.cuda.libraries import Facts, Library, bytes_of, library_of, named
from hsgen.cuda.prepared import SCRATCH, Prepared
from hsgen.runners import base as runners
from hsgen.runners.ranges import Range

_KEPT = 256  # greatest number of checked calls that are kept

Views = Sequence[tuple[int, Facts] | None]
"""For each array of a call, its address and its `Facts` (type, shape and device); None for an absent array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A call that has passed all checks.  A later call with equal `Facts` and numbers reuses its launches with other
    addresses.

    prepared: the launches.  places: pairs (role, i): array i of the call has this role, an index in `ROLES`.
    apart: tuples (i, j, a, b): the first `a` bytes of array i must not overlap the first `b` bytes of array j.
    """

    prepared: Prepared
    n: int
    options: Options
    places: tuple[tuple[int, int], ...]
    apart: tuple[tuple[int, int, int, int], ...]


class Runner(runners.Runner):
    """The base class of an operation on one GPU, such as a sort.  Several threads may call an object at once, on
    several streams.
    """

    _internal: tuple[str, ...] = ()  # roles whose arrays the runner owns; callers pass the arrays of all other roles

    def __init__(
        self,
        device: int | None,
        target: str | os.PathLike[str] | None,
        calls: runners.Calls,
        rewrite: Callable[[str], str] = str,
    ) -> None:
        """Select the target and the kernels that serve calls on a GPU; the first call compiles the kernels.

        calls: the checks of a call's arguments, which also state the operation.
        target: the name of a target or a path ending in .toml; None for the target that matches the GPU.
        rewrite: as in `Kernels`.
        """
        gpu = chosen(device)
        calls.signs = True
        super().__init__(gpu.host, target, calls)
        self._gpu = gpu
        self._roles = tuple(role for role in calls.roles if role not in self._internal)
        pairs = (("source", "destination"), ("values", "values_out"))
        used = [pair for pair in pairs if calls.in_place and {*pair} <= {*self._roles}]
        self._pairs = tuple((self._roles.index(a), self._roles.index(b)) for a, b in used)
        self._kernels = Kernels(gpu, self._sort, rewrite)
        self._known: dict[Any, Checked] = {}
        self._options_of: dict[tuple[bool, int | None], Options] = {}
        self._ready: dict[tuple[int, Options, bool], Prepared] = {}

    def _run(self, arrays: tuple[Any, ...], numbers: runners.Numbers, stream: Any = None) -> int:
        """Enqueue a call on `stream`, or the current stream of the first array's library; return the stream's handle.

        arrays: the arrays of a call in the order of `Calls.roles`; None for an absent array.  The first is present.
        """
        library, views, pointers = self._viewed(arrays)
        call = self._call(arrays, views, pointers, numbers)

        def enqueue(now: int, current: bool) -> None:
            self._enqueue(call, pointers, library, now, current=current)

        return calls.run(self._gpu, self._calls.noun, library, arrays, stream, enqueue)

    def _viewed(self, arrays: Sequence[Any]) -> tuple[Library, list[tuple[int, Facts] | None], list[int]]:
        """Return the library of the first array, the `Views` of all arrays, and their addresses (0 if absent)."""
        library = library_of(arrays[0], self._name(0))
        views: list[tuple[int, Facts] | None] = [library.view(arrays[0])]
        for i in range(1, len(arrays)):
            x = arrays[i]
            views.append(None if x is None else library_of(x, self._name, i).view(x))
        return library, views, [0 if v is None else v[0] for v in views]

    def _enqueue(self, call: Checked, pointers: list[int], library: Library, stream: int, *, current: bool) -> None:
        """Enqueue a checked call; `library` allocates its scratch memory.

        current: whether `stream` is the library's current stream.
        """
        bases = [pointers[0] or max(pointers)] * len(ROLES)  # placeholders: launches use no role outside `places`
        for role, i in call.places:
            bases[role] = pointers[i]
        memory = None
        if size := call.prepared.scratch:
            memory = library.allocate(size, self._gpu.number, stream, current=current)
            bases[SCRATCH] = memory.address
        try:
            self._before(call, bases, stream)
            call.prepared.run(bases, stream)
            self._after(call, bases, stream)
        finally:
            if memory is not None:
                library.free(memory, stream)

    def _before(self, call: Checked, bases: list[int], stream: int) -> None:
        """Enqueue a subclass's work before the launches; store in `bases` the addresses of `_internal` arrays."""

    def _after(self, call: Checked, bases: Sequence[int], stream: int) -> None:
        """Enqueue a subclass's work after the launches, before the scratch memory is freed."""

    def _call(self, arrays: Sequence[Any], views: Views, pointers: list[int], numbers: runners.Numbers) -> Checked:
        """Return the call after all checks, with its prepared launches.  If an earlier call was equal, only overlaps of
        arrays are checked.
        """
        key = (*[v and v[1] for v in views], *[pointers[a] == pointers[b] for a, b in self._pairs], numbers)
        call = self._known.get(key)
        if call is not None:
            for i, j, size, length in call.apart:
                if pointers[i] < pointers[j] + length and pointers[j] < pointers[i] + size:
                    break
            else:
                return call
        with self._lock:
            call = self._checked(arrays, views, numbers)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = call
        return call

    def _checked(self, arrays: Sequence[Any], views: Views, numbers: runners.Numbers) -> Checked:
        """Check a call and prepare its launches."""
        checks = self._calls
        present = {role: v for role, v in zip(self._roles, views, strict=True) if v}
        for role in self._roles:
            if role in checks.required and role not in present:
                raise wrong_type(checks.names[role], "an array on a GPU", None)
        checks.check_given(present)
        ranges = {role: self._memory(arrays[self._roles.index(role)], v, role) for role, v in present.items()}
        n, options, placed = checks.checked(ranges, numbers)
        for role in checks.written:
            if role in placed and (v := views[self._index(placed[role], ranges)]) and v[1].readonly:
                name = self._name(self._index(placed[role], ranges))
                raise ValueError(f"{name} is read-only; give a writable array")
        options = checks.settled(n, options, placed)
        same = "source" in placed and placed["source"] is placed.get("destination")
        places = tuple((ROLES.index(role), self._index(x, ranges)) for role, x in placed.items() if x.size)
        ready = self.prepared(n, options, in_place=same)
        used = [(self._index(x, ranges), size, written) for _, x, size, written in checks.uses(placed, n, options)]
        used = [x for x in used if x[1]]
        apart = tuple((i, j, a, b) for k, (i, a, w) in enumerate(used) for j, b, too in used[k + 1 :] if w or too)
        return Checked(prepared=ready, n=n, options=options, places=places, apart=apart)

    def prepared(self, n: int, options: Options, *, in_place: bool) -> Prepared:
        """Return the prepared launches for calls with `n` items and these options; a cache keeps 256 of them.  No array
        is needed.

        Raises:
            Usage: n exceeds `max_n`.
            Unavailable, Wrong: a kernel does not compile, or the GPU cannot run it.
        """
        key = n, options, in_place
        known = self._ready.get(key)
        if known is None:
            known = self._prepare(n, options, in_place=in_place)
            if len(self._ready) >= _KEPT:
                self._ready.clear()
            self._ready[key] = known
        return known

    def _prepare(self, n: int, options: Options, *, in_place: bool) -> Prepared:
        """Prepare and return the launches for calls with `n` items and these options."""
        return Prepared(self._kernels, n, options, in_place=in_place)

    def options(self, *, discard: bool = False, end_bit: int | None = None) -> Options:
        """Return the options of calls with the runner's key type and order; discard: whether to write no keys."""
        key = discard, end_bit
        if key not in self._options_of:
            self._options_of[key] = replace(self._calls.options, discard=discard, end=end_bit)
        return self._options_of[key]

    def _index(self, x: Range, ranges: dict[str, Range]) -> int:
        """Return the index, among the arguments, of the array that has this range."""
        return self._roles.index(next(role for role, y in ranges.items() if y is x))

    def _name(self, number: int) -> str:
        """Return the name of argument `number` in messages."""
        return self._calls.names[self._roles[number]]

    def _memory(self, array: Any, view: tuple[int, Facts], role: str) -> Range:
        """Check the device, the shape and the element type of an array; return its memory range."""
        (address, facts), name = view, self._calls.names[role]
        calls.check_place(facts, name, self._calls.noun, self._gpu)
        self._calls.check_shape(role, tuple(facts.shape), rows=facts.contiguous)
        if not facts.contiguous:
            raise ValueError(f"{name} is not contiguous; give a contiguous array")
        self._calls.check_elements(role, named(facts.type), int(facts.type.itemsize))
        size = bytes_of(facts)
        return Range(array, self._gpu.number if size else None, address, size)
