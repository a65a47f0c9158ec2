"""PyTorch's sort, on the GPU that the engine sorts on."""

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
    """PyTorch, and its device object for the engine's GPU."""
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
    # both number devices as CUDA's runtime does
    return torch, torch.device(device, int(getattr(engine, "index", 0)))


class _Sorting:
    """Sorts keys as signed integers of the same order, because PyTorch cannot sort unsigned ones."""

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
        """Copy the keys, so that caches hold them regardless of the previous sort."""
        self._source.clone()
        self.torch.cuda.synchronize(self.device)

    def sort(self, values: Any = None) -> Any:
        """Sort and synchronize; return the rows of `values` in the order of their keys."""
        begin, end = self._events
        stream = self.torch.cuda.current_stream(self.device)
        begin.record(stream)
        self.sorted, self.order = self.torch.sort(self._source, stable=self._stable)
        out = None if values is None else values[self.order]
        end.record(stream)
        self.torch.cuda.synchronize(self.device)
        return out

    def seconds(self) -> float:
        """The device time of the last sort."""
        begin, end = self._events
        return float(begin.elapsed_time(end)) / 1e3

    def keys(self) -> Keys:
        """Fetch the sorted keys."""
        found: Keys = self.sorted.cpu().numpy().view(self._sign.dtype) ^ self._sign
        return found

    def close(self) -> None:
        """Release the memory, including PyTorch's cache."""
        self._source = self.sorted = self.order = None
        self.torch.cuda.empty_cache()


def torch(engine: Engine, keys: Keys) -> Run:
    """`torch.sort`, which also computes the argsort and allocates its memory in each call.

    Raises:
        Unavailable: the engine does not run on CUDA, or PyTorch is not installed or lacks the device.
    """
    made = _Sorting(engine, keys, stable=False)
    return Run(
        name="torch",
        prepare=made.warm,
        sort=lambda: made.sort(),
        result=made.keys,
        device=made.seconds,
        version=str(made.torch.__version__),
        close=made.close,
    )


def torch_valued(engine: Engine, keys: Keys, values: Words | None) -> Run:
    """`torch.sort`, stable, with values gathered in the order that it returns; an argsort is that order.

    Raises:
        Unavailable: see `torch`.
    """
    made = _Sorting(engine, keys, stable=True)
    rows = None if values is None else made.tensor(values.view(np.int32))
    taken: list[Any] = [None]

    def sort() -> None:
        taken[0] = made.sort(rows)

    def result() -> Words:
        if values is None:
            order: Words = made.order.cpu().numpy().astype(np.uint32).reshape(-1, 1)
            return order
        found: Words = taken[0].cpu().numpy().view(np.uint32)
        return found

    return Run(
        name="torch",
        prepare=made.warm,
        sort=sort,
        result=made.keys,
        values=result,
        device=made.seconds,
        version=str(made.torch.__version__),
        close=made.close,
    )
