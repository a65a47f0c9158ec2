"""First calls in fresh processes, each with an empty cache, beside PyTorch's and CuPy's own, on an NVIDIA GPU.

Run as a program on a machine with such a GPU: python tests/device/first_calls.py [SECONDS] [NAME...].  A NAME selects
the cases and checks whose names contain it; without a name, all run.  Each process has a line of JSON.  None starts
after SECONDS (by default 100).  The exit code is 1 if a result is wrong or a floor is missed.
Results are compared with numpy's stable sorts: the first result, results of the array library while a thread compiles,
the first result of hsgen, and the last.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
LATER, FULL, NUMPY = 0.3, 2.0, 1.0
"""Floors in seconds: the first result after the library's own, full speed, and the first result of `hsgen.sort`."""
_MOST = 6.0  # seconds for which a process waits for full speed


class Case(NamedTuple):
    """A function of a library on a shape; "busy" calls it without a pause, so that it competes for Python's lock."""

    library: str
    function: str
    shape: tuple[int, ...]
    k: int = 0
    sorted: bool = True
    pause: float = 0.005
    again: bool = False

    @property
    def name(self) -> str:
        """The name of the case in the output."""
        more = f" k {self.k}" * bool(self.k) + " unsorted" * (not self.sorted) + " busy" * (not self.pause)
        return f"{self.library}.{self.function} {'x'.join(map(str, self.shape))}{more}{' again' * self.again}"


CASES = (
    Case("torch", "sort", (1000,)),
    Case("torch", "sort", (1 << 20,)),
    Case("torch", "topk", (1, 151936), 50),
    Case("torch", "topk", (64, 131072), 2048),
    Case("cupy", "sort", (1 << 20,)),
    Case("numpy", "sort", (1 << 20,)),
    Case("torch", "sort", (512, 32000)),
    Case("torch", "argsort", (1 << 20,)),
    Case("cupy", "argsort", (1 << 20,)),
    Case("torch", "sort", (1 << 20,), pause=0.0),
    Case("torch", "topk", (64, 131072), 4096, sorted=False),
    Case("torch", "sort", (1 << 20,), again=True),
    Case("enabled", "sort", (1 << 20,)),
    Case("numpy", "argsort", (1 << 20,)),
    Case("numpy", "topk", (64, 32000), 50),
    Case("numpy", "sort", (1 << 20,), again=True),
)
CHECKS = ("captures", "lengths", "forks", "ends")


def array(case: Case) -> Any:
    """The keys: floats with NaNs of both signs, zeros of both signs, infinities and ties; without ties for `enabled`.

    CuPy, and PyTorch's own kernels, order a NaN with a sign bit and zeros in other ways, so that they get none.
    """
    rng = np.random.default_rng(52)
    x = rng.normal(size=case.shape).astype(np.float32)
    if case.library in ("torch", "numpy"):
        flat = x.reshape(-1)
        flat[rng.integers(0, flat.size, flat.size // 8)] = np.float32(0.25)
        for value in (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf):
            flat[rng.integers(0, flat.size, max(flat.size // 1000, 2))] = np.float32(value)
    if case.library == "enabled":
        x.reshape(-1)[:] = rng.permutation(x.size).astype(np.float32)
    return x


def expected(case: Case, x: Any) -> tuple[Any, Any]:
    """The sorted elements and their indices in the rows, by numpy."""
    words = np.where(np.isnan(x), np.uint32(0x7FC00000), x.view(np.uint32))
    words[x == 0] = 0
    words = np.where(words >> np.uint32(31), ~words, words | np.uint32(1 << 31))
    if case.function == "topk":
        words = ~words
    indices = np.argsort(words, axis=-1, kind="stable")[..., : case.k or None]
    if case.function == "topk" and not case.sorted:
        indices = np.sort(indices, axis=-1)
    return np.take_along_axis(x, indices, -1), indices


def wrong(case: Case, result: Any, right: tuple[Any, Any]) -> str:
    """What is wrong with a result on the host: "", "indices" or "values"."""
    values, indices = result
    if indices is not None and not case.sorted:
        order = np.argsort(indices, axis=-1)
        indices, values = (np.take_along_axis(part, order, -1) for part in (indices, values))
    if indices is not None and not np.array_equal(indices, right[1]):
        return "indices"
    if values is None:
        return ""
    if case.library == "torch" or case.function == "topk":  # every element keeps its bits
        return "" if np.array_equal(values.view(np.uint32), right[0].view(np.uint32)) else "values"
    return "" if np.array_equal(values, right[0], equal_nan=True) else "values"


Calls = tuple[Callable[[], Any], Callable[[], Any], Callable[[Any], tuple[Any, Any]]]
"""A call, a function that waits for the GPU, and a function that copies a result to the host."""


def torch_calls(case: Case, x: Any, *, library: bool) -> Calls:
    """The calls of hsgen.torch, or of PyTorch's own function."""
    import torch

    on = torch.from_numpy(x).cuda()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    if library or case.library == "enabled":
        module: Any = torch
    else:
        import hsgen.torch as module
    if case.library == "enabled" and not library:
        import hsgen.torch

        hsgen.torch.enable()
    print(json.dumps({"import": round(time.perf_counter() - begin, 3)}))
    calls = {
        "sort": lambda: module.sort(on, stable=True),
        "argsort": lambda: (None, module.argsort(on, stable=True)),
        "topk": lambda: module.topk(on, case.k, sorted=case.sorted),
    }

    def host(result: Any) -> tuple[Any, Any]:
        values, indices = result
        return None if values is None else values.cpu().numpy(), indices.cpu().numpy()

    return calls[case.function], torch.cuda.synchronize, host


def cupy_calls(case: Case, x: Any, *, library: bool) -> Calls:
    """The calls of hsgen.cupy, or of CuPy's own function."""
    import cupy

    on = cupy.asarray(x)
    cupy.cuda.get_current_stream().synchronize()
    if library:
        module: Any = cupy
    else:
        import hsgen.cupy as module
    calls = {"sort": lambda: (module.sort(on), None), "argsort": lambda: (None, module.argsort(on))}

    def host(result: Any) -> tuple[Any, Any]:
        values, indices = (None if part is None else cupy.asnumpy(part) for part in result)
        return values, indices

    return calls[case.function], lambda: cupy.cuda.get_current_stream().synchronize(), host


def numpy_calls(case: Case, x: Any, *, library: bool) -> Calls:
    """The calls of hsgen on arrays of numpy; the import is a part of the first call."""

    def call() -> Any:
        import hsgen

        if case.function == "sort":
            return hsgen.sort(x), None
        return (None, hsgen.argsort(x)) if case.function == "argsort" else hsgen.topk(x, case.k)

    return call, lambda: None, lambda result: result


_OF = {"torch": torch_calls, "enabled": torch_calls, "cupy": cupy_calls, "numpy": numpy_calls}


def timed(call: Callable[[], Any], wait: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call, and its seconds."""
    begin = time.perf_counter()
    result = call()
    wait()
    return result, time.perf_counter() - begin


def run_library(case: Case) -> None:
    """The library's own first and second call."""
    call, wait, _ = _OF[case.library](case, array(case), library=True)
    first, second = timed(call, wait)[1], timed(call, wait)[1]
    print(json.dumps({"first": round(first, 4), "second": round(second, 5)}))


def run(case: Case) -> None:
    """First calls of hsgen until full speed, and the results of all phases."""
    x = array(case)
    call, wait, host = _OF[case.library](case, x, library=False)
    begin = time.perf_counter()
    result, first = timed(call, wait)
    results, meanwhile, full = {"first": result}, [first], 0.0
    from hsgen.cuda import background

    if case.library == "enabled":  # PyTorch serves the first call of a shape; the second starts the thread
        results["second"] = call()

    while time.perf_counter() - begin < _MOST:
        time.sleep(case.pause)
        ready = background.wait_for_thread(0)
        result, seconds = timed(call, wait)
        if ready:
            full = time.perf_counter() - begin
            results["full"] = result
            break
        meanwhile.append(seconds)
        results["meanwhile"] = result
    times = []
    for _ in range(20):
        results["last"], seconds = timed(call, wait)
        times.append(seconds)
    right = expected(case, x)
    problems = {name: wrong(case, host(result), right) for name, result in results.items()}
    print(
        json.dumps(
            {
                "first": round(first, 4),
                "full": round(full, 3),
                "calls": len(meanwhile),
                "meanwhile ms": round(1e3 * float(np.median(meanwhile)), 3),
                "slowest ms": round(1e3 * max(meanwhile[1:], default=0), 3),
                "at full ms": round(1e3 * float(np.median(times)), 3),
                "wrong": {name: problem for name, problem in problems.items() if problem},
                "checked": sorted(problems),
            }
        )
    )
    sys.stdout.flush()


def captures() -> None:
    """A capture of a graph that other libraries' work fills goes on while a thread loads kernels; then one of ours."""
    import torch

    import hsgen.torch
    from hsgen.cuda import background

    x = torch.randn(100_000, device="cuda")
    y = torch.zeros_like(x)
    hsgen.torch.sort(x)
    captured, loaded_within = 0, 0
    begin = time.perf_counter()
    while not background.wait_for_thread(0) and time.perf_counter() - begin < _MOST:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):  # in the global mode, which refuses unsafe calls of any thread
            for _ in range(2000):
                y.add_(1)
            loaded_within += background.wait_for_thread(0)
        y.zero_()
        graph.replay()
        torch.cuda.synchronize()
        assert float(y[0]) == 2000, float(y[0])
        captured += 1
    z = torch.randn(3000, device="cuda", dtype=torch.float64)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # of a type whose kernels are not loaded: the call waits
        values, indices = hsgen.torch.sort(z)
    for seed in range(3):
        z.copy_(torch.randn(3000, device="cuda", dtype=torch.float64) * (seed + 1))
        graph.replay()
        right = torch.sort(z, stable=True)
        assert torch.equal(values, right.values) and torch.equal(indices, right.indices)
    print(json.dumps({"captures during the preparation": captured, "loaded within": loaded_within}))


def lengths() -> None:
    """Lengths that never recur are sorted by hsgen, once the kernels of the first are loaded."""
    import torch

    import hsgen.torch
    from hsgen.torch import meanwhile

    by_torch, sorted_rows = [0], meanwhile.sorted_rows

    def counted(*arguments: Any) -> Any:
        by_torch[0] += 1
        return sorted_rows(*arguments)

    meanwhile.sorted_rows = counted
    x = torch.randn(4096, device="cuda")
    hsgen.torch.sort(x)
    hsgen.torch.wait_for_thread()
    before, times = by_torch[0], []
    for n in range(1025, 2025, 10):
        begin = time.perf_counter()
        values, indices = hsgen.torch.sort(x[:n])
        times.append(time.perf_counter() - begin)
        assert torch.equal(values, torch.sort(x[:n]).values) and torch.equal(x[indices], values)
    assert (before, by_torch[0]) == (1, 1), (before, by_torch[0])
    print(json.dumps({"lengths": len(times), "host ms of a new length": round(1e3 * float(np.median(times)), 3)}))


def forks() -> None:
    """A process that forks while the thread imports and compiles; the new process imports the same modules."""
    import torch

    import hsgen.torch

    hsgen.torch.sort(torch.randn(5000, device="cuda"))
    codes, waits = [], []
    for pause in (0.0, 0.05, 0.2, 0.4):
        time.sleep(pause)
        begin = time.perf_counter()
        child = os.fork()
        if child == 0:
            import hsgen.cuda.order
            import hsgen.numpy

            os._exit(7 if hsgen.cuda.order and hsgen.numpy else 1)
        waits.append(round(time.perf_counter() - begin, 3))
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert codes == [7] * 4, codes
    assert hsgen.torch.wait_for_thread(_MOST)
    print(json.dumps({"forks": len(codes), "seconds of a fork": waits}))


def ends() -> None:
    """A process that ends at once after a first call; its parent measures the seconds until it ends."""
    import torch

    import hsgen.torch

    hsgen.torch.sort(torch.randn(1 << 20, device="cuda"))
    print(json.dumps({"ends at": time.time()}))


def process(name: str, arguments: list[str], folder: str, **variables: str) -> dict[str, Any]:
    """The output of this program in a fresh process, with a cache in a folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONUNBUFFERED": "1", **variables}
    environment |= {"CUDA_CACHE_PATH": f"{folder}/nvrtc", "CUPY_CACHE_DIR": f"{folder}/cupy"}  # NVRTC has a cache, too
    begin = time.time()
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=40)
    except subprocess.TimeoutExpired:
        return {"name": name, "error": "40 seconds have passed"}
    out: dict[str, Any] = {"name": name}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            out |= json.loads(line)
    if "ends at" in out:
        out["seconds to the end"] = round(time.time() - out.pop("ends at"), 3)
    if done.returncode or "Traceback" in done.stderr:
        out["error"] = f"exit code {done.returncode}: {done.stderr.strip()[-1500:]}"
    return out | {"process": round(time.time() - begin, 1)}


def judged(case: Case, out: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The floors that a case misses, and its errors."""
    if "error" in out or "error" in theirs:
        return ["error"]
    missed = ["wrong"] * bool(out["wrong"]) + ["no full speed"] * (not out["full"])
    if not case.sorted:  # only the device knows the order, so such calls wait
        return missed
    most = NUMPY if case.library == "numpy" else LATER + theirs["first"]
    return missed + ["first"] * (out["first"] > most) + ["full"] * (out["full"] > FULL)


def main(seconds: float, names: list[str]) -> int:
    """Run the cases and checks that names select, or all; return the exit code."""
    package = importlib.util.find_spec("hsgen_cubins")
    print(json.dumps({"machine code": package is not None and package.origin}), flush=True)
    begin, bad, of_library = time.perf_counter(), 0, dict[tuple[Any, ...], dict[str, Any]]()
    folder = tempfile.TemporaryDirectory()

    def selected(name: str) -> bool:
        return not names or any(x in name for x in names)

    cases = [(number, case) for number, case in enumerate(CASES) if selected(case.name)]
    checks = [check for check in CHECKS if selected(check)]
    for i, (number, case) in enumerate(cases):
        if time.perf_counter() - begin > seconds:
            print(json.dumps({"not run": [c.name for _, c in cases[i:]] + checks}), flush=True)
            return 1
        theirs: dict[str, Any] = {"first": 0.0}
        if case.library != "numpy":
            alike = "torch" if case.library == "enabled" else case.library, case.function, case.shape
            if alike not in of_library:
                of_library[alike] = process("library", ["library", str(number)], f"{folder.name}/library{number}")
            theirs = of_library[alike]
        first = next(i for i, c in enumerate(CASES) if c._replace(again=True) == case) if case.again else number
        out = process(case.name, ["case", str(number)], f"{folder.name}/{first}")
        missed = judged(case, out, theirs)
        bad += bool(missed)
        out |= {"library": theirs.get("first"), "library again": theirs.get("second"), "missed": missed}
        print(f"{time.perf_counter() - begin:6.1f} {json.dumps(out)}", flush=True)
        if "error" in theirs:
            print(json.dumps(theirs), flush=True)
    with ThreadPoolExecutor(len(CHECKS)) as pool:
        for out in pool.map(lambda check: process(check, ["check", check], f"{folder.name}/{check}"), checks):
            bad += "error" in out
            print(f"{time.perf_counter() - begin:6.1f} {json.dumps(out)}", flush=True)
    print(f"{bad} cases or checks failed or missed a floor", flush=True)
    folder.cleanup()
    return int(bad > 0)


if __name__ == "__main__":
    os.environ.pop("HSGEN_BACKGROUND", None)  # the default is what is measured
    arguments = sys.argv[1:]
    if arguments[:1] == ["library"]:
        run_library(CASES[int(arguments[1])])
    elif arguments[:1] == ["case"]:
        run(CASES[int(arguments[1])])
    elif arguments[:1] == ["check"]:
        globals()[arguments[1]]()
    else:
        limit = [float(x) for x in arguments if x.replace(".", "", 1).isdigit()]
        sys.exit(main(limit[0] if limit else 100.0, [x for x in arguments if not x.replace(".", "", 1).isdigit()]))
