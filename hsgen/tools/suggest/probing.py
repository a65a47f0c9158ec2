"""Writes a new target file for a probed device: its facts with their sources, and suggested shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hsgen.apis import APIS
from hsgen.core.errors import Usage, shown
from hsgen.core.fields import plain
from hsgen.system.paths import target_problem
from hsgen.targets import target
from hsgen.targets.isa import KINDS
from hsgen.tools.suggest import suggest
from hsgen.tools.suggest.facts import Facts
from hsgen.tools.suggest.query import Query, facts
from hsgen.tools.suggest.text import block, literal, setting

_SIZES = (
    "subgroups",
    "shuffle",
    "work_group",
    "groups",
    "local_bytes",
    "int64",
    "storage8",
    "storage16",
    "binding_bytes",
)
_FACTS = (*_SIZES, "progress", "threads", "units", "registers", "cores", "local", "unroll")
_HEAD = """\
# {what}.
# The device reports the facts, and shapes follow from them by hsgen's rule.  Nothing of this has been run yet:
# `hsgen validate` shows whether it is correct, `hsgen tune` finds what is fast, and [[evidence]] records both.
schema = 3
name = "{name}"
summary = "{summary}"
apis = ["{api}"]
"""


def check(name: str) -> None:
    """Check that `name` is valid for a new target.

    Raises:
        Usage: a target that comes with hsgen has this name, or the name is no valid target name.
    """
    if name in target.names():
        raise Usage(f"target {name}: comes with hsgen; give the file another name")
    if problem := target_problem(name):
        raise Usage(f"target {shown(repr(name))}: {problem[0]}; {problem[1]}")


def written(q: Query, name: str) -> str:
    """Return the text of a target file called `name` for the device of a query.

    Raises:
        Usage: no shape fits the device's local memory, or the name is not valid for a new target.
    """
    check(name)
    device, origin = facts(q)
    title = _clean(str(q.properties["name"])) or "a device without a plain name"
    summary = f"{title} through {APIS[q.api].title}"
    parts = [_HEAD.format(what=summary, name=name, summary=summary, api=q.api), _device(device, origin), _match(q)]
    if isa := _isa(q):
        parts.append(isa)
    parts += [block(at, table) for at, table in suggest(device).items()]
    text = "\n".join(parts)
    target.parse(text, name, f"{name}.toml")  # checks that hsgen can read the file
    return text


def _device(f: Facts, origin: Mapping[str, str]) -> str:
    lines = ["[device]"]
    for name in _FACTS:
        value = getattr(f.device, name)
        if name in origin and value is not None:
            value = list(value) if isinstance(value, tuple) else value
            lines += setting(f"{name} = {literal(value)}", origin[name])
    if f.device.threads is None and not f.cpu:
        lines.append("# threads, units, registers: not reported; add them, and hsgen suggest derives shapes from them")
    return "\n".join(lines) + "\n"


def _match(q: Query) -> str:
    """Return the text of a table ``[match]`` that matches only this device."""
    properties = q.properties
    lines = ["[match] # this device alone; shorten the name for its family", f"types = {literal([properties['type']])}"]
    lines.append(f"vendors = [{properties['vendor']:#06x}]")
    if properties["name"] and plain(properties["name"]):
        lines.append(f"names = {literal([properties['name']])}")
    # the platform is needed too: another runtime on the same processor may have a device whose name contains this name
    if (platform := properties.get("platform")) and plain(platform):
        lines.append(f"platforms = {literal([platform])}")
    if compute := properties.get("compute", 0):
        lines.append(f"compute = [{compute}, {compute}]")
    return "\n".join(lines) + "\n"


def _isa(q: Query) -> str:
    """Return the text of a table ``[isa]`` with this device; "" if no offline compiler is known to have it.

    The compiler's name of the device follows from the compute capability.
    """
    probe = APIS[q.api].probe
    compiler, signature = (probe and probe.isa) or ("", "")
    name = signature.format(q.properties.get("compute", 0))
    if not compiler or name not in KINDS[compiler].devices:
        return ""
    return f"[isa]\n{compiler} = {literal([name])}\n"


def _clean(name: str) -> str:
    """Return a device's name without characters that cannot be in a comment or string of a C file."""
    text = re.sub(r"[^ -~]|[\"\\]|\*/", "", name).strip()
    return text if plain(text) else ""
