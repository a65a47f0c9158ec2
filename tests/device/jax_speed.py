"""Results and speed of hsgen.jax beside jax.numpy, on a machine with an NVIDIA GPU.

Run as a program: python tests/device/jax_speed.py [check] [warm] [speed] [I/N] [seconds=S].  `check` compares results
with those of JAX on the CPU, whose programs compile fast, and exits with 1 if any differs.  `warm` compares results of
the measured cases with those of JAX on the GPU, once each.  `speed` prints microseconds of a call among calls one after
another, and whether XLA calls CUB; both functions are compiled by jax.jit.  I/N selects every Nth case from case I on,
for processes that compile at once; with JAX_COMPILATION_CACHE_DIR, `speed` afterwards starts sooner.  `seconds` limits
`speed`, and also `check`.  With HSGEN_JAX_HANDLER=python, the handler is that in Python.  A step that takes 45 s ends
the program and prints the stack of each thread.
"""

from __future__ import annotations

import faulthandler
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import jax
import jax.numpy as jnp
import numpy as np

import hsgen.jax
from hsgen.jax import sorting

PATIENCE = 45
"""The seconds of a step after which the program ends."""
WARM = 0.3
"""The seconds of calls before those that are timed."""
BEGIN = time.monotonic()
RNG = np.random.default_rng(5)
SHAPES = {
    "int32": ((3, 1000), (100_003,), (4, 20_000)),
    "float32": ((3, 1000), (100_003,), (4, 20_000)),
    "int64": ((3, 1000), (100_003,)),
    "bfloat16": ((3, 1000), (100_003,)),
    "uint8": ((3, 1000),),
    "bool": ((100_003,),),
    "float64": ((3, 1000),),
    "float16": ((3, 1000),),
    "uint64": ((100_003,),),
}
"""The checked shapes of each type; the shapes differ in the method of the sort."""
FAILED: list[str] = []
PART = (0, 1)
"""The first case, and the distance of cases, of this process."""
_cases = 0


def random(shape: tuple[int, ...], dtype: str, values: int = 0) -> Any:
    """Return random elements on the GPU; values: of so many, or 0 for any."""
    if dtype == "bool":
        return jnp.asarray(RNG.integers(0, 2, shape).astype(bool))
    if "float" in dtype:
        return jnp.asarray(RNG.standard_normal(shape) if not values else RNG.integers(0, values, shape)).astype(dtype)
    info = np.iinfo(dtype)
    high = info.max if not values else min(info.max, info.min + values)
    return jnp.asarray(RNG.integers(info.min, high, shape, dtype))


def step(name: str) -> None:
    """Print the begin of a step, and end the program if the step takes too long."""
    print(f"{time.monotonic() - BEGIN:6.1f} s {name}", flush=True)
    faulthandler.dump_traceback_later(PATIENCE, exit=True)


def by_cpu(function: Callable[..., Any], *arrays: Any, **words: Any) -> Any:
    """Return the result of a function of JAX for copies of arrays on the CPU."""
    cpu = jax.devices("cpu")[0]
    with jax.default_device(cpu):
        return function(*(jax.device_put(x, cpu) for x in arrays), **words)


def check(ours: Any, theirs: Any, name: str) -> None:
    """Count a case; print the first difference, if there is one."""
    global _cases
    _cases += 1
    for i, (a, b) in enumerate(zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)):
        x, y = np.asarray(a), np.asarray(b)
        problem = f"{x.dtype} {x.shape}, not {y.dtype} {y.shape}" if (x.dtype, x.shape) != (y.dtype, y.shape) else ""
        if not problem and len(at := np.argwhere((x != y) & ~((x != x) & (y != y)))):
            problem = f"{len(at)} differences, first at {at[0]}: {x[tuple(at[0])]}, not {y[tuple(at[0])]}"
        if problem:
            FAILED.append(name)
            print(f"FAILED {name}: result {i}: {problem}", flush=True)


def checks(until: float) -> None:
    """Compare the results of all functions."""
    sorting.FROM = 1
    turns = [(dtype, shapes[i]) for i in range(3) for dtype, shapes in SHAPES.items() if i < len(shapes)]
    for dtype, shape in turns[PART[0] :: PART[1]]:
        if time.monotonic() > until:
            print("no time for", dtype, shape, "and what follows", flush=True)
            break
        step(f"{dtype} {shape}: input")
        x = random(shape, dtype, 50)
        jax.block_until_ready(x)
        for descending in (False, True) if shape == (100_003,) else (False,):
            words = {"descending": descending}
            for name, ours, theirs in (
                ("sort", hsgen.jax.sort, jnp.sort),
                ("argsort", hsgen.jax.argsort, jnp.argsort),
            ):
                step(f"{name} {dtype} {shape} {'descending' if descending else ''}")
                result = jax.block_until_ready(ours(x, **words))
                check(result, by_cpu(theirs, x, **words), f"{name} {dtype} {shape} {descending}")
        if dtype in ("int32", "float32", "bfloat16"):
            step(f"top_k {dtype} {shape}")
            check(hsgen.jax.top_k(x, 7), by_cpu(jax.lax.top_k, x, k=7), f"top_k {dtype} {shape}")
            step(f"sort_key_val {dtype} {shape}")
            values = jnp.arange(x.size).reshape(shape)
            pairs = hsgen.jax.sort_key_val(x, values)
            check(pairs, by_cpu(jax.lax.sort_key_val, x, values), f"pairs {dtype} {shape}")
    if PART[0] == 0:
        more()


def more() -> None:
    """Compare axes, transformations, gradients, NaNs, loops and shards."""
    step("axes and transformations")
    x = random((4, 5, 600), "float32")
    check(hsgen.jax.sort(x, 0), by_cpu(jnp.sort, x, axis=0), "axis 0")
    check(jax.vmap(jax.vmap(hsgen.jax.sort))(x), by_cpu(jnp.sort, x), "vmap")
    check(jax.jit(lambda t: hsgen.jax.sort(t * 2) + 1)(x), by_cpu(lambda t: jnp.sort(t * 2) + 1, x), "jit")
    step("gradient")

    def gradient(t: Any, sort: Callable[[Any], Any]) -> Any:
        weights = jnp.arange(t.size, dtype="float32").reshape(t.shape)
        return jax.grad(lambda u: (sort(u) * weights).sum())(t)

    check(gradient(x, hsgen.jax.sort), by_cpu(gradient, x, sort=jnp.sort), "gradient")
    step("NaNs and zeros")
    special = random((30_000,), "float32", 9).at[::7].set(jnp.nan).at[::11].set(-0.0).at[::13].set(-jnp.nan)
    check(hsgen.jax.argsort(special), by_cpu(jnp.argsort, special), "argsort of NaNs and zeros")
    results, lax = hsgen.jax.sort_key_val(special, special), by_cpu(jax.lax.sort_key_val, special, special)
    check([y.view("uint32") for y in results], [y.view("uint32") for y in lax], "bits of NaNs and zeros")
    step("loop")

    def loop(t: Any, sort: Callable[[Any], Any]) -> Any:
        return jax.lax.fori_loop(0, 5, lambda i, y: sort(-y), t)

    check(jax.jit(loop, static_argnums=1)(x, hsgen.jax.sort), by_cpu(loop, x, sort=jnp.sort), "loop")
    step("shard_map")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rows",))
    spec = jax.sharding.PartitionSpec("rows")
    y = random((8, 30_000), "int32")
    sharded = jax.shard_map(hsgen.jax.sort, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    check(jax.jit(sharded)(y), by_cpu(jnp.sort, y), "shard_map")


def call_time(run: Callable[[], Any], calls: int) -> float:
    """Return the microseconds of a call, of `calls` one after another."""
    begin = time.perf_counter()
    for _ in range(calls):
        last = run()
    jax.block_until_ready(last)
    return (time.perf_counter() - begin) * 1e6 / calls


def compare(name: str, ours: Callable[[Any], Any], theirs: Callable[[Any], Any], x: Any) -> None:
    """Print the median microseconds of both functions, which take turns."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    runs = {key: jax.jit(f).lower(x).compile() for key, f in (("ours", ours), ("theirs", theirs))}
    cub = "CUB" if "cub" in runs["theirs"].as_text().lower() else ""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    calls = {}
    warm = time.monotonic() + WARM
    while time.monotonic() < warm:  # an idle GPU lowers its clock, which takes time to rise again
        jax.block_until_ready(runs["ours"](x))
    for key, run in runs.items():
        jax.block_until_ready(run(x))
        calls[key] = max(1, min(50, int(3000 / max(call_time(partial(run, x), 2), 1))))
    for _ in range(5):
        for key, run in runs.items():
            times[key].append(call_time(partial(run, x), calls[key]))
    results, jaxs = statistics.median(times["ours"]), statistics.median(times["theirs"])
    print(f"{name:36} {results:10.1f} {jaxs:10.1f} {jaxs / results:7.2f}x {cub}", flush=True)


def same(name: str, ours: Callable[[Any], Any], theirs: Callable[[Any], Any], x: Any) -> None:
    """Compare the results of both functions once."""
    step(name)
    check(jax.jit(ours)(x), jax.jit(theirs)(x), name)


def each(until: float, work: Callable[..., None]) -> None:
    """Call `work` for the measured cases."""
    counts = ((1 << 14,), (1 << 20,), (1 << 24,), (1 << 18,), (1024, 4096), (1 << 22,), (64, 1 << 16))
    cases = list(itertools.product(counts, ("float32", "int64", "int32", "uint32", "bfloat16")))
    for shape, dtype in cases[PART[0] :: PART[1]]:
        if time.monotonic() > until:
            print("no time for", dtype, shape, flush=True)
            return
        x = random(shape, dtype)
        name = f"{dtype} {' x '.join(map(str, shape))}"
        work(f"sort {name}", hsgen.jax.sort, jnp.sort, x)
        work(f"argsort {name}", hsgen.jax.argsort, jnp.argsort, x)
        if dtype in ("float32", "int64"):
            work(f"top_k 64 {name}", partial(hsgen.jax.top_k, k=64), partial(jax.lax.top_k, k=64), x)
        if dtype in ("float32", "int32", "uint32"):
            pairs = partial(work, f"sort_key_val {name}", lambda y: hsgen.jax.sort_key_val(y, y))
            pairs(lambda y: jax.lax.sort_key_val(y, y), x)


def main(words: list[str]) -> int:
    """Compare results, measure, or both."""
    global PART
    step("start")
    for word in words:
        if "/" in word:
            first, number = map(int, word.split("/"))
            PART = (first, number)
    words = [word for word in words if "/" not in word]
    seconds = next((float(word.removeprefix("seconds=")) for word in words if word.startswith("seconds=")), 60)
    words = [word for word in words if "=" not in word] or ["check", "speed"]
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}; {hsgen.jax.method(jnp.zeros(1 << 20))}", flush=True)
    begin = time.monotonic()
    if "check" in words:
        least = sorting.FROM
        checks(begin + seconds)
        sorting.FROM = least
        jax.clear_caches()
    if "warm" in words:
        each(begin + 3600, same)
    if "check" in words or "warm" in words:
        print(f"{_cases} cases, {len(FAILED)} failed, {time.monotonic() - begin:.0f} s", flush=True)
    if "speed" in words:
        print("microseconds: hsgen.jax, jax, jax / hsgen.jax")
        each(time.monotonic() + seconds, compare)
    faulthandler.cancel_dump_traceback_later()
    return int(bool(FAILED))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
