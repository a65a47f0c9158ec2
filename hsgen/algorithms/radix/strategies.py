"""The strategies by their names, and tables with the keys of any of them.

A strategy is a module of this package and a folder of templates of its name.

A table has the key `strategy`, the keys of that strategy, and those of the strategy that it falls back on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import cooperative, hybrid, onesweep, partition, per_thread, reduce_scan, single
from hsgen.algorithms.radix.hybrid.fields import FALLBACK
from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.search_space import Box
from hsgen.core import records
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Plan, Step
from hsgen.system import resources


class Strategy(Protocol):
    """The interface of a strategy's module; P is its own parameter class."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys of its table in a target."""

    @property
    def Params(self) -> type[Tile]:
        """Return P."""

    def problems(self, p: Any, device: Device) -> Iterable[Problem]:
        """Return what cannot work; the key "" is the strategy itself."""

    def space(self, key: KeyType, device: Device) -> Iterable[Box]:
        """Return the tables that are worth trying on a device."""

    def fitted(self, p: Any) -> Any:
        """Return P without what its key and form exclude."""

    def kernels(self, p: Any) -> tuple[Kernel, ...]:
        """Return every kernel, in the order in which a sort uses them."""

    def plan(self, p: Any) -> Plan:
        """Return the launch plan."""

    def moved(self, p: Any, step: Step, n: int) -> int:
        """Return the bytes that a launch reads and writes for `n` keys where no digit is constant."""

    def test_counts(self, p: Any, greatest: int) -> set[int]:
        """Return the counts up to `greatest`, and maybe some beyond, at which the sort changes its way."""

    def notes(self, p: Any) -> list[tuple[str, str]]:
        """Return derived values for people."""


_KNOWN: Sequence[Any] = (reduce_scan, onesweep, cooperative, hybrid, partition, per_thread, single)
"""The strategies in the order in which searches try them."""


def _found() -> Iterator[Any]:
    """Yield the modules of all strategies: these, and one for each other folder of templates."""
    yield from _KNOWN
    known = {module.Params.STRATEGY for module in _KNOWN}
    for name in sorted(path.name for path in (resources.templates() / "radix").iterdir() if path.is_dir()):
        if name not in known:
            yield import_module(f"hsgen.algorithms.radix.{name}")


STRATEGIES: Mapping[str, Strategy] = {module.Params.STRATEGY: cast(Strategy, module) for module in _found()}

FALLBACKS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    hybrid.Params.STRATEGY: {onesweep.Params.STRATEGY: {}, reduce_scan.Params.STRATEGY: {"waitless": True}}
}
"""The strategies that sort what other strategies cannot, by the names of these, with the parameters that say so; the
first is the usual one."""
STRATEGY = "strategy"
FIELDS: Mapping[str, Field] = {
    STRATEGY: Field("str", f"one of {', '.join(STRATEGIES)}", choices=tuple(STRATEGIES)),
    FALLBACK: Field("str", "the strategy that sorts what buckets do not hold, if not the usual one", required=False),
    **{name: field for module in STRATEGIES.values() for name, field in module.FIELDS.items()},
}
"""The keys of all strategies."""


def fields(name: str, fallback: str = "") -> Mapping[str, Field]:
    """Return the keys of a strategy and of the one that it falls back on, by default the usual one."""
    behind = fallback or next(iter(FALLBACKS[name])) if name in FALLBACKS else ""
    known = records.names(STRATEGIES[name].Params)
    names = [behind, name] if behind else [name]
    return {key: field for each in names for key, field in STRATEGIES[each].FIELDS.items() if key in known}


def params(key: KeyType, values: Mapping[str, Any]) -> Tile:
    """Return the parameters of the strategy that a table names, without the keys of other strategies."""
    name, behind = values[STRATEGY], values.get(FALLBACK, "")
    foreign = set(FIELDS) - set(fields(name, behind))
    more = FALLBACKS[name][behind] if behind else {}
    own = {k: v for k, v in values.items() if k not in foreign}
    made: Tile = records.built(STRATEGIES[name].Params, {"key": key, **own, **more})
    return made


def misplaced(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the keys of a table that its strategy does not have."""
    name = values.get(STRATEGY)
    own = FIELDS if name is None else fields(name, values.get(FALLBACK, ""))
    for key, value in values.items():
        if key in FIELDS and key not in (*own, STRATEGY, FALLBACK) and value:
            yield key, f"is no key of the strategy {name}", "leave it out"


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the boxes of all strategies."""
    found = ((name, module.space(key, device)) for name, module in STRATEGIES.items())
    return tuple({STRATEGY: (name,), **box} for name, boxes in found for box in boxes)


def of(p: Tile) -> Strategy:
    """Return the strategy that parameters are of."""
    return STRATEGIES[p.STRATEGY]
