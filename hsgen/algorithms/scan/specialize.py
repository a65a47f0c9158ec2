"""The parameters of prefix sums by element width; they support plain elements only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.algorithms.scan.params import Params
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for an element width; None for any signature but plain."""
    own = p.get(key.name) if signature == PLAIN else None
    return replace(own, redo=not device.promised) if own else None
