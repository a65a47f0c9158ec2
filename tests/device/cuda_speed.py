"""Speed of hsgen.torch.sort and hsgen.cupy.sort compared with torch.sort and cupy.sort, in one process on a GPU.

Run as a program: python tests/device/cuda_speed.py [SECONDS] [JSON]; prints a table, and how long a call keeps the
host.  Times are medians, by CUDA events, of calls in a captured graph (device) and of calls one after another (stream).
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

import hsgen.cuda
import hsgen.torch
from hsgen.cuda.choices import EACH, SEGMENTS, WHOLE
from hsgen.cuda.choices import ROWS as SHORT
from hsgen.torch.rows import sorted_rows

SHAPES = ((1024, 4096), (65536, 512), (8, 1 << 20))
LOGS = "1x12 6x12 4x16 8x16 2x18 6x18 2x20 4x20 2x22 3x22 10x9 14x9 18x7 20x5 16x11 8x14 14x10 12x13 1x24 10x15"
MORE = tuple((1 << int(a), 1 << int(b)) for a, b in (shape.split("x") for shape in LOGS.split()))
ROWS: list[dict[str, Any]] = []


def event_time(run: Callable[[], Any], calls: int) -> float:
    """Return the microseconds of a call, of `calls` one after another."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1000 / calls


def captured(run: Callable[[], Any]) -> Callable[[], Any] | None:
    """Return a call as a graph, or None if it cannot be captured."""
    try:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept = run()
        graph.replay()
        torch.cuda.synchronize()
        return lambda: (graph.replay(), kept)
    except RuntimeError as e:
        print("not captured:", str(e).splitlines()[0])
        return None


def compare(runs: dict[str, Callable[[], Any]], rounds: int = 9) -> dict[str, float]:
    """Return the median microseconds of calls that take turns."""
    calls = {}
    for name, run in runs.items():
        run()
        calls[name] = max(1, min(50, int(3000 / max(event_time(run, 2), 1))))
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            found[name].append(event_time(run, calls[name]))
    return {name: statistics.median(times) for name, times in found.items()}


def host_time(run: Callable[[], Any], calls: int = 200) -> float:
    """Return the microseconds that a call keeps the host."""
    found = []
    for _ in range(7):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        found.append((time.perf_counter() - begin) * 1e6 / calls)
        torch.cuda.synchronize()
    return statistics.median(found)


def row(what: str, times: dict[str, float], *, ours: str, theirs: str) -> None:
    """Print and keep a line."""
    ratio = times[theirs] / times[ours]
    print(f"{what:34} {'  '.join(f'{k} {v:9.1f}' for k, v in times.items())}   {ratio:5.2f}x", flush=True)
    ROWS.append({"what": what, "ratio": ratio, **times})


def both_ways(what: str, ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Measure a call of ours and of theirs, captured and not."""
    row(f"{what} stream", compare({"ours": ours, "torch": theirs}), ours="ours", theirs="torch")
    graphs = captured(ours), captured(theirs)
    if graphs[0] and graphs[1]:
        row(f"{what} device", compare({"ours": graphs[0], "torch": graphs[1]}), ours="ours", theirs="torch")


def flat() -> None:
    """1-D tensors of three types."""
    for dtype in (torch.int32, torch.int64, torch.float32):
        for lg in range(12, 29, 2):
            x = random(1 << lg, dtype)
            name = str(dtype).removeprefix("torch.")
            both_ways(f"{name} 2^{lg}", lambda x=x: hsgen.torch.sort(x), lambda x=x: torch.sort(x))
            if lg == 12:
                host = {
                    "ours": host_time(lambda x=x: hsgen.torch.sort(x)),
                    "torch": host_time(lambda x=x: torch.sort(x)),
                }
                row(f"{name} 2^{lg} host", host, ours="ours", theirs="torch")
            del x
            gc.collect()
            torch.cuda.empty_cache()


def random(shape: Any, dtype: torch.dtype) -> torch.Tensor:
    """Return random keys on the GPU."""
    if dtype.is_floating_point:
        return torch.randn(shape, device="cuda", dtype=dtype)
    info = torch.iinfo(dtype)
    return torch.randint(
        info.min, info.max, shape if isinstance(shape, tuple) else (shape,), device="cuda", dtype=dtype
    )


def rows(until: float) -> None:
    """Rows of float32 by every method."""
    for shape in (*SHAPES, *MORE):
        if time.monotonic() > until:
            print("no time for rows from", shape)
            return
        x = random(shape, torch.float32)
        runs: dict[str, Callable[[], Any]] = {
            "ours": lambda x=x: hsgen.torch.sort(x),
            "torch": lambda x=x: torch.sort(x),
        }
        runs[SEGMENTS] = lambda x=x: sorted_rows(x, 1, False, SEGMENTS)
        if shape[1] <= 4096:
            runs[SHORT] = lambda x=x: sorted_rows(x, 1, False, SHORT)
        if shape[0] <= 64:
            runs[EACH] = lambda x=x: sorted_rows(x, 1, False, EACH)
        row(f"float32 {shape[0]} x {shape[1]} stream", compare(runs, 5), ours="ours", theirs="torch")
        del x, runs
        gc.collect()
        torch.cuda.empty_cache()


def with_cupy() -> None:
    """cupy.sort of uint32."""
    try:
        import cupy

        import hsgen.cupy
    except ImportError as e:
        print("left out: CuPy", e)
        return
    for lg in (16, 20, 26):
        x = cupy.random.randint(0, 1 << 32, 1 << lg, dtype=cupy.uint32)
        times = compare({"ours": lambda x=x: hsgen.cupy.sort(x), "cupy": lambda x=x: cupy.sort(x)})
        row(f"cupy uint32 2^{lg} stream", times, ours="ours", theirs="cupy")


def profile() -> None:
    """Where the host's time goes at 2^12."""
    import cProfile
    import pstats

    x = random(1 << 12, torch.float32)
    sorter = hsgen.cuda.Sorter("f32")
    out = torch.empty_like(x)
    print(f"hsgen.cuda.Sorter call: {host_time(lambda: sorter(x, out)):.1f} us on the host")
    torch.cuda.synchronize()
    with cProfile.Profile() as watch:
        for _ in range(500):
            hsgen.torch.sort(x)
    pstats.Stats(watch).sort_stats("tottime").print_stats(14)


def main() -> None:
    """Measure all within the seconds that are given."""
    os.environ["HSGEN_BACKGROUND"] = "0"  # PyTorch must not serve calls of hsgen
    until = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 150)
    print(torch.__version__, torch.cuda.get_device_name(), WHOLE)
    flat()
    with_cupy()
    rows(until)

    profile()
    for kind in ("stream", "device"):
        flat_ratios = [
            r["ratio"] for r in ROWS if r["what"].endswith(kind) and " x " not in r["what"] and r["what"][:4] != "cupy"
        ]
        if flat_ratios:
            print(f"{kind}: least {min(flat_ratios):.2f}, geometric mean {statistics.geometric_mean(flat_ratios):.2f}")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(ROWS, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
