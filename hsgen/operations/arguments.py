"""The arguments of an operation's calls as data, from which C structs, C functions and harnesses are generated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An argument that is no buffer.

    name: in C, with the length of an array: ``columns[HS_COLUMNS]``.  type: in C.  meaning: the comment in headers.
    call: the expression of `hn_call *call` that a harness passes; "": another member's expression fills it in.
    last: it follows all buffers.
    """

    name: str
    meaning: str = ""
    type: str = "uint64_t"
    call: str = ""
    last: bool = False
    role: ClassVar[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """An argument in device memory.

    role: as in `hsgen.core.plan.ROLES`.  columns: an array of buffers, one a column of a pack, instead of a role.
    words: its elements are 32-bit numbers.  single: it is one such number.  written: the call writes it.
    """

    name: str
    role: str = ""
    meaning: str = ""
    columns: bool = False
    words: bool = False
    single: bool = False
    written: bool = False
    type: ClassVar[str] = ""
    last: ClassVar[bool] = False


SCRATCH = Buffer(name="scratch", role="scratch", written=True)
OPTIONS = Number(name="options", type="hs_options", call="hn_options_of(call)")


def options(meaning: str) -> Number:
    """Return the options of a call: type, order and bits of its keys."""
    return Number(name=OPTIONS.name, type=OPTIONS.type, call=OPTIONS.call, meaning=meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of an operation's calls, in the order of the C struct.

    about: the comment of the struct.  number, take: C expressions of the numbers of a call (``hs_call``), with
    ``{name}`` for a member, ``{has_NAME}`` for whether a buffer is given, and ``{sort}`` for the sort.
    """

    about: str
    members: tuple[Number | Buffer, ...]
    number: str = ""
    take: str = ""

    @property
    def numbers(self) -> Iterator[Number]:
        """The arguments that are no buffers."""
        return (m for m in self.members if isinstance(m, Number))

    @property
    def buffers(self) -> Iterator[Buffer]:
        """The buffers."""
        return (m for m in self.members if isinstance(m, Buffer))

    @property
    def options(self) -> bool:
        """Whether calls have options."""
        return any(m.name == OPTIONS.name for m in self.numbers)

    def buffer(self, name: str) -> Buffer:
        """Return the buffer of a name."""
        return next(m for m in self.buffers if m.name == name)
