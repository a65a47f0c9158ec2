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
    """An operation: the arguments and results of its calls, its names in texts, and its tests and benchmarks.

    Each operation is a subclass, which overrides the attributes and methods whose defaults do not suit it.  An argument
    `sort` is the generated code that performs the operation: despite its name, a `Sort` may merge, for example.
    """

    name: str
    """The operation's identifier in algorithms, JSON and C functions, such as "top_k"."""
    noun: str
    """The operation's name in sentences, such as "prefix sum"."""
    c_kind: str
    """The name of the C constant for the operation, such as "HS_MERGE"."""
    agent = ""
    """The name of the operation's class in JavaScript, such as "Packer"; empty if `class_name` derives it from `name`.
    """
    c_number = 0
    """The value of the C constant `c_kind`.  The value is part of the published C API, so it never changes."""
    arguments: Arguments
    """The arguments of a call, from which the structs, functions and classes of every API are generated."""
    items = "keys"
    """The noun for that of which a call has n, such as "rows"."""
    unit = "keys"
    """The same noun in the headers of generated files; may be empty."""
    element = "key"
    """The noun for an element of the buffer with the role "source"."""
    section = ("keys", "{} keys")
    """The section of the operation in a report: the HTML id, and the heading with a placeholder for the key width."""

    order = 9
    """The operation's position in lists.  Operations with the same position are sorted by name."""
    by_count = False
    """Whether a target file states which of the operation's algorithms serves which counts, in tables ``[sort.KEY]``.
    """
    accompanies = False
    """Whether a bundle, a folder of generated code, has the operation's algorithms by default, besides sorts."""
    plain_only = ""
    """A verb, such as "sums up", if the operation supports no values, no orders and no features; otherwise "".

    If a user asks for one of these, the message uses the verb.
    """
    value_types: tuple[str, ...] = ()
    """The types that values may have, if each call states the type of its values.  The first type is the default."""
    table_keys: tuple[str, ...] = ()
    """The keys of a target table whose values determine the result of a call, such as "exclusive" for a prefix sum.

    Tuning must not change their values.
    """
    segmented = False
    """Whether calls have a number of segments."""
    digested = False
    """Whether a validation can verify a call by two digests, which a GPU computes before and after the call.

    Validations can then use arrays that are too large for host memory.
    """
    timed = False
    """Whether the operation has a benchmark workload (`load`)."""
    comparable = False
    """Whether benchmarks of other operations may time the operation's algorithms on the same keys, to compare them."""
    least_input = 0
    """The least size in bytes of each buffer that validations allocate, even for small counts."""
    typed_baselines = False
    """Whether the libraries with which benchmarks compare the operation support all key types, in both orders.

    Otherwise, benchmarks run these libraries only for unsigned keys in ascending order.
    """
    selects = False
    """Whether calls have a number of rows, and a number of keys to take from each row."""
    take_label = "the first {} of each"
    """A phrase for the keys to take from each row, if `selects` is set, with a placeholder for their number."""
    tuned: Signature = PLAIN
    """The signature of the calls that tuning times."""
    workload = ""
    """The name of the benchmark workload in the titles of benchmark tables; "" if the titles need no name."""

    report: tuple[int, int] = (0, 0)
    """The size of the report, an output that every call writes besides keys and values.

    The two numbers are a number of 32-bit words, and a number of further words per key.  (0, 0) means no report.
    """
    kinds: Mapping[str, Make] = KINDS
    """The functions that make keys for validations, by the name of the kind of input; the first makes random keys."""

    @property
    def module(self) -> str:
        """The name of the operation's module in this package.  Its modules in other packages have the same name."""
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
        """Return the number of elements per item, such as the columns of a prefix sum.  By default, it is 1."""
        return 1

    def signature(self, signature: Signature) -> Signature:
        """Return the signature that this operation has in a bundle whose sorts have `signature`.

        An operation that supports fewer features than sorts removes the others.
        """
        return signature

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature, extended so that it supports keys of the type `key`."""
        return replace(signature, key_transform=signature.key_transform or key.kind > 0)

    def types(self, keys: Iterable[str], width: str) -> tuple[str, ...]:
        """Return the key types of the width `width` for which a bundle needs separate generated code.

        By default, the code for unsigned keys serves all types of the width, by a transform of the keys.
        keys: the key types of the bundle.
        """
        return (width,)

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether calls of `sort` may have keys of the type `key`."""
        return key.key == sort.label and (key.kind == 0 or sort.signature.key_transform)

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of values that a bundle has for this operation only; `values` are the bundle's own kinds."""
        return ()

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check and complete the options of a call for `n` items, and return them.

        roles: the roles of the buffers that the call passes, such as "values" (`hsgen.core.plan.ROLES`).

        Raises:
            Usage: a number in the options does not fit n.
        """
        return options

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the buffers that validations allocate besides keys and values: the bytes per item, by role.

        The role "source" is included only if its elements are not keys.
        """
        return {}

    def input_bytes(self, options: Options) -> int:
        """Return the size in bytes of the inputs besides keys and values whose sizes do not depend on n."""
        return 0

    def turn(self, options: Options, number: int, n: int, block: int) -> Options:
        """Return the options of validation case `number`: consecutive numbers give different options.

        options: the options that the case has so far.
        n: the number of items.
        block: the number of items that a work-group handles.  Sizes near it are worth testing.
        """
        return options

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options of a validation's second call on the same keys; `options` are those of the first call.

        None means that the second call has the same options, but works in place.
        """
        return None

    def reported(self, options: Options) -> list[str]:
        """Return phrases that describe the numbers in `options`.  The message about a failed validation shows them."""
        return []

    def moved(self, sort: Sort, n: int, options: Options) -> int | None:
        """Return the bytes that a call for `n` items must read and write; None if the algorithm determines them.

        If None is returned, benchmarks add up the bytes of the call's launches.
        """
        return None

    @abstractmethod
    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a validation call on `keys`, with the expected results, which numpy computes."""

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return the calls for `n` items whose times `hsgen tune` minimizes, as pairs (kind of input, options)."""
        return ((next(iter(KINDS)), CALL),)

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return the benchmark call on `keys` and `values`, with the expected results, which numpy computes.

        Raises:
            NotImplementedError: the operation is not `timed`.
        """
        raise NotImplementedError(f"{self.name} is not timed")
