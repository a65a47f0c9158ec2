"""Making shapes smaller until the device has room for them, by the checks that every target passes; crossovers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hsgen.algorithms import ALGORITHMS
from hsgen.core.device import Device
from hsgen.core.keys import KeyType
from hsgen.targets import assembly
from hsgen.tools.suggest.facts import Choice, Facts, Table
from hsgen.tools.suggest.shapes import SHAPES


def fitted(algorithm: str, key: KeyType, table: Table, device: Device) -> Table | None:
    """Return a table that the device has room for, the one given or a smaller one; None if there is none."""
    made = ALGORITHMS[algorithm]
    for tried in (table, *SHAPES[algorithm].smaller(table)):
        if not made.problems(made.params(key, {name: choice.value for name, choice in tried.items()}), device):
            return tried
    return None


def launched(algorithm: str, key: KeyType, table: Table, device: Device) -> int:
    """Return the greatest count whose grids the device launches for a table."""
    made = ALGORITHMS[algorithm]
    params = made.params(key, {name: choice.value for name, choice in table.items()})
    return assembly.within(made.plan(params), device.groups).max_n


def autos(f: Facts, key: KeyType, width: int, sorts: Mapping[str, Table]) -> Table:
    """Return the table ``[sort.KEY]`` for the tables of algorithms that share its counts, with crossovers that grids
    reach."""
    have = list(sorts)
    made = _autos(f, key.bytes, width, have)
    if len(have) < 2 or not made["upto"].value:
        return made
    first, last = have[0], have[-1]
    most = launched(first, key, sorts[first], f.device)
    if launched(last, key, sorts[last], f.device) <= min(most, *made["upto"].value):
        return _autos(f, key.bytes, width, [first])
    for name in ("upto", "upto_values"):
        if name in made and max(made[name].value) > most:
            made[name] = Choice([most], "as many as the device's grids serve")
    return made


def _autos(f: Facts, size: int, width: int, have: Sequence[str]) -> Table:
    """The same, whatever grids reach: the algorithms by rising count, the first and the last of those that there
    are."""
    alone = next((x for x in have if SHAPES[x].serves_all(f)), have[0] if len(have) < 2 else None)
    if alone is not None:
        why = SHAPES[alone].ALONE
        return {"algorithms": Choice([alone], why), "upto": Choice([], "one algorithm sorts all")}
    why, upto = SHAPES[have[-1]].takeover(f, size, width)
    return {"algorithms": Choice([have[0], have[-1]], why), **upto}
