"""The arguments of an operation's calls as data.  C structs, C functions and harnesses are generated from the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An argument that is not a buffer.

    name: the name in C, with the length of an array: ``columns[HS_COLUMNS]``.  meaning: the comment in headers.  type:
    the type in C.  call: the C expression in ``call``, of type ``hn_call *``, that a harness passes; "" if the
    expression of another member sets this member too.  last: the member follows all buffers.
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

    role: a name in `hsgen.core.plan.ROLES`.  columns: the argument is an array of buffers, one for each column of a
    pack, and has no role.  words: the elements are 32-bit numbers.  single: the buffer is one 32-bit number.  written:
    the call writes the buffer.
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
COUNT = Buffer(
    name="count",
    role="count",
    meaning="the device-side count, 32 bits, at most n counts; null: n keys",
    words=True,
    single=True,
)
VALUES = Buffer(name="values", role="values", meaning="the value of each key, for sorts with values")
VALUES_DESTINATION = Buffer(
    name="values_destination",
    role="values_out",
    meaning="null: in place, like the keys; required if indices are made",
    written=True,
)
VALUE_TYPE = Number(
    name="value_type",
    meaning='HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32',
    type="hs_type",
    call="hn_reduced(call)",
)
OPTIONS = Number(name="options", type="hs_options", call="hn_options_of(call)")


def options_member(meaning: str) -> Number:
    """Return the argument for the options of a call: the type, the order and the bits of its keys."""
    return replace(OPTIONS, meaning=meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of an operation's calls, in the order of the C struct.

    about: the comment of the struct.  number, take: C expressions for the numbers of a call (``hs_call``).  In an
    expression, ``{name}`` is a member, ``{has_NAME}`` is true if the call has the buffer, and ``{sort}`` is the sort.
    """

    about: str
    members: tuple[Number | Buffer, ...]
    number: str = ""
    take: str = ""

    @property
    def numbers(self) -> Iterator[Number]:
        """The arguments that are not buffers."""
        return (m for m in self.members if isinstance(m, Number))

    @property
    def buffers(self) -> Iterator[Buffer]:
        """The arguments that are buffers."""
        return (m for m in self.members if isinstance(m, Buffer))

    @property
    def options(self) -> bool:
        """Whether calls have options."""
        return any(m.name == OPTIONS.name for m in self.numbers)
