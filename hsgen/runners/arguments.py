"""Conversions of the arguments by which users create a sorter or a similar object: targets, key types, kinds of values,
and orders.
"""

from __future__ import annotations

import operator
import os
from contextlib import suppress
from typing import Any

import numpy as np

from hsgen.core.errors import Usage, wrong_type
from hsgen.core.keys import ORDERS, TYPES, VALUES, Signature, value_kind
from hsgen.core.sort import Sort
from hsgen.engines import hosts
from hsgen.targets import heads
from hsgen.targets import target as targets
from hsgen.targets.target import Target


def serving(
    host: hosts.Host, name: str | os.PathLike[str] | None, key: str, signature: Signature, label: str = ""
) -> tuple[Target, Sort]:
    """Return the target `name`, and its sort for the key type `key`; without a name, the target is the one that matches
    the device.

    If the matching target has no such sort, the target "generic" is used.
    label: the name of an algorithm of the target; "" selects the target's sort for all counts.
    signature: the features that calls of the sort may use, such as a bit range.

    Raises:
        Usage: there is no such target, or no such sort.
    """
    target = target_of(host, name)
    try:
        return target, target.sort(label, key, signature) if label else target.default(key, signature)
    except Usage:
        if name:
            raise
    target = targets.find("generic")
    return target, target.sort(label, key, signature) if label else target.default(key, signature)


def target_of(host: hosts.Host, name: str | os.PathLike[str] | None) -> Target:
    """Return the target `name`, a name or the path of a target file; without it, the target that matches the device.

    Raises:
        TypeError: the name is neither a string nor a path.
        Usage: there is no such target.
    """
    if name is not None and not isinstance(name, str | os.PathLike):
        raise wrong_type("target", "the name of a target, or the path of its file", name)
    return targets.find(os.fspath(name)) if name else hosts.target_for(host, heads.shipped())


def key_name(key: Any) -> str:
    """Return the name of a key type in `hsgen.core.keys.TYPES`.

    key: the name, a numpy type in native byte order, or a PyTorch type.

    Raises:
        Usage: there is no such type.
    """
    if isinstance(key, str) and key in TYPES:
        return key
    hint = f"give {', '.join(TYPES)} or the numpy type"
    name = next((t.name for t in TYPES.values() if t.element == _element(key)), None)
    if name is None:
        raise Usage(
            f"key type {key}: not a number of this machine; {hint}"
            if _element(key)
            else f"key type {key}: unknown; {hint}"
        )
    return name


def _element(key: Any) -> str:
    """Return the name of an element type of numpy or of PyTorch; "" for any other object."""
    if key is None:
        return "none"
    if (text := str(key)).startswith("torch."):
        return text.removeprefix("torch.")
    try:
        dtype = np.dtype(key)
    except TypeError:
        return ""
    return dtype.name if dtype.isnative else f"{dtype}"


def order_name(order: Any) -> str:
    """Return the argument `order` if it is "ascending" or "descending".

    Raises:
        Usage: there is no such order.
    """
    if order not in ORDERS:
        raise Usage(f"order {order}: unknown; give {' or '.join(ORDERS)}")
    return str(order)


def value_name(value: Any) -> str:
    """Return the name of a kind of values in `hsgen.core.keys.VALUES`.

    value: an argument of `hsgen.core.keys.value_kind`, None for "none", or a type of numpy or PyTorch.

    Raises:
        Usage: there is no such kind.
    """
    if value is None:
        return "none"
    if isinstance(value, str) and (value in VALUES or value in TYPES or value.isdecimal()):
        return value_kind(value)
    if isinstance(value, bool):
        return value_kind(str(value))
    with suppress(TypeError):
        return value_kind(operator.index(value))
    size = _itemsize(value)
    return value_kind(f"v{size}" if f"v{size}" in VALUES else str(value))


def _itemsize(value: Any) -> int:
    """Return the size in bytes of an element type of numpy or PyTorch; 0 for any other object."""
    try:
        return int(np.dtype(str(value).removeprefix("torch.") if str(value).startswith("torch.") else value).itemsize)
    except TypeError:
        return 0
