"""The schema of target files: the fields of tables, and constraints between tables.

The tables of algorithms are described elsewhere, by the modules of the algorithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen.algorithms import TABLES as ALGORITHM_TABLES
from hsgen.apis import APIS, having
from hsgen.core.device import Device
from hsgen.core.errors import Usage, shown
from hsgen.core.fields import Field, Reader
from hsgen.core.keys import KEYS
from hsgen.system.paths import target_problem
from hsgen.targets.choices import algorithm
from hsgen.targets.evidence import LEVELS

SCHEMA = 3
PROGRESS = ("none", "started", "guaranteed")
VULKANS = ("1.1", "1.2", "1.3")  # they support SPIR-V 1.3, 1.5 and 1.6

TOP = {
    "schema": Field("int", f"the number {SCHEMA}", least=SCHEMA, greatest=SCHEMA),
    "name": Field("str", "the file's name without .toml"),
    "summary": Field("str", "one line about the devices"),
    "apis": Field("strs", 'at least one API, for example ["opencl"]', choices=tuple(APIS), filled=True),
}
DEVICE = {
    "subgroups": Field("ints", "the subgroup widths offered, [1] for no subgroup operations", least=1, greatest=128),
    "shuffle": Field("bool", "whether lanes of a subgroup can exchange values"),
    "work_group": Field("int", "the greatest work-group, in lanes", least=1),
    "groups": Field("int", "the greatest grid in one dimension, in work-groups", least=1),
    "local_bytes": Field("int", "the local memory of a work-group, in bytes", least=1),
    "int64": Field("bool", "whether 64-bit integers exist"),
    "storage8": Field("bool", "whether buffers of 8-bit elements exist"),
    "storage16": Field("bool", "whether buffers of 16-bit elements exist"),
    "binding_bytes": Field("int", "the largest buffer binding, in bytes", least=1),
    "progress": Field("str", f"one of {', '.join(PROGRESS)}", choices=PROGRESS),
    "vulkan": Field("str", 'the least version of Vulkan, "1.1" if not given', required=False, choices=VULKANS),
    "unroll": Field("str", 'what unrolls loops: "compiler" or "text"', required=False, choices=("compiler", "text")),
    "threads": Field("int", "the subgroups that a core holds at once", required=False, least=1, greatest=4096),
    "units": Field("int", "the SIMD units of a core", required=False, least=1, greatest=256),
    "registers": Field("int", "the 32-bit registers of a core", required=False, least=1, greatest=1 << 24),
    "cores": Field("int", "the cores of the largest device", required=False, least=1, greatest=4096),
    "cooperative": Field("bool", "whether the work-groups of a grid can wait for each other", required=False),
    "local": Field("str", 'where local memory lies: "chip" or "memory"', required=False, choices=("chip", "memory")),
}
EVIDENCE = {
    "level": Field("str", f"one of {', '.join(LEVELS)}", choices=tuple(LEVELS)),
    "api": Field("str", "the API that was used", choices=tuple(APIS)),
    "device": Field("str", "the device or compiler"),
    "driver": Field("str", "its version"),
    "date": Field("str", "when, as YYYY-MM-DD"),
    "result": Field("str", "what was seen"),
    "shapes": Field("str", "the hash of the choices that it is about, as --record writes it", required=False),
}
TABLES = ("device", "match", "isa", "evidence", "sort", *ALGORITHM_TABLES)


def newest(data: Mapping[str, Any], where: str) -> None:
    """Check that a file does not state the number of an older or newer schema.

    Other errors of the number, such as a wrong type, are found later.

    Raises:
        Usage: the file has another schema.  For the previous schema, the message names the command that upgrades it.
    """
    version = data.get("schema")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1 or version == SCHEMA:
        return
    hints = {SCHEMA - 1: f"rewrite the file with `hsgen targets --upgrade {where}`"}
    hint = hints.get(
        version, "use a newer hsgen" if version > SCHEMA else "use an hsgen that reads it, or write it again"
    )
    raise Usage(f"{where}: schema: {version} is not read, this hsgen reads {SCHEMA}; {hint}")


def name(r: Reader, top: Mapping[str, Any], stem: str) -> None:
    """Record an error in `r` if the target's name is invalid, or differs from `stem`, the file's name without .toml."""
    if wrong := target_problem(top.get("name", "x")):
        problem, hint = wrong
        r.error("name", f"{shown(repr(top['name']))} {problem}", hint)
    elif top.get("name", stem) != stem:
        r.error("name", f'"{top["name"]}" is not the file\'s name', f'write "{stem}" or rename the file')


def able(r: Reader, names: list[str], choices: Mapping[tuple[str, str], Any], device: Device | None) -> None:
    """Record an error in `r` for each parameter, and each fact about the device, that an API of the target excludes.

    names: the names of the APIs.
    """
    for api in map(APIS.__getitem__, names):
        if device and 0 < api.local_bytes < device.local_bytes:
            hint = f"give local_bytes = {api.local_bytes}, and tables that fit, or omit the API"
            r.error("apis", f"{api.name} has at most {api.local_bytes} bytes of local memory for a work-group", hint)
        if device is None or device.int64 or api.key_pairs or all(KEYS[k].bytes < 8 for _, k in choices):
            continue
        able = ", ".join(f'"{a.name}"' for a in having(lambda a: a.key_pairs))
        hint = f"give apis = [{able}], where such keys are pairs of words, or no tables of these keys"
        r.error("apis", f"{api.name} sorts no 64-bit keys on a device without 64-bit integers", hint)
    rows = having(lambda api: api.rows)
    for (label, key), p in choices.items():
        if getattr(p, "row_block", None) and not all(APIS[name].rows for name in names):
            hint = f'give apis = ["{rows[0].name}"], or omit it'
            r.error(f"{label}.{key}.row_block", f"only {' and '.join(a.title for a in rows)} has rows", hint)
    if all(APIS[name].cooperative for name in names):
        return
    launching = having(lambda api: api.cooperative)
    only = f"only {' and '.join(a.title for a in launching)} launch{'es' if len(launching) == 1 else ''}"
    for (label, key), p in choices.items():
        strategy = getattr(p, "STRATEGY", "")
        if strategy == "cooperative":
            where = ".".join([algorithm(label), key, *label.split("-")[1:], strategy])
            hint = f'give apis = ["{launching[0].name}"]'
            r.error(where, f"{only} grids whose work-groups wait for each other", hint)


def evidence(r: Reader, data: Mapping[str, Any]) -> tuple[Mapping[str, str], ...]:
    """Read and return the rows of evidence; record errors in `r`."""
    rows = data.get("evidence", [])
    if not isinstance(rows, list) or not all(isinstance(x, dict) for x in rows):
        r.error("evidence", "is not a list of tables", "write each entry as [[evidence]]")
        return ()
    return tuple(r.fields(x, f"evidence[{i}]", EVIDENCE) for i, x in enumerate(rows))


def tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with all lists converted to tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
