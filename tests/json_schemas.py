"""The JSON Schemas of docs/reference/schemas: of target files, and of what each command prints with --json.

    python tests/json_schemas.py    writes them (`make schemas`)

Those of commands are made from the tables of docs/reference/json.md, which tests compare with the output of commands.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsgen.targets.json_schema import target_schema

if TYPE_CHECKING:
    import jsonschema

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "docs/reference/schemas"
DRAFT = "http://json-schema.org/draft-07/schema#"
Schema = dict[str, Any]

TYPES: dict[str, Schema] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "null": {"type": "null"},
    "list of strings": {"type": "array", "items": {"type": "string"}},
    "list of numbers": {"type": "array", "items": {"type": "number"}},
    "list of objects": {"type": "array", "items": {"type": "object"}},
    "list of pairs of strings": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    },
}
"""The words of the column "type"."""


def validator(schema: Schema) -> jsonschema.Draft7Validator:
    """Return a validator of a schema, which is checked too.

    The package is imported here, because with some of its optional packages it takes seconds, in each worker.
    """
    import jsonschema

    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def typed(words: str, before: Schema) -> Schema:
    """The schema of a type, such as "string or null"; "the same" is that of the previous field."""
    if words == "the same":
        return {k: v for k, v in before.items() if k != "description"}
    names = re.split(r", | or ", words)
    if len(names) == 1:
        return dict(TYPES[words])
    return {"type": [TYPES[name]["type"] for name in names]}


def tables(section: str) -> list[Schema]:
    """The objects that the tables of a section describe."""
    made: list[Schema] = []
    for table in section.split("| field | type | is |")[1:]:
        properties: Schema = {}
        before: Schema = {}
        optional = set()
        for name, words, text in re.findall(r"^\| `(\w+)` \| ([^|]+) \| (.*) \|$", table.split("\n\n")[0], re.M):
            number = re.fullmatch(r"\d+", text)
            value = {"const": int(text)} if number else typed(words, before)
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
            properties[name] = before = {"description": plain, **value}
            optional |= {name} if re.match(r"with `--[^`]*` only", text) else set()
        required = [name for name in properties if name not in optional]
        made.append({"type": "object", "properties": properties, "required": required})
    return made


def output_schema(title: str, section: str) -> Schema:
    """The schema of the output that a section describes.

    The commands that the page's first paragraph names print an object; a second table describes the elements of the
    last list of objects "as follows".
    """
    first, *more = tables(section)
    if more:
        (inner,) = more
        follows = [v for v in first["properties"].values() if v["description"].endswith("as follows")]
        (name,) = follows
        name["items"] = inner
    whole = first if section.lstrip().startswith("One object with") or re.match(r"\s*One object[.;]", section) else None
    return {"$schema": DRAFT, "title": title, **(whole or {"type": "array", "items": first})}


def schemas() -> dict[str, Schema]:
    """All schemas by the names of their files."""
    text = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8")
    found = re.findall(r"^## `hsgen (\w+)([^`]*)--json`\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    made = {"target.schema.json": target_schema()}
    for command, arguments, section in found:
        made[f"{command}.schema.json"] = output_schema(f"hsgen {command}{arguments}--json", section)
    return made


def text_of(schema: Schema) -> str:
    """The text of a file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files, and remove others."""
    SCHEMAS.mkdir(exist_ok=True)
    made = schemas()
    for path in SCHEMAS.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, schema in made.items():
        (SCHEMAS / name).write_text(text_of(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
