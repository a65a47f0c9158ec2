"""The six strategies by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import cooperative, hybrid, onesweep, per_thread, reduce_scan, single
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Plan, Step


class Strategy(Protocol):
    """What the module of a strategy offers; P is its own parameter class."""

    @property
    def FIELDS(self) -> Mapping[str, Field]:
        """The keys of its table in a target."""

    @property
    def Params(self) -> type[Tile]:
        """Return P."""

    def problems(self, p: Any, device: Device) -> Iterable[Problem]:
        """Return what cannot work; the key "" is the strategy itself."""

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


STRATEGIES: Mapping[str, Strategy] = {
    module.Params.STRATEGY: cast(Strategy, module)
    for module in (reduce_scan, onesweep, cooperative, hybrid, per_thread, single)
}


def of(p: Tile) -> Strategy:
    """Return the strategy that parameters are of."""
    return STRATEGIES[p.STRATEGY]
