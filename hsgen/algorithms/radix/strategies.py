"""The strategies by name, and the keys of their tables in target files.

A strategy is a module of this package, and a folder of the same name under ``templates/radix``.  The target table of a
radix sort has the key `strategy`, and the keys of that strategy and of its fallback.
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
    """The interface of a strategy's module.  An argument `p` is an instance of the module's `Params`."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys of the strategy's table in a target."""

    @property
    def Params(self) -> type[Tile]:
        """The class of the strategy's parameters."""

    def problems(self, p: Any, device: Device) -> Iterable[Problem]:
        """Check the parameters for a device, and return the problems as (table key, problem, remedy).

        The table key "" means that the device cannot run the strategy at all.
        """

    def space(self, key: KeyType, device: Device) -> Iterable[Box]:
        """Return the search regions for a device: candidate values of the keys of the target table."""

    def fitted(self, p: Any) -> Any:
        """Return the parameters without the options that do not support the key width or the signature in `p`."""

    def kernels(self, p: Any) -> tuple[Kernel, ...]:
        """Return every kernel, in the order of their launches."""

    def plan(self, p: Any) -> Plan:
        """Return the launch plan."""

    def moved(self, p: Any, step: Step, n: int) -> int:
        """Return the bytes that a launch of `step` reads and writes for `n` keys, if every pass moves all keys."""

    def test_counts(self, p: Any, greatest: int) -> set[int]:
        """Return the counts at which the launches or their grids change; some may exceed `greatest`."""

    def notes(self, p: Any) -> list[tuple[str, str]]:
        """Return derived values as (name, text) pairs, for `hsgen show`; the first pair names the ranker."""


_KNOWN: Sequence[Any] = (reduce_scan, onesweep, cooperative, hybrid, partition, per_thread, single)
"""The modules of hsgen's own strategies, in the order in which searches try them."""


def _discovered() -> Iterator[Any]:
    """Yield the modules in `_KNOWN`, then those of all other strategies with a folder of templates."""
    yield from _KNOWN
    known = {module.Params.STRATEGY for module in _KNOWN}
    for name in sorted(path.name for path in (resources.templates() / "radix").iterdir() if path.is_dir()):
        if name not in known:
            yield import_module(f"hsgen.algorithms.radix.{name}")


STRATEGIES: Mapping[str, Strategy] = {module.Params.STRATEGY: cast(Strategy, module) for module in _discovered()}

FALLBACKS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    hybrid.Params.STRATEGY: {onesweep.Params.STRATEGY: {}, reduce_scan.Params.STRATEGY: {"waitless": True}}
}
"""The strategies that may be the fallback of a strategy, by its name; the first is the default.

A fallback sorts keys for which the strategy itself does not work.  Its value here has the parameters that select it.
"""
STRATEGY = "strategy"
FIELDS: Mapping[str, Field] = {
    STRATEGY: Field("str", f"one of {', '.join(STRATEGIES)}", choices=tuple(STRATEGIES)),
    FALLBACK: Field("str", "the strategy that sorts what buckets do not hold, if not the usual one", required=False),
    **{name: field for module in STRATEGIES.values() for name, field in module.FIELDS.items()},
}
"""The keys that a target table ``[radix.KEY]`` may have, for all strategies."""


def fields(name: str, fallback: str = "") -> Mapping[str, Field]:
    """Return the keys of a target table with the strategy `name`: those of the strategy and those of its fallback.

    If `fallback` is "", the strategy's default fallback is used.  A strategy without fallbacks ignores the argument.
    """
    behind = fallback or next(iter(FALLBACKS[name])) if name in FALLBACKS else ""
    known = records.names(STRATEGIES[name].Params)
    names = [behind, name] if behind else [name]
    return {key: field for each in names for key, field in STRATEGIES[each].FIELDS.items() if key in known}


def params(key: KeyType, values: Mapping[str, Any]) -> Tile:
    """Return the parameters with the values of a target table; values that its strategy does not read are dropped."""
    name, behind = values[STRATEGY], values.get(FALLBACK, "")
    foreign = set(FIELDS) - set(fields(name, behind))
    more = FALLBACKS[name][behind] if behind else {}
    known = {k: v for k, v in values.items() if k not in foreign}
    shape: Tile = records.built(STRATEGIES[name].Params, {"key": key, **known, **more})
    return shape


def misplaced(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for each key of a target table that the strategy of the table does not read."""
    name = values.get(STRATEGY)
    known = FIELDS if name is None else fields(name, values.get(FALLBACK, ""))
    for key, value in values.items():
        if key in FIELDS and key not in (*known, STRATEGY, FALLBACK) and value:
            yield key, f"is no key of the strategy {name}", "leave it out"


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the search regions of all strategies."""
    spaces = ((name, module.space(key, device)) for name, module in STRATEGIES.items())
    return tuple({STRATEGY: (name,), **box} for name, boxes in spaces for box in boxes)


def of(p: Tile) -> Strategy:
    """Return the module of the strategy to which the parameters `p` belong."""
    return STRATEGIES[p.STRATEGY]
