"""The parameters of a group-by, derived from the device, the key type and the values; targets state none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.algorithms import reduce_by_key
from hsgen.algorithms.group_by import pair_partition as pairs
from hsgen.algorithms.group_by.few import Few
from hsgen.algorithms.group_by.few import shape as few_shape
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a group-by.

    reduce: the parameters of the reduction by key, which follows the sort.
    few: the sizes of the hash tables for few groups; None if the group-by always sorts.
    pair_partition: the sizes of the kernels that partition pairs in place of a sort; None if there are none.
    """

    key: KeyType
    signature: Signature = PLAIN
    reduce: reduce_by_key.Params
    few: Few | None = None
    pair_partition: pairs.Shape | None = None

    @property
    def valued(self) -> bool:
        """Whether keys have values."""
        return self.signature.value_bytes > 0

    @property
    def value_bytes(self) -> int:
        """The size of a value in bytes; 0 without values."""
        return self.signature.value_bytes


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def sorting(signature: Signature) -> Signature:
    """Return the signature of the sort that a group-by runs."""
    return replace(signature, floats=False)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if such a group-by is not supported.

    Keys have no values, or values of 4 bytes.  All key types and both orders are supported, if the target has a sort
    for such keys.
    """
    plain = replace(signature, key_transform=False)
    reduce = reduce_by_key.specialize(p, key, plain, device)
    if reduce is None or signature.device_count:
        return None
    few, partition = few_shape(key, device), pairs.shape(key, signature, device)
    return Params(
        key=key,
        signature=signature,
        reduce=reduce,
        few=few and pairs.sampling(few, partition),
        pair_partition=partition,
    )


def block(p: Params) -> int:
    """Return the number of keys in a tile of the reduction; validation tests counts around multiples of it."""
    return reduce_by_key.block(p.reduce)


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values as (name, text) pairs, for headers and `hsgen show`."""
    lines = [(f"reduction, {name}", value) for name, value in reduce_by_key.notes(p.reduce)]
    if p.few:
        lines.insert(0, ("few groups", f"from {p.few.least + 1} keys on, tables of {p.few.slots} slots"))
    if p.few and p.pair_partition:
        d = p.pair_partition
        lines.insert(
            1,
            (
                "buckets",
                f"up to {d.most} pairs; {d.bucket.work_group} lanes x {d.bucket.items} pairs, {d.bucket.bins} places",
            ),
        )
    return lines
