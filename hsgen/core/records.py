"""Conversions between records and tables of values with dotted names, such as ``bucket.items``.

A field of a parameter class may be a record: a frozen dataclass, or None if the parameters have no such record.
Target files, searches and tests name a record's values by the field and the value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

DOT = "."
RECORD = "record"
"""The key of a field's metadata that names the class of its records."""


def record_of(name: str) -> str:
    """Return the part of a name before its last dot; "" for a name without a dot."""
    return name.rpartition(DOT)[0]


def records(names: Mapping[str, Any]) -> list[str]:
    """Return the distinct records of the dotted names, in the order of the names."""
    return list(dict.fromkeys(record_of(name) for name in names if DOT in name))


def flat(params: Any) -> dict[str, Any]:
    """Return the values of parameters by name; the values of a record have dotted names, absent records have none."""
    values: dict[str, Any] = {}
    for f in dataclasses.fields(params):
        value = getattr(params, f.name)
        if f.metadata.get(RECORD):
            values |= {} if value is None else {f"{f.name}{DOT}{k}": v for k, v in flat(value).items()}
        else:
            values[f.name] = value
    return values


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` with an inner table for each record, at the position of the record's first value."""
    tables: dict[str, Any] = {}
    for name, value in values.items():
        if DOT in name:
            tables.setdefault(record_of(name), {})[name.rpartition(DOT)[2]] = value
        else:
            tables[name] = value
    return tables


def defaults(params: type[Any]) -> dict[str, Any]:
    """Return the defaults of a parameter class by name, without those of records."""
    return {f.name: f.default for f in dataclasses.fields(params) if not f.metadata.get(RECORD)}


def names(params: type[Any]) -> set[str]:
    """Return the valid names in tables of a parameter class; names of a record's values are dotted."""
    known: set[str] = set()
    for f in dataclasses.fields(params):
        of = f.metadata.get(RECORD)
        known |= {f"{f.name}{DOT}{name}" for name in names(of)} if of else {f.name}
    return known


def built(params: type[Any], values: Mapping[str, Any]) -> Any:
    """Return an instance of the parameter class `params` from a table with dotted names."""
    known: dict[str, Any] = {f.name: f.metadata.get(RECORD) for f in dataclasses.fields(params)}
    fields = {name: value for name, value in values.items() if DOT not in name}
    for name in records(values):
        record = {k.removeprefix(name + DOT): v for k, v in values.items() if record_of(k) == name}
        fields[name] = known[name](**record)
    return params(**fields)


def changed(params: Any, values: Mapping[str, Any]) -> Any:
    """Return parameters with the values of a table with dotted names replaced; the value None removes a record."""
    gone = {k for k, v in values.items() if v is None and DOT not in k}
    values_before = {k: v for k, v in flat(params).items() if record_of(k) not in gone}
    return built(type(params), {**values_before, **values})
