"""The words that all parts share: key types, kernels, steps, plans and sorts.  Plain values, no behaviour.

A *sort* is target x key type: its kernels and the plan that launches them.  A *plan* is a table of guarded
launches, a *step* is one row of it; `hsgen.plan` interprets it, and so will every C runtime.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer role of a step; it begins `plus + per_n * n` bytes into the buffer that plays the role."""

    role: str
    per_n: int = 0
    plus: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One guarded launch.

    It runs only if ``min_n < n <= max_n``, with ``min((x + add) // div * mul, cap)`` work-groups, where x is
    the quantity that `x` names (always "n" today; "segments" and "rows" are reserved).  `argument` is handed
    to the kernel as it is.  All numbers are 64-bit; `add` may be negative.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole sort as an ordered table of steps, for counts up to `max_n`."""

    steps: tuple[Step, ...]
    max_n: int
    scratch_per_n: int = 0
    scratch_plus: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One entry point: what its template needs, and what a launch of it must know.

    `template` names a file under ``templates/`` (without suffix); `data` is the algorithm's own description
    of the body, `shared` the number of keys in the work-group's local array, `subgroup` the lanes that
    exchange keys by shuffles (1: none are used).
    """

    name: str
    template: str
    summary: str
    work_group: int
    subgroup: int
    shared: int
    roles: tuple[str, ...]
    data: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """Everything that one sort consists of.

    `params` is the algorithm's own parameter object, `groups` the greatest grid of the target in one dimension.
    `pair` says that the device lacks 64-bit integers: 64-bit keys are then two 32-bit words.  `vulkan` is the
    least version of that API, which decides the version of SPIR-V.
    """

    target: str
    algorithm: str
    key: KeyType
    kernels: tuple[Kernel, ...]
    plan: Plan
    params: object
    groups: int = 2**31 - 1
    pair: bool = False
    vulkan: str = "1.1"

    @property
    def name(self) -> str:
        """A label, unique within a bundle; never parsed."""
        return f"{self.target}/{self.algorithm}_{self.key.name}"

    @property
    def lanes(self) -> int:
        """The lanes of a subgroup that exchange values, the same in every kernel; 1 where none do."""
        return max(k.subgroup for k in self.kernels)

    @property
    def exchanges(self) -> bool:
        """Whether lanes of a subgroup exchange values in any kernel."""
        return self.lanes > 1

    def kernel(self, name: str) -> Kernel:
        """Return the kernel called `name`; a plan names only kernels that exist."""
        return next(k for k in self.kernels if k.name == name)
