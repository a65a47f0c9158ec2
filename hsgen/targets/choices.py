"""What a target chooses: the tables of algorithms with their variants, and which algorithm serves which count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hsgen.algorithms import ALGORITHMS, operation
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.fields import Field, Reader
from hsgen.core.keys import KEYS
from hsgen.core.sort import Part
from hsgen.targets import assembly, ranges, strategies
from hsgen.targets.strategies import VARIANT, WRONG_VARIANT

ALL = 2**63 - 1
"""A crossover that no count reaches."""

_SORT = {
    "algorithms": Field("strs", 'the algorithms by count, for example ["merge", "radix"]', filled=True),
    "upto": Field("ints", "the greatest count of each algorithm but the last, ascending", least=1),
    "algorithms_values": Field("strs", "the same where values are sorted with the keys", required=False, filled=True),
    "upto_values": Field("ints", "the greatest counts where values are sorted with the keys", required=False, least=1),
}


def algorithm(label: str) -> str:
    """Return the algorithm of a label such as radix or radix-bits2."""
    return label.split("-")[0]


def read_choices(
    r: Reader, data: Mapping[str, Any], device: Device | None, schema: int
) -> tuple[dict[tuple[str, str], Any], dict[tuple[str, str], str]]:
    """Return the parameters of every label and key that a target file has a table for, and the labels by key and the
    full names of tables of strategies, such as radix-onesweep; note what is wrong in `r`."""
    found: dict[tuple[str, str], Any] = {}
    names: dict[tuple[str, str], str] = {}
    for name in ALGORITHMS:
        table = r.table(data, name, required=False)
        if table is None:
            continue
        r.unknown(table, name, KEYS)
        for key in table:
            sub = r.table(table, f"{name}.{key}") if key in KEYS else None
            if sub is None:
                continue
            if schema > 1 and hasattr(ALGORITHMS[name], "STRATEGIES"):
                names |= {(full, key): x for full, x in strategies.read(r, found, name, key, sub, device).items()}
                continue
            variants = {k: v for k, v in sub.items() if isinstance(v, dict)}
            plain = {k: v for k, v in sub.items() if k not in variants}
            if plain or not variants:
                _choice(r, found, (name, key), f"{name}.{key}", plain, device)
            for variant, values in variants.items():
                if re.fullmatch(VARIANT, variant):
                    _choice(r, found, (f"{name}-{variant}", key), f"{name}.{key}.{variant}", values, device)
                else:
                    r.error(f"{name}.{key}.{variant}", *WRONG_VARIANT)
    if not any(name in data for name in ALGORITHMS):
        first = next(iter(ALGORITHMS))
        r.error(first, "missing", f"choose a shape for at least one key type, for example in [{first}.u32]")
    return found, names


def _choice(
    r: Reader,
    found: dict[tuple[str, str], Any],
    label: tuple[str, str],
    where: str,
    table: Mapping[str, Any],
    device: Device | None,
) -> None:
    """Read one table of choices into `found`, if it is right."""
    made = ALGORITHMS[algorithm(label[0])]
    before = len(r.errors)
    values = r.fields(table, where, made.FIELDS)
    if device is None:
        found[label] = None  # there is a table, of which no more can be said
        return
    complete = len(r.errors) == before
    params = made.params(KEYS[label[1]], values) if complete else None
    wrong = list(made.alone(values, device))
    wrong += made.problems(params, device) if complete else ()
    for name, what, hint in wrong:
        r.error(f"{where}.{name}", what, hint)
    found[label] = None if wrong else params  # what cannot work is not put together with others


Auto = tuple[tuple[str, int], ...]
"""The labels that the sort for any count consists of, each with the greatest count that it serves."""


def read_autos(
    r: Reader,
    data: Mapping[str, Any],
    choices: Mapping[tuple[str, str], Any],
    names: Mapping[tuple[str, str], str],
    device: Device | None,
    schema: int,
) -> tuple[dict[str, Auto], dict[str, Auto]]:
    """Return, for each key with a table in ``[sort]``, its labels with the greatest count of each: for keys alone,
    and with values."""
    found: dict[str, Auto] = {}
    valued: dict[str, Auto] = {}
    table = r.table(data, "sort", required=False) or {}
    r.unknown(table, "sort", KEYS)
    for key in (k for k in table if k in KEYS):
        where = f"sort.{key}"
        sub = r.table(table, where)
        before = len(r.errors)
        if schema > 1:
            values = ranges.read(r, sub or {}, where, {full: x for (full, k), x in names.items() if k == key})
        else:
            values = r.fields(sub, where, _SORT) if sub is not None else {}
        if len(r.errors) > before or sub is None:
            continue
        plain = _auto(r, where, key, choices, values, "", device)
        if len(r.errors) > before:
            continue
        with_values = _auto(r, where, key, choices, values, "_values", device)
        if len(r.errors) == before and plain and with_values:
            found[key], valued[key] = plain, with_values
    return found, valued


def _auto(
    r: Reader,
    where: str,
    key: str,
    choices: Mapping[tuple[str, str], Any],
    values: Mapping[str, Any],
    end: str,
    device: Device | None,
) -> Auto:
    """Return the labels and their greatest counts that the lists with this ending give; () where something is wrong
    with them, or with what they name."""
    names = values.get(f"algorithms{end}", values["algorithms"])
    upto = values.get(f"upto{end}", values["upto"])
    said = values.get("said", ("algorithms", "upto"))
    which = f"{said[0]}{end}" if f"algorithms{end}" in values else said[0]
    before = len(r.errors)
    for name in names:
        if r.misspelt(f"{algorithm(name)}.{key}"):
            return ()
        if (name, key) not in choices or not operation(name).by_count:
            have = ", ".join(a for a, k in choices if k == key and operation(a).by_count) or "none"
            r.error(f"{where}.{which}", f'"{name}" has no table for {key}', f"name some of: {have}")
    if len(upto) != len(names) - 1:
        hint = f"give {len(names) - 1}, one for each change of algorithm"
        r.error(f"{where}.{said[1]}{end}", f"has {len(upto)} counts", hint)
    elif upto != sorted(set(upto)):
        r.error(f"{where}.{said[1]}{end}", f"{upto} does not ascend", "give the crossovers in ascending order")
    if len(r.errors) > before or device is None or any(choices[name, key] is None for name in names):
        return ()
    tops = [*upto, ALL]
    parts = [
        Part(algorithm=algorithm(a), label=a, params=choices[a, key], min_n=low, max_n=high)
        for a, low, high in zip(names, [0, *upto], tops, strict=True)
    ]
    try:
        if which.endswith("_values") or not end:  # else checked before
            assembly.assemble(parts, f"{r.where}: {where}", groups=device.groups)
    except Usage as e:
        r.errors += e.lines
    return tuple(zip(names, tops, strict=True))
