"""Sorts: target x key type, their kernels and the plan that launches them.  Plain values, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.plan import Plan


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

    `algorithm` is what users call it; `parts` are the algorithms by count, which carry out `operation`, a name in
    `hsgen.operations`.  `columns` is the elements of one of the n items, 1 for keys.  `groups` is the greatest grid of
    the target in one dimension.  `pair`: the device lacks 64-bit integers, 64-bit keys are two 32-bit words.
    `vulkan`: the least version of that API, which decides that of SPIR-V.
    """

    target: str
    algorithm: str
    key: KeyType
    kernels: tuple[Kernel, ...]
    plan: Plan
    parts: tuple[Part, ...]
    operation: str = "sort"
    columns: int = 1
    groups: int = 2**31 - 1
    pair: bool = False
    vulkan: str = "1.1"
    signature: Signature = PLAIN

    @property
    def label(self) -> str:
        """What the width of its keys is called: where values are packed, half of what kernels take for a key."""
        return f"u{self.plan.bits}" if self.signature.value == "packed" else self.key.name

    @property
    def file(self) -> str:
        """What its files are called, without suffix."""
        value = "" if self.signature.value == "none" else f"_{self.signature.value}"
        return f"{self.algorithm}_{self.label}{value}"

    @property
    def name(self) -> str:
        """A label, unique within a bundle; never parsed."""
        return f"{self.target}/{self.file}"

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
