"""Which device is used: what a device specification (``--device``) names, and which goes first without one.

A specification is ``PLATFORM/DEVICE``, each a part of the name or all of it, or a part of what `Host.label` says.  What
is equal to a platform's name, a device's name or both goes before what is only a part of one.  ``#2`` at the end is the
second of several, in the order in which the API lists them.  Case does not matter.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from hsgen.apis import APIS
from hsgen.core.errors import Unavailable, Usage
from hsgen.core.sort import Sort
from hsgen.engines.hosts import Host, lacks, matches
from hsgen.targets.matching import Match
from hsgen.targets.target import Target

_NUMBERED = re.compile(r"(.*?)\s*#(\d{1,4})", re.DOTALL)
_TYPES = {"gpu": 0, "other": 1, "cpu": 2}


def pick(
    wanted: str | None,
    found: Sequence[Host],
    target: Target | None = None,
    sorts: Sequence[Sort] = (),
    *,
    able: bool = True,
) -> Host:
    """Return the device of `found` that a specification names, or else the first that can run `sorts`, in the order of
    `candidates`.

    Without `able` the first is returned where none can, since the sorts are what a tuning changes.

    Raises:
        Usage: the specification names several devices, or is empty.
        Unavailable: there is no such device, or none that can run the sorts; the line says why.
    """
    if not found:
        raise Unavailable("no device of this API; `hsgen doctor` says what was found")
    some = candidates(found, target) if wanted is None else [named(wanted, found)]
    reasons = []
    for host in some:
        lacking = next((x for x in (lacks(s, host) for s in sorts) if x), None)
        if lacking is None:
            return host
        reasons.append(f"{host.label} {lacking}")
    if able:
        raise Unavailable("; ".join(reasons))
    return some[0]


def candidates(found: Sequence[Host], target: Target | None = None) -> list[Host]:
    """Return the devices that a command without a specification may use, the best first.

    Those that `target` matches, if there are any, and no others.  Else all: GPUs before CPUs, and the embedded runtime
    before other runtimes for CPUs; but it goes first for a target whose own devices are not here.
    """
    own = [h for h in found if target and matches(target, h)]
    foreign = not own and target is not None and target.match != Match()

    def order(host: Host) -> tuple[bool, int, bool]:
        return foreign and not embedded(host), _TYPES.get(host.type, 1), not embedded(host)

    return sorted(own or found, key=order)


def embedded(host: Host) -> bool:
    """Return whether a device is that of the CPU runtime that hsgen embeds."""
    begin = APIS[host.api].cpu_platform
    return bool(begin) and host.type == "cpu" and host.platform.startswith(begin)


def specification(host: Host, found: Sequence[Host]) -> str:
    """Return the specification that names `host` and no other device of `found`."""
    words = f"{host.platform}/{host.name}"
    like = [h for h in found if f"{h.platform}/{h.name}" == words]
    return f"{words}#{like.index(host) + 1}" if len(like) > 1 else words


def named(wanted: str, found: Sequence[Host], option: str = "--device ") -> Host:
    """Return the one device of `found` that a specification names; messages repeat `option` before a specification.

    Raises:
        Usage: it names several, or is empty.
        Unavailable: it names none.
    """
    if not wanted.strip():
        raise Usage(f"device '': is empty; give a part of a name, or leave out {option.strip('= ')}")
    title = APIS[found[0].api].title
    hits, numbered = _hits(wanted, found), _NUMBERED.fullmatch(wanted)
    if not hits and numbered:
        some = _hits(numbered[1], found) if numbered[1] else list(found)
        hits = some[int(numbered[2]) - 1 : int(numbered[2])] if int(numbered[2]) else []
    if len(hits) == 1:
        return hits[0]
    shown = [specification(h, found) for h in hits or found]
    if hits:
        each = " or ".join(f"{option}{shlex.quote(x)}" for x in shown)
        raise Usage(f"device '{wanted}': names {len(hits)} {title} devices; give {each}")
    raise Unavailable(f"no {title} device like '{wanted}'; there is {'; '.join(shown)}")


def _hits(wanted: str, found: Sequence[Host]) -> list[Host]:
    """The devices that words name: all in the first of these ways in which there is one."""
    words = wanted.casefold().strip()
    ends = [i for i, c in enumerate(words) if c == "/"]
    parts = [(words[:i].strip(), words[i + 1 :].strip()) for i in ends]
    ways: tuple[Callable[[str, str, str], bool], ...] = (
        lambda platform, name, label: words in (f"{platform}/{name}", label),
        lambda platform, name, label: words in (platform, name),
        lambda platform, name, label: any(p == platform and d in name for p, d in parts),
        lambda platform, name, label: any(p in platform and d == name for p, d in parts),
        lambda platform, name, label: any(p in platform and d in name for p, d in parts),
        lambda platform, name, label: words in label,
    )
    lower = [(h, h.platform.casefold(), h.name.casefold(), h.label.casefold()) for h in found]
    for way in ways:
        if hits := [h for h, *names in lower if way(*names)]:
            return hits
    return []
