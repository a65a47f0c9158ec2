"""The class `Backend`, through which the functions of `hsgen.distributed` handle numpy arrays and PyTorch tensors
alike.

A `Backend` checks arguments, converts arrays, and knows the rank of the process group that calls.
"""

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
"""hsgen's key type for each element type, by its name in numpy and PyTorch."""


class Backend(ABC):
    """The checks and conversions for arrays of one library; `comm` is the communicator of this rank, which exchanges
    arrays of this library.
    """

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm

    @abstractmethod
    def check_keys(self, keys: Any) -> str:
        """Check keys; return their key type, such as "f32".

        Raises:
            TypeError: keys are not an array of the library, or have a type that no kernel sorts.
            ValueError: keys have several dimensions.
        """

    @abstractmethod
    def check_values(self, values: Any, n: int) -> str:
        """Check that there are values for `n` keys; return the type and shape of an item.  Errors: as `check_keys`."""

    @abstractmethod
    def check_numbers(self, values: Any) -> None:
        """Check that values can be reduced.

        Raises:
            TypeError: values are not integers or floats of a supported type.
            ValueError: values have several dimensions.
        """

    @abstractmethod
    def device_of(self, keys: Any) -> str:
        """Return the kind of an array's device, such as "cpu"; ranks compare the kind, which must be equal on all of
        them.
        """

    @abstractmethod
    def local(self, keys: Any, *, descending: bool) -> Local:
        """Return the `Local` that sorts, merges and reduces keys of this type on this rank."""

    @abstractmethod
    def array(self, x: Any) -> Any:
        """Convert keys or values to an array that the methods of `Local` accept."""

    @abstractmethod
    def keys(self, local: Local, keys: Any, like: Any) -> Any:
        """Convert `keys`, sorted keys of a `Run` that `local` has returned, to an array of the library with the element
        type of `like`.
        """

    @abstractmethod
    def values(self, column: Any, like: Any) -> Any:
        """Convert the sorted values, a column of a `Run`, to an array of the library with the element type of
        `like`.
        """

    @abstractmethod
    def index(self, column: Any, total: int) -> Any:
        """Convert global indices or counts, a column of a `Run`, to int64; all of them are less than `total`."""

    @abstractmethod
    def reduced(self, column: Any) -> Any:
        """Convert reduced values, a column of a `Run`, to an array of the library."""


def check_length(values: Any, n: int) -> None:
    """Check that `values` has an item for each of `n` keys."""
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
    """Return the key type of elements of the type `element`, such as "f32" for "float32".

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
    """Return the backend of a `group` argument: a rank of `Threads`, or a group of torch.distributed.

    Raises:
        Unavailable: there is no process group, or this rank is not in the group.
    """
    if isinstance(group, ThreadRank):
        return NumpyBackend(group)
    if "torch" not in sys.modules:
        raise Unavailable("no process group: give a rank of hsgen.distributed.Threads, or start torch.distributed")
    from hsgen.distributed.torch_backend import torch_backend

    return torch_backend(group)
