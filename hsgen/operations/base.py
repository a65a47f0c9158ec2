"""The interface of operations, with defaults for most operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN as CALL
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations.arguments import Arguments
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make


class Operation(ABC):
    """An operation: the results of a call.  A subclass overrides the attributes and methods that differ."""

    name: str
    """The name in algorithms, JSON and C functions."""
    noun: str
    """The name in text."""
    c_kind: str
    """The C constant for the kind of call; an operation with the calls of a sort has the constant of sorts."""
    agent = ""
    """The name of the class in JavaScript and Python; empty if `class_name` derives the name from `name`."""
    c_number = 0
    """The value of the C constant; by default that of sorts.  The value is published, so it never changes."""
    arguments: Arguments
    """The arguments of a call, from which the C structs and functions of every API are generated."""
    items = "keys"
    """The name of the items that n counts."""
    unit = "keys"
    """The name of the items in the headers of generated files; may be empty."""
    element = "key"
    """The name of an element of the main buffers."""
    section = ("keys", "{} keys")
    """The section of a report: the id, and the heading with a placeholder for the key width."""

    order = 9
    """The position in lists; operations with the same position are sorted by name."""
    by_count = False
    """Whether ``[sort.KEY]`` of a target selects among the operation's algorithms by count."""
    accompanies = False
    """Whether bundles include the operation's algorithms by default, in addition to the sort `auto`."""
    plain_only = ""
    """A verb for messages if the operation supports only plain unsigned elements, without values, orders or features;
    else "".
    """
    value_types: tuple[str, ...] = ()
    """The types of values among which a call selects if the sort has values; the first type is the default."""
    table_keys: tuple[str, ...] = ()
    """The keys of an algorithm's table that determine the result; no search may change these keys."""
    segmented = False
    """Whether calls have a number of segments."""
    digested = False
    """Whether digests before and after a call verify the result, so counts beyond host memory can be validated."""
    timed = False
    """Whether the operation has a benchmark workload, `load`."""
    comparable = False
    """Whether benchmarks may compare its algorithms with those of another operation on the same keys."""
    least_input = 0
    """The least size in bytes of each input of a validation, for any count."""
    typed_baselines = False
    """Whether the baselines support keys of all types in both orders."""
    selects = False
    """Whether calls have a number of rows, and a number of keys to take from each row."""
    take_label = "the first {} of each"
    """A description of the keys to take from each row, with a placeholder for their number."""
    tuned: Signature = PLAIN
    """The signature of the calls that searches of shapes time."""
    workload = ""
    """The name of the benchmark workload, if the columns of a benchmark row do not show it."""

    report: tuple[int, int] = (0, 0)
    """The size of the report that every call writes: 32-bit words, and words per key; (0, 0): no report."""
    kinds: Mapping[str, Make] = KINDS
    """The kinds of validation input by name; the first kind is random."""

    @property
    def module(self) -> str:
        """The name of the operation's module in this package and in other packages."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def class_name(self) -> str:
        """The name of the class in JavaScript."""
        return self.agent or "".join(map(str.capitalize, self.name.split("_")))

    def subject(self, sort: Sort) -> str:
        """Return a description of a sort, such as "sort of u32 keys"."""
        name = "" if sort.algorithm == self.name else f"{sort.algorithm} "
        return f"{name}{self.noun} of {sort.label} keys"

    def c_label(self, sort: Sort) -> str:
        """Return the description of a sort in C files, without the signature."""
        return self.subject(sort)

    def columns(self, params: object) -> int:
        """Return the number of elements per item."""
        return 1

    def signature(self, signature: Signature) -> Signature:
        """Return the signature of this operation in a bundle whose sorts have `signature`."""
        return signature

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature that supports keys of a type."""
        return replace(signature, key_transform=signature.key_transform or key.kind > 0)

    def types(self, keys: Iterable[str], width: str) -> tuple[str, ...]:
        """Return the types of a width for which a bundle needs separate sorts, given the bundle's key types `keys`."""
        return (width,)

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether calls of a sort may have keys of a type."""
        return key.key == sort.label and (key.kind == 0 or sort.signature.key_transform)

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of values that a bundle needs for this operation in addition to `values`."""
        return ()

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Return the options of a call for `n` items, checked and completed.

        roles: the roles of the buffers that the call has.

        Raises:
            Usage: a number of the call does not fit the count.
        """
        return options

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the size in bytes per item of each further input role of calls.

        The source is included if its items are not keys.
        """
        return {}

    def input_bytes(self, options: Options) -> int:
        """Return the least size in bytes of the further inputs, for any number of items."""
        return 0

    def turn(self, options: Options, number: int, n: int, block: int) -> Options:
        """Return the options of validation case `number`, for `n` items and work-groups of `block` items."""
        return options

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options of the second case of a pair; None if the second case is the first case in place."""
        return None

    def reported(self, options: Options) -> list[str]:
        """Return phrases that describe the numbers of a call, for reports of failures."""
        return []

    def moved(self, sort: Sort, n: int, options: Options) -> int | None:
        """Return the bytes that a call for `n` items reads and writes; None if the launches determine the number."""
        return None

    @abstractmethod
    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a validation call on these keys, with the expected results by numpy."""

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return the calls for `n` items that searches of shapes time, as (kind of input, options)."""
        return ((next(iter(KINDS)), CALL),)

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return the benchmark workload on these keys and values, with the expected results by numpy.

        Raises:
            NotImplementedError: the operation is not `timed`.
        """
        raise NotImplementedError(f"{self.name} is not timed")
