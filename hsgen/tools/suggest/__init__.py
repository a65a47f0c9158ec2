"""First shapes for a device, by a rule from its facts; docs/guides/suggest.md describes the rule.

A suggestion is a first shape without a measurement; `hsgen tune` measures and finds the fastest shapes.
"""

from __future__ import annotations

from collections.abc import Sequence

from hsgen.algorithms import operation
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS
from hsgen.targets.tables import STRATEGY
from hsgen.tools.suggest.facts import Choice, Facts, Table, facts
from hsgen.tools.suggest.fitting import autos, fitted
from hsgen.tools.suggest.shapes import SHAPES

__all__ = ["WIDTHS", "Choice", "Facts", "Table", "facts", "suggest"]

WIDTHS = ("u32", "u64")
"""The key widths that have suggested shapes; narrower keys use the shapes of u32."""


def suggest(f: Facts, keys: Sequence[str] = WIDTHS) -> dict[str, Table]:
    """Return the tables of a target by name, such as ``bitonic.u32``, in the order of target files.

    Every table passes the checks of a target.  64-bit keys are left out if the device cannot sort them.

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
                    width = width if sorts else table["subgroup"].value  # one sort has one width
                    sorts["-".join([label, *below])] = label, table
        if sorts:
            divided[f"sort.{name}"] = autos(f, KEYS[name], width, sorts)
    if not divided:
        raise Usage(f"local_bytes = {f.device.local_bytes}: no shape fits so little local memory; give what it has")
    groups = [*(suggested[x] for x in SHAPES if shares[x]), divided, *(suggested[x] for x in SHAPES if not shares[x])]
    return {name: table for group in groups for name, table in group.items()}
