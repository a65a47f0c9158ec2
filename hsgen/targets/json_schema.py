"""The JSON Schema of target files, by which editors complete and check TOML.

The schema is derived from the same descriptions of fields that the reader uses.  It accepts every file that the reader
accepts.  It also accepts some invalid files, because it cannot express constraints between keys, such as those that
depend on the device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hsgen.algorithms import ALGORITHMS, OPTIONAL, TABLES
from hsgen.algorithms.radix.strategies import STRATEGIES
from hsgen.core.fields import LONGEST_TEXT, Field
from hsgen.core.keys import KEYS
from hsgen.core.records import DOT, record_of, records
from hsgen.system.paths import LONGEST_NAME
from hsgen.targets import isa, matching, ranges, schema, strategies

Schema = dict[str, Any]

_TYPES = {"int": "integer", "bool": "boolean", "str": "string", "ints": "integer", "strs": "string"}
_TEXT = {"pattern": "^[ -~]*$", "minLength": 1, "maxLength": LONGEST_TEXT}
"""The schema of the texts that `hsgen.core.fields.presentable` accepts."""


def _field(field: Field) -> Schema:
    """Return the schema for the value of a key that `field` describes."""
    one: Schema = {"type": _TYPES[field.kind]}
    if field.kind in ("int", "ints"):
        one |= {"minimum": field.least, "maximum": field.greatest}
    if field.choices:
        one |= {"enum": list(field.choices)}
    if field.kind not in ("ints", "strs"):
        return {"description": field.hint, **one}
    return {"description": field.hint, "type": "array", "items": one, **({"minItems": 1} if field.filled else {})}


def _object(properties: Schema, *, required: list[str], description: str = "") -> Schema:
    """Return the schema of a table that may have only the keys in `properties`."""
    head = {"description": description} if description else {}
    needed = {"required": required} if required else {}
    return {**head, "type": "object", "properties": properties, **needed, "additionalProperties": False}


def _table(fields: Mapping[str, Field], description: str = "") -> Schema:
    """Return the schema of a table with these fields; a dotted name, as bucket.items, is a key in an inner table.

    description: the text that editors show for the table.
    """
    required = [name for name, field in fields.items() if field.required and DOT not in name]
    properties = {name: _field(field) for name, field in fields.items() if DOT not in name}
    for record in records(fields):
        inner = {name.removeprefix(record + DOT): field for name, field in fields.items() if record_of(name) == record}
        properties[record] = _table(inner)
    return _object(properties, required=required, description=description)


def _variants(name: str, fields: Mapping[str, Field], description: str) -> Schema:
    """Return two definitions for an algorithm without strategies: a variant's table, and the algorithm's table.

    The algorithm's table may contain tables of variants.  If it contains none, it must have the required parameters.
    """
    table, names = _table(fields), list(fields)
    required = table.get("required", [])
    variant = _reference(f"{name}_variant")
    both = [x for x in names if re.fullmatch(strategies.VARIANT, x)]  # names of parameters that a variant may have, too
    either = {x: {"anyOf": [table["properties"][x], variant]} for x in both}
    return {
        f"{name}_variant": table,
        name: {
            "description": f"{description}: a table, and variants of it by their names",
            "type": "object",
            "properties": {**table["properties"], **either},
            "additionalProperties": variant,
            "propertyNames": {"anyOf": [{"enum": names}, {"pattern": f"^{strategies.VARIANT}$"}]},
            "anyOf": [
                {"required": required, "properties": {x: {"not": {"type": "object"}} for x in both if x in required}},
                {"minProperties": 1, "additionalProperties": {"type": "object"}},
            ],
        },
    }


def _ruled(name: str, tables: Schema) -> Schema:
    """Return the schema of an algorithm's table that may have a rule, which defines several variants at once.

    Without a rule, the table must match the schema `tables`.  With a rule, it has the rule's keys, and for some
    variants a table with the values that differ from the rule.
    """
    module: Any = ALGORITHMS[name]
    shared, more = _table(module.RULE), _table(module.FIELDS)
    more.pop("required")
    shared |= {"additionalProperties": more, "propertyNames": tables["propertyNames"]}
    return {"description": tables["description"], "anyOf": [{**tables, "description": ""}, shared]}


def _listed(strategy: str, description: str) -> Schema:
    """Return the schema for the parameters of a strategy: a table, or a list with a table for each range of counts."""
    fields = strategies.fields(strategy)
    case = _table({**strategies.CASE, **fields})
    case["properties"][strategies.NAME] |= {"pattern": f"^{strategies.VARIANT}$"}
    listed = {"type": "array", "minItems": 1, "items": case}
    return {
        "description": f"{description}: a table, or one for each range of counts",
        "anyOf": [_table(fields), listed],
    }


def _reference(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _definitions() -> Schema:
    """Return the definitions in the schema, which describe the tables of all algorithms."""
    definitions: Schema = {}
    for name, algorithm in ALGORITHMS.items():
        if not hasattr(algorithm, "STRATEGIES"):
            definitions |= _variants(name, algorithm.FIELDS, name)
            if algorithm.TRAITS.rule:
                definitions[name] = _ruled(name, definitions[name])
            continue
        for x in STRATEGIES:
            definitions[f"{name}_{x}"] = _listed(x, f"{name}, strategy {x}")
        several = {x: _reference(f"{name}_{x}") for x in STRATEGIES}
        definitions[f"{name}_variant"] = _object(several, required=[]) | {"minProperties": 1}
        definitions[name] = {
            "description": f"{name}: tables by strategy, and variants of them by their names",
            "type": "object",
            "properties": several,
            "additionalProperties": _reference(f"{name}_variant"),
            "propertyNames": {"anyOf": [{"enum": [*STRATEGIES]}, {"pattern": f"^{strategies.VARIANT}$"}]},
        }
    for name, algorithm in OPTIONAL.items():
        definitions[name] = _table(algorithm.FIELDS, f"{name}: parameters in place of derived ones")
    return definitions


def _algorithm(name: str) -> Schema:
    """Return the schema of all tables of an algorithm, one for each key width."""
    return _object(
        dict.fromkeys(KEYS, _reference(name)), required=[], description=f"{name}: tables by the width of keys"
    )


def _isa() -> Schema:
    """Return the schema of the table ``[isa]``."""
    names = {
        name: {"type": "array", "items": {"enum": list(kind.devices)}, "minItems": 1, "uniqueItems": True}
        for name, kind in isa.KINDS.items()
    }
    return _object(names, required=[], description="the devices that offline compilers compile the kernels for")


def _match() -> Schema:
    """Return the schema of the table ``[match]``."""
    table = _table(matching.FIELDS, "the criteria that match a device; without any, the target matches all")
    for name in ("names", "platforms"):
        table["properties"][name]["items"] |= _TEXT
    table["properties"]["compute"] |= {"minItems": 2, "maxItems": 2}
    table["properties"]["compute"]["items"]["minimum"] = 1
    return table


def target_schema() -> Schema:
    """Return the JSON Schema of target files, in draft 7, the version that TOML editors support."""
    top = {name: _field(field) for name, field in schema.TOP.items()}
    top["name"] |= {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": LONGEST_NAME}
    top["summary"] |= _TEXT
    rows = {"type": "array", "items": _table(ranges.ROW), "minItems": 1}
    first = {name: _field(field) for name, field in ranges.FIRST.items()}
    served = _object({**dict.fromkeys(ranges.LISTS, rows), **first}, required=[ranges.RANGES])
    tables = {
        "device": _table(schema.DEVICE, "the facts of the device that constrain parameters"),
        "match": _match(),
        "isa": _isa(),
        "evidence": {"type": "array", "items": _table(schema.EVIDENCE, "evidence that the target works")},
        ranges.SORT: _object(
            dict.fromkeys(KEYS, served),
            required=[],
            description="the sort for any count: which table serves which counts",
        ),
        **{name: _algorithm(name) for name in TABLES},
    }
    body = _object({**top, **tables}, required=[*schema.TOP, "device"])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "hsgen target",
        "description": f"A target file of hsgen, schema {schema.SCHEMA}",
        **body,
        "anyOf": [{"required": [name]} for name in ALGORITHMS],
        "definitions": _definitions(),
    }
