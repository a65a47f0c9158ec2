"""The interface of operations, with defaults that suit most operations."""

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
    """An operation: the results of calls, and the texts and tests that depend on the operation.

    Each operation is a subclass that overrides the attributes and methods for which the default does not suit.
    """

    name: str
    """The operation's name in algorithms, JSON and C functions."""
    noun: str
    """The operation's name in sentences."""
    c_kind: str
    """The C constant for the kind of call.  An operation whose calls are those of sorts has the constant of sorts."""
    agent = ""
    """The name of the class in JavaScript and Python; empty if `class_name` derives it from `name`."""
    c_number = 0
    """The value of the C constant; by default that of sorts.  The value is published, so it never changes."""
    arguments: Arguments
    """The arguments of a call, from which the structs, functions and classes of every API are generated."""
    items = "keys"
    """The noun for the items that n counts."""
    unit = "keys"
    """The noun for the items in the headers of generated files; may be empty."""
    element = "key"
    """The noun for an element of the main buffers."""
    section = ("keys", "{} keys")
    """The section of the operation in a report: its id, and its heading with a placeholder for the key width."""

    order = 9
    """The operation's position in lists.  Operations with the same position are sorted by name."""
    by_count = False
    """Whether a target table ``[sort.KEY]`` selects among the operation's algorithms by count."""
    accompanies = False
    """Whether bundles include the operation's algorithms by default, in addition to the sort `auto`."""
    plain_only = ""
    """A verb for messages, if the operation supports only plain unsigned elements: without values, orders or features.
    Otherwise "".
    """
    value_types: tuple[str, ...] = ()
    """If the sort has values, each call selects one of these types for its values.  The first type is the default."""
    table_keys: tuple[str, ...] = ()
    """The keys of an algorithm's target table that determine the result.  Tuning must not change these keys."""
    segmented = False
    """Whether calls have a number of segments."""
    digested = False
    """Whether digests before and after a call can verify the result.  Validations can then exceed host memory."""
    timed = False
    """Whether the operation has a benchmark workload (`load`)."""
    comparable = False
    """Whether benchmarks may compare the operation's algorithms with those of another operation on the same keys."""
    least_input = 0
    """The least number of bytes in each input of a validation, whatever the count is."""
    typed_baselines = False
    """Whether the baselines support keys of all types in both orders."""
    selects = False
    """Whether calls have a number of rows, and a number of keys to take from each row."""
    take_label = "the first {} of each"
    """A description of the keys to take from each row, with a placeholder for their number."""
    tuned: Signature = PLAIN
    """The signature of the calls that tuning times."""
    workload = ""
    """The name of the benchmark workload, if the columns of a benchmark table do not show it."""

    report: tuple[int, int] = (0, 0)
    """The size of the report that every call writes: 32-bit words, and further words per key.  (0, 0): no report."""
    kinds: Mapping[str, Make] = KINDS
    """The kinds of validation input, by name.  The first kind is random."""

    @property
    def module(self) -> str:
        """The name of the operation's module, which is the same in this package and in other packages."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def class_name(self) -> str:
        """The name of the operation's class in JavaScript."""
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
        """Return the signature that this operation has in a bundle whose sorts have `signature`."""
        return signature

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature, extended so that it supports keys of a type."""
        return replace(signature, key_transform=signature.key_transform or key.kind > 0)

    def types(self, keys: Iterable[str], width: str) -> tuple[str, ...]:
        """Return the types of a key width for which a bundle needs separate sorts.

        keys: the key types of the bundle.
        """
        return (width,)

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether calls of a sort may have keys of a type."""
        return key.key == sort.label and (key.kind == 0 or sort.signature.key_transform)

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of values that a bundle with the kinds `values` additionally needs for this operation."""
        return ()

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check and complete the options of a call for `n` items, and return them.

        roles: the roles of the buffers that the call passes.

        Raises:
            Usage: a number of the call does not fit the count.
        """
        return options

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the bytes per item of each further input of calls, by role.

        The source is included only if its elements are not keys.
        """
        return {}

    def input_bytes(self, options: Options) -> int:
        """Return the bytes of further inputs whose size does not depend on the number of items."""
        return 0

    def turn(self, options: Options, number: int, n: int, block: int) -> Options:
        """Return the options of validation case number `number`, for `n` items and work-groups of `block` items."""
        return options

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options of the second case in a pair of validation cases.

        `options` are those of the first case.  None means that the second case is the first case in place.
        """
        return None

    def reported(self, options: Options) -> list[str]:
        """Return phrases that describe the numbers of a call in reports of failures."""
        return []

    def moved(self, sort: Sort, n: int, options: Options) -> int | None:
        """Return the bytes that a call for `n` items reads and writes; None to sum up those of its launches."""
        return None

    @abstractmethod
    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a validation call on these keys, with results that numpy computes."""

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return the calls for `n` items that tuning times, as pairs (kind of input, options)."""
        return ((next(iter(KINDS)), CALL),)

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return the benchmark workload on these keys and values, with results that numpy computes.

        Raises:
            NotImplementedError: the operation is not `timed`.
        """
        raise NotImplementedError(f"{self.name} is not timed")
