"""Shapes that fit a device, shrunk until they pass the checks of a target, and their crossovers."""

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
    """Return `table` if the device has room for it, or the next smaller table that fits; None if no table fits."""
    family = ALGORITHMS[algorithm]
    for tried in (table, *SHAPES[algorithm].smaller(table)):
        if not family.problems(family.params(key, {name: choice.value for name, choice in tried.items()}), device):
            return tried
    return None


def launched(algorithm: str, key: KeyType, table: Table, device: Device) -> int:
    """Return the greatest count for which the device can launch all grids of a table."""
    family = ALGORITHMS[algorithm]
    params = family.params(key, {name: choice.value for name, choice in table.items()})
    return shares.within(family.plan(params), device.groups).max_n


def autos(f: Facts, key: KeyType, width: int, sorts: Mapping[str, tuple[str, Table]]) -> Table:
    """Return the table ``[sort.KEY]``, with crossovers that the device's grids reach.

    `sorts` are the algorithms and tables that share the counts, by their names in rows of ``[sort.KEY]``.
    """
    have = list(sorts)
    alone = next((x for x in have if SHAPES[sorts[x][0]].serves_all(f)), have[0] if len(have) < 2 else None)
    if alone is not None:
        return {RANGES: Choice([{"use": alone}], SHAPES[sorts[alone][0]].ALONE)}
    first, last = have[0], have[-1]
    most, more = (launched(label, key, table, f.device) for label, table in (sorts[first], sorts[last]))
    upto = SHAPES[sorts[last][0]].takeover(f, key.bytes, width)
    if more <= min(most, *upto[RANGES].value):
        return {RANGES: Choice([{"use": first}], SHAPES[sorts[first][0]].ALONE)}
    rows: Table = {}
    for name, (counts, why) in upto.items():
        if max(counts) > most:
            counts, why = [most], "as many as the device's grids serve"
        rows[name] = Choice([*({"to": n, "use": first} for n in counts), {"use": last}], why)
    return rows
