"""Sorts as plain values: a `Sort` has the kernels and the launch plan for one target (GPU family) and one key width."""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.plan import Plan
from hsgen.core.scratch import ANY_N


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An algorithm of a sort, such as bitonic or radix, with the counts that it sorts: above `min_n` up to `max_n`.

    label: the name of the algorithm in the target file.
    If `min_n` equals `max_n`, the algorithm sorts only by bit ranges that the sort's other algorithms do not support.
    """

    algorithm: str
    label: str = ""
    params: object
    min_n: int
    max_n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """A sort, or another operation such as a merge, with all data that its generated files depend on.

    algorithm: the name that users see.
    parts: the algorithms that the sort consists of, each with its range of counts.
    operation: a name in `hsgen.operations`.
    limit: the greatest count that the generated code supports.
    columns: the number of elements per item, such as the columns of a prefix sum; 1 if items are keys.
    groups: the greatest number of work-groups in one dimension of a grid on the target's devices.
    pair: whether kernels handle a 64-bit key as two 32-bit words, because the device lacks 64-bit integers.
    vulkan: the least version of Vulkan that the kernels need; it determines the version of SPIR-V.
    written_out: whether the kernel text has repeated statements instead of loops over arrays in registers
    (`Device.unroll`).
    first: the file name of another sort, which serves calls until the kernels of this sort are compiled; "" if there is
    none.
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
        """The name of the key width, such as "u32".

        If kernels calculate with float keys, the label is the name of the float type, such as "f32".  If keys and
        values are packed into 64-bit words, the label has the width of the key within the word.
        """
        if self.signature.floats and self.signature.value == "none":
            return f"f{self.key.bits}"
        return f"u{self.plan.bits}" if self.signature.value == "packed" else self.key.name

    @property
    def file(self) -> str:
        """The name of the sort's files, without suffix."""
        value = "" if self.signature.value == "none" else f"_{self.signature.value}"
        return f"{self.algorithm}_{self.label}{value}"

    @property
    def name(self) -> str:
        """A name that is unique within a bundle.  No code parses the name."""
        return f"{self.target}/{self.file}"

    @property
    def item_bytes(self) -> int:
        """The size of an item in bytes."""
        return self.columns * self.key.bytes

    @property
    def lanes(self) -> int:
        """The width of the subgroups in which lanes exchange values; 1 if no kernel exchanges values."""
        return max(k.subgroup for k in self.kernels)

    @property
    def paired(self) -> bool:
        """Whether any kernel handles pairs of a key and its original index."""
        types = (x for k in self.kernels for x in (*(b.type for b in k.buffers), *(a.type for a in k.arrays)))
        return "pair" in types

    @property
    def ballot(self) -> bool:
        """Whether any kernel uses subgroup votes."""
        return any(k.ballot for k in self.kernels)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel `name`, which must exist."""
        return next(k for k in self.kernels if k.name == name)
