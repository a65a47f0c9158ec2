"""The field of a tuning on a detected device."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from hsgen.core.device import Device
from hsgen.engines.hosts import Host, evidence_device, evidence_level, offers
from hsgen.targets.target import Target
from hsgen.tools.tune.runner import Field


def limited(facts: Device, host: Host) -> Device:
    """Return the facts that hold for a device family and for this device, which may offer less."""
    widths = tuple(w for w in facts.subgroups if w == 1 or offers(host, w))
    return replace(
        facts,
        subgroups=widths or (1,),
        shuffle=facts.shuffle and any(w > 1 for w in widths),
        work_group=min(facts.work_group, host.work_group),
        local_bytes=min(facts.local_bytes, host.local_bytes),
        int64=facts.int64 and host.int64,
    )


def of_host(found: Target, text: str, where: str, api: str, host: Host, *, native: bool, **more: Any) -> Field:
    """Return the field of a detected device."""
    return Field(
        text=text,
        stem=found.name,
        where=where,
        facts=limited(found.device, host),
        api=api,
        device=host.label,
        native=native,
        name=evidence_device(host),
        driver=host.driver,
        level=evidence_level(found, host) or "",
        index=host.handle if native else 0,
        compute=host.compute,
        jobs=os.cpu_count() or 1,
        **more,
    )
