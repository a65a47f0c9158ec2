"""PyTorch's sort, on the engine's GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.apis import APIS
from hsgen.core.errors import Unavailable
from hsgen.engines.engine import Engine
from hsgen.operations.inputs import Keys
from hsgen.tools.bench.baselines.baseline import Run

Words = NDArray[Any]


def opened(engine: Engine) -> tuple[Any, Any]:
    """Return PyTorch, and its device object for the engine's GPU.

    Raises:
        Unavailable: the engine does not run on CUDA, or PyTorch is not installed or lacks the device.
    """
    device = APIS[engine.api].torch
    if not device:
        raise Unavailable("baseline torch: needs CUDA; add --api cuda")
    try:
        import torch
    except ImportError:
        raise Unavailable("baseline torch needs PyTorch; install it with pip install torch") from None
    if not torch.cuda.is_available():
        raise Unavailable(
            f"baseline torch: PyTorch {torch.__version__} sees no CUDA device; install a build for this machine's CUDA"
        )
    # PyTorch and the engine both use the device numbers of CUDA's runtime
    return torch, torch.device(device, int(getattr(engine, "index", 0)))


class _Sorting:
    """Sorts keys with PyTorch.

    PyTorch cannot sort unsigned integers.  Therefore the sign bit of each key is flipped, and the keys are sorted as
    signed integers, which have the same order.
    """

    def __init__(self, engine: Engine, keys: Keys, *, stable: bool) -> None:
        self.torch, self.device = opened(engine)
        self._sign = keys.dtype.type(1 << (8 * keys.dtype.itemsize - 1))
        self._source = self.tensor((keys ^ self._sign).view(f"i{keys.dtype.itemsize}"))
        self._stable = stable
        self._events = [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.sorted: Any = None
        self.order: Any = None

    def tensor(self, array: Any) -> Any:
        """Copy an array to the device."""
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def warm(self) -> None:
        """Copy the keys on the device, so that caches have the same contents before each sort."""
        self._source.clone()
        self.torch.cuda.synchronize(self.device)

    def sort(self, values: Any = None) -> Any:
        """Sort the keys, and wait; with `values`, return their rows in the order of the sorted keys."""
        begin, end = self._events
        stream = self.torch.cuda.current_stream(self.device)
        begin.record(stream)
        self.sorted, self.order = self.torch.sort(self._source, stable=self._stable)
        out = None if values is None else values[self.order]
        end.record(stream)
        self.torch.cuda.synchronize(self.device)
        return out

    def seconds(self) -> float:
        """Return the seconds of the last sort by the device's clock."""
        begin, end = self._events
        return float(begin.elapsed_time(end)) / 1e3

    def keys(self) -> Keys:
        """Fetch the sorted keys."""
        sorted_keys: Keys = self.sorted.cpu().numpy().view(self._sign.dtype) ^ self._sign
        return sorted_keys

    def close(self) -> None:
        """Release the memory, including PyTorch's cache."""
        self._source = self.sorted = self.order = None
        self.torch.cuda.empty_cache()


def torch(engine: Engine, keys: Keys) -> Run:
    """Return a run of `torch.sort`, which also computes the argsort and allocates its memory in each call.

    Raises:
        Unavailable: the engine does not run on CUDA, or PyTorch is not installed or lacks the device.
    """
    sorting = _Sorting(engine, keys, stable=False)
    return Run(
        name="torch",
        prepare=sorting.warm,
        sort=lambda: sorting.sort(),
        result=sorting.keys,
        device=sorting.seconds,
        version=str(sorting.torch.__version__),
        close=sorting.close,
    )


def torch_valued(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """Return a run of stable `torch.sort`, which also returns the argsort; values are gathered by this argsort.

    Raises:
        Unavailable: see `torch`.
    """
    sorting = _Sorting(engine, keys, stable=True)
    rows = None if values is None else sorting.tensor(values.view(np.int32))
    gathered: list[Any] = [None]

    def sort() -> None:
        gathered[0] = sorting.sort(rows)

    def result() -> Words:
        if values is None:
            order: Words = sorting.order.cpu().numpy().astype(np.uint32).reshape(-1, 1)
            return order
        words: Words = gathered[0].cpu().numpy().view(np.uint32)
        return words

    return Run(
        name="torch",
        prepare=sorting.warm,
        sort=sort,
        result=sorting.keys,
        values=result,
        device=sorting.seconds,
        version=str(sorting.torch.__version__),
        close=sorting.close,
    )
