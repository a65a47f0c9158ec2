"""Sorts of numpy arrays on a device: build once, sort many times.

>>> sorter = Sorter("u32")                     # for the device that `hsgen doctor` names
>>> sorter(keys)                               # in place
>>> sorter(keys, out=sorted_keys)              # into another array
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from hsgen.core.errors import wrong_type
from hsgen.core.keys import BFLOAT16
from hsgen.numpy.devices import device_of


class Sorter:
    """A sort of numpy arrays with keys of one type, on one device; docs/reference/semantics.md defines the order.

    Each call copies its arrays to the device and back, which takes longer than most sorts.  For arrays that are on the
    device already, use `hsgen.cuda` or `hsgen.opencl`.

    Args:
        key, value, order, target: as in `hsgen.opencl.Sorter`.
        device: a part of the device's name, as in ``--device``; None is the first NVIDIA GPU through CUDA, or else the
            best device of OpenCL.

    Raises:
        TypeError: the device or target has a wrong Python type.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, no sort that combines them, or
            several devices have that name.
        hsgen.core.errors.Unavailable: there is no such device, or it lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile.
    """

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        device: str | None = None,
    ) -> None:
        self._device = device_of(device)
        self._sorter = self._device.build("Sorter", key, value=value, order=order, target=target)
        self.key, self.value, self.order = self._sorter.key, self._sorter.value, self._sorter.order
        self.target, self.dtype, self.max_n = self._sorter.target, self._sorter.dtype, self._sorter.max_n

    def __repr__(self) -> str:
        """The operation, the attributes, the target and the device as text."""
        return repr(self._sorter)

    def __call__(self, keys: Any, out: Any = None, *, values: Any = None, values_out: Any = None) -> None:
        """Sort one-dimensional arrays; values move with their keys.

        Sorted keys are stored in `out`, by default in `keys`.  Values are stored in `values_out`, by default in
        `values`.  An argsort stores indices in `values_out`.

        Raises:
            TypeError: an argument is not an array of numpy.
            ValueError: an array is missing, unexpected or read-only, or has several dimensions or a wrong type or
                length.
            hsgen.core.errors.Usage: there are more than `max_n` keys.
        """
        to_keys, to_values = (keys if out is None else out), (values if values_out is None else values_out)
        arrays = {"keys": keys, "out": out, "values": values, "values_out": values_out}
        _check(arrays, [name for name, x in arrays.items() if x is not None and (x is to_keys or x is to_values)])
        named = {"values": values} if values is not None else {"values_out": values_out}
        with self._device.arrays() as copied:
            on_keys, on_values = copied(bits(keys)), copied(bits(to_values if values is None else values))
            self._device.call(self._sorter, on_keys, **dict.fromkeys(named, on_values))
            for array, to in ((on_keys, to_keys), (on_values, to_values)):
                if to is not None and to.size:
                    fetched = np.empty(to.shape, bits(to).dtype)
                    self._device.read(array, fetched)
                    to[...] = fetched.view(to.dtype)


def bits(a: Any) -> Any:
    """Return an array in C order; bfloat16 becomes uint16 with the same bits, because device arrays lack bfloat16."""
    if a is None:
        return None
    a = np.ascontiguousarray(a)
    return a.view(np.uint16) if a.dtype.name == BFLOAT16 else a


def _check(arrays: dict[str, Any], written: list[str]) -> None:
    """Check that arguments are arrays, and that outputs are writable and have the type and shape of their inputs."""
    for name, x in arrays.items():
        if x is None and name != "keys":
            continue
        if not isinstance(x, np.ndarray):
            raise wrong_type(name, "an array of numpy", x)
        if isinstance(x, np.ma.MaskedArray):
            raise wrong_type(name, f"a plain array, such as {name}.data, since masks are not sorted", x)
        if name in written and not x.flags.writeable:
            raise ValueError(f"{name} is read-only; give a writable array")
    for name, of in (("out", "keys"), ("values_out", "values")):
        x, like = arrays[name], arrays[of]
        if x is not None and like is not None and (x.shape, x.dtype) != (like.shape, like.dtype):
            raise ValueError(f"{name} is {x.dtype} of shape {x.shape}, {of} {like.dtype} of shape {like.shape}")
