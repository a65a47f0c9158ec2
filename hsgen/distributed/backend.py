"""The libraries whose arrays ranks sort: checks of arguments, the form of results, and the process group of a call."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hsgen.core.errors import Unavailable, wrong_type
from hsgen.core.keys import BFLOAT16, TYPES
from hsgen.distributed.communicator import Communicator
from hsgen.distributed.local import Local
from hsgen.distributed.numpy_local import NumpyLocal
from hsgen.distributed.threads import ThreadRank

KEYS = {t.element: t.name for t in TYPES.values()}
"""hsgen's names of key types, by the names of element types in numpy and PyTorch."""


class Backend(ABC):
    """What the functions need to know of the arrays of one library; `comm` is the rank that exchanges such arrays."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm

    @abstractmethod
    def check_keys(self, keys: Any) -> str:
        """Return hsgen's name of the type of keys.

        Raises:
            TypeError: keys are not an array of the library, or have a type that no kernel sorts.
            ValueError: keys have several dimensions.
        """

    @abstractmethod
    def check_values(self, values: Any, n: int) -> str:
        """Check values that belong to `n` keys; return a description of an item.  Errors are those of `check_keys`."""

    @abstractmethod
    def check_numbers(self, values: Any) -> None:
        """Check that values can be reduced.

        Raises:
            TypeError: values are not integers or floats of a supported type.
            ValueError: values have several dimensions.
        """

    @abstractmethod
    def device_of(self, keys: Any) -> str:
        """Return the kind of an array's device, such as "cpu"; it must be equal on every rank."""

    @abstractmethod
    def local(self, keys: Any, *, descending: bool) -> Local:
        """Return the object that sorts, merges and reduces keys of this type on this rank."""

    @abstractmethod
    def array(self, x: Any) -> Any:
        """Return keys or values as the array that `local` takes."""

    @abstractmethod
    def keys(self, local: Local, keys: Any, like: Any) -> Any:
        """Return keys in the form of `local` as an array of the library, with the type of `like`."""

    @abstractmethod
    def values(self, column: Any, like: Any) -> Any:
        """Return values that have moved with keys as an array of the type of `like`."""

    @abstractmethod
    def index(self, column: Any, total: int) -> Any:
        """Return global indices, or counts, as 64-bit integers; `total` is the number of keys of all ranks."""

    @abstractmethod
    def reduced(self, column: Any) -> Any:
        """Return reduced values as an array of the library."""


def check_length(values: Any, n: int) -> None:
    """Check that there is an item for each key."""
    shape = tuple(values.shape)
    if not shape or shape[0] != n:
        raise ValueError(f"values have the shape {shape}, keys hold {n}; give an item for each key")


class NumpyBackend(Backend):
    """Arrays of numpy, for a rank of `Threads`."""

    comm: ThreadRank

    def check_keys(self, keys: Any) -> str:
        """See `Backend`."""
        _check_array("keys", keys)
        if keys.ndim != 1:
            raise ValueError(f"keys have the shape {keys.shape}; give one dimension")
        return named(keys.dtype.name if keys.dtype.isnative else keys.dtype.str)

    def check_values(self, values: Any, n: int) -> str:
        """See `Backend`."""
        _check_array("values", values)
        check_length(values, n)
        return f"{values.dtype} of shape {values.shape[1:]}" if values.ndim > 1 else str(values.dtype)

    def check_numbers(self, values: Any) -> None:
        """See `Backend`."""
        if values.dtype.kind not in "iufb" or values.dtype.itemsize > 8:
            raise TypeError(f"values are {values.dtype}; give integers, float16, float32 or float64")
        if values.ndim != 1:
            raise ValueError(f"values have the shape {values.shape}; give one dimension")

    def device_of(self, keys: Any) -> str:
        """See `Backend`."""
        return "cpu"

    def local(self, keys: Any, *, descending: bool) -> Local:
        """See `Backend`."""
        return NumpyLocal(self.check_keys(keys), descending=descending, device=self.comm.device)

    def array(self, x: Any) -> Any:
        """See `Backend`."""
        return x

    def keys(self, local: Local, keys: Any, like: Any) -> Any:
        """See `Backend`."""
        assert isinstance(local, NumpyLocal)
        return local.restored(keys, like.dtype)

    def values(self, column: Any, like: Any) -> Any:
        """See `Backend`."""
        return column

    def index(self, column: Any, total: int) -> Any:
        """See `Backend`."""
        return column

    def reduced(self, column: Any) -> Any:
        """See `Backend`."""
        return column


def named(element: str) -> str:
    """Return hsgen's name of a key type, by the name of the element type.

    Raises:
        TypeError: no kernel sorts such elements.
    """
    if element not in KEYS:
        raise TypeError(f"keys are {element}; give {', '.join(x for x in KEYS if x != BFLOAT16)}")
    return KEYS[element]


def _check_array(name: str, x: Any) -> None:
    if not isinstance(x, np.ndarray) or isinstance(x, np.ma.MaskedArray):
        raise wrong_type(name, "an array of numpy", x)


def backend_of(group: Any) -> Backend:
    """Return the backend of a process group.

    Raises:
        Unavailable: there is no process group, or this rank is not in the group.
    """
    if isinstance(group, ThreadRank):
        return NumpyBackend(group)
    if "torch" not in sys.modules:
        raise Unavailable("no process group: give a rank of hsgen.distributed.Threads, or start torch.distributed")
    from hsgen.distributed.torch_backend import torch_backend

    return torch_backend(group)
