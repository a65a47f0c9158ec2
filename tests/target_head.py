"""The start of target files for tests."""

from __future__ import annotations

import json
from typing import Any

FACTS: dict[str, Any] = {
    "subgroups": [1],
    "shuffle": False,
    "work_group": 256,
    "groups": 4294967295,
    "local_bytes": 32768,
    "int64": True,
    "storage8": True,
    "storage16": True,
    "binding_bytes": 134217728,
    "progress": "none",
}


def target_head(name: str, summary: str, *apis: str, **facts: Any) -> str:
    """Return a target file without choices: for OpenCL by default, and a device without subgroups."""
    lines = (f"{fact} = {json.dumps(value)}" for fact, value in {**FACTS, **facts}.items())
    head = (f'schema = 3\nname = "{name}"', f'summary = "{summary}"', f"apis = {json.dumps(apis or ['opencl'])}")
    return "\n".join((*head, "", "[device]", *lines, ""))
