"""Prepare first calls without NVRTC: the installed package `hsgen_cubins` must have the kernels of all calls.

    python served.py [--arch sm_90] [--key f32] [--max-n N]    prints the number of kernels, or the missing kernels

Options may be repeated.  A driver that does nothing takes the place of NVIDIA's, so no GPU is needed.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any
from unittest import mock

from hsgen.core.errors import HsgenError
from hsgen.cuda import offline, order, selections, shipped
from hsgen.cuda.sorter import Sorter
from hsgen.cuda.subjects import Shape, Take
from hsgen.cuda.top_k import TopK, prepared_selection

SHAPES = ((1, 1000), (1, 1 << 20), (512, 32000), (64, 131072), (1, 151936), (3, 500))
"""Numbers of rows, and their lengths; tests/device/first_calls.py measures most of these."""
DRIVER = 13
"""The version of CUDA of the driver; that of the driver that does nothing is lower."""


def calls(number: int, key: str, most: int) -> Iterator[tuple[str, Any]]:
    """Yield the name of a call, and a function that prepares the call."""
    for rows, length in SHAPES:
        if rows * length > most:
            continue
        for keys, indices in ((True, True), (True, False), (False, True)):
            shape = Shape(number=number, key=key, rows=rows, length=length, keys=keys, indices=indices)
            yield f"{shape}", lambda shape=shape: order.order(shape)
        for value in ("none", "index") if rows == 1 else ():  # arrays of numpy
            sorter = Sorter(key, value=value, device=number)
            yield f"{key} {value} {length}", partial(sorter.prepared, length, sorter.options(), in_place=True)
        take = Take(number=number, key=key, rows=rows, length=length, k=50)
        yield f"{take}", lambda take=take: selections.selection(take)
        select = TopK(key, value="index", device=number)  # arrays of numpy and JAX
        yield f"{key} {rows} x {length}, k 50", partial(prepared_selection, select, rows * length, 50, rows)


def main(arguments: list[str]) -> None:
    """Prepare the calls."""
    parser = argparse.ArgumentParser(description="Prepare first calls without NVRTC.")
    parser.add_argument("--arch", action="append")
    parser.add_argument("--key", action="append")
    parser.add_argument("--max-n", type=int, default=1 << 30)
    chosen = parser.parse_args(arguments)
    sys.modules["cuda.bindings.nvrtc"] = None  # type: ignore[assignment]  # an import is an error
    codes, problems = [], []
    find = shipped.code

    def code(*subject: Any) -> bytes | None:
        codes.append(find(*subject))
        return codes[-1]

    archs, keys = chosen.arch or ["sm_90"], chosen.key or ["f32"]
    patches = mock.patch.multiple(shipped, _driver=lambda: DRIVER, code=code)
    with patches, offline.devices([offline.gpu(arch) for arch in archs]) as numbers:
        for (number, arch), key in product(zip(numbers, archs, strict=True), keys):
            for name, prepare in calls(number, key, chosen.max_n):
                try:
                    prepare()
                except HsgenError as e:
                    problems.append(f"{arch} {name}: {e}")
    if problems or not codes or None in codes:
        sys.exit("\n".join(problems or [f"{codes.count(None)} of {len(codes)} kernels are missing"]))
    print(f"{len(codes)} kernels of {shipped.PACKAGE} without NVRTC")


if __name__ == "__main__":
    main(sys.argv[1:])
