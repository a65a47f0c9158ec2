"""The time of NVRTC for each kernel of first calls from Python, without a GPU: a table in Markdown.

    python tests/compile/nvrtc_seconds.py [--arch sm_90] [--call "torch.sort 2^20"] [--rolled] [-- OPTION...]

Seconds are those of a processor, so that other processes matter little.  `--rolled` leaves all loops rolled, to see
what unrolling costs.  OPTIONs are further options of NVRTC, such as --ptxas-options=-O1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from hsgen.cuda import compiler, offline, order, selections  # noqa: E402
from hsgen.cuda.subjects import Shape, Take  # noqa: E402


def _sort(rows: int, length: int, **outputs: bool) -> Callable[[int], Any]:
    return lambda number: order.order(Shape(number=number, key="f32", rows=rows, length=length, **outputs))


def _topk(rows: int, length: int, k: int) -> Callable[[int], Any]:
    return lambda number: selections.selection(Take(number=number, key="f32", rows=rows, length=length, k=k))


CALLS: Mapping[str, Callable[[int], Any]] = {
    "torch.sort 1000": _sort(1, 1000),
    "torch.sort 2^20": _sort(1, 1 << 20),
    "torch.sort 512 x 32000": _sort(512, 32000),
    "torch.sort 512 x 40000": _sort(512, 40000),
    "torch.argsort 2^20": _sort(1, 1 << 20, keys=False),
    "cupy.sort 2^20": _sort(1, 1 << 20, indices=False),
    "torch.topk 50 of 151936": _topk(1, 151936, 50),
    "torch.topk 2048 of 64 x 131072": _topk(64, 131072, 2048),
}
"""The calls that tests/device/first_calls.py measures."""
UNROLL = '#define HS_UNROLL _Pragma("unroll")'


def texts(arch: str, call: str) -> list[str]:
    """The texts that a call compiles, in the order of compilations."""
    with offline.devices([offline.gpu(arch)]) as numbers, compiler.collecting() as collected:
        CALLS[call](numbers[0])
    return [text for _, text in collected]


def name_of(text: str) -> str:
    """The name of the kernel of a text, which follows the last launch bounds or qualifier."""
    head = text[text.rindex("__global__ void" if "HS_KERNEL void" not in text else "HS_KERNEL void") :]
    before = head[: head.index("(const" if "(const" in head else "(hs_u32")]
    return before.replace(")", " ").split()[-1]


def seconds(text: str, arch: int, options: list[str]) -> tuple[float, int]:
    """The seconds of a compilation without NVRTC's own cache, and the bytes of machine code."""
    begin = time.process_time()
    code = compiler._compiled(text, [*compiler.options(arch), "--no-cache", *options], "kernels.cu")
    return time.process_time() - begin, len(code)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Print the time of NVRTC for each kernel of first calls.")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--call", action="append", choices=list(CALLS))
    parser.add_argument("--rolled", action="store_true")
    parser.add_argument("option", nargs="*")
    chosen = parser.parse_args()
    number = offline.gpu(chosen.arch).compute
    seconds('extern "C" __global__ void hs_first() {}', number, [])  # the first compilation loads NVRTC
    print("| call | kernel | seconds | bytes |\n|---|---|---|---|")
    for call in chosen.call or CALLS:
        for text in texts(chosen.arch, call):
            if chosen.rolled:
                text = text.replace(UNROLL, '#define HS_UNROLL _Pragma("unroll 1")')
            used, size = seconds(text, number, chosen.option)
            print(f"| {call} | {name_of(text)} | {used:.2f} | {size} |", flush=True)


if __name__ == "__main__":
    main()
