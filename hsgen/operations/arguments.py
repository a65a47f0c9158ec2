"""The arguments of an operation's calls as data.

The C structs, functions and harnesses, and the JavaScript classes with their types are generated from the data.  The
Python APIs read the data at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """The number of elements of a buffer: the product of `factors`, plus `plus`, minus `less`.

    Factors and `less` are numbers of a call by the names of ``hs_call`` in C: n, number and take.
    """

    factors: tuple[str, ...] = ()
    plus: int = 0
    less: str = ""

    @property
    def text(self) -> str:
        """The length as an expression of C and JavaScript."""
        terms = [*([" * ".join(self.factors)] if self.factors else []), *([str(self.plus)] if self.plus else [])]
        return " + ".join(terms) + (f" - {self.less}" if self.less else "")

    def of(self, n: int, number: int, take: int) -> int:
        """Return the length for the numbers of a call."""
        numbers = {"": 0, "n": n, "number": number, "take": take}
        product = prod(numbers[name] for name in self.factors) if self.factors else 0
        return product + self.plus - numbers[self.less]


N, ONE = Length(factors=("n",)), Length(plus=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An argument that is not a buffer.

    name: the name in C, with the length of an array: ``columns[HS_COLUMNS]``.  meaning: the comment in headers.  type:
    the type in C.  call: the C expression in ``call``, of type ``hn_call *``, that a harness passes; "" if the
    expression of another member sets this member too.  last: the member follows all buffers.

    field: the field of `hsgen.core.interpreter.Options`, or "".  python: the name of the argument in Python; "" if it
    is that of the field.  javascript: the name of the argument in JavaScript; "" if calls have none.
    about: the comment of the argument in JavaScript.  choices: the valid values of the argument in JavaScript, or ()
    for a number; for the argument `options`, the options that a call may have.  optional: the argument may be absent in
    JavaScript.
    """

    name: str
    meaning: str = ""
    type: str = "uint64_t"
    call: str = ""
    last: bool = False
    field: str = ""
    python: str = ""
    javascript: str = ""
    about: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = True
    role: ClassVar[str] = ""


PYTHON = {"source": "keys", "destination": "out"}
"""The names of buffers in Python by role, if a buffer has no name of its own; other roles have their own name."""
JAVASCRIPT = {"source": "keys", "destination": "keysOut"}
"""The same in JavaScript; the names of other buffers are those in Python."""
_COMMENTS = {
    "source": "The keys.",
    "destination": "Receives the result.",
    "values": "The value of each key.",
    "values_out": "Receives the values of the result.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """An argument in device memory.

    role: a name in `hsgen.core.plan.ROLES`.  columns: the argument is an array of buffers, one for each column of a
    pack, and has no role.  words: the elements are 32-bit numbers.  single: the buffer is one 32-bit number.  written:
    the call writes the buffer.

    length: the number of elements that a call uses.  optional: calls may omit the buffer.  always: the buffer holds
    values, and calls have it because the operation always has values.  feature: calls have the buffer if and only if
    the sort has this feature, a field of `hsgen.core.keys.Signature`; "": the buffer depends on no feature.  python,
    javascript: the name of the argument; "" if the role determines the name.  about: the comment of the argument in
    JavaScript; "" if the role determines it.
    """

    name: str
    role: str = ""
    meaning: str = ""
    columns: bool = False
    words: bool = False
    single: bool = False
    written: bool = False
    length: Length = N
    optional: bool = False
    always: bool = False
    feature: str = ""
    python: str = ""
    javascript: str = ""
    about: str = ""
    type: ClassVar[str] = ""
    last: ClassVar[bool] = False

    @property
    def element(self) -> str:
        """The type of the elements: "word", "value" or "key"."""
        return "word" if self.words else "value" if "values" in self.role else "key"

    @property
    def required(self) -> bool:
        """Whether every call has the buffer; buffers of values depend on the sort."""
        return not self.optional and (self.element != "value" or self.always)

    @property
    def comment(self) -> str:
        """The comment of the argument in JavaScript."""
        return self.about or _COMMENTS[self.role]

    @property
    def in_python(self) -> str:
        """The name of the argument in Python."""
        return self.python or PYTHON.get(self.role, self.role)

    @property
    def in_javascript(self) -> str:
        """The name of the argument in JavaScript."""
        first, *more = self.in_python.split("_")
        return self.javascript or JAVASCRIPT.get(self.role) or first + "".join(map(str.capitalize, more))


SCRATCH = Buffer(name="scratch", role="scratch", written=True)
COUNT = Buffer(
    name="count",
    role="count",
    meaning="the device-side count, 32 bits, at most n counts; null: n keys",
    words=True,
    single=True,
    length=ONE,
    optional=True,
    about="A buffer whose first 32-bit word is the number of keys; n is the greatest possible.",
)
VALUES = Buffer(
    name="values",
    role="values",
    meaning="the value of each key, for sorts with values",
    about="The values, in place if the keys are.",
)
VALUES_DESTINATION = Buffer(
    name="values_destination",
    role="values_out",
    meaning="null: in place, like the keys; required if indices are made",
    written=True,
    about="Receives the values.",
)
VALUE_TYPE = Number(
    name="value_type",
    meaning='HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32',
    type="hs_type",
    call="hn_reduced(call)",
)
OPTIONS = Number(name="options", type="hs_options", call="hn_options_of(call)")


def options_member(meaning: str, *members: str) -> Number:
    """Return the argument for the options of a call: the type, the order and the bits of its keys.

    members: the options that calls of JavaScript may have: "order", "bits".
    """
    return replace(OPTIONS, meaning=meaning, choices=members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of an operation's calls, in the order of the C struct.

    about: the comment of the struct.  number, take: C expressions for the numbers of a call (``hs_call``).  In an
    expression, ``{name}`` is a member, ``{has_NAME}`` is true if the call has the buffer, and ``{sort}`` is the sort.
    in_place: a call without destination replaces its source.  javascript: the comment of the class in JavaScript.
    """

    about: str
    members: tuple[Number | Buffer, ...]
    number: str = ""
    take: str = ""
    in_place: bool = False
    javascript: str = ""

    @property
    def numbers(self) -> Iterator[Number]:
        """The arguments that are not buffers."""
        return (m for m in self.members if isinstance(m, Number))

    @property
    def buffers(self) -> Iterator[Buffer]:
        """The arguments that are buffers."""
        return (m for m in self.members if isinstance(m, Buffer))

    @property
    def passed(self) -> Iterator[Buffer]:
        """The buffers that callers pass: all but scratch memory, which the runtimes of Python and JavaScript
        allocate.
        """
        return (b for b in self.buffers if b.role != SCRATCH.role)

    @property
    def options(self) -> bool:
        """Whether calls have options."""
        return any(m.name == OPTIONS.name for m in self.numbers)

    @property
    def choices(self) -> tuple[str, ...]:
        """The options of a call in JavaScript: "order", "bits"."""
        return next((m.choices for m in self.numbers if m.name == OPTIONS.name), ())
