"""First shapes for a device, by a rule from its facts; docs/guides/suggest.md describes it.

A suggestion is where to begin, no measurement: `hsgen tune` finds what is fastest.
"""

from __future__ import annotations

from collections.abc import Sequence

from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, KeyType
from hsgen.tools.suggest.bitonic import merge
from hsgen.tools.suggest.facts import Choice, Facts, Table, facts
from hsgen.tools.suggest.fitting import fitted, launched
from hsgen.tools.suggest.radix import auto, radix
from hsgen.tools.suggest.scan import VARIANTS, scan

__all__ = ["WIDTHS", "Choice", "Facts", "Table", "facts", "suggest"]

WIDTHS = ("u32", "u64")
"""The widths of keys that shapes are suggested for; narrower keys take those of u32."""


def suggest(f: Facts, keys: Sequence[str] = WIDTHS) -> dict[str, Table]:
    """Return the tables of a target by their names, such as ``merge.u32``, in the order in which files have them.

    Every table passes the checks of a target.  64-bit keys are left out where the device cannot sort them.

    Raises:
        Usage: local memory has room for no shape at all.
    """
    sortable = [k for k in keys if KEYS[k].bytes < 8 or f.device.int64 or f.key_pairs]
    merges, radices, autos, scans = (dict[str, Table]() for _ in range(4))
    for name in sortable:
        key = KEYS[name]
        shape = fitted("merge", key, merge(f, key.bytes), f.device)
        width = shape["subgroup"].value if shape else f.width(key.bytes).value
        digits = fitted("radix", key, radix(f, key.bytes, width), f.device)
        if shape:
            merges[f"merge.{name}"] = shape
        if digits:
            radices[f"radix.{name}"] = digits
        if shape or digits:
            autos[f"sort.{name}"] = _auto(f, key, width, shape, digits)
        if key.bytes == 8 and not f.device.int64:
            continue  # sums of pairs of words
        for variant, (columns, exclusive) in VARIANTS.items():
            if sums := fitted("scan", key, scan(f, key.bytes, columns, exclusive), f.device):
                scans[f"scan.{name}.{variant}"] = sums
    if not autos:
        raise Usage(f"local_bytes = {f.device.local_bytes}: no shape fits so little local memory; give what it has")
    return {**merges, **radices, **autos, **scans}


def _auto(f: Facts, key: KeyType, width: int, shape: Table | None, digits: Table | None) -> Table:
    """Return the table ``[sort.KEY]`` for the tables of merges and radix sorts, with crossovers that grids reach."""
    most = launched("merge", key, shape, f.device) if shape else 0
    made = auto(f, key.bytes, width, ("merge",) * bool(shape) + ("radix",) * bool(digits))
    if shape and digits and made["upto"].value:
        if launched("radix", key, digits, f.device) <= min(most, *made["upto"].value):
            return auto(f, key.bytes, width, ("merge",))
        for name in ("upto", "upto_values"):
            if name in made and max(made[name].value) > most:
                made[name] = Choice([most], "as many as the device's grids serve")
    return made
