"""docs/reference/semantics.md is correct: its examples run on the embedded device, and its tables are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shipped import sampled

from hsgen.cli import group
from hsgen.core.errors import Usage
from hsgen.core.keys import FEATURES, KEYS, ORDERS, TYPES, VALUES, Signature
from hsgen.engines.hosts import Host
from hsgen.system import toolchain
from hsgen.targets import target

WIDE = ("nvidia-sm90", "nvidia-hopper", "nvidia-blackwell", "nvidia-ada", "nvidia-blackwell-rtx")
"""Targets with sorts of 2^30 keys and more."""

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/reference/semantics.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S)


@pytest.mark.device
def test_examples_run(embedded: Host) -> None:
    """In the order of the page; all except the first assert their results."""
    cl = toolchain.pyopencl()
    import pyopencl.array as cl_array

    context = cl.Context([embedded.handle])
    names: dict[str, Any] = {"np": np, "cl_array": cl_array, "queue": cl.CommandQueue(context)}
    assert len(EXAMPLES) == 11 and all("assert " in text for text in EXAMPLES[1:])
    for number, text in enumerate(EXAMPLES):
        exec(compile(text, f"example {number} of docs/reference/semantics.md", "exec"), names)


@pytest.mark.device
def test_the_example_of_the_python_api_runs(embedded: Host) -> None:
    cl = toolchain.pyopencl()
    import pyopencl.array as cl_array

    from hsgen.opencl import Sorter

    text = (ROOT / "docs/guides/python.md").read_text(encoding="utf-8")
    (source,) = (x for x in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if "def example" in x)
    names: dict[str, Any] = {"Sorter": Sorter}
    exec(source, names)
    context = cl.Context([embedded.handle])
    queue, rng = cl.CommandQueue(context), np.random.default_rng(1)
    scores, ids = rng.standard_normal(500).astype(np.float32), rng.integers(0, 2**32, 500, np.uint32)
    given = [cl_array.to_device(queue, x) for x in (scores, ids, np.array([400], np.uint32))]
    places = np.argsort(-scores, kind="stable").astype(np.uint32)
    order = np.argsort(ids[:400] >> np.uint32(16), kind="stable")
    assert np.array_equal(names["example"](queue, *given).get(), np.concatenate([places[:400][order], places[400:]]))
    assert np.array_equal(given[1].get(), np.concatenate([ids[:400][order], ids[400:]]))


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)
    assert found, f"no section {title}"
    return found[1]


def test_every_type_and_value_is_named() -> None:
    first = [row.split("|")[1] for row in section("Keys and their order").splitlines() if row.startswith("| `")]
    assert re.findall(r"`(\w+)`", " ".join(first)) == list(TYPES)
    first = [row.split("|")[1] for row in section("Values").splitlines() if row.startswith("| `")]
    assert re.findall(r"`(\w+)`", " ".join(first)) == list(VALUES)


def test_words_are_those_of_the_command_line_and_of_c() -> None:
    options = {o: p for p in group.commands["generate"].params for o in p.opts}
    rows = [row.split("|")[1:-1] for row in TEXT.split("The examples are")[0].splitlines() if row.startswith("| ")]
    shown = dict(re.findall(r"(--\w+) ([\w-]+)", " ".join(row[1] for row in rows)))
    assert set(shown) <= set(options) and shown["--key"] in TYPES and shown["--value"] in VALUES
    assert shown["--order"] in ORDERS and {*re.findall(r"--feature ([\w-]+)", TEXT)} == set(FEATURES)
    header = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "templates").glob("*/**/hs*.h"))
    for name in re.findall(r"`(?:options\.)?(HS_\w+|hs_\w+)`", TEXT):
        assert name in header, f"docs/reference/semantics.md: there is no {name} in C"
    for name in re.findall(r"`options\.(\w+)`", TEXT):
        assert re.search(rf"\b{name}\b", header), f"docs/reference/semantics.md: hs_options has no {name}"


def test_greatest_counts_are_as_documented() -> None:
    for name in sampled():
        made = target.find(name)
        for key in KEYS:
            for signature in (
                Signature(),
                Signature(value="v16", key_transform=True),
                Signature(value="index"),
                Signature(value="index64"),
                Signature(device_count=True),
            ):
                try:
                    found = made.default(key, signature).plan.max_n
                except Usage:
                    continue  # a device without buffers of such elements
                far = 1 << 32 if signature.value == "index" else 1 << 40
                wanted = far if name in WIDE and not signature.device_count else (1 << 30) - 1
                assert found == wanted, (name, key, signature)
