"""The algorithms: pure functions from checked parameters to kernels and a plan.

Every module or package of this package with a `NAME` is an algorithm, and has the names of `Algorithm`; there is no
registry.
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
    """The interface of an algorithm module; P below is its parameter class."""

    @property
    def NAME(self) -> str:
        """Its name in targets, command lines and template folders."""

    @property
    def OPERATION(self) -> str:
        """The name of its operation (`hsgen.operations`)."""

    @property
    def TRAITS(self) -> Traits:
        """The capabilities that other packages need to know."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys of its table in a target."""

    def params(self, key: KeyType, values: Mapping[str, Any]) -> Any:
        """Return P for the values of a table that passed FIELDS."""

    def alone(self, values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
        """Return the problems of single values, independent of the others: (key, problem, remedy)."""

    def problems(self, p: Any, device: Device) -> list[tuple[str, str, str]]:
        """Return all problems of the parameters: (key, problem, remedy)."""

    def space(self, key: KeyType, device: Device) -> tuple[Box, ...]:
        """Return the search space on a device: values for each key of the table.

        `problems` excludes some of the combinations.  A key that no box contains keeps the target's value.
        """

    def specialize(self, p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Any:
        """Return P for a key width and a signature; None if the algorithm does not support them.

        p: the target's P for plain keys, by key width.
        """

    def kernels(self, p: Any) -> tuple[Kernel, ...]:
        """Return the kernels."""

    def plan(self, p: Any) -> Plan:
        """Return the launch plan."""

    def moved(self, p: Any, step: Step, n: int) -> int:
        """Return the memory traffic of one launch for `n` keys, in bytes."""

    def block(self, p: Any) -> int:
        """Return the keys of a work-group; validation tests more counts around multiples of this number."""

    def test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return the counts up to `greatest` at which the plan or a kernel takes another path; tests cover them."""

    def row_test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return counts up to `greatest` that make each bounds check of each kernel pass in some lanes and fail in
        others.
        """

    def context(self, p: Any) -> Mapping[str, Any]:
        """Return the names that its templates may use in addition to `kernel` and `p`."""

    def notes(self, p: Any) -> list[tuple[str, str]]:
        """Return derived values for headers and `hsgen show`: (name, value)."""


def _discovered() -> dict[str, Algorithm]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    every = [cast(Algorithm, module) for module in modules if hasattr(module, "NAME")]
    return {algorithm.NAME: algorithm for algorithm in sorted(every, key=lambda a: a.NAME)}


EVERY: Mapping[str, Algorithm] = _discovered()
"""All algorithms by name, in alphabetical order."""

ALGORITHMS: Mapping[str, Algorithm] = {
    name: algorithm for name, algorithm in EVERY.items() if any(field.required for field in algorithm.FIELDS.values())
}
"""The algorithms that a target supports only if it has a table for them."""

IMPLICIT: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in EVERY.items() if name not in ALGORITHMS}
"""The algorithms that need no table: `specialize` derives their parameters.

`specialize` receives the device and the target's parameters by label, such as "radix".  The parameters are those for
the key width; keys narrower than 32 bits take those for u32.
"""

OPTIONAL: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in IMPLICIT.items() if algorithm.FIELDS}
"""The algorithms of `IMPLICIT` whose derived parameters a table in a target may replace."""

TABLES: Mapping[str, Algorithm] = {**ALGORITHMS, **OPTIONAL}
"""The algorithms that may have tables in targets."""

DERIVED: Mapping[str, Any] = {label: a for a in ALGORITHMS.values() for label in getattr(a, "DERIVED", ())}
"""The labels whose parameters need no table, each with its algorithm; the algorithm's `derive` returns P or None.

`derive` takes the label, the target's parameters for the key width by label, the key type, and the device.
"""

AUTO = "auto"
"""The label of the sort that selects among a target's algorithms by count."""


def named(label: str) -> Algorithm:
    """Return the algorithm of a label, such as radix or radix-bits2."""
    return EVERY[label.split("-")[0]]


def operation(label: str) -> Operation:
    """Return the operation of a label's algorithm; `AUTO` is a sort."""
    if label == AUTO:
        return next(o for o in OPERATIONS.values() if o.by_count)
    return OPERATIONS[named(label).OPERATION]


def listed(package: str, names: Iterable[str]) -> dict[str, str]:
    """Return the module that a package has for each algorithm in `names`, by the name of the algorithm.

    A package's module has the name of the algorithm's module.  Algorithms without such a module are left out.
    """
    modules = {name: f"{package}.{str(cast(Any, EVERY[name]).__name__).rpartition('.')[2]}" for name in names}
    return {name: module for name, module in modules.items() if find_spec(module)}


def implicit_for(needed: Operation) -> str:
    """Return the name of the first algorithm without tables for an operation."""
    return next(name for name, algorithm in IMPLICIT.items() if needed.name == algorithm.OPERATION)
