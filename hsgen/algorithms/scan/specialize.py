"""Prefix sums know no other form than plain elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.algorithms.scan.params import Params
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the shape for elements of a width; None in any other form."""
    own = p.get(key.name) if signature == PLAIN else None
    return replace(own, redo=not device.promised) if own else None
