"""The algorithms.  An algorithm is a set of pure functions that turn checked parameters into kernels and a plan.

Every module or package here with a `NAME` is an algorithm, and must define the names of `Algorithm`.  Modules are
found by a scan of this package, so algorithms need no registration.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any, Protocol, cast

from hsgen.algorithms.search_space import Box
from hsgen.algorithms.traits import Traits
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Plan, Step
from hsgen.operations import EVERY as OPERATIONS
from hsgen.operations.base import Operation


class Algorithm(Protocol):
    """The interface of an algorithm module.  P is the module's class of parameters."""

    @property
    def NAME(self) -> str:
        """The algorithm's name in targets, command lines and template folders."""

    @property
    def OPERATION(self) -> str:
        """The name of the operation that the algorithm performs (`hsgen.operations`)."""

    @property
    def TRAITS(self) -> Traits:
        """The algorithm's capabilities that other packages ask about."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys that the algorithm's table in a target may have."""

    def params(self, key: KeyType, values: Mapping[str, Any]) -> Any:
        """Return P for the values of a target table; the caller has checked their types and ranges against FIELDS."""

    def alone(self, values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
        """Return the problems of values that are invalid whatever the other values are, as (key, problem, remedy).

        The values are those of a target table, which may be incomplete.
        """

    def problems(self, p: Any, device: Device) -> list[tuple[str, str, str]]:
        """Return the problems of complete parameters on a device, as (key, problem, remedy)."""

    def space(self, key: KeyType, device: Device) -> tuple[Box, ...]:
        """Return the search regions for a device: lists of values for the keys of the target table.

        A search tries the combinations for which `problems` returns nothing.  A key that no region contains keeps the
        target's value.
        """

    def specialize(self, p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Any:
        """Return P for a key width and a signature; None if the algorithm does not support them.

        p: the parameters that the target's tables state: P by key width, such as "u32".  For an algorithm in
        `IMPLICIT`, parameters of all algorithms by label.
        """

    def kernels(self, p: Any) -> tuple[Kernel, ...]:
        """Return the kernels."""

    def plan(self, p: Any) -> Plan:
        """Return the launch plan."""

    def moved(self, p: Any, step: Step, n: int) -> int:
        """Return the bytes of device memory that one launch of `step` reads and writes for `n` keys."""

    def block(self, p: Any) -> int:
        """Return the number of keys that one work-group handles.  Validation tests counts around multiples of it."""

    def test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return the counts up to `greatest` at which other launches run, or a kernel takes another path, for tests."""

    def row_test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return counts up to `greatest` for tests of bounds checks.

        For each bounds check of each kernel, one of these counts lets some lanes pass the check and other lanes fail.
        """

    def context(self, p: Any) -> Mapping[str, Any]:
        """Return the names that the algorithm's templates may use in addition to `kernel` and `p`."""

    def notes(self, p: Any) -> list[tuple[str, str]]:
        """Return derived values as (name, text) pairs, for the comments of generated headers and for `hsgen show`."""


def _discovered() -> dict[str, Algorithm]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    every = [cast(Algorithm, module) for module in modules if hasattr(module, "NAME")]
    return {algorithm.NAME: algorithm for algorithm in sorted(every, key=lambda a: a.NAME)}


EVERY: Mapping[str, Algorithm] = _discovered()
"""All algorithms by name, in alphabetical order."""

ALGORITHMS: Mapping[str, Algorithm] = {
    name: algorithm for name, algorithm in EVERY.items() if any(field.required for field in algorithm.FIELDS.values())
}
"""The algorithms that need a table in a target; a target without the table does not support them."""

IMPLICIT: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in EVERY.items() if name not in ALGORITHMS}
"""The algorithms that need no table in a target: `specialize` derives their parameters from those of other algorithms.

`specialize` receives the target's parameters by label, such as "radix".  These are the parameters for the key width.
For u8 and u16 keys, if no table of the target has that width, they are the parameters for u32.
"""

OPTIONAL: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in IMPLICIT.items() if algorithm.FIELDS}
"""The algorithms of `IMPLICIT` that may have a table in a target.  Its values replace derived parameters."""

TABLES: Mapping[str, Algorithm] = {**ALGORITHMS, **OPTIONAL}
"""The algorithms that may have tables in targets."""

DERIVED: Mapping[str, Any] = {label: a for a in ALGORITHMS.values() for label in getattr(a, "DERIVED", ())}
"""The algorithm in `ALGORITHMS` of each label that needs no table in a target: the target's other tables suffice.

The call ``derive(label, params, key, device)`` of the algorithm returns P, or None if the label is not supported.
`params` has the target's parameters for the key width `key`, by label.
"""

AUTO = "auto"
"""The label of the sort that selects among a target's algorithms by count."""


def named(label: str) -> Algorithm:
    """Return the algorithm of a label: its name, such as "radix", or name and variant, such as "radix-bits2"."""
    return EVERY[label.split("-")[0]]


def operation(label: str) -> Operation:
    """Return the operation that a label's algorithm performs.  `AUTO` is a sort."""
    if label == AUTO:
        return next(o for o in OPERATIONS.values() if o.by_count)
    return OPERATIONS[named(label).OPERATION]


def listed(package: str, names: Iterable[str]) -> dict[str, str]:
    """Return, by algorithm, the full name of the module in `package` that has the name of the algorithm's module here.

    Algorithms for which the package has no module are left out.
    names: the names of the algorithms to look for.
    """
    modules = {name: f"{package}.{str(cast(Any, EVERY[name]).__name__).rpartition('.')[2]}" for name in names}
    return {name: module for name, module in modules.items() if find_spec(module)}


def implicit_for(needed: Operation) -> str:
    """Return the name of the first algorithm in `IMPLICIT` that performs an operation."""
    return next(name for name, algorithm in IMPLICIT.items() if needed.name == algorithm.OPERATION)
