"""The parameters of bitonic sorts for other signatures than plain keys, from the target's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hsgen.algorithms.bitonic.kernels import kernels
from hsgen.algorithms.bitonic.params import Params
from hsgen.core.device import Device
from hsgen.core.keys import KeyType, Signature
from hsgen.core.networks import pow2_floor


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if the sort is not supported.

    Keys narrower than 32 bits are not supported, nor widths for which the target has no parameters.  Elements that do
    not fit the local memory are not supported either.

    Packed words are compared as a whole, hence not stably.  With values, the merged elements have twice the size of a
    key, and take the parameters for keys of that size; if the target has none, they take half the rows of the key's
    parameters.
    """
    if key.bytes < 4:
        return None
    table = p.get(key.name)
    if signature.value_bytes:
        twice = p.get("u64") if key.bytes == 4 else None
        if table is not None:  # all algorithms of a sort have one subgroup width
            table = twice if twice is not None and twice.subgroup == table.subgroup else _halved(table)
    if table is None:
        return None
    walks = table.path_from is not None and device.local == "memory"
    shape = replace(table, key=key, signature=signature, path_walks=walks)
    while _exceeds(shape, device) and shape.slabs > 1:
        shape = replace(shape, slabs=shape.slabs // 2, clean_slabs=max(1, shape.clean_slabs // 2))
        shape = replace(shape, stream_group=min(shape.stream_group, shape.chunk))
    if _exceeds(shape, device):
        shape = replace(shape, bank_pad=0)
    return None if _exceeds(shape, device) else shape


def _exceeds(p: Params, device: Device) -> bool:
    """Whether a kernel needs more local memory than the device has."""
    return any(k.local_bytes(p.key) > device.local_bytes for k in kernels(p))


def _halved(p: Params) -> Params:
    """The parameters with half the rows per lane."""
    shape = replace(
        p,
        height=max(2, p.height // 4 * 2),
        local_scale=max(1, p.local_scale - 1),
        flip_scale=max(1, p.flip_scale - 1),
        half_scale=max(1, p.half_scale - 1),
        exchange="select",
    )
    return replace(shape, stream_group=max(p.subgroup, min(shape.stream_group, pow2_floor(shape.chunk))))
