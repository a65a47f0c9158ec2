"""The interface of operations, with the defaults that suit most of them."""

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
    """What a call computes.  A subclass overrides what differs for its operation."""

    name: str
    """Its name in algorithms, JSON and C functions."""
    noun: str
    """Its name in text."""
    c_kind: str
    """The C constant of the kind of its calls; an operation that is called as sorts are has theirs."""
    c_number = 0
    """The value of this constant; published, so it never changes."""
    arguments: Arguments
    """What a call takes, from which the C structs and functions of every API are generated."""
    items = "keys"
    """What n counts."""
    unit = "keys"
    """The same in the headers of generated files; may be empty."""
    element = "key"
    """The name of an element of its main buffers."""
    section = ("keys", "{} keys")
    """Its section of a report: the id, and the heading with a placeholder for the key width."""

    order = 9
    """Its position in lists; operations of one position are sorted by name."""
    by_count = False
    """Whether ``[sort.KEY]`` of a target selects among its algorithms by count."""
    accompanies = False
    """Whether bundles include its algorithms by default, in addition to the sort `auto`."""
    plain_only = ""
    """The verb of an operation that supports plain unsigned elements only: no values, orders or features."""
    value_types: tuple[str, ...] = ()
    """The types of values among which each call of a sort with values chooses; the first is the default."""
    table_keys: tuple[str, ...] = ()
    """Keys of an algorithm's table that determine the result, which no search may change."""
    segmented = False
    """Whether calls have a number of segments."""
    digested = False
    """Whether digests before and after verify a result, so that counts beyond host memory can be validated."""
    timed = False
    """Whether it has a benchmark workload, `load`."""
    comparable = False
    """Whether benchmarks may compare its algorithms with those of another operation on the same keys."""
    least_input = 0
    """The least size in bytes of each input of a validation, for any count."""
    typed_baselines = False
    """Whether its baselines handle keys of all types in both orders."""
    selects = False
    """Whether calls have a number of rows, and a number of keys to take of each."""
    taken = "the first {} of each"
    """What is taken of each row, with a placeholder for that number."""
    tuned: Signature = PLAIN
    """The signature of the calls that are timed to tune shapes."""
    workload = ""
    """The name of the benchmark workload if the columns of its rows do not show it."""

    report: tuple[int, int] = (0, 0)
    """The size of the report that every call writes: 32-bit words, and words per key; (0, 0): no report."""
    kinds: Mapping[str, Make] = KINDS
    """The kinds of validation input by name; the first is random."""

    @property
    def module(self) -> str:
        """The name of its module, and of its modules in other packages."""
        return type(self).__module__.rpartition(".")[2]

    def subject(self, sort: Sort) -> str:
        """Return a description of a sort, such as "sort of u32 keys"."""
        name = "" if sort.algorithm == self.name else f"{sort.algorithm} "
        return f"{name}{self.noun} of {sort.label} keys"

    def c_label(self, sort: Sort) -> str:
        """Return the description in C, without the signature."""
        return self.subject(sort)

    def columns(self, params: object) -> int:
        """Return the number of elements per item."""
        return 1

    def signature(self, signature: Signature) -> Signature:
        """Return the signature that a bundle includes in addition to sorts with `signature`."""
        return signature

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature for keys of a type."""
        return replace(signature, key_transform=signature.key_transform or key.kind > 0)

    def types(self, keys: Iterable[str], width: str) -> tuple[str, ...]:
        """Return the types for which a bundle needs a sort each, if it has these types of keys, some of a width."""
        return (width,)

    def serves(self, sort: Sort, key: Type) -> bool:
        """Return whether calls of a sort may have keys of a type."""
        return key.key == sort.label and (key.kind == 0 or sort.signature.key_transform)

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of values that it supports in addition to those of a bundle's sorts."""
        return ()

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """Return the options of a call for `n` items with the buffer roles `given`, checked and completed.

        Raises:
            Usage: a number of the call does not fit the count.
        """
        return how

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the further input roles of calls, and the source if its items are no keys, each with its size in bytes
        per item."""
        return {}

    def input_bytes(self, how: Options) -> int:
        """Return the least size in bytes of these inputs, regardless of the number of items."""
        return 0

    def turn(self, how: Options, number: int, n: int, block: int) -> Options:
        """Return the options of validation case `number`, for `n` items and work-groups of `block` items."""
        return how

    def second(self, how: Options, n: int) -> Options | None:
        """Return the options of the second case of a pair; None if it is the first case in place."""
        return None

    def reported(self, how: Options) -> list[str]:
        """Return what a failure says of the number of its call."""
        return []

    def moved(self, sort: Sort, n: int, how: Options) -> int | None:
        """Return the bytes that a call for `n` items reads and writes; None if its launches determine them."""
        return None

    @abstractmethod
    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a validation call on these keys, with the results by numpy."""

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return the calls for `n` items that are timed to tune shapes: the kind of input, and the options."""
        return ((next(iter(KINDS)), CALL),)

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return the benchmark workload on these keys and values, with the results by numpy.

        Raises:
            NotImplementedError: the operation is not `timed`.
        """
        raise NotImplementedError(f"{self.name} is not timed")
