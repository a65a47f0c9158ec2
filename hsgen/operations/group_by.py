"""Group-by: for each group of equal keys in an array, the key, the count, and a reduction of the values."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN as CALL
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.arguments import SCRATCH, Arguments, Number, options_member
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make
from hsgen.operations.reduce_by_key import Reduction, outputs, reduced_values


def _of(groups: int) -> Make:
    """Return a function that makes random keys with at most `groups` distinct values."""

    def make(rng: np.random.Generator, n: int, dtype: np.dtype[Any]) -> Keys:
        values: Keys = rng.integers(0, np.iinfo(dtype).max, groups, dtype, endpoint=True)
        return values[rng.integers(0, groups, n)]

    return make


GROUPS: dict[str, Make] = {**KINDS, **{f"{groups} values": _of(groups) for groups in (100, 1000, 10000)}}
"""The functions that make keys for a group-by, by the name of the kind of input."""


class _GroupBy(Reduction):
    """The operation that groups n keys: a stable sort, then a reduction of the runs of equal keys."""

    name, noun, c_kind = "group_by", "grouping by key", "HS_GROUP_BY"
    c_number = 9
    arguments = Arguments(
        about="The groups of equal keys of an array in any order (HS_GROUP_BY): a stable sort by key and a reduction by"
        " key in one call.  Groups are in the order of their keys, which are equal if their bits are.  Never in "
        "place.  All outputs have room for n elements; `group_count` gets how many were written.",
        members=(
            Number(name="n", meaning="keys"),
            options_member("type of the keys, order of the groups", "order"),
            *reduced_values("group", "operations"),
            *outputs("group", "operations", " in the sorted array"),
            SCRATCH,
        ),
        number=Reduction.arguments.number,
        javascript="Reductions of groups of equal keys of an array in any order: a stable sort and a reduction of the "
        "runs in one call.",
    )
    kinds = GROUPS
    workload = "groups"

    def signature(self, signature: Signature) -> Signature:
        """Return a signature that has a key transform if the bundle's sorts have one: groups are in the order of keys.

        Without a key transform, a group-by supports only unsigned keys in ascending order.
        """
        valued = signature.value_bytes > 0 and not signature.index
        value = signature.value if valued else "none"
        return replace(PLAIN, value=value, floats=value != "none", key_transform=signature.key_transform)

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature, with a key transform if the type of keys needs one."""
        turned = signature.key_transform or key.kind > 0
        return replace(signature, key_transform=turned, floats=signature.value != "none")

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether calls may have keys of a type: the same rule as for sorts."""
        return Operation.serves(self, sort, key)

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Return the options that a reduction by key with these buffers has, but without a device-side count."""
        return super().settled(n, replace(options, device_count=False), roles)

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call on these keys.  Its results are those of a reduction by key on the sorted keys."""
        order = oracle.permutation(keys, sort, options)
        reduction = self._reduced(sort, keys[order], options, None, rng)
        if reduction.values is None:
            return replace(reduction, keys=keys)
        values = np.empty_like(reduction.values)
        values[order] = reduction.values
        return replace(reduction, keys=keys, values=values)

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return three inputs: with many groups, with groups of very different sizes, and with few groups."""
        return tuple((kind, CALL) for kind in ("random", "zipf", "few distinct"))

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload that sums the values of each group; without values, it counts the keys of each group."""
        order = oracle.permutation(keys, sort, options)
        load = super().load(sort, keys[order], None if values is None else values[order], options, rng)
        return replace(load, keys=keys, values=values)


OPERATION = _GroupBy()
