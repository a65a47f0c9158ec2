"""One random target, in a separate process: `python child.py SEED NUMBER SIZE WAY`.

WAY is how its sorts run: `opencl`, between guard pages on the embedded device; `vulkan`, on lavapipe by the C runtime;
`cuda`, on fibers of the host.  Prints lines of JSON: `at`, the next step, before it runs; `found`, an error; `ran`, the
strategies of a sort and the fewest lanes and subgroups of its work-groups; `done`, the amount of work done.
`python child.py guard SIDE` reads one element beyond an array, which must end the process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from drawing import Bounds, drawn, sorts_of
from guarded import Copied, Guarded, Memory
from on_host import compiled, right
from patterns import PATTERNS

from hsgen import operations
from hsgen.cli import main as hsgen
from hsgen.core.errors import HsgenError, Unavailable, Usage
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, TYPES
from hsgen.core.sort import Sort
from hsgen.emit.kernels import options, render
from hsgen.engines.compiled import Compiled
from hsgen.engines.hosts import Host, hosts, lacks, offers
from hsgen.engines.pyopencl import context_for
from hsgen.system import toolchain
from hsgen.targets import assembly as sorts
from hsgen.tools.validate import validation


@dataclass(frozen=True)
class Size:
    """Limits per target: sorts, calls of each, keys, characters of kernels, seconds in which sorts may start."""

    sorts: int
    calls: int
    keys: int
    text: int
    seconds: float


SIZES = {
    "fast": Size(2, 24, 3000, 22_000, 3),
    "many": Size(3, 40, 8000, 40_000, 6),
    "nightly": Size(5, 60, 30_000, 60_000, 15),
}
WIDTHS = (4, 8, 16)
"""The lanes of subgroups on lavapipe, by the number of the target."""
DRIVERS = Path("/usr/share/vulkan/icd.d")


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def host() -> Host:
    """The embedded device."""
    found = [h for h in hosts() if "Intel" in h.platform and h.type == "cpu"]
    if not found:
        raise Unavailable("there is no embedded OpenCL device")
    return found[0]


def target_of(
    seed: int, number: int, widths: tuple[int, ...], api: str = "opencl"
) -> tuple[str, Iterator[Sort], np.random.Generator]:
    """Return the file of a target, its sorts, and the random generator of their calls.

    Of two targets in three, most work-groups have 1 or 2 lanes or subgroups.
    """
    rng = np.random.default_rng([seed, number])
    few = 0.0 if number % 3 == 0 else 0.7
    text, target = drawn(rng, Bounds(widths=widths, height=8 if number % 2 else 16, few=few, api=api))
    return text, sorts_of(rng, target), rng


def note(sort: Sort) -> None:
    """Say what of a sort counts."""
    strategies = sorted({str(getattr(p.params, "STRATEGY", p.algorithm)) for p in sort.parts})
    wide = [k.work_group // k.subgroup for k in sort.kernels if k.subgroup > 1]
    say(ran=strategies, lanes=min(k.work_group for k in sort.kernels), subgroups=min(wide, default=0))


def counts(sort: Sort, most: int, rng: np.random.Generator) -> list[int]:
    """Return the counts at which the plan changes and their neighbours, small counts, and random ones."""
    most = min(most, sort.plan.max_n)
    test_counts = [e + d for e in sorts.test_counts(sort, most) for d in (-1, 0, 1)]
    test_counts += [p.min_n + d for p in sort.parts for d in (0, 1)]
    test_counts += [*range(20), *(int(x) for x in rng.integers(0, most + 1, 20)), most]
    return sorted({n for n in test_counts if 0 <= n <= most})


def hows(sort: Sort, n: int, rng: np.random.Generator) -> tuple[Options, int | None]:
    """Return random options that the sort's form allows, and the device-side count, if any."""
    signature, bits = sort.signature, sort.plan.bits
    how, count = Options(), None
    if signature.key_transform:
        kinds = sorted({t.kind for t in TYPES.values() if KEYS[t.key].bits == bits})
        how = replace(how, kind=int(rng.choice(kinds)), descending=bool(rng.integers(2)))
    if signature.bit_range and rng.random() < 0.7:
        begin, end = sorted(int(x) for x in rng.integers(0, bits + 1, 2))
        how = replace(how, begin=begin, end=end)
    if sort.operation == "merge":
        how = replace(how, first_count=int(rng.choice([0, n, n // 2, int(rng.integers(0, n + 1))])))
    if signature.index:
        how = replace(how, discard=bool(rng.random() < 0.3))
    if signature.device_count and rng.random() < 0.7:
        how, count = (
            replace(how, device_count=True),
            int(rng.choice([0, n, n // 2, n + 7, 2**32 - 1, 1, max(n - 1, 0)])),
        )
    return how, count


def try_sort(memory: Memory, sort: Sort, size: Size, rng: np.random.Generator) -> tuple[int, str | None]:
    """Compile a sort and call it; return the number of calls, and the error of the last one."""
    guarded = Guarded(memory, Compiled(memory.context, sort))
    dtype, ns = np.dtype(f"u{sort.key.bytes}"), counts(sort, size.keys // sort.columns, rng)
    for number in range(size.calls):
        n, kind = int(rng.choice(ns)), str(rng.choice(list(PATTERNS)))
        keys = PATTERNS[kind](rng, n * sort.columns, dtype)
        how, count = hows(sort, n, rng)
        in_place = bool(rng.integers(2)) and operations.of(sort).second(how, n) is None
        made = validation.call(sort, keys, how, in_place=in_place, count=count, rng=rng)
        made = replace(made, in_place=in_place and made.expected is not None)
        sides = [bool(x) for x in rng.integers(0, 2, 12)]
        fill = int(rng.choice([0, 0xFF, 0x5A, 1]))
        what = f"{made.n} keys, {kind}, in place: {made.in_place}, {made.how}, count: {count}, scratch of {fill:#x}"
        say(at=f"{what}, at ends: {sides}")
        try:
            problem = guarded.run(made, sides, fill)
        except Usage as e:
            if "work-groups do not fit a grid" not in str(e):
                raise
            continue  # more rows than the drawn device launches work-groups
        if problem:
            return number + 1, f"{what}: {problem}"
    return size.calls, None


def described(sort: Sort) -> str:
    """Return the algorithm and the form of a sort."""
    signature = {k: v for k, v in asdict(sort.signature).items() if v and k != "epilogue"}
    return f"{sort.algorithm} {sort.label} {signature}{' epilogue' * bool(sort.signature.epilogue)}"


def by_vulkan(seed: int, number: int, size: Size) -> None:
    """Validate sorts on lavapipe, with scratch memory full of ones, as the command does."""
    width = WIDTHS[number % len(WIDTHS)]
    drivers = [*map(str, sorted(DRIVERS.glob("lvp_icd*.json")))]
    os.environ.setdefault("VK_DRIVER_FILES", drivers[0] if drivers else "")
    os.environ["LP_NATIVE_VECTOR_WIDTH"] = str(32 * width)
    text, made, _ = target_of(seed, number, (width,), "vulkan")
    say(target=text)
    begun, done, cases, skipped = time.monotonic(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drawn.toml"
        file.write_text(text, encoding="utf-8")
        for sort in made:
            if done == size.sorts or time.monotonic() - begun > size.seconds:
                break
            long = len(render(sort, "vulkan").text) > size.text
            if long or sort.signature.epilogue or any(k.local_bytes(sort.key) > 32768 for k in sort.kernels):
                skipped += 1
                continue
            chosen = ["--key", sort.label, "--algorithm", sort.algorithm, "--max-n", str(size.keys)]
            chosen += [x for name, value in options(sort.signature) for x in (f"--{name}", value)]
            say(sort=described(sort), at=" ".join(chosen))
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                run = ["validate", "--api", "vulkan", "-t", str(file), "--device", "llvmpipe", "--option", "poison=1"]
                code = hsgen([*run, "--json", *chosen])
            if code == 3:
                say(lacking=err.getvalue().strip().splitlines()[-1])
                return
            note(sort)
            done, cases = done + 1, cases + sum(row["cases"] for row in json.loads(out.getvalue() or "[]"))
            if code:
                say(found=f"{described(sort)}: {err.getvalue()[:1500]}")
    say(done=done, calls=cases, skipped=skipped)


def by_fibers(seed: int, number: int, size: Size) -> None:
    """Run the CUDA text of sorts on fibers of the host."""
    if shutil.which("c++") is None:
        say(lacking="no C++ compiler is installed (apt-get install g++)")
        return
    text, made, rng = target_of(seed, number, (32,), "cuda")
    say(target=text)
    begun, done, calls, skipped = time.monotonic(), 0, 0, 0
    for sort in made:
        if done == size.sorts or time.monotonic() - begun > size.seconds:
            break
        other = sort.operation != "sort" or sort.columns > 1 or sort.signature.epilogue or sort.signature.run_boundaries
        if other or len(render(sort, "cuda").text) > 2 * size.text:
            skipped += 1
            continue
        say(sort=described(sort), at="compile")
        with tempfile.TemporaryDirectory() as folder:
            run = compiled(sort, Path(folder))
            dtype, ns = np.dtype(f"u{sort.key.bytes}"), counts(sort, size.keys // 2, rng)
            for _ in range(size.calls):
                n, kind = int(rng.choice(ns)), str(rng.choice(list(PATTERNS)))
                how, count = hows(sort, n, rng)
                keys = PATTERNS[kind](rng, n, dtype)[: n if count is None else min(n, count)]
                in_place, call = bool(rng.integers(2)), int(rng.integers(1 << 30))
                say(at=f"{n} keys, {kind}, in place: {in_place}, {how}, count: {count}, call {call}")
                calls += 1
                if not right(run, keys, how, in_place=in_place, seed=call, n=n):
                    say(
                        found=f"{described(sort)}: {n} keys, {kind}, in place: {in_place}, {how}, count: {count}: wrong"
                    )
                    break
        note(sort)
        done += 1
    say(done=done, calls=calls, skipped=skipped)


def by_opencl(seed: int, number: int, size: Size) -> None:
    """Run sorts on the embedded device, between guard pages."""
    device = host()
    widths = tuple(w for w in (4, 8, 16, 32, 64) if offers(device, w))
    text, made, rng = target_of(seed, number, widths)
    say(target=text)
    memory = Memory(context_for(device))
    begun, done, calls, skipped = time.monotonic(), 0, 0, 0
    for sort in made:
        if done == size.sorts or time.monotonic() - begun > size.seconds:
            break
        about = described(sort)
        if lacks(sort, device) or len(render(sort, "opencl").text) > size.text:
            skipped += 1
            continue
        say(sort=about, at="compile")
        try:
            more, problem = try_sort(memory, sort, size, rng)
        except Copied as e:
            say(copied=str(e))
            return
        except HsgenError as e:
            more, problem = 0, f"{type(e).__name__}: {e}"
        note(sort)
        done, calls = done + 1, calls + more
        if problem:
            say(found=f"{about}: {problem}")
    say(done=done, calls=calls, skipped=skipped)


def guard(side: str) -> None:
    """Read one element beyond an array at its guarded side, or write to a read-only one."""
    memory = Memory(context_for(host()))
    text = "__kernel void f(__global uint *x, int i) { if (i < -1) x[0] = 1; else x[i] += 1u; }"
    cl = toolchain.pyopencl()
    kernel = cl.Program(memory.context, text).build().f
    image = np.zeros(40, np.uint8)
    array = memory.array("x", image, at_end=side != "begin", read_only=side == "write")
    for i in [*range(10 * (side != "write")), {"begin": -1, "end": 10, "write": -2}[side]]:
        say(at=i)
        kernel.set_args(array.buffer, np.int32(i))
        cl.enqueue_nd_range_kernel(memory.queue, kernel, (1,), (1,))
        memory.queue.finish()
    say(done=1)


if __name__ == "__main__":
    faulthandler.enable()
    if sys.argv[1] == "guard":
        guard(sys.argv[2])
    else:
        ways = {"opencl": by_opencl, "vulkan": by_vulkan, "cuda": by_fibers}
        ways[sys.argv[4]](int(sys.argv[1]), int(sys.argv[2]), SIZES[sys.argv[3]])
