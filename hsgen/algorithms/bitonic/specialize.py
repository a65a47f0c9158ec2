"""Merge sorts in other forms than plain keys: the shape that a target chose, as far as it serves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.algorithms.bitonic.kernels import kernels
from hsgen.algorithms.bitonic.params import Params
from hsgen.core.device import Device
from hsgen.core.keys import KeyType, Signature
from hsgen.core.networks import pow2_floor


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the shape for keys of a width in a form; None where there is none.

    Whole keys are compared, so keys of less than a word and packed ones in their order among equals are not for it.
    With values what is merged has twice the bytes of a key: the shape for such keys, or half of the key's own.
    """
    if key.bytes < 4:
        return None
    own = p.get(key.name)
    if signature.value_bytes:
        twice = p.get("u64") if key.bytes == 4 else None
        if own is not None:  # one width of subgroups for all algorithms of a sort
            own = twice if twice is not None and twice.subgroup == own.subgroup else _halved(own)
    if own is None:
        return None
    made = replace(own, key=key, signature=signature, path_walks=own.path_from is not None and device.local == "memory")
    while any(k.local_bytes(key) > device.local_bytes for k in kernels(made)) and made.slabs > 1:
        made = replace(made, slabs=made.slabs // 2, clean_slabs=max(1, made.clean_slabs // 2))
        made = replace(made, stream_group=min(made.stream_group, made.chunk))
    return made


def _halved(p: Params) -> Params:
    """A shape whose lanes hold half as many."""
    made = replace(
        p,
        height=max(2, p.height // 4 * 2),
        local_scale=max(1, p.local_scale - 1),
        flip_scale=max(1, p.flip_scale - 1),
        half_scale=max(1, p.half_scale - 1),
        exchange="select",
    )
    return replace(made, stream_group=max(p.subgroup, min(made.stream_group, pow2_floor(made.chunk))))
