"""The words that all parts share: key types, kernels, steps, plans and sorts.  Plain values, no behaviour.

A *sort* is target x key type: its kernels and the plan that launches them.  A *plan* is a table of guarded
launches, a *step* is one row of it; `hsgen.plan` interprets it, and so does every C runtime.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyType:
    """An unsigned key as the kernels see it."""

    name: str
    bytes: int

    @property
    def greatest(self) -> int:
        """The greatest key; what a slot at or beyond n reads as."""
        return (1 << (8 * self.bytes)) - 1


APIS = {"opencl": "opencl", "vulkan": "glsl", "cuda": "cuda"}
"""The dialect that each API's kernels are written in; an API is here only once its dialect exists."""

KEYS = {k.name: k for k in (KeyType(name="u32", bytes=4), KeyType(name="u64", bytes=8))}


BYTES = {"word": 4, "wide": 8}
"""The element types of buffers and local arrays besides "key", and their sizes."""

UNCAPPED = 2**32 - 1
"""The cap of steps whose work-groups only the count limits."""

PLACES = ("any", "in", "out")
"""When a step runs: always, only in place, only from one buffer to another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer role of a step; it begins `plus + per_n * n` bytes into the buffer that plays the role.

    Roles are source, destination and scratch; in scratch the beginning is rounded up to 1024 bytes.
    """

    role: str
    per_n: int = 0
    plus: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One guarded launch.

    It runs only if ``min_n < n <= max_n`` and the sort's `place` fits, with ``min((x + add) // div * mul, cap)``
    work-groups, where x is the quantity that `x` names (always "n" today; "segments" and "rows" are reserved).
    `argument` is handed to the kernel as it is.  All numbers are 64-bit; `add` may be negative.
    """

    kernel: str
    bindings: tuple[Binding, ...]
    argument: int
    min_n: int
    max_n: int
    x: str
    add: int
    div: int
    mul: int
    cap: int
    place: str = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """The bytes of scratch that n keys need: none up to `min_n`, else ``plus + per_n * n`` and, for each of the
    ``min(ceil(n / unit), units)`` units, `per_unit`."""

    min_n: int = 0
    plus: int = 0
    per_n: int = 0
    unit: int = 1
    per_unit: int = 0
    units: int = 0

    def bytes(self, n: int) -> int:
        """Return the bytes for `n` keys."""
        if n <= self.min_n:
            return 0
        return self.plus + self.per_n * n + self.per_unit * min(-(-n // self.unit), self.units)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where a sort tells afterwards what happened: `words` 32-bit words from `binding` on, each 1 for a pass that was
    done again.  They mean something for more than `min_n` keys."""

    binding: Binding
    words: int
    min_n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole sort as an ordered table of steps, for counts up to `max_n`."""

    steps: tuple[Step, ...]
    max_n: int
    scratch: Scratch = Scratch()
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A parameter of a kernel: memory of elements of a type, "key" or a name in `BYTES`.

    Work-groups see what lanes of others write to a `coherent` one during a launch.
    """

    name: str
    type: str = "key"
    read_only: bool = False
    coherent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array in the local memory of a work-group: `count` elements of a type, "key" or a name in `BYTES`."""

    name: str
    type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: what its template needs, and what a launch of it must know.

    `template` names a file under ``templates/`` (without suffix); `data` is the algorithm's own description
    of the body, `params` its parameters.  `subgroup` is the lanes that exchange values (1: none do), `ballot`
    whether they vote.  `wide` kernels take n as a 64-bit number.
    """

    name: str
    template: str
    summary: str
    work_group: int
    subgroup: int = 1
    ballot: bool = False
    wide: bool = False
    buffers: tuple[Buffer, ...]
    arrays: tuple[Array, ...] = ()
    algorithm: str
    params: object
    data: object = None

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return the arrays with the bytes at which they begin, large elements first so that none is misaligned."""
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -BYTES.get(a.type, key.bytes)):
            placed.append((array, at))
            at += array.count * BYTES.get(array.type, key.bytes)
        return placed

    def local_bytes(self, key: KeyType) -> int:
        """Return the bytes of local memory of a work-group."""
        return sum(a.count * BYTES.get(a.type, key.bytes) for a in self.arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one algorithm does of a sort: the counts above `min_n` up to `max_n`."""

    algorithm: str
    params: object
    min_n: int
    max_n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """Everything that one sort, or scan, consists of.

    `algorithm` is what users call it; `parts` are the algorithms by count.  `columns` is the elements of one of the
    n items, 1 for keys.  `groups` is the greatest grid of the target in one dimension.  `pair` says that the
    device lacks 64-bit integers: 64-bit keys are then two 32-bit words.  `vulkan` is the least version of that
    API, which decides the version of SPIR-V.
    """

    target: str
    algorithm: str
    key: KeyType
    kernels: tuple[Kernel, ...]
    plan: Plan
    parts: tuple[Part, ...]
    columns: int = 1
    groups: int = 2**31 - 1
    pair: bool = False
    vulkan: str = "1.1"

    @property
    def file(self) -> str:
        """What its files are called, without suffix."""
        return f"{self.algorithm}_{self.key.name}"

    @property
    def name(self) -> str:
        """A label, unique within a bundle; never parsed."""
        return f"{self.target}/{self.file}"

    @property
    def scan(self) -> bool:
        """Whether it is a prefix sum and not a sort."""
        return self.parts[0].algorithm == "scan"

    @property
    def item_bytes(self) -> int:
        """The bytes of one of the n items."""
        return self.columns * self.key.bytes

    @property
    def lanes(self) -> int:
        """The lanes of a subgroup that exchange values, the same in every kernel; 1 where none do."""
        return max(k.subgroup for k in self.kernels)

    @property
    def exchanges(self) -> bool:
        """Whether lanes of a subgroup exchange values in any kernel."""
        return self.lanes > 1

    @property
    def ballot(self) -> bool:
        """Whether lanes of a subgroup vote in any kernel."""
        return any(k.ballot for k in self.kernels)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel called `name`; a plan names only kernels that exist."""
        return next(k for k in self.kernels if k.name == name)
