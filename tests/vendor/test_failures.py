"""Wrong calls, and an OpenCL that fails at any moment: the right status each time, under the sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest
from building import (
    COMPILERS,
    CONSUMERS,
    SMALL,
    WARNINGS,
    bundle,
    compiled,
    core,
    embedded_only,
    opencl,
    program,
    run,
    runtime,
)
from conftest import missing
from sanitizers import SANITIZERS, sanitizes

from hsgen.engines.hosts import Host

DRIVER = "leak:libintelocl\n"
"""The driver keeps some memory; leaks of the runtime are tested with the fake driver."""


def sanitized(name: str, compiler: str, *files: str | Path, options: tuple[str, ...] = ()) -> Path:
    """A consumer with the whole small bundle, built with the sanitizers; `options` are for OpenCL's runtime."""
    opencl()
    if not sanitizes(compiler):
        missing(f"{compiler} has no sanitizers (apt-get install libclang-rt-dev)")
    place = bundle(SMALL)
    command = [compiler, "-std=c99", *WARNINGS, *SANITIZERS, f"-I{place / 'include'}", f"-I{CONSUMERS}"]
    own = compiled(*command, *options, *runtime(place, "opencl"))
    rest = [*core(place), place / "src/hs_targets.c", place / "targets/small/small.c"]
    return program(name, *command, CONSUMERS / f"{name}.c", *own, *rest, *files)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_call_may_fail(compiler: str) -> None:
    path = sanitized("failures", compiler, CONSUMERS / "fake_opencl.c", options=("-Dcalloc=fake_calloc",))
    out = run(path, env={"ASAN_OPTIONS": "detect_leaks=1"})
    assert out.endswith("calls failed in every way, 0 wrong\n")
    assert int(out.split()[0]) > 500


@pytest.mark.device
@pytest.mark.parametrize("name", ["errors", "kinds"])
def test_wrong_calls_get_their_status(embedded: Host, name: str) -> None:
    path = sanitized(name, "gcc", "-lOpenCL")
    suppressed = path.with_name("suppressed")
    suppressed.write_text(DRIVER, encoding="utf-8")
    options = {"ASAN_OPTIONS": "detect_leaks=1", "LSAN_OPTIONS": f"suppressions={suppressed}"}
    out = run(path, env={**embedded_only(), **options})
    assert " statuses and results asked for, 0 wrong\n" in out
