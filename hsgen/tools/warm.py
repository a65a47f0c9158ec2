"""Compiles kernels into the user's cache ahead of time, so that calls of the Python APIs need not compile them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from typing import Any

from hsgen.core.errors import Wrong
from hsgen.core.keys import ORDERS
from hsgen.engines.host import Host

CALLS = SORT, ARGSORT, TOPK = "sort", "argsort", "topk"
"""The functions of `hsgen`, `hsgen.torch`, `hsgen.cupy` and `hsgen.jax` whose kernels can be compiled ahead of time."""
TOGETHER = (1 << 30) - 1
_ROWS = (1, 2, 3, 64, 1024, 1 << 15)
"""The numbers of rows for which kernels are compiled.

With the last number, short rows are sorted by a segmented sort (`segmented.short_rows.MANY`).
"""
_KS = (1, 64, 1000)

Texts = Mapping[tuple[int, str], str]
"""The kernel texts to compile.

A key is (compute architecture, kernel text).  The value is the path by which error messages name the text.
"""


def counts(most: int) -> list[int]:
    """Return the counts of keys for which sorts are compiled, up to `most`.

    These are the powers of two from 2 on, the counts halfway between two powers, and `most`.
    """
    powers = [1 << i for i in range(1, most.bit_length())]
    return sorted({n for p in powers for n in (p, p + p // 2) if 2 <= n <= most} | {most})


def cuda_texts(
    hosts: Sequence[Host], keys: Sequence[str], calls: Sequence[str], values: Sequence[str], most: int
) -> Texts:
    """Return the texts of the kernels that the functions `calls` would compile on the GPUs `hosts`.

    The machine need not have these GPUs.

    keys: the key types.  calls: names from `CALLS`.  values: the kinds of values for which sorters
    (`hsgen.cuda.Sorter`) are compiled as well.  most: the greatest number of keys per call.

    Raises:
        Usage: the target of a GPU does not sort keys of one of these types.
        Unavailable: a GPU lacks what its target requires.
    """
    from hsgen.cuda import compiler, offline

    with offline.devices(hosts) as numbers, compiler.collecting() as texts:
        for number, key in product(numbers, keys):
            if SORT in calls or ARGSORT in calls:
                _sorts(number, key, calls, most)
            if TOPK in calls:
                _selections(number, key, most)
            for value in _kinds(calls, values):
                _sorters(number, key, value, most)
    return texts


def _kinds(calls: Sequence[str], values: Sequence[str]) -> list[str]:
    """Return the kinds of values for which sorters are compiled: "none" for sort, "index" for argsort, and `values`."""
    return list(dict.fromkeys(["none"] * (SORT in calls) + ["index"] * (ARGSORT in calls) + list(values)))


def _shapes(most: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs (number of rows, length of each row) for which kernels are compiled, up to `most` keys in all.

    The lengths include `LONGEST` + 1, the least length of rows that a single launch cannot sort.
    """
    from hsgen.algorithms.segmented.short_rows import LONGEST

    for rows, length in product(_ROWS, sorted({*counts(most), LONGEST + 1})):
        if rows * length <= most:
            yield rows, length


def _sorts(number: int, key: str, calls: Sequence[str], most: int) -> None:
    """Prepare sorts of rows for each combination of outputs, so that the caller collects their kernel texts.

    The outputs are keys and indices, keys alone (CuPy's `sort`), or indices alone (`argsort`).
    """
    from hsgen.cuda.order import order
    from hsgen.cuda.subjects import Shape

    outputs = [(True, True), (True, False)] * (SORT in calls) + [(False, True)] * (ARGSORT in calls)
    for (rows, length), (keys, indices), descending in product(_shapes(most), outputs, (False, True)):
        order(
            Shape(number=number, key=key, rows=rows, length=length, descending=descending, keys=keys, indices=indices)
        )


def _selections(number: int, key: str, most: int) -> None:
    from hsgen.cuda.selections import selection
    from hsgen.cuda.subjects import Take
    from hsgen.cuda.top_k import TopK, prepared_selection

    for (rows, length), k, largest in product(_shapes(most), _KS, (False, True)):
        if k <= length:
            selection(Take(number=number, key=key, rows=rows, length=length, k=k, largest=largest))
    for name in ORDERS:  # `hsgen.topk` and `hsgen.jax.top_k` use a `TopK`
        select = TopK(key, value="index", order=name, device=number)
        for (rows, length), k in product(_shapes(min(most, select.max_n)), _KS):
            if k <= length:
                prepared_selection(select, rows * length, k, rows)


def _sorters(number: int, key: str, value: str, most: int) -> None:
    from hsgen.cuda.sorter import Sorter

    for name in ORDERS:
        sorter = Sorter(key, value=value, order=name, device=number)
        for n in counts(min(most, sorter.max_n)):
            sorter.prepared(n, sorter.options(), in_place=True)


def compiled(texts: Texts, workers: int) -> Iterator[bool]:
    """Compile texts into the cache; yield True for each text that was compiled, False if the cache already had it.

    Raises:
        Unavailable: NVRTC is missing or does not know an architecture, or the cache cannot keep machine code.
        Wrong: some texts do not compile; the message has a line for each error.
    """
    from hsgen.cuda import compiler

    problems: list[str] = []
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(compiler.warm, text, arch, path) for (arch, text), path in texts.items()]
        try:
            for future in as_completed(futures):
                try:
                    yield future.result()
                except Wrong as e:
                    problems += e.lines
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if problems:
        raise Wrong(*problems)


def opencl_sorters(
    device: str | None, keys: Sequence[str], calls: Sequence[str], values: Sequence[str]
) -> tuple[str, list[Any]]:
    """Return the name of an OpenCL device, and a list of functions, each of which compiles one sorter for the device.

    There are two sorters, one of arrays and one of segments, for each key type, each order, and each kind of values
    that `calls` need or `values` names.  If `device` is None, the function takes the device that hsgen prefers.

    Raises:
        Unavailable: there is no such device.
    """
    from functools import partial

    from hsgen.engines import hosts, selection
    from hsgen.numpy.devices import OpenClDevice

    listed = hosts.hosts()
    on = OpenClDevice(selection.pick(None, listed) if device is None else selection.named(device, listed))
    return on.host.label, [
        partial(on.build, kind, key, value=value, order=order)
        for key, value, order, kind in product(keys, _kinds(calls, values), ORDERS, ("Sorter", "SegmentedSorter"))
    ]
