"""The protocol of operations: the questions that other packages ask, with the answers of most operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make


class Operation(ABC):
    """What a call does to arrays.  A subclass overrides what is different for its operation."""

    name: str
    """The name that algorithms, JSON and C functions have for it."""
    noun: str
    """The name that people have for it."""
    c_kind: str
    """The constant of C that says what its calls consist of."""
    items = "keys"
    """What the count of a call counts."""
    unit = "keys"
    """The same in the header of generated files; may be empty."""
    element = "key"
    """One number of its main buffers."""
    section = ("keys", "{} keys")
    """Where a report shows it: the id of the section, and its heading with a place for the width."""

    order = 9
    """Its place in lists for people; those of one place go by name."""
    by_count = False
    """Whether ``[sort.KEY]`` of a target divides the counts among its algorithms."""
    accompanies = False
    """Whether a bundle gets its algorithms by default, along with the sort for any count."""
    plain_only = ""
    """The verb of an operation that takes plain unsigned elements alone: no values, orders or features."""
    table_keys: tuple[str, ...] = ()
    """Keys of an algorithm's table that say what is computed, so that no search chooses them."""
    segmented = False
    """Whether a call has a number of segments."""
    digested = False
    """Whether digests before and after show that a result is right, so that counts beyond the host are validated."""
    timed = False
    """Whether benchmarks have a workload for it, `load`."""
    comparable = False
    """Whether its algorithms may race those of another operation on the same keys."""
    workload = ""
    """What a benchmark does, where the columns of its rows do not show it."""

    report: tuple[int, int] = (0, 0)
    """The words of a report that it always makes: a number of them, and so many more for each key."""
    kinds: Mapping[str, Make] = KINDS
    """Every kind of input of a validation, by name; the first is random."""

    @property
    def module(self) -> str:
        """The name of its module, which modules about it elsewhere have too."""
        return type(self).__module__.rpartition(".")[2]

    def subject(self, sort: Sort) -> str:
        """Return what a sort does to what, for people."""
        name = "" if sort.algorithm == self.name else f"{sort.algorithm} "
        return f"{name}{self.noun} of {sort.label} keys"

    def c_label(self, sort: Sort) -> str:
        """Return the same for C, where no form follows."""
        return self.subject(sort)

    def columns(self, params: object) -> int:
        """Return the elements of one of the n items."""
        return 1

    def signature(self, signature: Signature) -> Signature:
        """Return the form of it that a bundle gets along with sorts of a form."""
        return signature

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of values that it must be made for besides those of a bundle's sorts."""
        return ()

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """Return the options with what follows from a call for `n` items that has the roles `given`.

        Raises:
            Usage: a number of the call does not fit the count.
        """
        return how

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the roles that calls read besides keys, values and a count, each with its bytes for each item."""
        return {}

    def input_bytes(self, how: Options) -> int:
        """Return the bytes of these where they take more than is needed for the items themselves."""
        return 0

    def turn(self, how: Options, number: int, n: int, block: int) -> Options:
        """Return the options of case `number` of a validation, for `n` items and work-groups that take `block`."""
        return how

    def second(self, how: Options, n: int) -> Options | None:
        """Return the options of the second case of a pair, where that is not the first one in place; else None."""
        return None

    def told(self, how: Options) -> list[str]:
        """Return what a failure says of the number of its call."""
        return []

    @abstractmethod
    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call of a validation on these keys, with what numpy makes of them."""

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return the workload of a benchmark on these keys and values, with what numpy makes of them."""
        raise NotImplementedError(f"{self.name} is not timed")
