"""The arguments of an operation's calls, as data.

From this data, the generator renders the C structs, functions and harnesses, and the JavaScript classes with their
types.  The Python APIs read the data at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """The number of elements that a buffer needs: the product of `factors`, plus `plus`, minus `less`.

    The factors and `less` are names of numbers that the call passes: "n", "number" (`Options.number`) or "take".
    """

    factors: tuple[str, ...] = ()
    plus: int = 0
    less: str = ""

    @property
    def text(self) -> str:
        """The length as an expression that is valid in C and JavaScript."""
        terms = [*([" * ".join(self.factors)] if self.factors else []), *([str(self.plus)] if self.plus else [])]
        return " + ".join(terms) + (f" - {self.less}" if self.less else "")

    def of(self, n: int, number: int, take: int) -> int:
        """Return the length, given the numbers of a call."""
        numbers = {"": 0, "n": n, "number": number, "take": take}
        product = prod(numbers[name] for name in self.factors) if self.factors else 0
        return product + self.plus - numbers[self.less]


N, ONE = Length(factors=("n",)), Length(plus=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An argument that is not a buffer.

    In C, the argument is a member of the struct of arguments:
    name: the name; the name of an array includes its length, as in ``columns[HS_COLUMNS]``.
    meaning: the comment in headers.
    type: the type.
    call: the C expression that the generated test harness passes for the argument.  The expression may use ``call``,
    of type ``hn_call *``.  "" if the expression of another member sets this member too.
    last: whether the member follows all buffers in the struct.

    In Python:
    field: the field of `hsgen.core.interpreter.Options` that holds the argument; "" if there is none.
    python: the name of the argument; "" if `field` is the name.

    In JavaScript:
    javascript: the name of the argument; "" if calls do not have the argument.
    about: the comment of the argument.
    choices: the valid values of an argument that is a string; () for a number.  For the argument `options`, which is an
    object: the names of the properties that the object may have.
    optional: whether a call may omit the argument.
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
"""The default names of buffer arguments in Python, by role.  For roles that are absent here, it is the role itself."""
JAVASCRIPT = {"source": "keys", "destination": "keysOut"}
"""The default names of buffer arguments in JavaScript, by role.

For roles that are absent here, it is the name in Python in camel case, such as ``valuesOut``.
"""
_COMMENTS = {
    "source": "The keys.",
    "destination": "Receives the result.",
    "values": "The value of each key.",
    "values_out": "Receives the values of the result.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """An argument in device memory.

    name: the name in C.
    role: a name in `hsgen.core.plan.ROLES`.
    meaning: the comment in headers.
    columns: whether the argument is an array of buffers, one for each column of a pack.  The argument then has no role.
    words: whether the elements are 32-bit numbers; otherwise they are keys or values, according to `role`.
    single: whether the buffer has a single element, a 32-bit number.
    written: whether the call writes the buffer.
    length: the number of elements that a call uses.
    optional: whether calls may omit the buffer.
    always: whether every call must have this buffer of values.  Calls have other buffers of values only if the sort
    has values.
    feature: a field of `hsgen.core.keys.Signature`.  Calls have the buffer if and only if the sort has this feature.
    "" if the buffer depends on no feature.
    python: the name of the argument in Python; "" if the role determines the name.
    javascript: the name of the argument in JavaScript; "" if the name in Python or the role determines it.
    about: the comment of the argument in JavaScript; "" if the role determines it.
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
        """The noun for an element: "word", "value" or "key"."""
        return "word" if self.words else "value" if "values" in self.role else "key"

    @property
    def required(self) -> bool:
        """Whether every call must have the buffer.

        For a buffer of values, this requires `always`, because sorts without values do not have the buffer.
        """
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
    """Return the argument `options` of a call, which states the type, the order and the bit range of the call's keys.

    meaning: the comment in C headers.
    members: the properties that the object `options` may have in JavaScript: "order", "bits".
    """
    return replace(OPTIONS, meaning=meaning, choices=members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments of an operation's calls, in the order of the C struct.

    about: the comment of the struct.
    members: the arguments.
    number, take: C expressions whose values become the members `number` and `take` of the struct ``hs_call``.  In an
    expression, ``{name}`` stands for the argument `name`, and ``{sort}`` for the sort.  ``{has_NAME}`` is true if the
    call passes the buffer NAME.
    in_place: whether a call without a destination replaces its source.
    javascript: the comment of the class in JavaScript.
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
        """The buffers that callers pass in Python and JavaScript: all but scratch, which the runtimes allocate."""
        return (b for b in self.buffers if b.role != SCRATCH.role)

    @property
    def options(self) -> bool:
        """Whether calls have the argument `options`."""
        return any(m.name == OPTIONS.name for m in self.numbers)

    @property
    def choices(self) -> tuple[str, ...]:
        """The properties that the argument `options` may have in JavaScript: "order", "bits"."""
        return next((m.choices for m in self.numbers if m.name == OPTIONS.name), ())
