"""Makes the `hsgen.tools.tune.runner.Field` that describes a detected device and the target to tune on it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from hsgen.core.device import Device
from hsgen.engines.hosts import Host, evidence_device, evidence_level, offers
from hsgen.targets.target import Target
from hsgen.tools.tune.runner import Field


def limited(facts: Device, host: Host) -> Device:
    """Return the facts of a target's device family, reduced to the limits of the device `host`."""
    widths = tuple(w for w in facts.subgroups if w == 1 or offers(host, w))
    return replace(
        facts,
        subgroups=widths or (1,),
        shuffle=facts.shuffle and any(w > 1 for w in widths),
        work_group=min(facts.work_group, host.work_group),
        local_bytes=min(facts.local_bytes, host.local_bytes),
        int64=facts.int64 and host.int64,
    )


def of_host(target: Target, text: str, where: str, api: str, host: Host, *, native: bool, **more: Any) -> Field:
    """Return the `Field` with which `target` is tuned on the device `host`.

    text: the target file's text.  where: the file's name in messages.  native: a bundle's C runtime drives the device.
    """
    return Field(
        text=text,
        stem=target.name,
        where=where,
        facts=limited(target.device, host),
        api=api,
        device=host.label,
        native=native,
        name=evidence_device(host),
        driver=host.driver,
        level=evidence_level(target, host) or "",
        index=host.handle if native else 0,
        compute=host.compute,
        jobs=os.cpu_count() or 1,
        **more,
    )
