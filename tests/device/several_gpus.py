"""Validate and time `hsgen.distributed` beside a sample sort by hand, on the GPUs of this host, or on CPUs with gloo.

usage: torchrun --standalone --nproc-per-node N tests/device/several_gpus.py [--great LOG] [--greatest LOG]
       [--small LOG...] [--json FILE] [--seconds S]

Results of random shards are compared with one sort of torch on 1 to N ranks.  Nothing is timed after a wrong result.
Times are medians of the slowest rank, on fresh keys in each call.  The greatest table has 2^LOG keys a rank.  --json
appends a line for each time when the time is known.  No table begins after S seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard

import hsgen.distributed
import hsgen.torch

KINDS = ("uniform", "normal", "few", "sorted", "hot")
SAMPLES = 64
"""The keys that a rank contributes to the sample of the sort by hand, for each rank."""
CALLS = ("sort", "by hand, torch.sort", "by hand, hsgen.torch.sort")
"""The names of the calls of `calls_of`."""
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
        self.json = ""
        self._begin = time.monotonic()

    def say(self, *words: Any) -> None:
        """Print on rank 0."""
        if self.rank == 0:
            print(*words, flush=True)

    def tell(self, table: str, ranks: int, dtype: torch.dtype, n: int, ms: dict[str, float], **more: Any) -> None:
        """Print times in ms by the names of calls on rank 0, and append the times to the file of --json."""
        words = ", ".join(f"{name} {x:.3f}" for name, x in ms.items())
        extra = "".join(f", {name} {x}" for name, x in more.items())
        self.say(f"{table}, {ranks} ranks, {dtype}, {n} keys each, ms: {words}{extra}")
        if self.json and self.rank == 0:
            row = {"table": table, "ranks": ranks, "dtype": str(dtype), "keys": n, "ms": ms, **more}
            with Path(self.json).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def left(self, seconds: float) -> bool:
        """Return True on every rank if rank 0 has run for less than `seconds`."""
        late = torch.tensor([time.monotonic() - self._begin >= seconds], dtype=torch.int64, device=self.device)
        dist.broadcast(late, 0)
        return not int(late[0])

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


def small_counts(bench: Bench, logs: list[int], seconds: float) -> None:
    """Print times of small counts on all numbers of ranks."""
    for ranks in range(bench.ranks, 1, -1):
        for dtype in (torch.int64, torch.int32):
            for log in logs:
                if not bench.left(seconds):
                    return
                if bench.rank < ranks:
                    fresh = partial(bench.keys, kind="uniform", n=1 << log, dtype=dtype)
                    ms = bench.times(calls_of(bench, bench.groups[ranks]), fresh, 7, bench.groups[ranks])
                    bench.tell("small counts", ranks, dtype, 1 << log, dict(zip(CALLS, ms, strict=True)))
                dist.barrier()


def great_counts(bench: Bench, log: int, seconds: float) -> None:
    """Print times of 2^log keys a rank: with an index, 64-bit keys, five kinds, and little memory."""
    group, n = bench.groups[bench.ranks], 1 << log
    cases: list[tuple[str, torch.dtype, dict[str, Any]]] = [
        ("uniform", torch.int32, {"index": True}),
        ("uniform", torch.int64, {}),
        *((kind, torch.int32, {}) for kind in KINDS),
        ("uniform", torch.int32, {"memory": "low"}),
    ]
    for kind, dtype, named in cases:
        if not bench.left(seconds):
            return
        fresh = partial(bench.keys, kind=kind, n=n, dtype=dtype)
        call = partial(hsgen.distributed.sort, group=group, **named)
        (ms,) = bench.times([call], fresh, 5, group)
        memory = memory_of(bench, call, fresh(0))
        bench.tell(kind, bench.ranks, dtype, n, {"sort": ms}, options=str(named), bytes_a_key=memory)
    out = torch.empty(n, dtype=torch.int32, device=bench.device)
    part = n // bench.ranks * bench.ranks
    fresh = partial(bench.keys, kind="uniform", n=n, dtype=torch.int32)
    local = hsgen.torch.sort if bench.device.type == "cuda" else torch.sort
    calls: list[Call] = [
        lambda keys: dist.all_to_all_single(out[:part], keys[:part], group=group),
        lambda keys: local(keys),
        *calls_of(bench, group)[1:],
    ]
    if bench.left(seconds):
        ms = dict(
            zip(("exchange alone", "local sort alone", *CALLS[1:]), bench.times(calls, fresh, 3, group), strict=True)
        )
        bench.tell("uniform", bench.ranks, torch.int32, n, ms)


def memory_of(bench: Bench, call: Call, keys: torch.Tensor) -> float:
    """Return the greatest number of bytes for each key that a call needs beyond its argument, the result included."""
    if bench.device.type != "cuda":
        return 0.0
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call(keys)
    bench.wait()
    return round((torch.cuda.max_memory_allocated() - before) / len(keys), 2)


def greatest_counts(bench: Bench, log: int, seconds: float) -> None:
    """Print the time of 2^log keys a rank, after a comparison of the ends of parts and of sums of keys."""
    group, n = bench.groups[bench.ranks], 1 << log
    if not log or not bench.left(seconds):
        return
    keys = bench.keys(0, "uniform", n, torch.int32)
    part = hsgen.distributed.sort(keys, group=group)
    ends = gathered(bench, part[[0, -1]], group)
    sums = torch.stack([keys.sum(dtype=torch.int64), part.sum(dtype=torch.int64)])
    dist.all_reduce(sums, group=group)
    fine = bool((ends[1:] >= ends[:-1]).all()) and all(bool((x[1:] >= x[:-1]).all()) for x in part.split(1 << 28))
    bench.check(fine and len(part) == n and int(sums[0]) == int(sums[1]), "greatest", log)
    del keys, part
    if bench.faults():
        return
    fresh = partial(bench.keys, kind="uniform", n=n, dtype=torch.int32)
    (ms,) = bench.times([partial(hsgen.distributed.sort, group=group)], fresh, 3, group)
    bench.tell("uniform", bench.ranks, torch.int32, n, {"sort": ms})


def tensors_of_mesh(bench: Bench, log: int, seconds: float) -> None:
    """Compare and time the sort of a DTensor of 2^log keys a rank by hsgen and by torch."""
    if not bench.left(seconds):
        return
    mesh, n = init_device_mesh(bench.device.type, (bench.ranks,)), 1 << log
    fresh = partial(bench.keys, kind="uniform", n=n, dtype=torch.int32)

    def spread(keys: torch.Tensor) -> Any:
        return DTensor.from_local(keys, mesh, [Shard(0)], run_check=False)

    keys = fresh(0)
    result = hsgen.torch.sort(spread(keys))
    same = torch.equal(result.values.to_local(), hsgen.distributed.sort(keys))
    bench.check(same and tuple(result.values.placements) == (Shard(0),), "DTensor")
    del keys, result
    if bench.faults():
        return
    calls: list[Call] = [lambda keys: hsgen.torch.sort(spread(keys)), lambda keys: torch.sort(spread(keys))]
    names = ("hsgen.torch.sort", "torch.sort")
    ms = dict(zip(names, bench.times(calls, fresh, 3, None), strict=True))
    bench.tell("DTensor", bench.ranks, torch.int32, n, ms)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--great", type=int, default=28, help="log2 of the keys a rank in the last table")
    parser.add_argument("--greatest", type=int, default=0, help="log2 of the keys a rank of a longest sort")
    parser.add_argument("--json", default="", help="the file to which each time is appended")
    parser.add_argument("--seconds", type=float, default=1e9, help="no table begins later")
    parser.add_argument("--small", type=int, nargs="*", default=[16, 18, 20, 22, 23, 24, 25, 26])
    options = parser.parse_args(words)
    bench = Bench()
    bench.json = options.json
    try:
        name = torch.cuda.get_device_name() if bench.device.type == "cuda" else "CPU"
        bench.say(f"{bench.ranks} ranks, {name}, torch {torch.__version__}")
        for ranks in range(1, bench.ranks + 1):
            validate(bench, ranks)
            dist.barrier()
        if bench.faults():
            return 1
        great_counts(bench, options.great, options.seconds)
        greatest_counts(bench, options.greatest, options.seconds)
        tensors_of_mesh(bench, options.great, options.seconds)
        small_counts(bench, options.small, options.seconds)
        return 1 if bench.wrong else 0
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
