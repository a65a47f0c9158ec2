"""Arrays and buffers of pyopencl as plain places in memory: what a call may do with them is checked here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hsgen.opencl.arguments import wrong
from hsgen.system import toolchain


@dataclass(frozen=True, slots=True)
class Memory:
    """The bytes that an array or buffer stands for: `size` of them, from `at` on in the memory object `root`.

    `root` is never itself a part of another one; it is None for an array without elements.
    """

    given: Any
    root: Any
    at: int
    size: int

    @property
    def is_array(self) -> bool:
        """Whether it is an array, whose elements have a type."""
        return hasattr(self.given, "base_data")

    def begins_with(self, other: Memory) -> bool:
        """Whether both begin at the same place."""
        return bool(self.root is not None and self.root == other.root and self.at == other.at)

    def part(self) -> Any:
        """Return a memory object that begins where these bytes do."""
        if not self.is_array:
            return self.given
        whole = self.given.base_data
        return whole if self.at == 0 or whole is None else self.root.get_sub_region(self.at, max(self.size, 1))


def memory(given: Any, name: str, context: Any) -> Memory:
    """Return where an array or buffer lies; messages call it `name`.

    Raises:
        TypeError: it is neither.
        ValueError: the array is strided or not where the device can see it, or it belongs to another context.
    """
    if not hasattr(given, "base_data"):
        if not isinstance(given, toolchain.pyopencl().MemoryObjectHolder):
            raise wrong(name, "a pyopencl array or buffer", given)
        _same_context(given, name, context)
        return Memory(given, *_root(given), given.size)
    if not given.flags.forc:
        raise ValueError(f"{name} is strided; give a contiguous array")
    if given.base_data is None:
        return Memory(given, None, 0, 0)
    _same_context(given.base_data, name, context)
    if given.offset and given.offset % (align := context.devices[0].mem_base_addr_align // 8):
        raise ValueError(f"{name} begins {given.offset} bytes into its buffer; the device wants multiples of {align}")
    root, at = _root(given.base_data)
    return Memory(given, root, at + given.offset, given.nbytes)


def _same_context(buffer: Any, name: str, context: Any) -> None:
    if buffer.context != context:
        raise ValueError(f"{name} belongs to another context")


def _root(buffer: Any) -> tuple[Any, int]:
    """The memory object that a buffer is a part of, and where it begins there."""
    whole = buffer.associated_memobject
    return (buffer, 0) if whole is None else (whole, buffer.offset)


def overlapping(used: Iterable[tuple[str, Memory, int, bool]]) -> tuple[str, str] | None:
    """Return the names of the first two places that share memory, of which a call writes at least one.

    Places are given as name, memory, the bytes of it that the call uses, and whether it writes them.
    """
    places = [x for x in used if x[2] > 0]
    for i, (name, a, size, written) in enumerate(places):
        for other, b, length, too in places[i + 1 :]:
            if (written or too) and a.root == b.root and a.at < b.at + length and b.at < a.at + size:
                return name, other
    return None
