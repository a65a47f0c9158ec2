"""Baselines of the CUDA harness: compiled by nvcc, and run on the host with a stand-in for the CUB functions they
call."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import missing
from nightly import NIGHTLY, nightly, thinned
from tools import tool

from hsgen.apis import cuda
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.engines import native
from hsgen.engines.harness import Harness, Native
from hsgen.targets import target
from hsgen.tools import bench
from hsgen.tools.bench import measurement
from hsgen.tools.bench.baselines import build
from hsgen.tools.bench.candidates import fill, wipe

FAKE = Path(__file__).with_name("fake_cub")
SOURCES = cuda.API.file("harness")
HEADERS = (
    "device_radix_sort",
    "device_segmented_sort",
    "device_segmented_radix_sort",
    "device_merge",
    "device_merge_sort",
    "device_reduce",
    "device_run_length_encode",
)
WAYS = [
    ("auto", "cub"),
    ("auto", "cub-fields"),
    ("auto", "cub-merge"),
    ("segmented_sort", "cub"),
    ("segmented_sort", "cub-radix"),
    ("merge_path", "cub"),
]


def options(algorithm: str, baseline: str, key: str, value: str) -> tuple[list[str], list[str]]:
    """The one file of a baseline, and its compile options."""
    harness = cuda.API.harness
    assert harness is not None
    return native.baseline_units(harness, [baseline], [algorithm]), native.baseline_options(
        harness, [baseline], key, Signature(value=value)
    )


FORMS = [("u32", "none"), ("u32", "v4"), ("u64", "v8"), ("u32", "v16")]
REDUCED = [
    (key, value, algorithm, "cub")
    for algorithm in ("reduce_by_key", "group_by")
    for key, value in (("u32", "v4"), ("u32", "none"), ("u64", "v4"))
]
PLAYED = [*thinned([(*signature, *way) for signature in FORMS for way in WAYS], 3), *REDUCED]
COMPILED = [
    (*signature, *way) if (signature is FORMS[0]) == (way in (WAYS[0], WAYS[2], WAYS[5])) else nightly(*signature, *way)
    for signature in (FORMS[0], FORMS[2])
    for way in WAYS
]
COMPILED += [REDUCED[0], REDUCED[3], *(nightly(*REDUCED[i]) for i in (1, 4))]
COMPILED += [nightly("u64", "none", algorithm, "cub") for algorithm in ("reduce_by_key", "group_by")]
"""In the fast run both lists contain each variant; each is compiled once."""


@pytest.mark.parametrize(("key", "value", "algorithm", "baseline"), COMPILED)
def test_a_baseline_compiles(tmp_path: Path, key: str, value: str, algorithm: str, baseline: str) -> None:
    """Fast run: to PTX, which checks all of a file.  Nightly: to objects."""
    nvcc = tool("nvcc")
    (unit,), words = options(algorithm, baseline, key, value)
    warnings = ["-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings"]
    made = ["-c" if NIGHTLY else "-ptx", f"-I{native.HARNESS}", SOURCES / unit, "-o", tmp_path / "o"]
    command = [nvcc, "-std=c++17", "-arch=sm_90", *warnings, *words, *made]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def played(folder: Path, algorithm: str, baseline: str, key: str, value: str) -> Native:
    """An engine whose library contains the baseline, with stand-ins for CUB and CUDA's runtime on the host."""
    try:
        compiler = build.compiler("baseline.cpp")
    except Unavailable as e:
        missing(str(e))
    (folder / "cub/device").mkdir(parents=True)
    (folder / "cuda/std").mkdir(parents=True)
    (folder / "cuda/std/tuple").write_text('#include "cub.hpp"\n')
    for name in HEADERS:
        (folder / f"cub/device/{name}.cuh").write_text('#include "cub.hpp"\n')
    (folder / "cuda_runtime_api.h").write_text('#include "cuda_runtime.h"\n')
    (unit,), words = options(algorithm, baseline, key, value)
    includes = [f"-I{x}" for x in (folder, FAKE, SOURCES, native.HARNESS)]
    sources = ["-x", "c++", str(SOURCES / unit), str(FAKE / "harness.cpp")]
    out = folder / "baseline.so"
    done = subprocess.run(
        [*compiler, "-O1", "-Wall", "-Wextra", "-shared", "-fPIC", *words, *includes, *sources, "-o", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr[-2000:]
    sort = target.find("nvidia-sm90").sort(algorithm, key, Signature(value=value))
    return Native(Harness(out), "cuda", sort, 0, "")


@pytest.mark.parametrize(("key", "value", "algorithm", "baseline"), PLAYED)
def test_a_baseline_gets_its_input(tmp_path: Path, key: str, value: str, algorithm: str, baseline: str) -> None:
    engine = played(tmp_path, algorithm, baseline, key, value)
    rng = np.random.default_rng(1)
    for n, parts, rows, kind in [
        (1, 1, False, "random"),
        (1000, 37, False, "few-distinct"),
        (4096, 64, True, "random"),
    ]:
        how = Options(segment_count=parts, rows=rows) if algorithm == "segmented_sort" else Options()
        work = bench.load(engine.sort, n, how, rng, kind)
        fill(engine, work)
        run = measurement._baseline(baseline, engine, work, measurement.ExitStack())
        measurement._check([(run, work)], {engine: work}, lambda: None)
        assert run.device() == 0.25
        if work.values is not None:
            wipe(engine, work)
            with pytest.raises(Wrong, match=rf"^{baseline}: the values of \d+ keys came back wrong"):
                measurement._check([(replace(run, sort=spoiled(engine, run.sort)), work)], {engine: work}, lambda: None)


def spoiled(engine: Native, sort: object) -> object:
    """A sort that leaves one value wrong."""

    def call() -> None:
        sort()  # type: ignore[operator]
        word = np.empty(1, np.uint32)
        engine.read(3, word)
        engine.write(3, word ^ np.uint32(1))

    return call


def test_a_baseline_of_other_keys_or_less_room_is_refused(tmp_path: Path) -> None:
    engine = played(tmp_path, "segmented_sort", "cub", "u32", "none")
    work = bench.load(engine.sort, 100, Options(segment_count=5), np.random.default_rng(1))
    fill(engine, work)
    for size, n, value, parts, line in [
        (8, 100, 0, 5, "this baseline was compiled for keys or values of another size"),
        (4, 100, 4, 5, "this baseline was compiled for keys or values of another size"),
        (4, 101, 0, 5, "a buffer holds fewer keys or values"),
        (4, 100, 0, 6, "there are fewer offsets than segments and one"),
    ]:
        with pytest.raises(Wrong, match=f"^{line}$"):
            engine.baseline("cub", size, n, value, parts)
    with pytest.raises(Wrong, match=r"^no such baseline; of segmented sorts the CUDA harness knows cub and cub-radix"):
        engine.baseline("cub-radix", 4, 100, 0, 5)
    engine.sort = target.find("nvidia-sm90").sort("merge_path", "u32")
    with pytest.raises(Unavailable, match=r"^baseline cub: requires CUDA; add --api cuda$"):
        engine.baseline("cub", 4, 100, 0, 50)
