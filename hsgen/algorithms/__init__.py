"""The algorithms.  An algorithm is a set of pure functions that turn checked parameters into kernels and a plan.

Most parameters come from a *target*, a TOML file that describes a kind of GPU or CPU.  A table such as ``[radix.u32]``
in this file has the parameters of an algorithm for a key width.  The heading of the table is a *label*, here "radix",
and the key width.

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
    """The interface of an algorithm module.

    Below, P stands for the dataclass in which the module keeps its parameters; arguments `p` are mostly of this class.
    """

    @property
    def NAME(self) -> str:
        """The algorithm's name in targets, command lines and template folders."""

    @property
    def OPERATION(self) -> str:
        """The name of the operation that the algorithm performs (`hsgen.operations`)."""

    @property
    def TRAITS(self) -> Traits:
        """The capabilities of the algorithm, which other packages query."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys that the algorithm's table in a target may have."""

    def params(self, key: KeyType, values: Mapping[str, Any]) -> Any:
        """Return a P with the values of a target table; the caller has checked their types and ranges by `FIELDS`."""

    def alone(self, values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
        """Check each value of a target table by itself; return the problems as (table key, problem, remedy).

        The table may be incomplete.  `problems` checks complete parameters, and so the combination of values.
        """

    def problems(self, p: Any, device: Device) -> list[tuple[str, str, str]]:
        """Check complete parameters for a device; return the problems as (table key, problem, remedy)."""

    def space(self, key: KeyType, device: Device) -> tuple[Box, ...]:
        """Return the regions that `hsgen tune` searches on a device; a region has a list of values for each table key.

        The search tries those combinations of values for which `problems` returns nothing.  A table key that no region
        contains keeps the value that it has in the target.
        """

    def specialize(self, p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Any:
        """Return the parameters P for a key width and a signature; None if the algorithm does not support them.

        The signature states the kind of values and the further features that the generated code has.
        p: the parameters in the target's tables for this algorithm, by key width, such as "u32".  An algorithm in
        `IMPLICIT` receives the parameters of all other algorithms instead, by label.
        """

    def kernels(self, p: Any) -> tuple[Kernel, ...]:
        """Return all kernels that the plan launches."""

    def plan(self, p: Any) -> Plan:
        """Return the launch plan: which kernels a call launches for a count, with which buffers and grids."""

    def moved(self, p: Any, step: Step, n: int) -> int:
        """Return the bytes of device memory that one launch of `step` reads and writes for `n` keys."""

    def block(self, p: Any) -> int:
        """Return the number of keys that one work-group handles.  Validation tests counts around multiples of it."""

    def test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return the counts up to `greatest` at which the plan changes its launches, or a kernel its method.

        Validations test counts near these.
        """

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
"""The algorithms with a required table key: a target supports such an algorithm only if it has a table for it."""

IMPLICIT: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in EVERY.items() if name not in ALGORITHMS}
"""The algorithms that need no table in a target: `specialize` derives their parameters from those of other algorithms.

`specialize` receives the parameters in the target's tables for the key width, by label, such as "radix".  If the key
width is u8 or u16 and no table has it, `specialize` receives the parameters for u32.
"""

OPTIONAL: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in IMPLICIT.items() if algorithm.FIELDS}
"""The algorithms of `IMPLICIT` that may have a table in a target; the values in the table replace derived parameters.
"""

TABLES: Mapping[str, Algorithm] = {**ALGORITHMS, **OPTIONAL}
"""The algorithms that may have tables in targets."""

DERIVED: Mapping[str, Any] = {label: a for a in ALGORITHMS.values() for label in getattr(a, "DERIVED", ())}
"""The labels, such as "scan-x2", that need no table of their own in a target, each with its algorithm.

If a target has no table for such a label, ``derive(label, params, key, device)`` of the algorithm returns P from the
other tables, or None if the label is not supported.  `params` maps the label of each table that the target has for the
key width `key` to the parameters in it.
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
    """Return the full names of the modules in another package that belong to algorithms, by algorithm name.

    The module of an algorithm in that package has the name that it has here.  Algorithms without one are omitted.
    package: the full name of the other package, such as "hsgen.tools.report.shapes".
    names: the algorithms to look for.
    """
    modules = {name: f"{package}.{str(cast(Any, EVERY[name]).__name__).rpartition('.')[2]}" for name in names}
    return {name: module for name, module in modules.items() if find_spec(module)}


def implicit_for(needed: Operation) -> str:
    """Return the name of the first algorithm in `IMPLICIT` that performs an operation."""
    return next(name for name, algorithm in IMPLICIT.items() if needed.name == algorithm.OPERATION)
