"""Results and speed of hsgen.jax beside jax.numpy, on a machine with an NVIDIA GPU.

Run as a program: python tests/device/jax_speed.py [check] [speed].  `check` exits with 1 if a result differs from
that of JAX; `speed` prints microseconds of a call among calls one after another, and whether XLA calls CUB.
"""

from __future__ import annotations

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

RNG = np.random.default_rng(5)
TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "bool", "float16", "bfloat16", "float32")
TYPES += ("float64",)
FAILED: list[str] = []
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


def check(ours: Any, theirs: Any, name: str) -> None:
    """Count a case; print a failure."""
    global _cases
    _cases += 1
    pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
    good = all(a.dtype == b.dtype and np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
    if not good:
        FAILED.append(name)
        print("FAILED", name, flush=True)


def checks() -> None:
    """Compare the results of all functions."""
    sorting.FROM = 1
    for dtype, shape in itertools.product(TYPES, ((3, 1000), (100_003,), (4, 20_000))):
        x = random(shape, dtype, 50)
        for descending in (False, True):
            words = {"descending": descending}
            check(hsgen.jax.sort(x, **words), jnp.sort(x, **words), f"sort {dtype} {shape} {descending}")
            check(hsgen.jax.argsort(x, **words), jnp.argsort(x, **words), f"argsort {dtype} {shape} {descending}")
        if dtype != "bool":
            check(hsgen.jax.top_k(x, 7), jax.lax.top_k(x, 7), f"top_k {dtype} {shape}")
            values = jnp.arange(x.size).reshape(shape)
            check(hsgen.jax.sort_key_val(x, values), jax.lax.sort_key_val(x, values), f"pairs {dtype} {shape}")
    x = random((4, 5, 600), "float32")
    check(hsgen.jax.sort(x, 0), jnp.sort(x, 0), "axis 0")
    check(jax.vmap(jax.vmap(hsgen.jax.sort))(x), jnp.sort(x), "vmap")
    check(jax.jit(lambda t: hsgen.jax.sort(t * 2) + 1)(x), jnp.sort(x * 2) + 1, "jit")
    weights = jnp.arange(x.size, dtype="float32").reshape(x.shape)
    ours, theirs = (jax.grad(lambda t, f=f: (f(t) * weights).sum())(x) for f in (hsgen.jax.sort, jnp.sort))
    check(ours, theirs, "gradient")
    special = random((30_000,), "float32", 9).at[::7].set(jnp.nan).at[::11].set(-0.0).at[::13].set(-jnp.nan)
    check(hsgen.jax.argsort(special), jnp.argsort(special), "argsort of NaNs and zeros")
    results, lax = hsgen.jax.sort_key_val(special, special), jax.lax.sort_key_val(special, special)
    check([y.view("uint32") for y in results], [y.view("uint32") for y in lax], "bits of NaNs and zeros")
    loops = [jax.jit(lambda t, f=f: jax.lax.fori_loop(0, 5, lambda i, y: f(-y), t)) for f in (hsgen.jax.sort, jnp.sort)]
    check(loops[0](x), loops[1](x), "loop")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rows",))
    spec = jax.sharding.PartitionSpec("rows")
    y = random((8, 30_000), "int32")
    sharded = jax.shard_map(hsgen.jax.sort, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    check(jax.jit(sharded)(y), jnp.sort(y), "shard_map")


def call_time(run: Callable[[], Any], calls: int) -> float:
    """Return the microseconds of a call, of `calls` one after another."""
    begin = time.perf_counter()
    for _ in range(calls):
        last = run()
    jax.block_until_ready(last)
    return (time.perf_counter() - begin) * 1e6 / calls


def compare(name: str, ours: Callable[[Any], Any], theirs: Callable[[Any], Any], x: Any) -> None:
    """Print the median microseconds of both functions, which take turns."""
    compiled = jax.jit(theirs).lower(x).compile()
    cub = "CUB" if "cub" in compiled.as_text().lower() else ""
    runs = {"ours": lambda: ours(x), "theirs": lambda: compiled(x)}
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    calls = {}
    for key, run in runs.items():
        jax.block_until_ready(run())
        calls[key] = max(1, min(50, int(3000 / max(call_time(run, 2), 1))))
    for _ in range(7):
        for key, run in runs.items():
            times[key].append(call_time(run, calls[key]))
    results, jaxs = statistics.median(times["ours"]), statistics.median(times["theirs"])
    print(f"{name:36} {results:10.1f} {jaxs:10.1f} {jaxs / results:7.2f}x {cub}", flush=True)


def speed(until: float) -> None:
    """Print times."""
    counts = ((1 << 14,), (1 << 18,), (1 << 22,), (1 << 24,), (1024, 4096), (64, 1 << 16))
    for dtype, shape in itertools.product(("int32", "float32", "int64", "uint32", "bfloat16"), counts):
        if time.monotonic() > until:
            print("no time for", dtype, shape)
            return
        x = random(shape, dtype)
        name = f"{dtype} {' x '.join(map(str, shape))}"
        compare(f"sort {name}", hsgen.jax.sort, jnp.sort, x)
        compare(f"argsort {name}", hsgen.jax.argsort, jnp.argsort, x)
        if dtype in ("float32", "int64"):
            compare(f"top_k 64 {name}", partial(hsgen.jax.top_k, k=64), partial(jax.lax.top_k, k=64), x)
        if dtype in ("float32", "uint32"):
            pairs = partial(compare, f"sort_key_val {name}", lambda y: hsgen.jax.sort_key_val(y, y))
            pairs(lambda y: jax.lax.sort_key_val(y, y), x)


def main(words: list[str]) -> int:
    """Compare results, measure, or both."""
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}; {hsgen.jax.method(jnp.zeros(1 << 20))}", flush=True)
    if not words or "check" in words:
        begin, least = time.monotonic(), sorting.FROM
        checks()
        print(f"{_cases} cases, {len(FAILED)} failed, {time.monotonic() - begin:.0f} s", flush=True)
        sorting.FROM = least
        jax.clear_caches()
    if not words or "speed" in words:
        print("microseconds: hsgen.jax, jax, jax / hsgen.jax")
        speed(time.monotonic() + 100)
    return int(bool(FAILED))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
