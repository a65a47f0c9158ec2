"""Radix sorts in other forms than plain keys: the shape that a target chose, as far as it serves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.algorithms.radix.kernels import kernels
from hsgen.algorithms.radix.params import NO_BUCKETS, NO_PAIRS, Params
from hsgen.core.device import Device
from hsgen.core.keys import Form, KeyType


def formed(p: Mapping[str, Params], key: KeyType, form: Form, device: Device) -> Params | None:
    """Return the shape for keys of a width in a form; None where the device or the target serves none.

    Narrow keys are held as words and take the shape of 32-bit keys.  Values take local memory for the places of keys:
    where it does not suffice, lanes get fewer keys.
    """
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    own = p.get(key.name) or (p.get("u32") if key.bytes < 4 else None)
    if own is None:
        return None
    made = replace(own, key=key, form=form, redo=not device.promised)
    if form.value != "none" or key.bytes < 4:
        # keys of a bucket come in any order; narrow ones have few passes
        made = replace(made, **NO_BUCKETS, places=0)
    if form.ranged:
        # keys that are equal in a range stay in their order; the kernels of a pass do not know the whole range
        made = replace(made, places=0, sorted_exit=made.sorted_exit and made.coordination == "lookback")
    if form.value == "packed":
        made = replace(made, begin=key.bits // 2)
    if form.counted or form.followed:
        made = replace(made, large=False)  # counts on the device are words, and so are places that are told
    if key.bytes < 4:
        made = replace(made, bits=min(made.bits, key.bits))
    if key.bytes < 4 or form.value == "packed":
        made = replace(made, **NO_PAIRS)  # few passes
    while made.items > 1 and not made.serial and any(k.local_bytes(key) > device.local_bytes for k in kernels(made)):
        made = replace(made, items=made.items - 1, least=min(made.least, made.items - 1))
        if made.single is not None:
            made = replace(made, single=min(made.single, made.tile))
    return made
