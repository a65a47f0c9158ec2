"""The parameters of bitonic sorts for other signatures than plain keys, from those of the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.algorithms.bitonic.kernels import kernels
from hsgen.algorithms.bitonic.params import Params
from hsgen.core.device import Device
from hsgen.core.keys import KeyType, Signature
from hsgen.core.networks import pow2_floor


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None for keys narrower than 32 bits, if the target has no
    parameters for the width, and if elements of twice the size do not fit the local memory.

    Packed words are compared as a whole, hence not stably.  With values, the merged elements have twice the size of a
    key: they take the parameters for such keys, or half the rows of the key's own.
    """
    if key.bytes < 4:
        return None
    own = p.get(key.name)
    if signature.value_bytes:
        twice = p.get("u64") if key.bytes == 4 else None
        if own is not None:  # all algorithms of a sort have one subgroup width
            own = twice if twice is not None and twice.subgroup == own.subgroup else _halved(own)
    if own is None:
        return None
    made = replace(own, key=key, signature=signature, path_walks=own.path_from is not None and device.local == "memory")
    while _exceeds(made, device) and made.slabs > 1:
        made = replace(made, slabs=made.slabs // 2, clean_slabs=max(1, made.clean_slabs // 2))
        made = replace(made, stream_group=min(made.stream_group, made.chunk))
    if _exceeds(made, device):
        made = replace(made, bank_pad=0)
    return None if _exceeds(made, device) else made


def _exceeds(p: Params, device: Device) -> bool:
    """Whether a kernel needs more local memory than the device has."""
    return any(k.local_bytes(p.key) > device.local_bytes for k in kernels(p))


def _halved(p: Params) -> Params:
    """The parameters with half the rows per lane."""
    made = replace(
        p,
        height=max(2, p.height // 4 * 2),
        local_scale=max(1, p.local_scale - 1),
        flip_scale=max(1, p.flip_scale - 1),
        half_scale=max(1, p.half_scale - 1),
        exchange="select",
    )
    return replace(made, stream_group=max(p.subgroup, min(made.stream_group, pow2_floor(made.chunk))))
