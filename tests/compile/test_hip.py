"""HIP on this machine: the kernels, the runtime and the harness of a bundle, built by a compiler of HIP for the host.

`hip_on_host` has the compiler and its HIP: every lane is a fiber, and lanes of a wavefront exchange values together.
It shows that the runtime makes the calls of HIP that a sort takes, and that the kernels sort with wavefronts of 32 and
of 64 lanes; test_isa_hip.py compiles kernels for AMD's instruction sets.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import NIGHTLY, nightly
from tools import need

from hsgen.cli import main
from hsgen.core.errors import Wrong
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.emit import templates
from hsgen.engines import native
from hsgen.engines.engine import Engine
from hsgen.engines.harness import Harness, Native
from hsgen.system import resources
from hsgen.targets import target
from hsgen.targets.target import Target
from hsgen.tools.validate import validation

HERE = Path(__file__).with_name("hip_on_host")
ALL = {"key_transform": True, "bit_range": True, "device_count": True}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program hipcc, which is the first on the path, and caches of its own."""
    need("cc")
    (tmp_path / "hipcc").write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "hipcc.py"} "$@"\n')
    (tmp_path / "hipcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def waves(folder: Path, lanes: int) -> Target:
    """The target of the folder `hip_on_host`, with wavefronts of `lanes` lanes."""
    text = (HERE / "waves.toml").read_text(encoding="utf-8").replace("subgroups = [64]", f"subgroups = [{lanes}]")
    (folder / "waves.toml").write_text(text.replace("subgroup = 64", f"subgroup = {lanes}"), encoding="utf-8")
    return target.find(str(folder / "waves.toml"))


def opened(found: Target, label: str, key: str, signature: Signature, options: str = "") -> tuple[Native, Sort]:
    """A sort on the host, by the runtime and the harness that hsgen builds with hipcc."""
    sort = found.sort(label, key, signature)
    names = [sort.algorithm]
    library = native.library("hip", [found], key, algorithms=names, signature=signature)
    harness = Harness(library)
    (device,) = harness.hosts("hip")
    assert device.vendor == 0x1002 and device.local_bytes == 65536 and device.widths is not None
    return Native(harness, "hip", sort, device.handle, options), sort


def checked(engine: Engine, sort: Sort, counts: int) -> validation.Report:
    """Run some of the cases of a validation with up to 1500 keys, in and out of place."""
    pairs = [pair for pair in validation.plan_cases(sort, full=False, seed=1) if pair[0] <= 1500]
    some = [*pairs[:: -(-len(pairs) // (counts - 1))], max(pairs)]
    made = validation.run(engine, some, 1)
    assert made.cases == 2 * len(some) > counts
    return made


CASES = [
    (64, "radix", "u32", PLAIN),
]
MORE = [
    (64, "pack", "u64", PLAIN),
    (64, "auto", "u32", PLAIN),
    (32, "auto", "u32", Signature(value="v4", **ALL)),
    (32, "auto", "u32", PLAIN),
    (64, "radix", "u32", Signature(value="index", **ALL)),
    (64, "radix", "u64", Signature(value="v16", **ALL)),
    (32, "radix", "u64", PLAIN),
    (64, "bitonic", "u32", Signature(run_boundaries=True)),
    (64, "segmented_sort", "u32", PLAIN),
    (64, "merge_path", "u32", Signature(value="v4")),
    (64, "digest", "u32", PLAIN),
]


@pytest.mark.parametrize(("lanes", "label", "key", "signature"), [*CASES, *(nightly(*case) for case in MORE)])
def test_sorts(
    lanes: int, label: str, key: str, signature: Signature, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_WARP", str(lanes))
    engine, sort = opened(waves(host, lanes), label, key, signature)
    found = checked(engine, sort, 300 if NIGHTLY else 20)
    engine.close()
    assert not found.failures, found.failures


def test_wavefronts_that_are_too_narrow_are_refused(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the runtime: a device with 32 lanes does not run kernels of 64."""
    monkeypatch.setenv("HOST_WARP", "32")
    with pytest.raises(Wrong, match="hs_hip_create: status"):
        opened(waves(host, 64), "radix", "u32", PLAIN)


@pytest.mark.nightly
def test_a_wrong_kernel_is_found(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proves that the check above can fail; a shuffle decides on values only, so that nothing is stored elsewhere."""
    text = (resources.templates() / "dialects/hip/dialect.j2").read_text(encoding="utf-8")
    assert text.count("__shfl_xor(a, mask)") == 1
    shutil.copytree(resources.templates(), host / "templates")
    wrong = text.replace("__shfl_xor(a, mask)", "__shfl_xor(a, (mask) & 31)")
    (host / "templates/dialects/hip/dialect.j2").write_text(wrong, encoding="utf-8")
    monkeypatch.setattr(resources, "templates", lambda: host / "templates")
    templates.environment.cache_clear()
    try:
        engine, sort = opened(waves(host, 64), "bitonic", "u32", PLAIN)
        assert checked(engine, sort, 8).failed
    finally:
        templates.environment.cache_clear()


def test_the_example_sorts(host: Path) -> None:
    """A whole program: match, create, digest, sort, compare."""
    bundle = host / "bundle"
    arguments = ["generate", "-t", str(HERE / "waves.toml"), "--api", "hip", "--key", "u32", "-o", str(bundle)]
    assert main(arguments) == 0
    example = bundle / "examples/sort_hip.hip"
    example.write_text(example.read_text(encoding="utf-8").replace("COUNT = 100003", "COUNT = 5003"), encoding="utf-8")
    listed = (bundle / "sources/hip.txt").read_text(encoding="utf-8").split()
    command = [
        str(host / "hipcc"),
        "-x",
        "hip",
        "-Iinclude",
        "examples/sort_hip.hip",
        *listed,
        "-o",
        str(host / "sort"),
    ]
    done = subprocess.run(command, cwd=bundle, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(host / "sort")], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "5003 keys sorted" in done.stdout, done.stdout + done.stderr
