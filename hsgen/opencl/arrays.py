"""Arrays and buffers of pyopencl as memory ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hsgen.core.errors import wrong_type
from hsgen.runners.ranges import Range
from hsgen.system import toolchain


@dataclass(frozen=True, slots=True)
class Memory(Range):
    """The memory range of an array or buffer; for a sub-buffer, `root` is its parent buffer."""

    @property
    def is_array(self) -> bool:
        """True for an array, whose elements have a type; False for a buffer."""
        return hasattr(self.argument, "base_data")

    def part(self) -> Any:
        """Return a memory object that starts where this range starts: the buffer, or a new sub-buffer.

        For an array without elements, return the whole buffer, because OpenCL has no sub-buffers of 0 bytes.
        """
        if not self.is_array:
            return self.argument
        buffer = self.argument.base_data
        if buffer is None or self.at == 0 or self.size == 0:
            return buffer
        return self.root.get_sub_region(self.at, self.size)


def memory(array: Any, name: str, context: Any) -> Memory:
    """Return the memory range of an array or buffer, which messages call `name`.

    Raises:
        TypeError: the argument is neither an array nor a buffer.
        ValueError: the array is strided or misaligned, or belongs to another context.
    """
    if not hasattr(array, "base_data"):
        if not isinstance(array, toolchain.pyopencl().MemoryObjectHolder):
            raise wrong_type(name, "a pyopencl array or buffer", array)
        _same_context(array, name, context)
        return Memory(array, *_root(array), array.size)
    if not array.flags.forc:
        raise ValueError(f"{name} is strided; give a contiguous array")
    if array.base_data is None:
        return Memory(array, None, 0, 0)
    _same_context(array.base_data, name, context)
    if array.nbytes and array.offset % (align := context.devices[0].mem_base_addr_align // 8):
        raise ValueError(
            f"{name} starts {array.offset} bytes into its buffer; the device requires multiples of {align}"
        )
    root, at = _root(array.base_data)
    return Memory(array, root, at + array.offset, array.nbytes)


def _same_context(buffer: Any, name: str, context: Any) -> None:
    if buffer.context != context:
        raise ValueError(f"{name} belongs to another context")


def _root(buffer: Any) -> tuple[Any, int]:
    """Return the parent of a sub-buffer, and the offset in the parent; for a whole buffer, return the buffer and 0."""
    parent = buffer.associated_memobject
    return (buffer, 0) if parent is None else (parent, buffer.offset)
