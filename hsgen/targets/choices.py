"""The reader of the *choices* in a target file: parameters of algorithms, and which algorithm sorts which counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hsgen.algorithms import ALGORITHMS, EVERY, operation
from hsgen.core.device import Device
from hsgen.core.errors import Usage, shown
from hsgen.core.fields import Reader
from hsgen.core.keys import KEYS, Signature
from hsgen.core.scratch import scratch_limit
from hsgen.core.sort import Part
from hsgen.targets import assembly, ranges, strategies
from hsgen.targets.strategies import VARIANT, WRONG_VARIANT, Labels

ALL = 2**63 - 1
"""The greatest count of the last range of the sort "auto"; it exceeds every possible count."""


def algorithm(label: str) -> str:
    """Return the algorithm that a label names, such as "radix" for "radix-bits2"."""
    return label.split("-")[0]


def read_choices(
    r: Reader, data: Mapping[str, Any], device: Device | None
) -> tuple[dict[tuple[str, str], Any], dict[str, Labels]]:
    """Read all tables of parameters in the data of a target file; record errors in `r`.

    The first result is the parameters by (label, key width).  If a table has errors, or `device` is None, its
    parameters are None.  The second result is, by key width, the names by which rows in ``[sort.KEY]`` refer to tables
    of radix sorts (`hsgen.targets.strategies`).
    """
    choices: dict[tuple[str, str], Any] = {}
    names: dict[str, Labels] = {}
    for name in ALGORITHMS:
        table = r.table(data, name, required=False)
        if table is None:
            continue
        r.unknown(table, name, KEYS)
        for key in table:
            sub = r.table(table, f"{name}.{key}") if key in KEYS else None
            if sub is None:
                continue
            if hasattr(ALGORITHMS[name], "STRATEGIES"):
                names[key] = strategies.read(r, choices, name, key, sub, device)
                continue
            before = len(r.errors)
            sub = _expanded(r, name, f"{name}.{key}", sub)
            if len(r.errors) > before:
                continue
            variants = {k: v for k, v in sub.items() if isinstance(v, dict)}
            plain = {k: v for k, v in sub.items() if k not in variants}
            if plain or not variants:
                _choice(r, choices, (name, key), f"{name}.{key}", plain, device)
            for variant, values in variants.items():
                if re.fullmatch(VARIANT, variant):
                    _choice(r, choices, (f"{name}-{variant}", key), f"{name}.{key}.{variant}", values, device)
                else:
                    r.error(f"{name}.{key}.{variant}", *WRONG_VARIANT)
    if not any(name in data for name in ALGORITHMS):
        first = next(iter(ALGORITHMS))
        r.error(first, "missing", f"choose a shape for at least one key type, for example in [{first}.u32]")
    return choices, names


def _expanded(r: Reader, name: str, where: str, table: dict[str, Any]) -> dict[str, Any]:
    """Return the table of an algorithm and a key width, with its *rule*, if any, replaced by what the rule stands for.

    A rule defines the parameters of several variants at once.  The result has an inner table for each of these
    variants.  If the rule has errors, the result is empty.
    """
    module: Any = ALGORITHMS[name]
    if not module.TRAITS.rule or not module.listed(table):
        return table
    before = len(r.errors)
    r.fields({k: v for k, v in table.items() if not isinstance(v, dict)}, where, module.RULE)
    if len(r.errors) == before:
        tables: dict[str, Any] = module.expanded(table)
        return tables
    return {}


def _choice(
    r: Reader,
    choices: dict[tuple[str, str], Any],
    label: tuple[str, str],
    where: str,
    table: Mapping[str, Any],
    device: Device | None,
) -> None:
    """Read the table with the parameters of `label`, and store them in `choices`; record errors in `r`."""
    module = ALGORITHMS[algorithm(label[0])]
    before = len(r.errors)
    values = r.fields(table, where, module.FIELDS)
    if device is None:
        choices[label] = None  # the table exists, but cannot be checked without the device's facts
        return
    complete = len(r.errors) == before
    params = module.params(KEYS[label[1]], values) if complete else None
    wrong = list(module.alone(values, device))
    wrong += module.problems(params, device) if complete else ()
    for name, problem, hint in wrong:
        r.error(f"{where}.{name}", problem, hint)
    choices[label] = None if wrong else params  # for None, `_auto` assembles no sort


Auto = tuple[tuple[str, int], ...]
"""The ranges of the sort "auto", in ascending order: pairs (label, greatest count that this algorithm sorts)."""


def read_autos(
    r: Reader,
    data: Mapping[str, Any],
    choices: Mapping[tuple[str, str], Any],
    names: Mapping[str, Labels],
    device: Device | None,
) -> dict[str, Any]:
    """Read the tables ``[sort.KEY]``; record errors in `r`.

    The result has the fields `autos`, `autos_valued`, `autos_counted`, `autos_valued_counted`, `autos_by_value` and
    `firsts` of `Target`, by name.  Each field is a dictionary with an entry for each key width that has a table
    ``[sort.KEY]``.
    """
    plain: dict[str, Auto] = {}
    valued: dict[str, Auto] = {}
    counted: dict[str, Auto] = {}
    both: dict[str, Auto] = {}
    by_value: dict[str, dict[str, Auto]] = {}
    table = r.table(data, "sort", required=False) or {}
    r.unknown(table, "sort", KEYS)
    for key in (k for k in table if k in KEYS):
        where = f"sort.{key}"
        sub = r.table(table, where)
        before = len(r.errors)
        rows = ranges.read(r, sub or {}, where, names.get(key, Labels()))
        if len(r.errors) > before or sub is None:
            continue
        autos = {x: _auto(r, f"{where}.{x}", key, choices, *pair, device) for x, pair in rows.items()}
        if len(r.errors) == before and all(autos.values()):
            plain[key] = autos[ranges.RANGES]
            valued[key] = autos.get(ranges.VALUED) or _modest(plain[key], key, choices, device)
            counted[key] = autos.get(ranges.COUNTED) or plain[key]
            both[key] = autos.get(ranges.VALUED_COUNTED) or valued[key]
            by_value[key] = {value: autos[x] for value, x in ranges.BY_VALUE.items() if x in autos}
    firsts = _firsts(r, data, choices, names)
    lists = {"autos": plain, "autos_valued": valued, "autos_counted": counted, "autos_valued_counted": both}
    return {**lists, "autos_by_value": by_value, "firsts": firsts}


def _firsts(
    r: Reader, data: Mapping[str, Any], choices: Mapping[tuple[str, str], Any], names: Mapping[str, Labels]
) -> dict[str, str]:
    """Return, by key width, the label of the sort that is compiled first, where ``[sort.KEY]`` states one.

    The first sort serves calls until the kernels of the sort "auto" are compiled.
    """
    firsts: dict[str, str] = {}
    tables = data.get(ranges.SORT)
    for key, table in tables.items() if isinstance(tables, dict) else ():
        if key not in KEYS or not isinstance(table, dict):
            continue
        fields = {k: v for k, v in table.items() if k in ranges.FIRST}
        for name, use in r.fields(fields, f"{ranges.SORT}.{key}", ranges.FIRST).items():
            label = names.get(key, Labels()).tables.get(use, use)
            if (label, key) in choices and operation(label).by_count:
                firsts[key] = label
            else:
                have = ", ".join(a for a, k in choices if k == key and operation(a).by_count) or "none"
                r.error(
                    f"{ranges.SORT}.{key}.{name}", f'"{shown(label)}" has no table for {key}', f"name one of: {have}"
                )
    return firsts


def _modest(auto: Auto, key: str, choices: Mapping[tuple[str, str], Any], device: Device | None) -> Auto:
    """Return ranges of counts for sorts with values, derived from the ranges `auto` for sorts without values.

    With values, merge passes need more scratch.  At the greatest count of each range, with values of 4 bytes, scratch
    must be at least 256 KiB less than `scratch_limit`.  Otherwise, the range ends at the next lower power of two, and
    so on.
    """
    rows = []
    for label, top in auto[:-1]:
        by_key, signature = {k: p for (a, k), p in choices.items() if a == label}, Signature(value="v4")
        params = device and ALGORITHMS[algorithm(label)].specialize(by_key, KEYS[key], signature, device)
        if params is not None:
            rules, item = ALGORITHMS[algorithm(label)].plan(params).scratch, KEYS[key].bytes + 4
            while top > 1 and rules.bytes(top) > scratch_limit(top, item) - (256 << 10):
                top = 1 << (top - 1).bit_length() - 1
        rows.append((label, top))
    return (*(row for i, row in enumerate(rows) if i == 0 or row[1] > rows[i - 1][1]), auto[-1])


def _auto(
    r: Reader,
    where: str,
    key: str,
    choices: Mapping[tuple[str, str], Any],
    labels: list[str],
    upto: list[int],
    device: Device | None,
) -> Auto:
    """Return the ranges of a sort "auto", after a check that a sort can be assembled from them; record errors in `r`.

    The result is empty if there are errors in the ranges, or in the parameters of one of the labels.

    labels: the labels in ascending order of the counts that they sort.
    upto: the greatest counts of all labels but the last.
    """
    before = len(r.errors)
    for label in labels:
        if r.misspelt(f"{algorithm(label)}.{key}"):
            return ()
        if (label, key) not in choices or not operation(label).by_count:
            have = ", ".join(a for a, k in choices if k == key and operation(a).by_count) or "none"
            r.error(where, f'"{label}" has no table for {key}', f"name some of: {have}")
    if upto != sorted(set(upto)):
        r.error(where, f"{upto} does not ascend", "give the crossovers in ascending order")
    if len(r.errors) > before or device is None or any(choices[label, key] is None for label in labels):
        return ()
    tops = [*upto, ALL]
    parts = [
        Part(algorithm=algorithm(a), label=a, params=choices[a, key], min_n=low, max_n=high)
        for a, low, high in zip(labels, [0, *upto], tops, strict=True)
    ]
    try:
        assembly.assemble(parts, f"{r.where}: {where}", groups=device.groups)
    except Usage as e:
        r.errors += e.lines
    return tuple(zip(labels, tops, strict=True))


def unserved(parts: Sequence[Part], signature: Signature) -> str:
    """Return "" if `parts` support a signature; else, for a message, a hint which sorts support it."""
    traits = [EVERY[x.algorithm].TRAITS for x in parts]
    if (signature.segment_ends or signature.segment_count) and not all(x.segments for x in traits):
        return "segmented sorts have segment ends" if signature.segment_ends else "segmented sorts count segments"
    if signature.of_rows and not all(operation(x.algorithm).selects for x in parts):
        return "selections have numbers of rows"
    served = parts and (not signature.bit_range or any(x.bit_ranges for x in traits))
    return "" if served else "radix sorts serve every form that the device can"
