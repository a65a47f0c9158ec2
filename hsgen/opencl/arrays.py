"""Arrays and buffers of pyopencl as memory ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hsgen.core.errors import wrong_type
from hsgen.runners.ranges import Range
from hsgen.system import toolchain


@dataclass(frozen=True, slots=True)
class Memory(Range):
    """The memory range of an array or buffer; `root` is a memory object that is no part of another one."""

    @property
    def is_array(self) -> bool:
        """Whether it is an array, whose elements have a type."""
        return hasattr(self.given, "base_data")

    def part(self) -> Any:
        """Return a memory object that starts at this range; of an array without elements, which may begin at the end of
        its buffer, that buffer."""
        if not self.is_array:
            return self.given
        whole = self.given.base_data
        if whole is None or self.at == 0 or self.size == 0:
            return whole
        return self.root.get_sub_region(self.at, self.size)


def memory(given: Any, name: str, context: Any) -> Memory:
    """Return the memory range of an array or buffer; `name` is its name in messages.

    Raises:
        TypeError: the argument is neither.
        ValueError: the array is strided or misaligned, or belongs to another context.
    """
    if not hasattr(given, "base_data"):
        if not isinstance(given, toolchain.pyopencl().MemoryObjectHolder):
            raise wrong_type(name, "a pyopencl array or buffer", given)
        _same_context(given, name, context)
        return Memory(given, *_root(given), given.size)
    if not given.flags.forc:
        raise ValueError(f"{name} is strided; give a contiguous array")
    if given.base_data is None:
        return Memory(given, None, 0, 0)
    _same_context(given.base_data, name, context)
    if given.nbytes and given.offset % (align := context.devices[0].mem_base_addr_align // 8):
        raise ValueError(
            f"{name} starts {given.offset} bytes into its buffer; the device requires multiples of {align}"
        )
    root, at = _root(given.base_data)
    return Memory(given, root, at + given.offset, given.nbytes)


def _same_context(buffer: Any, name: str, context: Any) -> None:
    if buffer.context != context:
        raise ValueError(f"{name} belongs to another context")


def _root(buffer: Any) -> tuple[Any, int]:
    """The memory object that a buffer is a part of, and its offset there."""
    whole = buffer.associated_memobject
    return (buffer, 0) if whole is None else (whole, buffer.offset)
