"""Sorts: the kernels and the plan for a target and a key type, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.plan import Plan
from hsgen.core.scratch import ANY_N


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One algorithm of a sort, for counts above `min_n` up to `max_n`; `label` is its name in the target.

    A part without counts sorts by a part of the bits where the others cannot.
    """

    algorithm: str
    label: str = ""
    params: object
    min_n: int
    max_n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """A sort, or another operation: everything that is generated for it.

    algorithm: the name for users.  parts: the algorithms by count.  operation: a name in `hsgen.operations`.
    limit: the greatest count that was requested.  columns: elements per item, 1 for keys.  groups: the greatest grid of
    the target in one dimension.  pair: the device lacks 64-bit integers, so that 64-bit keys are two 32-bit words.
    vulkan: the least version of Vulkan, which determines the version of SPIR-V.  written_out: loops over registers are
    written out in the text.  first: the file of the sort that serves calls while the kernels of this one are compiled,
    if any.
    """

    target: str
    algorithm: str
    key: KeyType
    kernels: tuple[Kernel, ...]
    plan: Plan
    parts: tuple[Part, ...]
    operation: str = "sort"
    limit: int = ANY_N
    columns: int = 1
    groups: int = 2**31 - 1
    pair: bool = False
    vulkan: str = "1.1"
    written_out: bool = False
    first: str = ""
    signature: Signature = PLAIN

    @property
    def label(self) -> str:
        """The name of its key width, or of its type if kernels calculate with keys that are floats; for packed values,
        that of the upper half of the kernels' 64-bit keys."""
        if self.signature.floats and self.signature.value == "none":
            return f"f{self.key.bits}"
        return f"u{self.plan.bits}" if self.signature.value == "packed" else self.key.name

    @property
    def file(self) -> str:
        """The name of its files, without suffix."""
        value = "" if self.signature.value == "none" else f"_{self.signature.value}"
        return f"{self.algorithm}_{self.label}{value}"

    @property
    def name(self) -> str:
        """A name that is unique within a bundle and never parsed."""
        return f"{self.target}/{self.file}"

    @property
    def item_bytes(self) -> int:
        """The size of an item in bytes."""
        return self.columns * self.key.bytes

    @property
    def lanes(self) -> int:
        """The width of subgroups whose lanes exchange values, the same in every kernel that has any; else 1."""
        return max(k.subgroup for k in self.kernels)

    @property
    def paired(self) -> bool:
        """Whether any kernel handles keys together with their original indices."""
        return any(b.type == "pair" for k in self.kernels for b in k.buffers)

    @property
    def ballot(self) -> bool:
        """Whether any kernel uses subgroup votes."""
        return any(k.ballot for k in self.kernels)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel `name`, which must exist."""
        return next(k for k in self.kernels if k.name == name)
