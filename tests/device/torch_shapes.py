"""Sorts of 60 drawn shapes by every method beside torch.sort, for outputs of ReLU and softmax.

Run as a program: python tests/device/torch_shapes.py [SECONDS] [JSON], or warm PART PARTS, which checks a part of the
cases and so compiles their kernels into the cache.  Each result equals that of torch.sort before it is timed.  The last
table has the lines for `hsgen.cuda.choices`.  Exit code 1 if a rule chooses a slower method than torch.sort, or if a
result is wrong.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

import hsgen.torch
from hsgen.cuda.choices import EACH, SEGMENTS, WHOLE
from hsgen.cuda.choices import ROWS as SHORT
from hsgen.torch.rows import sorted_rows
from hsgen.torch.sorting import method as method_of
from tests.device.cuda_speed import compare

SPECIAL = (
    ((3, 5, 7777), "normal"),
    ((1_500_000,), "uniform"),
    *(((1 << power,), "relu") for power in (18, 20, 22, 24)),
    *(((count,), "relu") for count in (2_200_000, 3_000_000, 4_600_000, 5_000_000, 11_571_999, 20_000_000)),
    *(((2, length), output) for length in (5000, *(1 << p for p in range(13, 19))) for output in ("normal", "relu")),
    *(((3, length), output) for length in (5000, 1 << 13, 1 << 14) for output in ("normal", "relu")),
    ((512, 32000), "softmax"),
    ((512, 32000), "normal"),
)
"""Shapes and outputs that earlier measurements name."""
SEED, SHAPES = 54, 60


@dataclass
class Case:
    """A shape with its times in microseconds by method."""

    shape: tuple[int, ...]
    dtype: str
    output: str
    chosen: str
    times: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """The rate of the default method divided by that of torch.sort."""
        return self.times["torch"] / self.times["ours"]

    @property
    def best(self) -> str:
        """The fastest method, without the default."""
        return min((name for name in self.times if name != "ours"), key=self.times.__getitem__)


def drawn(count: int = SHAPES, seed: int = SEED) -> list[tuple[tuple[int, ...], str, str]]:
    """Return shapes, types and outputs.

    Every fourth shape is one row, every fourth has few long rows, and two of four have any rows.  All counts are
    log-uniform.  Tensors have 2^12 to 2^24 elements.
    """
    rng, cases = random.Random(seed), []
    while len(cases) < count:
        number = len(cases)
        rows = 1 if number % 4 == 0 else round(2 ** rng.uniform(1, 6 if number % 4 == 1 else 16))
        length = round(2 ** rng.uniform(12 if rows == 1 else 4, 24))
        if not 1 << 12 <= rows * length <= 1 << 24:
            continue
        dtype = "bfloat16" if number % 5 == 4 else "float32"
        shape = (length,) if rows == 1 else (rows, length)
        cases.append((shape, dtype, rng.choice(("relu", "softmax"))))
    return cases


def tensor(shape: Sequence[int], dtype: str, output: str) -> torch.Tensor:
    """Return random elements on the GPU: uniform or normal numbers, or what ReLU or softmax return for normal ones."""
    if output == "uniform":
        return torch.rand(tuple(shape), device="cuda", dtype=getattr(torch, dtype))
    x = torch.randn(tuple(shape), device="cuda", dtype=torch.float32)
    x = x.relu() if output == "relu" else torch.softmax(4 * x, -1) if output == "softmax" else x
    return x.to(getattr(torch, dtype))


def methods(shape: Sequence[int]) -> list[str]:
    """Return the methods that can sort the rows of a shape."""
    rows, length = prod(shape[:-1]), shape[-1]
    if rows == 1:
        return [WHOLE]
    return [SEGMENTS, *[SHORT] * (length <= 4096), *[EACH] * (rows <= 64)]


def measure(shape: tuple[int, ...], dtype: str, output: str, rounds: int) -> Case | None:
    """Return the times of a shape by the default, by torch.sort and by every method; None if a result is wrong."""
    x = tensor(shape, dtype, output)
    case = Case(shape, dtype, output, method_of(x))
    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: hsgen.torch.sort(x),
        "torch": lambda: torch.sort(x, stable=True),
    }
    for method in methods(shape):
        calls[method] = lambda method=method: sorted_rows(x, x.dim() - 1, False, method)
    right = calls["torch"]()
    for name, call in calls.items():
        result = call()
        if not (torch.equal(result[0], right[0]) and torch.equal(result[1], right[1])):
            print(f"WRONG {name} {shape} {dtype} {output}", flush=True)
            return None
    if rounds:
        case.times = compare(calls, rounds)
    return case


def line(case: Case) -> str:
    """Return the line of a case."""
    times = "  ".join(f"{name} {case.times[name]:8.1f}" for name in case.times)
    shape = " x ".join(map(str, case.shape))
    return f"{shape:18} {case.dtype:9} {case.output:8} {case.chosen:16} {case.ratio:5.2f}x  best {case.best:9} {times}"


def table(cases: Sequence[Case]) -> None:
    """Print the rows of the table in `hsgen.cuda.choices`, and the cases whose default is not the best method."""
    print("| rows x keys | torch.sort | rows | segments | each |\n|---|---|---|---|---|")
    for case in sorted(cases, key=lambda c: (prod(c.shape[:-1]), c.shape[-1])):
        cells = [f"{case.times[m]:.0f}" if m in case.times else "" for m in ("torch", SHORT, SEGMENTS, EACH)]
        print(f"| {prod(case.shape[:-1])} x {case.shape[-1]} | {' | '.join(cells)} |")
    for case in cases:
        if case.ratio < 1 or case.times[case.best] < 0.9 * case.times["ours"]:
            print("other method:", line(case))


def all_cases() -> list[tuple[tuple[int, ...], str, str]]:
    """Return the special and the drawn cases."""
    return [*((shape, "float32", output) for shape, output in SPECIAL), *drawn()]


def warm(part: int, parts: int) -> int:
    """Check a part of the cases by every method."""
    return int(any(measure(*case, rounds=0) is None for case in all_cases()[part::parts]))


def main() -> int:
    """Measure the shapes within the seconds of the first argument."""
    os.environ["HSGEN_BACKGROUND"] = "0"  # PyTorch must not serve calls of hsgen
    if sys.argv[1:2] == ["warm"]:
        return warm(int(sys.argv[2]), int(sys.argv[3]))
    until = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 90)
    print(torch.__version__, torch.cuda.get_device_name(), flush=True)
    torch.manual_seed(SEED)
    cases, wrong, left = [], 0, 0
    for shape, dtype, output in all_cases():
        if time.monotonic() > until:
            left += 1
            continue
        case = measure(shape, dtype, output, rounds=5)
        wrong += case is None
        if case is not None:
            print(line(case), flush=True)
            cases.append(case)
        gc.collect()
        torch.cuda.empty_cache()
    table(cases)
    slower = [case for case in cases if case.ratio < 1]
    print(f"{len(cases)} shapes, {wrong} wrong, {len(slower)} slower than torch.sort, {left} left out for lack of time")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps([asdict(c) for c in cases], indent=1), encoding="utf-8")
    return int(bool(wrong or slower))


if __name__ == "__main__":
    sys.exit(main())
