"""Suggests shapes (the parameters of algorithms) for a device, by a rule that uses only the device's facts.

docs/guides/suggest.md describes the rule.  Nothing is measured, so a suggestion is only a first shape; `hsgen tune`
finds the fastest shapes by measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hsgen.algorithms import ALGORITHMS, operation
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, KeyType
from hsgen.targets import shares
from hsgen.targets.ranges import RANGES
from hsgen.targets.tables import STRATEGY
from hsgen.tools.suggest.facts import Choice, Facts, Table, facts
from hsgen.tools.suggest.shapes import SHAPES

__all__ = ["WIDTHS", "Choice", "Facts", "Table", "facts", "suggest"]

WIDTHS = ("u32", "u64")
"""The key widths for which shapes are suggested; narrower keys use the shapes of u32."""


def suggest(f: Facts, keys: Sequence[str] = WIDTHS) -> dict[str, Table]:
    """Return suggested tables for a target file by name, such as ``bitonic.u32``, in the file's usual order.

    Each table passes the checks of target files.  64-bit keys are left out if the device cannot sort them.

    Raises:
        Usage: local memory is too small for every shape.
    """
    sortable = [k for k in keys if KEYS[k].bytes < 8 or f.device.int64 or f.key_pairs]
    shares = {label: operation(label).by_count for label in SHAPES}
    suggested: dict[str, dict[str, Table]] = {label: {} for label in SHAPES}
    divided: dict[str, Table] = {}
    for name in sortable:
        width, sorts = f.width(KEYS[name].bytes).value, dict[str, tuple[str, Table]]()
        for label, shape in SHAPES.items():
            for variant, first in shape.tables(f, KEYS[name].bytes, width).items():
                table = fitted(label, KEYS[name], first, f.device)
                if table is None:
                    continue
                below = [x for x in (variant, str(table[STRATEGY].value) if STRATEGY in table else "") if x]
                suggested[label][".".join([label, name, *below])] = {k: v for k, v in table.items() if k != STRATEGY}
                if shares[label]:
                    width = width if sorts else table["subgroup"].value  # all algorithms of "auto" have one width
                    sorts["-".join([label, *below])] = label, table
        if sorts:
            divided[f"sort.{name}"] = autos(f, KEYS[name], width, sorts)
    if not divided:
        raise Usage(f"local_bytes = {f.device.local_bytes}: no shape fits so little local memory; give what it has")
    groups = [*(suggested[x] for x in SHAPES if shares[x]), divided, *(suggested[x] for x in SHAPES if not shares[x])]
    return {name: table for group in groups for name, table in group.items()}


def fitted(algorithm: str, key: KeyType, table: Table, device: Device) -> Table | None:
    """Return `table` if the device can run it, otherwise the next smaller table that it can run; None without one."""
    family = ALGORITHMS[algorithm]
    for tried in (table, *SHAPES[algorithm].smaller(table)):
        if not family.problems(family.params(key, {name: choice.value for name, choice in tried.items()}), device):
            return tried
    return None


def launched(algorithm: str, key: KeyType, table: Table, device: Device) -> int:
    """Return the greatest count of keys for which no grid of the table's kernels exceeds the device's limit."""
    family = ALGORITHMS[algorithm]
    params = family.params(key, {name: choice.value for name, choice in table.items()})
    return shares.within(family.plan(params), device.groups).max_n


def autos(f: Facts, key: KeyType, width: int, sorts: Mapping[str, tuple[str, Table]]) -> Table:
    """Return a suggested table ``[sort.KEY]``; its crossovers do not exceed what the device's grids allow.

    width: the subgroup width.  sorts: the sorts to choose from at each count, as (algorithm, table), by their name in
    the table ``[sort.KEY]``.
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
