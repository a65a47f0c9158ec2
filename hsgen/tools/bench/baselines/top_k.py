"""What selections of the first k keys of rows are compared with."""

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
"""Added to k in the number of a call of CUB: the greatest keys instead of the least; keys are floats."""
_SIGNED, _KIND_FLOAT = 1, 2


def _by(work: Load) -> Keys:
    """The keys as unsigned numbers in the order of the call, shape (rows, length)."""
    how = work.how
    return ordered(work.keys, how.kind, descending=how.descending).reshape(how.segment_count, -1)


def _in_any_order(found: Keys, work: Load) -> Keys:
    """The expected keys if `found` are these in any order within their rows; else `found`."""
    shape = (work.how.segment_count, -1)
    same = np.array_equal(np.sort(found.reshape(shape), axis=1), np.sort(work.expected.reshape(shape), axis=1))
    return work.expected if same else found


def _indices(order: Any, work: Load) -> Any:
    """The expected indices if `order`, shape (rows, k), holds distinct ones of keys with the expected bits, since equal
    keys may be taken in any order; else `order`."""
    rows = work.keys.reshape(work.how.segment_count, -1)
    held = _in_any_order(np.take_along_axis(rows, order, axis=1).reshape(-1), work)
    distinct = (np.diff(np.sort(order, axis=1), axis=1) > 0).all()
    found = order.astype(np.uint32).reshape(-1, 1)
    return work.values_expected if distinct and np.array_equal(held, work.expected) else found


def numpy(engine: Engine, work: Load) -> Run:
    """numpy's `partition` of each row and a sort of its first k keys; with indices, `argpartition`."""
    by, how = _by(work), work.how
    made: dict[str, Any] = {}

    def run() -> None:
        if work.values_expected is None:
            made["by"] = np.sort(np.partition(by, how.take - 1, axis=1)[:, : how.take], axis=1)
        else:
            order = np.argpartition(by, how.take - 1, axis=1)[:, : how.take]
            inside = np.argsort(np.take_along_axis(by, order, axis=1), axis=1)
            made["order"] = np.take_along_axis(order, inside, axis=1)

    def keys() -> Keys:
        best = made["by"] if "by" in made else np.take_along_axis(by, made["order"], axis=1)
        return _in_any_order(unordered(best.reshape(-1), how.kind, descending=how.descending), work)

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=run,
        result=keys,
        values=lambda: _indices(made["order"], work),
        version=np.__version__,
    )


def cub(engine: Engine, work: Load) -> Run:
    """CUB's `DeviceTopK`, its memory allocated beforehand: its result is neither sorted nor, among equal keys,
    deterministic.

    Raises:
        Unavailable: for several rows, values or signed keys; from its first call, if it does not run on CUDA.
    """
    how = work.how
    if how.segment_count > 1 or work.values_expected is not None or how.kind == _SIGNED:
        raise Unavailable("baseline cub: selects unsigned and float keys of one array, without values; omit it")
    number = how.take + _LARGEST * how.descending + _FLOAT * (how.kind == _KIND_FLOAT)
    made = library("cub", engine, work.keys, None, work.n, number, taken=how.take)
    found = made.result
    return Run(
        name="cub",
        prepare=made.prepare,
        sort=made.sort,
        device=made.device,
        result=lambda: _in_any_order(found(), work),
        version=made.version,
    )


def torch(engine: Engine, work: Load) -> Run:
    """`torch.topk` of rows, sorted, of signed integers in the order of the keys; it also returns indices, which are
    arbitrary among equal keys.

    Raises:
        Unavailable: the engine does not run on CUDA, or PyTorch is not installed or lacks the device.
    """
    library, device = pytorch.opened(engine)
    by, how = _by(work), work.how
    sign = by.dtype.type(1 << (8 * by.dtype.itemsize - 1))
    source = library.from_numpy((by ^ sign).view(f"i{by.dtype.itemsize}")).to(device)
    events = [library.cuda.Event(enable_timing=True) for _ in range(2)]
    made: dict[str, Any] = {}

    def run() -> None:
        stream = library.cuda.current_stream(device)
        events[0].record(stream)
        made["keys"], made["order"] = library.topk(source, how.take, dim=1, largest=False, sorted=True)
        events[1].record(stream)
        library.cuda.synchronize(device)

    def keys() -> Keys:
        best: Keys = made["keys"].cpu().numpy().view(by.dtype) ^ sign
        return _in_any_order(unordered(best.reshape(-1), how.kind, descending=how.descending), work)

    def close() -> None:
        made.clear()
        library.cuda.empty_cache()

    return Run(
        name="torch",
        prepare=lambda: library.cuda.synchronize(device),
        sort=run,
        device=lambda: float(events[0].elapsed_time(events[1])) / 1e3,
        result=keys,
        values=lambda: _indices(made["order"].cpu().numpy(), work),
        version=str(library.__version__),
        close=close,
    )


SELECTING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy, "cub": cub, "torch": torch}
"""Those that select the first keys of rows, of all types and in both orders."""

ALL = list(SELECTING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that select what a selection selects: no values but indices."""
    value = sort.signature.value
    return list(SELECTING) if value == "none" else [x for x in SELECTING if x != "cub"] * (value == "index")


def start(name: str, engine: Engine, work: Load) -> Run:
    """Set a baseline up."""
    return SELECTING[name](engine, work)
