"""Shrinks shapes until they pass the checks of a target on the device; finds crossovers."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.algorithms import ALGORITHMS
from hsgen.core.device import Device
from hsgen.core.keys import KeyType
from hsgen.targets import shares
from hsgen.targets.ranges import RANGES
from hsgen.tools.suggest.facts import Choice, Facts, Table
from hsgen.tools.suggest.shapes import SHAPES


def fitted(algorithm: str, key: KeyType, table: Table, device: Device) -> Table | None:
    """Return a table that the device has room for, the one given or a smaller one; None if none fits."""
    made = ALGORITHMS[algorithm]
    for tried in (table, *SHAPES[algorithm].smaller(table)):
        if not made.problems(made.params(key, {name: choice.value for name, choice in tried.items()}), device):
            return tried
    return None


def launched(algorithm: str, key: KeyType, table: Table, device: Device) -> int:
    """Return the greatest count whose grids the device launches for a table."""
    made = ALGORITHMS[algorithm]
    params = made.params(key, {name: choice.value for name, choice in table.items()})
    return shares.within(made.plan(params), device.groups).max_n


def autos(f: Facts, key: KeyType, width: int, sorts: Mapping[str, tuple[str, Table]]) -> Table:
    """Return the table ``[sort.KEY]`` for the algorithms and tables that share its counts, by their names in rows, with
    crossovers that grids reach."""
    have = list(sorts)
    alone = next((x for x in have if SHAPES[sorts[x][0]].serves_all(f)), have[0] if len(have) < 2 else None)
    if alone is not None:
        return {RANGES: Choice([{"use": alone}], SHAPES[sorts[alone][0]].ALONE)}
    first, last = have[0], have[-1]
    most, more = (launched(label, key, table, f.device) for label, table in (sorts[first], sorts[last]))
    upto = SHAPES[sorts[last][0]].takeover(f, key.bytes, width)
    if more <= min(most, *upto[RANGES].value):
        return {RANGES: Choice([{"use": first}], SHAPES[sorts[first][0]].ALONE)}
    made: Table = {}
    for name, (counts, why) in upto.items():
        if max(counts) > most:
            counts, why = [most], "as many as the device's grids serve"
        made[name] = Choice([*({"to": n, "use": first} for n in counts), {"use": last}], why)
    return made
