"""Baselines that select the first k keys of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hsgen.core.errors import Unavailable
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.operations.inputs import Keys
from hsgen.operations.oracle import ordered, unordered
from hsgen.tools.bench.baselines import pytorch
from hsgen.tools.bench.baselines.baseline import Run
from hsgen.tools.bench.baselines.library import library

_LARGEST, _FLOAT = 1 << 40, 1 << 41
"""Flags.  CUB's wrapper in the engine's library receives k with the flags added.

`_LARGEST` selects the greatest keys instead of the least.  `_FLOAT` means that keys are floats.
"""
_SIGNED, _KIND_FLOAT = 1, 2


def _by(work: Load) -> Keys:
    """Return the keys, of shape (rows, length), as unsigned integers whose ascending order is the order of the call."""
    options = work.how
    return ordered(work.keys, options.kind, descending=options.descending).reshape(options.segment_count, -1)


def _in_any_order(keys: Keys, work: Load) -> Keys:
    """Return the expected keys if `keys` differ from them only in the order within rows; otherwise return `keys`."""
    shape = (work.how.segment_count, -1)
    same = np.array_equal(np.sort(keys.reshape(shape), axis=1), np.sort(work.expected.reshape(shape), axis=1))
    return work.expected if same else keys


def _indices(order: Any, work: Load) -> Any:
    """Return the expected indices if `order`, of shape (rows, k), is a valid selection; otherwise return `order`.

    In a valid selection, the indices of a row are distinct, and their keys are the expected keys in any order.  Any of
    several equal keys may be selected.
    """
    rows = work.keys.reshape(work.how.segment_count, -1)
    keys = _in_any_order(np.take_along_axis(rows, order, axis=1).reshape(-1), work)
    distinct = (np.diff(np.sort(order, axis=1), axis=1) > 0).all()
    indices = order.astype(np.uint32).reshape(-1, 1)
    return work.values_expected if distinct and np.array_equal(keys, work.expected) else indices


def numpy(engine: Engine, work: Load) -> Run:
    """Return a run of numpy, which partitions each row and sorts its first k keys.

    If indices are requested, the run uses `argpartition` and `argsort`.
    """
    by, options = _by(work), work.how
    output: dict[str, Any] = {}

    def run() -> None:
        if work.values_expected is None:
            output["by"] = np.sort(np.partition(by, options.take - 1, axis=1)[:, : options.take], axis=1)
        else:
            order = np.argpartition(by, options.take - 1, axis=1)[:, : options.take]
            inside = np.argsort(np.take_along_axis(by, order, axis=1), axis=1)
            output["order"] = np.take_along_axis(order, inside, axis=1)

    def keys() -> Keys:
        best = output["by"] if "by" in output else np.take_along_axis(by, output["order"], axis=1)
        return _in_any_order(unordered(best.reshape(-1), options.kind, descending=options.descending), work)

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=run,
        result=keys,
        values=lambda: _indices(output["order"], work),
        version=np.__version__,
    )


def cub(engine: Engine, work: Load) -> Run:
    """Return a run of CUB's `DeviceTopK`, with preallocated temporary memory.

    The result is not sorted.  The selection among equal keys is not deterministic.

    Raises:
        Unavailable: there are several rows, values or signed keys.  The run's first call also raises it if the engine
            does not run on CUDA.
    """
    options = work.how
    if options.segment_count > 1 or work.values_expected is not None or options.kind == _SIGNED:
        raise Unavailable("baseline cub: selects unsigned and float keys of one array, without values; omit it")
    number = options.take + _LARGEST * options.descending + _FLOAT * (options.kind == _KIND_FLOAT)
    base = library("cub", engine, work.keys, None, work.n, number, count=options.take)
    keys = base.result
    return Run(
        name="cub",
        prepare=base.prepare,
        sort=base.sort,
        device=base.device,
        result=lambda: _in_any_order(keys(), work),
        version=base.version,
    )


def torch(engine: Engine, work: Load) -> Run:
    """Return a run of `torch.topk` with sorted results, on signed integers that have the order of the call.

    `torch.topk` also returns indices.  Of equal keys, it may select any.

    Raises:
        Unavailable: the engine does not run on CUDA, or PyTorch is not installed or lacks the device.
    """
    library, device = pytorch.opened(engine)
    by, options = _by(work), work.how
    sign = by.dtype.type(1 << (8 * by.dtype.itemsize - 1))
    source = library.from_numpy((by ^ sign).view(f"i{by.dtype.itemsize}")).to(device)
    events = [library.cuda.Event(enable_timing=True) for _ in range(2)]
    output: dict[str, Any] = {}

    def run() -> None:
        stream = library.cuda.current_stream(device)
        events[0].record(stream)
        output["keys"], output["order"] = library.topk(source, options.take, dim=1, largest=False, sorted=True)
        events[1].record(stream)
        library.cuda.synchronize(device)

    def keys() -> Keys:
        best: Keys = output["keys"].cpu().numpy().view(by.dtype) ^ sign
        return _in_any_order(unordered(best.reshape(-1), options.kind, descending=options.descending), work)

    def close() -> None:
        output.clear()
        library.cuda.empty_cache()

    return Run(
        name="torch",
        prepare=lambda: library.cuda.synchronize(device),
        sort=run,
        device=lambda: float(events[0].elapsed_time(events[1])) / 1e3,
        result=keys,
        values=lambda: _indices(output["order"].cpu().numpy(), work),
        version=str(library.__version__),
        close=close,
    )


SELECTING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy, "cub": cub, "torch": torch}
"""Baselines that select the first keys of rows, for all types and both orders."""

ALL = list(SELECTING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that support a selection; no baseline selects values other than indices."""
    value = sort.signature.value
    return list(SELECTING) if value == "none" else [x for x in SELECTING if x != "cub"] * (value == "index")


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    return SELECTING[name](engine, work)
