"""The algorithms: pure functions from checked parameters to kernels and a plan.

An algorithm is a module or package of this one that has the names of `Algorithm`.  Nothing registers it: every module
here that has a `NAME` is one.
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
    """What every algorithm module offers; P below is its own parameter class."""

    @property
    def NAME(self) -> str:
        """What targets, command lines and folders of templates call it."""

    @property
    def OPERATION(self) -> str:
        """The name of the operation that it carries out (`hsgen.operations`)."""

    @property
    def TRAITS(self) -> Traits:
        """What it is able to do, as far as others must know it."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys of its table in a target."""

    def params(self, key: KeyType, values: Mapping[str, Any]) -> Any:
        """Return P for the values of a table that passed FIELDS."""

    def alone(self, values: Mapping[str, Any], device: Device) -> Iterable[tuple[str, str, str]]:
        """Return (key, what is wrong, what would be right) for values that are wrong whatever the others are."""

    def problems(self, p: Any, device: Device) -> list[tuple[str, str, str]]:
        """Return (key, what is wrong, what would be right) for every choice that cannot work."""

    def space(self, key: KeyType, device: Device) -> tuple[Box, ...]:
        """Return the tables that are worth trying on a device, as lists for their keys.

        `problems` excludes some of their products; keys that no box has stay as a target has them.
        """

    def specialize(self, p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Any:
        """Return P for keys of a width in a form, by those P that a target has for plain keys of some widths; None if
        the algorithm cannot sort so."""

    def kernels(self, p: Any) -> tuple[Kernel, ...]:
        """Return the kernels."""

    def plan(self, p: Any) -> Plan:
        """Return the launch plan."""

    def moved(self, p: Any, step: Step, n: int) -> int:
        """Return the bytes of memory that one launch reads and writes for `n` keys."""

    def block(self, p: Any) -> int:
        """Return the keys that one work-group sorts: the count around which validations are dense."""

    def test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return the counts up to `greatest` at which the sort changes its way, so that tests go around them."""

    def row_test_counts(self, p: Any, greatest: int) -> list[int]:
        """Return counts up to `greatest` by which every guard of every kernel is decisive for some lane."""

    def context(self, p: Any) -> Mapping[str, Any]:
        """Return the names, besides `kernel` and `p`, that its templates may use."""

    def notes(self, p: Any) -> list[tuple[str, str]]:
        """Return derived values that a person wants to see: (name, value)."""


def _found() -> dict[str, Algorithm]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [cast(Algorithm, module) for module in modules if hasattr(module, "NAME")]
    return {algorithm.NAME: algorithm for algorithm in sorted(found, key=lambda a: a.NAME)}


EVERY: Mapping[str, Algorithm] = _found()
"""Every algorithm by its name, in alphabetical order."""

ALGORITHMS: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in EVERY.items() if algorithm.FIELDS}
"""Those that a target has tables for."""

IMPLICIT: Mapping[str, Algorithm] = {name: algorithm for name, algorithm in EVERY.items() if not algorithm.FIELDS}
"""Those without tables: their `specialize` gets what a target chose for keys of the width, or of words for narrow ones, by
label ("radix", "merge"), and makes its own parameters of that and of the device."""


AUTO = "auto"
"""The label of the algorithms that a target divides the counts of a sort among."""


def named(label: str) -> Algorithm:
    """Return the algorithm of a label such as radix or radix-bits2."""
    return EVERY[label.split("-")[0]]


def operation(label: str) -> Operation:
    """Return the operation that the algorithm of a label carries out, or that `AUTO` does."""
    if label == AUTO:
        return next(o for o in OPERATIONS.values() if o.by_count)
    return OPERATIONS[named(label).OPERATION]


def listed(package: str, names: Iterable[str]) -> dict[str, str]:
    """Return the modules of a package that are called like the modules of algorithms, by the names of these."""
    modules = {name: f"{package}.{str(cast(Any, EVERY[name]).__name__).rpartition('.')[2]}" for name in names}
    return {name: module for name, module in modules.items() if find_spec(module)}


def implicit_for(wanted: Operation) -> str:
    """Return the first algorithm without tables that carries out an operation."""
    return next(name for name, algorithm in IMPLICIT.items() if wanted.name == algorithm.OPERATION)
