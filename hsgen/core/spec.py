"""The words that all parts share: kernels, steps, plans and sorts.  Plain values, no behaviour.

A *sort* is target x key type: its kernels and the plan that launches them.  A *plan* is a table of guarded
launches, a *step* is one row of it; `hsgen.core.interpreter` interprets it, and so does every C runtime.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.flags import ALONE
from hsgen.core.keys import PLAIN, Form, KeyType

APIS = {"opencl": "opencl", "vulkan": "glsl", "cuda": "cuda", "metal": "metal"}
"""The dialect that each API's kernels are written in; an API is here only once its dialect exists."""
TITLES = {"opencl": "OpenCL", "vulkan": "Vulkan", "cuda": "CUDA", "metal": "Metal"}  # as people write them

BYTES = {"word": 4, "wide": 8}
"""The element types of buffers and local arrays of one size, besides keys, values and pairs."""

UNCAPPED = 2**32 - 1  # the cap of steps whose work-groups only the count limits

OTHERS = {"scan": "scan", "segments": "segments", "mergepath": "merge", "check": "check"}
"""The algorithms that are no sorts of a whole array, with what they do."""

PLACES, RANGES = ("any", "in", "out"), ("any", "whole", "part")
"""When a step runs: always, only in place, only from one buffer to another; always, only where all bits of the keys are
sorted, only where a part of them is."""

ROLES = ("source", "destination", "scratch", "values", "values_out", "count", "other", "other_values", "report")
"""The buffers of a call: keys, scratch memory, values before and after, the count where it lies on the device, what
else is read (offsets of segments, or the second of two arrays and its values), and what is told besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer role of a step; it begins `plus + per_n * n` bytes into the buffer that plays the role.

    Roles are those in `ROLES`; in scratch the beginning is rounded up to 1024 bytes.
    """

    role: str
    per_n: int = 0
    plus: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One guarded launch.

    It runs only if ``min_n < n <= max_n`` and the sort's `place` fits, with ``min((x + add) // div * mul, cap)``
    work-groups, where x is the quantity that `x` names, "n" or "parts".  `number` is that of a pass over digits of
    `bits` bits, which runs only if the bit range has so many, or one of `ALONE`, `SPAN`, `LAST`, `GRIDS` and `PARTS`;
    `argument` is handed to the kernel with what follows (`hsgen.core.interpreter.argument`).
    All numbers are 64-bit; `add` may be negative.  With `at_zero`, `min_n` does not exclude n = 0.
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
    number: int = ALONE
    bits: int = 0
    range: str = "any"
    at_zero: bool = False


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
    """A whole sort as an ordered table of steps, for counts up to `max_n`.

    Keys are sorted by `bits` bits from `first_bit` on, or by a part of these.
    """

    steps: tuple[Step, ...]
    max_n: int
    first_bit: int = 0
    bits: int = 0
    scratch: Scratch = Scratch()
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A parameter of a kernel: memory of elements of a type, "key", "value", "pair" or a name in `BYTES`.

    Work-groups see what lanes of others write to a `coherent` one during a launch.
    """

    name: str
    type: str = "key"
    read_only: bool = False
    coherent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """An array in the local memory of a work-group: `count` elements of a type, "key", "pair" or a name in `BYTES`."""

    name: str
    type: str
    count: int


def held(type_: str, key: KeyType) -> int:
    """Return the bytes of an element of a local array; a pair is a key with the place that it had."""
    return {"key": key.held, "pair": pair_bytes(key), **BYTES}[type_]


def pair_bytes(key: KeyType) -> int:
    """Return the bytes of a key with the place that it had."""
    return 8 if key.bytes <= 4 else 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: what its template needs, and what a launch of it must know.

    `template` names a file under ``templates/`` (without suffix); `data` is the algorithm's own description of the
    body, `params` its parameters.  `subgroup` is the lanes that exchange values (1: none do), `ballot` whether they
    vote.  `wide` kernels take n as a 64-bit number.  `resident` is how many work-groups of it a core is to hold, 0 if
    that is left to compilers.  An `always` kernel runs whatever the count on the device is.  Work-groups of a
    `cooperative` one wait for each other: all of a launch must be resident at once.
    """

    name: str
    template: str
    summary: str
    work_group: int
    subgroup: int = 1
    ballot: bool = False
    wide: bool = False
    always: bool = False
    cooperative: bool = False
    resident: int = 0
    buffers: tuple[Buffer, ...]
    arrays: tuple[Array, ...] = ()
    algorithm: str
    params: object
    data: object = None

    def layout(self, key: KeyType) -> list[tuple[Array, int]]:
        """Return the arrays with the bytes at which they begin, large elements first so that none is misaligned."""
        placed, at = [], 0
        for array in sorted(self.arrays, key=lambda a: -held(a.type, key)):
            placed.append((array, at))
            at += array.count * held(array.type, key)
        return placed

    def local_bytes(self, key: KeyType) -> int:
        """Return the bytes of local memory of a work-group."""
        return sum(a.count * held(a.type, key) for a in self.arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one algorithm does of a sort: the counts above `min_n` up to `max_n`; `label` is what a target calls it."""

    algorithm: str
    label: str = ""
    params: object
    min_n: int
    max_n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """Everything that one sort, or scan, consists of.

    `algorithm` is what users call it; `parts` are the algorithms by count.  `columns` is the elements of one of the n
    items, 1 for keys.  `groups` is the greatest grid of the target in one dimension.  `pair`: the device lacks 64-bit
    integers, 64-bit keys are two 32-bit words.  `vulkan`: the least version of that API, which decides that of SPIR-V.
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
    form: Form = PLAIN

    @property
    def label(self) -> str:
        """What the width of its keys is called: where values are packed, half of what kernels take for a key."""
        return f"u{self.plan.bits}" if self.form.value == "packed" else self.key.name

    @property
    def file(self) -> str:
        """What its files are called, without suffix."""
        value = "" if self.form.value == "none" else f"_{self.form.value}"
        return f"{self.algorithm}_{self.label}{value}"

    @property
    def name(self) -> str:
        """A label, unique within a bundle; never parsed."""
        return f"{self.target}/{self.file}"

    @property
    def kind(self) -> str:
        """What a call of it does: "sort", "scan", "segments", "merge" or "check"."""
        return OTHERS.get(self.parts[0].algorithm, "sort")

    @property
    def item_bytes(self) -> int:
        """The bytes of one of the n items."""
        return self.columns * self.key.bytes

    @property
    def lanes(self) -> int:
        """The lanes of a subgroup that exchange values, the same in every kernel; 1 where none do."""
        return max(k.subgroup for k in self.kernels)

    @property
    def paired(self) -> bool:
        """Whether any kernel handles keys together with the places that they had."""
        return any(b.type == "pair" for k in self.kernels for b in k.buffers)

    @property
    def ballot(self) -> bool:
        """Whether lanes of a subgroup vote in any kernel."""
        return any(k.ballot for k in self.kernels)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel called `name`; a plan names only kernels that exist."""
        return next(k for k in self.kernels if k.name == name)
