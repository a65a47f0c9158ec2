"""Validate and time `hsgen.distributed` beside a sample sort by hand, on the GPUs of this host, or on CPUs with gloo.

usage: torchrun --standalone --nproc-per-node N tests/device/several_gpus.py [--great LOG] [--small LOG...]

Results of random shards are compared with one sort of torch on 1 to N ranks.  Nothing is timed after a wrong result.
Times are medians of the slowest rank, on fresh keys in each call.  The greatest table has 2^LOG keys a rank.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import hsgen.distributed
import hsgen.torch

KINDS = ("uniform", "normal", "few", "sorted", "hot")
SAMPLES = 64
"""The keys that a rank contributes to the sample of the sort by hand, for each rank."""
Keys = Callable[[int], torch.Tensor]
Call = Callable[[torch.Tensor], Any]


class Bench:
    """The ranks of this host, and the groups of the first 1, 2, ... of these."""

    def __init__(self) -> None:
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        gpus = torch.cuda.is_available()
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
        if gpus:
            torch.cuda.set_device(self.device)
        named = {"device_id": self.device} if gpus else {}
        dist.init_process_group("nccl" if gpus else "gloo", timeout=timedelta(minutes=4), **named)
        self.groups = {n: dist.new_group(list(range(n))) for n in range(1, self.ranks + 1)}
        self._random = torch.Generator(device=self.device)
        self.wrong = self.compared = 0

    def say(self, *words: Any) -> None:
        """Print on rank 0."""
        if self.rank == 0:
            print(*words, flush=True)

    def wait(self) -> None:
        """Wait for the work of this rank's device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def keys(self, seed: int, kind: str, n: int, dtype: torch.dtype) -> torch.Tensor:
        """Return keys of a kind, which differ from rank to rank."""
        self._random.manual_seed(1000 * seed + self.rank)
        draw: Any = {"device": self.device, "generator": self._random}
        if kind == "normal":
            return (torch.randn(n, **draw) * 1e8).to(dtype)
        if kind == "few":
            return torch.randint(0, 16, (n,), **draw).to(dtype)
        if kind == "sorted":
            first = self.rank * n - (1 << 31)
            return (torch.arange(n, device=self.device) + first).clamp(max=(1 << 31) - 1).to(dtype)
        bits = torch.iinfo(dtype).bits
        keys = torch.randint(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, (n,), **draw).to(dtype)
        if kind == "hot":
            keys[torch.rand(n, **draw) < 0.9] = 7
        return keys

    def times(self, calls: list[Call], fresh: Keys, repeats: int, group: Any) -> list[float]:
        """Return the median milliseconds of the slowest rank for each call; the order of the calls changes."""
        rows = torch.zeros((repeats + 2, len(calls)), device=self.device)
        for repeat in range(repeats + 2):
            for i in range(len(calls)):
                number = (i + repeat) % len(calls)
                keys = fresh(repeat)
                self.wait()
                dist.barrier(group=group)
                begin = time.perf_counter()
                calls[number](keys)
                self.wait()
                rows[repeat, number] = 1e3 * (time.perf_counter() - begin)
        dist.all_reduce(rows, dist.ReduceOp.MAX, group=group)
        medians: list[float] = rows[2:].median(0).values.tolist()
        return medians

    def check(self, fine: bool, *what: Any) -> None:
        """Count a comparison; print what is wrong."""
        self.compared += 1
        if not fine:
            self.wrong += 1
            print("WRONG on rank", self.rank, *what, flush=True)

    def faults(self) -> int:
        """Return the number of wrong results of all ranks."""
        both = torch.tensor([self.wrong, self.compared], device=self.device)
        dist.all_reduce(both)
        self.say(f"{int(both[1])} results compared, {int(both[0])} wrong")
        return int(both[0])


def gathered(bench: Bench, shard: torch.Tensor, group: Any) -> torch.Tensor:
    """Return the shards of all ranks, one after another."""
    lengths = [0] * dist.get_world_size(group)
    dist.all_gather_object(lengths, len(shard), group=group)
    padded = shard.new_zeros(max(lengths))
    padded[: len(shard)] = shard
    rows = [torch.empty_like(padded) for _ in lengths]
    dist.all_gather(rows, padded, group=group)
    return torch.cat([row[:n] for row, n in zip(rows, lengths, strict=True)])


def validate(bench: Bench, ranks: int) -> None:
    """Compare sorts of random shards with one sort of torch, on the first `ranks` ranks."""
    group, random = bench.groups[ranks], np.random.default_rng(ranks)
    for dtype, kind, most in (
        (torch.int32, "uniform", 200_000),
        (torch.int32, "few", 50_000),
        (torch.int32, "hot", 20_000_000),
        (torch.int64, "uniform", 3_000_000),
    ):
        lengths = random.integers(0, most if bench.device.type == "cuda" else 3000, bench.ranks)
        keys = bench.keys(ranks, kind, int(lengths[bench.rank]), dtype)
        if bench.rank >= ranks:
            continue
        down = ranks % 2 == 0
        everything = gathered(bench, keys, group)
        expected, order = torch.sort(everything, descending=down, stable=True)
        share, more = divmod(len(everything), ranks)
        begin = bench.rank * share + min(bench.rank, more)
        here = slice(begin, begin + share + (bench.rank < more))
        case = (ranks, str(dtype), kind, lengths.tolist(), down)
        part = hsgen.distributed.sort(keys, descending=down, group=group)
        bench.check(torch.equal(part, expected[here]), "keys", *case)
        part, index = hsgen.distributed.sort(keys, index=True, descending=down, group=group)
        bench.check(torch.equal(part, expected[here]) and torch.equal(index, order[here]), "index", *case)
        first = torch.arange(len(keys), device=bench.device, dtype=torch.float32)
        values = gathered(bench, first, group)
        named: dict[str, Any] = {"descending": down, "memory": "low", "group": group}
        part, moved = hsgen.distributed.sort(keys.clone(), first, **named)
        bench.check(torch.equal(part, expected[here]) and torch.equal(moved, values[order][here]), "values", *case)


def by_hand(bench: Bench, sort: Call, group: Any) -> Call:
    """Return the usual sample sort by `sort`; its parts are not even."""
    ranks = dist.get_world_size(group)

    def call(keys: torch.Tensor) -> torch.Tensor:
        ordered = sort(keys)[0]
        at = torch.linspace(0, len(keys) - 1, SAMPLES * ranks, device=bench.device, dtype=torch.float64).long()
        rows = [ordered.new_empty(len(at)) for _ in range(ranks)]
        dist.all_gather(rows, ordered[at], group=group)
        sample = sort(torch.cat(rows))[0]
        splitters = sample[len(sample) // ranks * torch.arange(1, ranks, device=bench.device)]
        cuts = torch.searchsorted(ordered, splitters)
        counts = torch.diff(cuts, prepend=cuts.new_zeros(1), append=cuts.new_full((1,), len(ordered)))
        received = torch.empty_like(counts)
        dist.all_to_all_single(received, counts, group=group)
        sent, there = torch.stack((counts, received)).tolist()
        out = ordered.new_empty(sum(there))
        dist.all_to_all_single(out, ordered, there, sent, group=group)
        result: torch.Tensor = sort(out)[0]
        return result

    return call


def calls_of(bench: Bench, group: Any) -> list[Call]:
    """Return the sort, and sorts by hand with the local sorts of torch and of hsgen."""
    local = hsgen.torch.sort if bench.device.type == "cuda" else torch.sort
    return [
        lambda keys: hsgen.distributed.sort(keys, group=group),
        by_hand(bench, torch.sort, group),
        by_hand(bench, local, group),
    ]


def small_counts(bench: Bench, logs: list[int]) -> None:
    """Print times of small counts on all numbers of ranks."""
    for ranks in range(2, bench.ranks + 1):
        for dtype in (torch.int32, torch.int64):
            for log in logs if bench.rank < ranks else ():
                fresh = partial(bench.keys, kind="uniform", n=1 << log, dtype=dtype)
                ms = bench.times(calls_of(bench, bench.groups[ranks]), fresh, 7, bench.groups[ranks])
                bench.say(
                    f"{ranks} ranks, {dtype}, 2^{log} each, ms: sort, by hand: {', '.join(f'{x:.3f}' for x in ms)}"
                )
        dist.barrier()


def great_counts(bench: Bench, log: int) -> None:
    """Print times of 2^log keys a rank: five kinds, with an index, and 64-bit keys."""
    group, n = bench.groups[bench.ranks], 1 << log
    cases: list[tuple[str, torch.dtype, dict[str, Any]]] = [(kind, torch.int32, {}) for kind in KINDS]
    cases += [("uniform", torch.int32, {"index": True}), ("uniform", torch.int64, {})]
    for kind, dtype, named in cases:
        fresh = partial(bench.keys, kind=kind, n=n, dtype=dtype)
        call = partial(hsgen.distributed.sort, group=group, **named)
        (ms,) = bench.times([call], fresh, 3, group)
        words = f"{kind} {dtype} {'with index ' if named else ''}"
        bench.say(f"{words}2^{log} each: {ms:.2f} ms, {n * bench.ranks / ms / 1e6:.1f} G keys/s")
    out = torch.empty(n, dtype=torch.int32, device=bench.device)
    part = n // bench.ranks * bench.ranks
    fresh = partial(bench.keys, kind="uniform", n=n, dtype=torch.int32)
    calls: list[Call] = [
        lambda keys: dist.all_to_all_single(out[:part], keys[:part], group=group),
        *calls_of(bench, group)[1:],
    ]
    ms = bench.times(calls, fresh, 2, group)
    bench.say(f"exchange alone, by hand with torch.sort and hsgen.torch.sort: {', '.join(f'{x:.2f} ms' for x in ms)}")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--great", type=int, default=28, help="log2 of the keys a rank in the last table")
    parser.add_argument("--small", type=int, nargs="*", default=[16, 18, 20, 22, 23, 24, 25, 26])
    options = parser.parse_args(words)
    bench = Bench()
    try:
        name = torch.cuda.get_device_name() if bench.device.type == "cuda" else "CPU"
        bench.say(f"{bench.ranks} ranks, {name}, torch {torch.__version__}")
        for ranks in range(1, bench.ranks + 1):
            validate(bench, ranks)
            dist.barrier()
        if bench.faults():
            return 1
        small_counts(bench, options.small)
        great_counts(bench, options.great)
        return 0
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
