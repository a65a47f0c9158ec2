"""A new target file for a probed device: facts with their sources, and suggested shapes."""

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
    """Check that a new target can have a name.

    Raises:
        Usage: the name is of a target that comes with hsgen, or cannot be part of a file name.
    """
    if name in target.names():
        raise Usage(f"target {name}: comes with hsgen; give the file another name")
    if problem := target_problem(name):
        raise Usage(f"target {shown(repr(name))}: {problem[0]}; {problem[1]}")


def written(q: Query, name: str) -> str:
    """Return the text of a target file called `name` for the device of a query.

    Raises:
        Usage: the device has room for no shape, or the name cannot be a target's.
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
    """Return the table that matches exactly this device."""
    properties = q.properties
    lines = ["[match] # this device alone; shorten the name for its family", f"types = {literal([properties['type']])}"]
    lines.append(f"vendors = [{properties['vendor']:#06x}]")
    if properties["name"] and plain(properties["name"]):
        lines.append(f"names = {literal([properties['name']])}")
    # another runtime on the same processor may name it within its own device's name
    if (platform := properties.get("platform")) and plain(platform):
        lines.append(f"platforms = {literal([platform])}")
    if compute := properties.get("compute", 0):
        lines.append(f"compute = [{compute}, {compute}]")
    return "\n".join(lines) + "\n"


def _isa(q: Query) -> str:
    """Return the table ``[isa]`` if the offline compiler's name of the device follows from its compute capability."""
    probe = APIS[q.api].probe
    compiler, signature = (probe and probe.isa) or ("", "")
    name = signature.format(q.properties.get("compute", 0))
    if not compiler or name not in KINDS[compiler].devices:
        return ""
    return f"[isa]\n{compiler} = {literal([name])}\n"


def _clean(name: str) -> str:
    """Return a device's name without characters that a C file cannot contain."""
    text = re.sub(r"[^ -~]|[\"\\]|\*/", "", name).strip()
    return text if plain(text) else ""
