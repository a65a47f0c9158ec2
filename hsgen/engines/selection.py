"""Select the device that a specification names (``--device``) or, without a specification, the best device.

A specification is ``PLATFORM/DEVICE``, with a part or all of each name, or a part of `Host.label`.  If a specification
equals the whole name of a platform, of a device, or of both, it does not select devices with longer names.  ``#2`` at
its end selects the second of several matching devices, in the order of the API's list.  Case does not matter.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hsgen.apis import APIS
from hsgen.core.errors import Unavailable, Usage
from hsgen.engines.hosts import Host, lacks, matches
from hsgen.targets.matching import Match

if TYPE_CHECKING:
    from hsgen.core.sort import Sort
    from hsgen.targets.target import Target

_NUMBERED = re.compile(r"(.*?)\s*#(\d{1,4})", re.DOTALL)
_TYPES = {"gpu": 0, "other": 1, "cpu": 2}


def pick(
    name: str | None,
    devices: Sequence[Host],
    target: Target | None = None,
    sorts: Sequence[Sort] = (),
    *,
    able: bool = True,
) -> Host:
    """Return the device that the specification `name` selects; without one, the first of `candidates`.

    Devices that cannot run all of `sorts` are skipped.
    able: if it is False and no device can run the sorts, the first device is returned in place of an error.  Tuning
    passes false, because it changes the sorts.

    Raises:
        Usage: the specification matches several devices, or is empty.
        Unavailable: no device matches, or no device can run the sorts; the message has the reasons.
    """
    if not devices:
        raise Unavailable("no device of this API; `hsgen doctor` says what was found")
    tried = candidates(devices, target) if name is None else [named(name, devices)]
    reasons = []
    for host in tried:
        lacking = next((x for x in (lacks(s, host) for s in sorts) if x), None)
        if lacking is None:
            return host
        reasons.append(f"{host.label} {lacking}")
    if able:
        raise Unavailable("; ".join(reasons))
    return tried[0]


def candidates(devices: Sequence[Host], target: Target | None = None) -> list[Host]:
    """Return the devices that a command without a specification may use, the best device first.

    If `target` matches any device, the result has only the devices that it matches.  Otherwise the result has all
    devices: GPUs before CPUs, and the embedded runtime before other CPU runtimes.  If `target` has match conditions
    that no device meets, the embedded runtime comes first.
    """
    matching = [h for h in devices if target and matches(target, h)]
    foreign = not matching and target is not None and target.match != Match()

    def order(host: Host) -> tuple[bool, int, bool]:
        return foreign and not embedded(host), _TYPES.get(host.type, 1), not embedded(host)

    return sorted(matching or devices, key=order)


def embedded(host: Host) -> bool:
    """Return True if a device is the CPU device of the embedded runtime."""
    begin = APIS[host.api].cpu_platform
    return bool(begin) and host.type == "cpu" and host.platform.startswith(begin)


def specification(host: Host, devices: Sequence[Host]) -> str:
    """Return the specification that selects `host` and no other device among `devices`."""
    words = f"{host.platform}/{host.name}"
    like = [h for h in devices if f"{h.platform}/{h.name}" == words]
    return f"{words}#{like.index(host) + 1}" if len(like) > 1 else words


def named(name: str, devices: Sequence[Host], option: str = "--device ") -> Host:
    """Return the device that the specification `name` selects.

    option: the text before specifications in messages, such as "--device ".

    Raises:
        Usage: the specification matches several devices, or is empty.
        Unavailable: the specification matches no device.
    """
    if not name.strip():
        raise Usage(f"device '': is empty; give a part of a name, or leave out {option.strip('= ')}")
    title = APIS[devices[0].api].title
    hits, numbered = _hits(name, devices), _NUMBERED.fullmatch(name)
    if not hits and numbered:
        equal = _hits(numbered[1], devices) if numbered[1] else list(devices)
        hits = equal[int(numbered[2]) - 1 : int(numbered[2])] if int(numbered[2]) else []
    if len(hits) == 1:
        return hits[0]
    shown = [specification(h, devices) for h in hits or devices]
    if hits:
        each = " or ".join(f"{option}{shlex.quote(x)}" for x in shown)
        raise Usage(f"device '{name}': names {len(hits)} {title} devices; give {each}")
    raise Unavailable(f"no {title} device like '{name}'; there is {'; '.join(shown)}")


def _hits(text: str, devices: Sequence[Host]) -> list[Host]:
    """Return the devices that match a text.  The rules in `ways` are tried in order, and the first rule that any device
    meets decides.
    """
    words = text.casefold().strip()
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
    lower = [(h, h.platform.casefold(), h.name.casefold(), h.label.casefold()) for h in devices]
    for way in ways:
        if hits := [h for h, *names in lower if way(*names)]:
            return hits
    return []
