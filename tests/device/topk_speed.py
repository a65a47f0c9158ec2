"""Selections beside torch.topk on a GPU: the floors of issue 49, and 200 drawn shapes.

Run as a program: python tests/device/topk_speed.py [--json FILE] [--draws COUNT] [--most COUNT] [--rounds COUNT]
[--warm PART PARTS] [--key TYPE].  Times are medians by CUDA events, in microseconds, of calls that take turns: of
captured graphs, and of calls in a stream.  Floors are of `hsgen.cuda.TopK` with 32-bit indices, drawn shapes of
`hsgen.torch.topk`.  Each result equals that of torch.topk before it is timed; equal keys are in the order of their
indices.  With --warm, a part of the cases is checked and not timed, which compiles its kernels into the cache.  Exit
code 1 if a result is wrong.  A drawn shape below 1.0 is a line of the output, not a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

import hsgen.cuda
import hsgen.torch
from tests.device.cuda_speed import captured, compare

FLOORS = {
    (65536, 128, 6): 40,
    (16384, 256, 8): 22,
    (4096, 4096, 64): 60,
    (1, 151936, 50): 12,
    (128, 151936, 50): 55,
    (1, 1 << 20, 8): 14,
    (8, 131072, 2048): 22,
    (64, 131072, 2048): 32,
    (64, 1 << 20, 2048): 150,
    (8, 1 << 20, 2048): 32,
    (1024, 131072, 64): 230,
    (1, 1 << 28, 4096): 600,
}
"""Aims in microseconds for sorted results from float32 keys, by rows, length and k."""
OTHERS = (
    *(((8, 131072, 2048), kind) for kind in ("equal", "hot", "logits")),
    *(((64, 131072, 2048), kind) for kind in ("equal", "hot", "logits")),
    *(((10717, 3883, 458), kind) for kind in ("uniform", "equal", "hot", "logits")),
    *(((4096, 4096, 64), kind) for kind in ("equal", "hot", "logits")),
)
"""Cases with other kinds of keys."""
SEED = 49
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


@dataclass
class Case:
    """A selection with its times in microseconds.

    shape: rows, length and k.  direct: whether `hsgen.cuda.TopK` selects, otherwise `hsgen.torch.topk` does.  ours,
    torch: of captured graphs.  our_stream, torch_stream: of calls in a stream.
    """

    shape: tuple[int, int, int]
    kind: str
    in_order: bool
    direct: bool = False
    ours: float = 0
    torch: float = 0
    our_stream: float = 0
    torch_stream: float = 0
    key: str = "f32"

    @property
    def ratio(self) -> float:
        """The rate of hsgen divided by that of torch.topk."""
        return self.torch / self.ours


def drawn(count: int, most: int) -> list[tuple[int, int, int]]:
    """Return shapes of up to `most` keys; rows, lengths and k are log-uniform."""
    rng, shapes = random.Random(SEED), set[tuple[int, int, int]]()
    while len(shapes) < count:
        rows, length = round(2 ** rng.uniform(0, 20)), round(2 ** rng.uniform(1, 28))
        shape = rows, length, min(length, round(length ** rng.random()))
        if 4096 <= rows * length <= most:
            shapes.add(shape)
    return sorted(shapes)


def keys(rows: int, length: int, kind: str) -> torch.Tensor:
    """Return random keys on the GPU; logits are normal, with ten spikes in each row."""
    if kind == "equal":
        return torch.full((rows, length), 0.5, device="cuda")
    if kind == "logits":
        x = torch.randn((rows, length), device="cuda")
        x[:, torch.randperm(length, device="cuda")[:10]] *= 100
        return x
    x = torch.rand((rows, length), device="cuda")
    if kind == "hot":
        x[:, ::2] = 0.75 + x[:, ::2] * 2.0**-16
    return x


def selection(x: torch.Tensor, case: Case) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    """Return the call of hsgen; it returns keys and indices."""
    rows, _, k = case.shape
    if not case.direct:
        return partial(hsgen.torch.topk, x, k, sorted=case.in_order)
    select = hsgen.cuda.TopK(case.key, value="index", order="descending")
    out, indices = x.new_empty((rows, k)), torch.empty((rows, k), dtype=torch.int32, device="cuda")

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        select(x.view(-1), k, rows=rows, out=out.view(-1), values_out=indices.view(-1))
        return out, indices

    return run


def right(x: torch.Tensor, case: Case) -> bool:
    """Whether the result equals that of torch.topk; equal keys must be in the order of their indices."""
    k = case.shape[2]
    values, indices = selection(x, case)()
    indices = indices.long()
    expected = torch.topk(x, k).values
    fine = torch.equal(values.sort(-1, descending=True).values, expected)
    fine = fine and torch.equal(x.gather(-1, indices), values)
    if case.in_order and fine:
        tied = (values[:, 1:] == values[:, :-1]) & (indices[:, 1:] <= indices[:, :-1])
        fine = torch.equal(values, expected) and not bool(tied.any())
    return fine


def measured(case: Case, rounds: int) -> bool:
    """Whether the result of a case is right; writes its times unless `rounds` is 0."""
    rows, length, k = case.shape
    x = keys(rows, length, case.kind).to(TYPES[case.key])
    if not right(x, case):
        print(f"WRONG {case}", flush=True)
        return False
    if rounds:
        runs = selection(x, case), partial(torch.topk, x, k, sorted=case.in_order)
        graphs = [captured(f) for f in runs]
        if graphs[0] and graphs[1]:
            times = compare({"ours": graphs[0], "torch": graphs[1]}, rounds)
            case.ours, case.torch = times["ours"], times["torch"]
        if case.direct:
            times = compare({"ours": runs[0], "torch": runs[1]}, rounds)
            case.our_stream, case.torch_stream = times["ours"], times["torch"]
    return True


def summary(cases: list[Case]) -> None:
    """Print the geometric mean of the rates of drawn shapes, and the shapes below 1.0."""
    for in_order in (True, False):
        ratios = [c.ratio for c in cases if c.in_order == in_order and c.ours]
        below = sorted((c for c in cases if c.in_order == in_order and c.ours and c.ratio < 1), key=lambda c: c.ratio)
        name = "sorted" if in_order else "unsorted"
        mean = statistics.geometric_mean(ratios) if ratios else 0
        print(f"{name}: {len(ratios)} shapes, geometric mean {mean:.2f}, {len(below)} below 1.0")
        for c in below:
            print(f"  {c.ratio:5.2f}  {' x '.join(map(str, c.shape))}  {c.ours:.1f} {c.torch:.1f}", flush=True)


def parsed(argv: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write all times")
    parser.add_argument("--draws", type=int, default=200, help="the number of drawn shapes (200)")
    parser.add_argument("--most", type=int, default=1 << 28, help="the greatest number of keys of a drawn shape")
    parser.add_argument("--rounds", type=int, default=5, help="the rounds of a case (5)")
    parser.add_argument("--key", choices=TYPES, default="f32", help="the type of keys (f32); floors are those of f32")
    parser.add_argument("--warm", type=int, nargs=2, metavar=("PART", "PARTS"), help="check a part of the cases")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Run the program."""
    os.environ["HSGEN_BACKGROUND"] = "0"  # no result is PyTorch's
    options = parsed(argv)
    named: list[tuple[tuple[int, int, int], str]] = [*((shape, "uniform") for shape in FLOORS), *OTHERS]
    floors = [Case(shape, kind, True, direct=True, key=options.key) for shape, kind in named]
    draws = [
        Case(s, "uniform", in_order, key=options.key)
        for s in drawn(options.draws, options.most)
        for in_order in (True, False)
    ]
    if options.warm:
        part, parts = options.warm
        return sum(not measured(case, 0) for case in (floors + draws)[part::parts]) and 1
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "seed", SEED, flush=True)
    wrong = 0
    for case in floors:
        wrong += not measured(case, options.rounds)
        floor: Any = FLOORS.get(case.shape, "") if case.kind == "uniform" else ""
        name = " x ".join(map(str, case.shape))
        stream = f"stream: ours {case.our_stream:8.1f} torch {case.torch_stream:8.1f}"
        graphs = f"ours {case.ours:8.1f} floor {floor!s:4} torch {case.torch:8.1f}"
        print(f"{name:22} {case.kind:8} {graphs}  {stream}", flush=True)
    wrong += sum(not measured(case, options.rounds) for case in draws)
    summary(draws)
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(c) for c in floors + draws]), encoding="utf-8")
    print(f"{len(floors + draws)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
