"""nvcc compiles every kernel of a CUDA bundle without a warning."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly
from tools import tool

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, VALUES, Signature
from hsgen.targets import target
from hsgen.targets.choices import algorithm

TARGETS = [name for name in target.names() if "cuda" in target.find(name).apis]
WARNINGS = ("-Xcompiler", "-Wall,-Wextra,-Wconversion", "-Werror", "all-warnings")
QUICK = ("-Xcicc", "-O0", "-Xptxas", "-O0")
"""Warnings come from front ends, so optimization is switched off."""

EPILOGUE = """{% set report_words_per_key = 1 %}
{% macro epilogue(i, value, report) %}
{{ report(value()) }} = hs_to_u32({{ i }});
{% endmacro %}
"""

Options = dict[str, tuple[str, ...]]
OPTIONS: dict[str, Options] = {
    "plain": {},
    "key_transform": {"order": ("both",)},
    "range": {"feature": ("bit-range",), "order": ("both",), "value": ("none", "v8")},
    "count": {"feature": ("device-count",), "value": ("v4",)},
    "values": {"value": tuple(v for v in VALUES if v != "packed")},
    "packed": {"value": ("packed",), "order": ("both",)},
    "whole": {"feature": ("bit-range", "device-count"), "order": ("both",), "value": ("v16", "index", "index64")},
    "pairs": {"feature": ("bit-range", "device-count"), "order": ("both",), "value": ("v4",)},
    "changes": {"feature": ("run-boundaries",), "order": ("both",), "value": ("none", "index")},
    "epilogue": {"epilogue": ("epilogue.j2",), "value": ("index",)},
}
FAST = [("nvidia-hopper", "u32", "pairs"), ("generic", "u8", "key_transform")]


def signature(options: Options, value: str) -> Signature:
    features = options.get("feature", ())
    return Signature(
        value=value,
        key_transform="order" in options,
        bit_range="bit-range" in features,
        device_count="device-count" in features,
        run_boundaries="run-boundaries" in features,
        epilogue=EPILOGUE if "epilogue" in options else "",
    )


def serves(name: str, label: str, key: str, wanted: Signature) -> bool:
    try:
        target.find(name).sort(label, key, wanted)
    except Usage:
        return False
    return True


def labels(name: str, key: str, options: Options) -> list[str]:
    """The algorithms of a target that support these options; scans for plain keys only."""
    found = target.find(name)
    every = [label for label in (*found.labels(key), *found.implicit(key)) if not options or algorithm(label) != "scan"]
    values = options.get("value", ("none",))
    return [label for label in every if all(serves(name, label, key, signature(options, v)) for v in values)]


def cases() -> list[Any]:
    """Fast run: a few.  Nightly: every target and width with all options that it supports."""
    rest = [(n, k, o) for n in TARGETS for k in KEYS for o in OPTIONS if (n, k, o) not in FAST]
    return [*FAST, *(nightly(*x) for x in rest if x[2] != "packed" or x[1] == "u32")]


@pytest.mark.parametrize(("name", "key", "what"), cases())
def test_kernels_compile_without_a_warning(name: str, key: str, what: str, tmp_path: Path) -> None:
    nvcc = tool("nvcc")
    options = OPTIONS[what]
    (tmp_path / "epilogue.j2").write_text(EPILOGUE, encoding="utf-8")
    named = [("algorithm", label) for label in labels(name, key, options)]
    if not named:
        pytest.skip(f"{name} supports no {key} keys with these options")
    named += [(word, str(tmp_path / v) if word == "epilogue" else v) for word, vs in options.items() for v in vs]
    more = [x for word, value in named for x in (f"--{word}", value)]
    bundle = tmp_path / "bundle"
    assert main(["generate", "-t", name, "--api", "cuda", "--key", key, *more, "-o", str(bundle)]) == 0
    source = bundle / "targets" / name / f"{name}_cuda.cu"
    command = [nvcc, "-std=c++14", *WARNINGS, *QUICK, "-arch=sm_90", "-I", bundle / "include", "-c", source]
    done = subprocess.run([*command, "-o", tmp_path / "made.o"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    """Otherwise the test above proves nothing."""
    nvcc = tool("nvcc")
    source = tmp_path / "kernel.cu"
    source.write_text("__global__ void kernel(int *keys) { int unused = keys[0]; keys[1] = 2; }\n", encoding="utf-8")
    command = [nvcc, "-std=c++14", *WARNINGS, *QUICK, "-arch=sm_90", "-c", source, "-o", tmp_path / "made.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "unused" in done.stderr
