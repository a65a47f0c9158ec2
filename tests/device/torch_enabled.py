"""Results and speed of PyTorch's functions with `hsgen.torch.enable`, on a machine with an NVIDIA GPU.

Run as a program: python tests/device/torch_enabled.py [check] [sorts] [lengths] [topk] [unique].  `check` compares
results with PyTorch's own and prints the first difference of each case; the exit code is 1 if there is any.  The others
print microseconds of a call on a stream, with hsgen and without.  Without words, the program does everything.
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from torch_tests import always

import hsgen.torch
from hsgen.torch import grouping, repeats, selecting

TYPES = (torch.int32, torch.int64, torch.uint8, torch.bool, torch.bfloat16, torch.float32, torch.float64)
FAILED: list[str] = []
_cases = 0


def random(shape: tuple[int, ...], dtype: torch.dtype, values: int = 0) -> torch.Tensor:
    """Return random elements on the GPU; values: of so many, or 0 for any."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, device="cuda").bool()
    if dtype.is_floating_point:
        x = torch.randint(0, values, shape, device="cuda") if values else torch.randn(shape, device="cuda")
        return x.to(dtype)
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return torch.randint(low, min(high, low + values) if values else high, shape, device="cuda", dtype=dtype)


def check(problem: str, name: str) -> None:
    """Count a case; print a difference, if there is one."""
    global _cases
    _cases += 1
    if problem:
        FAILED.append(name)
        print(f"FAILED {name}: {problem}", flush=True)


def difference(ours: Any, theirs: Any, subject: str = "result") -> str:
    """Return the first difference of results in types, shapes, strides or elements, or ""; NaNs are equal."""
    if not isinstance(theirs, torch.Tensor):
        if len(ours) != len(theirs):
            return f"{len(ours)} results, not {len(theirs)}"
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((d for i, (a, b) in pairs if (d := difference(a, b, f"result {i}"))), "")
    for fact in ("dtype", "shape", "stride"):
        a, b = getattr(ours, fact), getattr(theirs, fact)
        a, b = (a(), b()) if fact == "stride" else (a, b)
        if a != b:
            return f"{subject} has {fact} {a}, not {b}"
    unequal = ~((ours == theirs) | ((ours != ours) & (theirs != theirs)))
    if not bool(unequal.any()):
        return ""
    at = tuple(unequal.nonzero()[0].tolist())
    return f"{subject} differs {int(unequal.sum())} times, first at {at}: {ours[at].item()}, not {theirs[at].item()}"


def both(call: Callable[[], Any]) -> str:
    """Return the first difference of the results of a call with hsgen and without, or ""."""
    with hsgen.torch.enable():
        ours = call()
    return difference(ours, call())


def checks(until: float) -> None:
    """Compare the results of all functions."""
    distinct_rows()
    for n, dtype in itertools.product((1000, 100_003, 4097, 1, 2), TYPES):
        if time.monotonic() > until:
            print("no time for", dtype, n, "and what follows")
            break
        x = random((3, n), dtype, 50)
        for y in (x, x.t(), x[:, ::2], x[1], x[1, n // 3 :]):
            name = f"{dtype} {tuple(y.shape)} {y.stride()}"
            for dim, descending in itertools.product(range(y.dim()), (False, True)):
                sort = lambda y=y, d=dim, b=descending: torch.sort(y, dim=d, descending=b, stable=True)  # noqa: E731
                check(both(sort), f"sort {name} {dim} {descending}")
            check(both(lambda y=y: y.argsort(dim=-1, stable=True)), f"argsort {name}")
            flags = itertools.product((False, True), (False, True))
            for inverse, counts in flags if y.numel() < 50_000 else ((True, True), (False, False)):
                words = {"return_inverse": inverse, "return_counts": counts}
                check(both(lambda y=y, w=words: torch.unique(y, **w)), f"unique {name} {words}")
                check(both(lambda y=y, w=words: torch.unique_consecutive(y, **w)), f"runs {name} {words}")
        if dtype != torch.bool and n > 9:
            for k, largest in itertools.product((1, 7, min(n, 2000), n), (False, True)):
                top = lambda x=x, k=k, b=largest: torch.topk(x, k, largest=b)  # noqa: E731
                with hsgen.torch.enable():
                    ours = top()
                theirs, gathered = top(), x.gather(1, ours.indices)
                stable = torch.sort(x, descending=largest, stable=True).indices[:, :k]
                problems = difference(ours.values, theirs.values), difference(ours.values, gathered)
                order = difference(ours.indices, stable.contiguous(), "indices")
                check(problems[0] or problems[1] or order, f"topk {dtype} {n} {k}")
    more()


def distinct_rows() -> None:
    """Compare distinct slices along each dimension."""
    words = {"return_inverse": True, "return_counts": True}
    for dtype, n in itertools.product(TYPES[:4], (1, 2, 1000, 4097, 100_003)):
        rows = random((n, 4), dtype, 3)
        folded = rows.view(2, -1, 2) if n % 2 == 0 else rows.t()
        for dim, y in ((0, rows), (1, rows.t().contiguous()), (-1, folded), (1, rows.t())):
            name = f"unique slices {dtype} {tuple(y.shape)} {y.stride()} {dim}"
            check(both(lambda y=y, d=dim: torch.unique(y, dim=d, **words)), name)


def more() -> None:
    """Compare NaNs, gradients, compiled functions, graphs and streams."""
    x = random((100_000,), torch.float32, 9)
    x[::7], x[::11], x[::13] = float("nan"), -0.0, float("-inf")
    check(both(lambda: torch.sort(x, stable=True)), "NaNs")
    check(both(lambda: torch.unique(x, return_inverse=True, return_counts=True)), "unique NaNs")
    y = random((64, 1000), torch.float32).requires_grad_()

    def gradient() -> torch.Tensor:
        (g,) = torch.autograd.grad((y.sort(1, descending=True)[0] * torch.arange(1000, device="cuda")).sum(), y)
        return g

    check(both(gradient), "gradient")
    check(both(lambda: torch.func.vmap(torch.sort)(y.detach())), "vmap")
    compiled = torch.compile(lambda t: torch.sort(t * 2, stable=True).values + 1)
    check(both(lambda: compiled(y.detach())), "compiled")
    with hsgen.torch.enable():
        z, out = random((1 << 16,), torch.int32), torch.cuda.CUDAGraph()
        torch.sort(z)
        with torch.cuda.graph(out):
            sorted_ = torch.sort(z)
        for _ in range(3):
            z.copy_(random((1 << 16,), torch.int32))
            out.replay()
            torch.cuda.synchronize()
            check(difference(sorted_.values, z.cpu().sort().values.cuda()), "graph")
        with torch.cuda.stream(torch.cuda.Stream()):
            check(difference(torch.sort(z).values.cpu(), z.cpu().sort().values), "stream")


def event_time(run: Callable[[], Any], calls: int) -> float:
    """Return the microseconds of a call, of `calls` one after another."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1000 / calls


def compare(name: str, run: Callable[[], Any], rounds: int = 7) -> None:
    """Print the median microseconds of a call with hsgen and without, which take turns."""
    times: dict[bool, list[float]] = {True: [], False: []}
    calls = 0
    for turn in range(2 * rounds + 2):
        (hsgen.torch.enable if turn % 2 else hsgen.torch.disable)()
        run()
        calls = calls or max(1, min(50, int(2000 / max(event_time(run, 2), 1))))
        if turn > 1:
            times[bool(turn % 2)].append(event_time(run, calls))
    hsgen.torch.disable()
    ours, theirs = statistics.median(times[True]), statistics.median(times[False])
    print(f"{name:44} {ours:9.1f} {theirs:9.1f} {theirs / ours:6.2f}x", flush=True)


def varying(lg: int, lengths: Iterator[int]) -> Callable[[], Any]:
    """Return a call of torch.sort whose tensor has the next length, at most 2^20 more than 2^lg, in each call."""
    x = random(((1 << lg) + (1 << 20),), torch.float32)
    return lambda: torch.sort(x[: (1 << lg) + next(lengths)])


def sorts(until: float) -> None:
    """Print times of sorts, by the rules."""
    for dtype, lg in itertools.product((torch.int32, torch.int64, torch.float32), (10, 14, 18, 22)):
        x = random((1 << lg,), dtype)
        compare(f"sort {dtype} 2^{lg}", lambda x=x: torch.sort(x))


def lengths(until: float) -> None:
    """Print times of sorts of many lengths, by the rules."""
    for lg in (10, 14, 18, 22):
        compare(f"sort of another length each time, 2^{lg}", varying(lg, itertools.count()))
        twice = (i // 2 for i in itertools.count())
        compare(f"sort of each length twice, 2^{lg}", varying(lg, twice))
        compare(f"sort of 100 lengths in turn, 2^{lg}", varying(lg, itertools.cycle(range(100))), 19)


def topk(until: float) -> None:
    """Print times of selections, with hsgen everywhere."""
    always()
    shapes = [(1, 1 << lg, k) for lg in (12, 16, 17, 18, 19, 20, 24) for k in (1, 64, 2048)]
    shapes += [(64, 1 << 12, 64), (64, 1 << 13, 64), (64, 1 << 14, 64), (64, 1 << 15, 64), (64, 1 << 18, 64)]
    shapes += [(64, 1 << 18, 2048), (1024, 1 << 10, 8), (1024, 1 << 12, 64), (1024, 1 << 15, 64), (1024, 1 << 17, 64)]
    shapes += [(2, 1 << 15, 64), (2, 1 << 18, 64), (1 << 14, 1 << 10, 8), (1 << 15, 128, 8)]
    for dtype in (torch.float32, torch.int64, torch.bfloat16):
        for rows, length, k in shapes if dtype == torch.float32 else shapes[1:-2:3]:
            if time.monotonic() < until:
                x = random((rows, length), dtype)
                compare(f"topk {dtype} {rows} x {length}, k = {k}", lambda x=x, k=k: torch.topk(x, k), 5)


def unique(until: float) -> None:
    """Print times of distinct elements, with hsgen everywhere."""
    always()
    for dtype, lg, values in itertools.product((torch.int32, torch.int64, torch.float32), (12, 16, 20, 24), (1000, 0)):
        x = random((1 << lg,), dtype, values)
        for inverse in (False, True):
            if time.monotonic() < until:
                words = {"return_inverse": inverse, "return_counts": True}
                name = f"unique {dtype} 2^{lg} of {values or 'any'}{', inverse' if inverse else ''}"
                compare(name, lambda x=x, w=words: torch.unique(x, **w), 5)
        if values and dtype != torch.float32 and time.monotonic() < until:
            ordered = x.sort().values
            compare(f"unique_consecutive {dtype} 2^{lg}", lambda x=ordered: x.unique_consecutive(return_counts=True), 5)
    for dtype, lg, width in itertools.product((torch.int32, torch.int64), (12, 16, 20), (3, 4, 16)):
        if time.monotonic() < until:
            x = random((1 << lg, width), dtype, 100)
            compare(f"unique {dtype} of 2^{lg} rows of {width}", lambda x=x: torch.unique(x, dim=0), 5)


TIMES = {"sorts": sorts, "lengths": lengths, "topk": topk, "unique": unique}


def main(words: list[str]) -> int:
    """Compare results, measure, or both."""
    os.environ["HSGEN_BACKGROUND"] = "0"  # PyTorch must not serve calls of hsgen
    rules = selecting.selects, grouping.groups, grouping.groups_rows, repeats.BEFORE
    if not words or "check" in words:
        begin = time.monotonic()
        always()
        checks(begin + 50)
        print(f"{_cases} cases, {len(FAILED)} failed, {time.monotonic() - begin:.0f} s", flush=True)
    if chosen := [measure for name, measure in TIMES.items() if name in words or not words]:
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds: enabled, own, own / enabled")
    for measure in chosen:
        selecting.selects, grouping.groups, grouping.groups_rows, repeats.BEFORE = rules
        measure(time.monotonic() + 35)
    return int(bool(FAILED))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
