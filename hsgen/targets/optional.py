"""Optional tables of a target file, which override parameters that hsgen otherwise derives.

Some algorithms need no table: hsgen derives their parameters from facts about the device, and from the parameters of
other algorithms.  If the file has a table for such an algorithm, its values replace the derived ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms import IMPLICIT, OPTIONAL, named, operation
from hsgen.core.device import Device
from hsgen.core.fields import Reader
from hsgen.core.keys import KEYS, TYPES, Signature
from hsgen.core.records import changed

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""The values of all optional tables, by (algorithm, key width)."""


def specialized(
    choices: Mapping[str, Any], tables: Tables, name: str, key: str, signature: Signature, device: Device
) -> Any:
    """Return the parameters of the algorithm `name` for a key width and a signature.

    Values in the algorithm's optional table replace derived values.  Return None if the algorithm does not support the
    key width or the signature.
    choices: the parameters in the target's other tables, by label.
    tables: the target's optional tables.  Keys of 8 or 16 bits without a table use the table of u32.
    """
    params = IMPLICIT[name].specialize(choices, KEYS[key], signature, device)
    if params is None:
        return None
    inner = {field: changed(getattr(params, field), _table(tables, part, key)) for field, part in _parts(name)}
    return changed(replace(params, **inner), _table(tables, name, key))


def replaced(
    choices: Mapping[tuple[str, str], Any], tables: Tables, label: str, key: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the field of `Target` that changes if the table of a label gets the new `values`: {name: new content}.

    The field is `tables` if the table of the label is optional, otherwise `choices`.
    """
    if label in OPTIONAL:
        return {"tables": {**tables, (label, key): values}}
    return {"choices": {**choices, (label, key): named(label).params(KEYS[key], values)}}


def _parts(name: str) -> Iterable[tuple[str, str]]:
    """Return pairs (field, other algorithm) for an algorithm whose parameters include those of other algorithms.

    The field of the parameters holds those of the other algorithm.  The latter's optional table applies to them.
    """
    parts: Mapping[str, str] = getattr(IMPLICIT[name], "PARTS", {})
    return parts.items()


def _table(tables: Tables, name: str, key: str) -> Mapping[str, Any]:
    """Return the values in an algorithm's optional table for a key width; empty if there is no table."""
    return tables.get((name, key), tables.get((name, _word(key)), {}))


def _word(key: str) -> str:
    """Return the key width whose table is used if `key` has no table: u32 for u8 and u16, otherwise `key`."""
    return "u32" if KEYS[key].bytes < 4 else key


def read(
    r: Reader, data: Mapping[str, Any], choices: Mapping[tuple[str, str], Any], device: Device | None
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Read and return all optional tables of a target file; record errors in `r`."""
    tables: dict[tuple[str, str], Mapping[str, Any]] = {}
    for name in OPTIONAL:
        table = r.table(data, name, required=False) or {}
        r.unknown(table, name, KEYS)
        for key in (k for k in table if k in KEYS):
            where = f"{name}.{key}"
            sub = r.table(table, where)
            before = len(r.errors)
            values = {} if sub is None else r.fields(sub, where, OPTIONAL[name].FIELDS)
            if device is not None and len(r.errors) == before:
                for at, problem, hint in _problems(name, key, values, choices, device):
                    r.error(f"{where}.{at}" if at else where, problem, hint)
            tables[name, key] = values
    return tables


def _problems(
    name: str, key: str, values: Mapping[str, Any], choices: Mapping[tuple[str, str], Any], device: Device
) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong with the values in an optional table, as (key, problem, hint).

    The function checks each value alone.  If all are correct, it checks all parameters together.
    """
    wrong = list(OPTIONAL[name].alone(values, device))
    yield from wrong
    by_label = {label: p for (label, k), p in choices.items() if k in (key, _word(key))}
    task = operation(name)
    params = specialized(by_label, {(name, key): values}, name, key, task.of_type(task.tuned, TYPES[key]), device)
    if params is None:
        yield "", f"there is no {task.noun} of {key} keys on this device", "leave the table out"
    elif not wrong:
        yield from OPTIONAL[name].problems(params, device)
