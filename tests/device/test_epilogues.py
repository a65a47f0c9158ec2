"""Epilogues on the embedded device: each kind in docs/guides/epilogue.md, compared with numpy, between guard words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nightly import nightly
from sorters import SMALL

from hsgen.cli import main
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import context_for
from hsgen.opencl import Sorter
from hsgen.system import toolchain

pytestmark = pytest.mark.device
PAGE = (Path(__file__).parents[2] / "docs/guides/epilogue.md").read_text(encoding="utf-8")
CELLS = re.findall(r"```jinja\n(.*?)```", PAGE, re.S)[0]
COUNTS = (0, 1, 2, 2047, 2048, 2049, 4096, 4097, 33001, 140_000)
GUARD = 0xDEADBEEF
WORDS = """
{% set report_words = 3 %}
{% set report_words_per_key = 4 %}
{% macro epilogue(i, n, key, value, report) %}
for (int w = 0; w < 1; w++) hs_atomic_add({{ report("w") }}, hs_key_bits({{ key }}, 0));
hs_atomic_add({{ report(1) }}, hs_key_bits({{ key }}, 32));
if ({{ i }} == {{ n }} - 1) {{ report(2) }} = hs_to_u32({{ n }});
{% for w in range(4) %}
{{ report("3 + %s * 4 + %d" | format(i, w)) }} = {{ value(w) }};
{% endfor %}
{% endmacro %}
"""
TURNED = "{% set changes_keys = true %}{% macro epilogue(key) %}{{ key }} = {{ key }} ^ 0x55u;{% endmacro %}"


def arrays(queue: Any, sorter: Sorter, *given: Any) -> list[Any]:
    import pyopencl.array as cl_array

    return [cl_array.to_device(queue, x) if len(x) else cl_array.zeros(queue, 1, x.dtype) for x in given]


@pytest.fixture
def queue(embedded: Host) -> Iterator[Any]:
    context = context_for(embedded)
    yield toolchain.pyopencl().CommandQueue(context)
    del context  # the queue does not keep it


@pytest.mark.parametrize(
    ("key", "name"),
    [
        nightly("u32", "cpu"),
        ("u32", "generic"),
        nightly("u32", "intel-gen8"),
        ("u16", "cpu"),
        nightly("u16", "generic"),
        ("u16", "intel-gen8"),
    ],
)
def test_cells_begin_where_the_page_says(queue: Any, key: str, name: str) -> None:
    sorter = Sorter(queue.context, key, target=name, epilogue=CELLS)
    rng = np.random.default_rng(3)
    for n in COUNTS:
        for bits in (12, 3, 0):
            shift = 4
            keys = rng.integers(0, 1 << (bits + shift), n, np.uint64).astype(f"u{sorter.dtype.itemsize}")
            given, report = arrays(queue, sorter, keys, np.full(4096 + 16, GUARD, np.uint32))
            sorter(queue, given, n=n, report=report[:4096], shift=shift).wait()
            expected = np.full(4096 + 16, GUARD, np.uint32)
            cells, first = np.unique(np.sort(keys) >> shift, return_index=True)
            expected[cells.astype(np.int64)] = first
            assert (report.get() == expected).all(), (n, bits)
            assert (given.get()[:n] == np.sort(keys)).all()


@pytest.mark.parametrize("name", [nightly("cpu"), "generic"])
def test_words_of_wide_keys_and_values_are_all_there(queue: Any, name: str) -> None:
    sorter = Sorter(queue.context, "i64", target=name, value=16, order="descending", epilogue=WORDS)
    rng = np.random.default_rng(4)
    for n in COUNTS:
        keys = rng.integers(-(2**63), 2**63 - 1, n, np.int64)
        values = rng.integers(0, 2**32, (n, 4), np.uint32)
        report = np.zeros(3 + 4 * n + 16, np.uint32)
        given, rows, told = arrays(queue, sorter, keys, values.view("V16").reshape(-1), report)
        sorter(queue, given, values=rows, n=n, report=told).wait()
        order = np.argsort(~keys, kind="stable")
        if n:
            report[0] = np.add.reduce(keys.view(np.uint64).astype(np.uint32))
            report[1] = np.add.reduce((keys.view(np.uint64) >> np.uint64(32)).astype(np.uint32))
            report[2] = n
        report[3 : 3 + 4 * n] = values[order].reshape(-1)
        assert (told.get() == report).all(), n


@pytest.mark.parametrize(
    ("key", "name"), [("u8", "cpu"), nightly("u8", "generic"), nightly("i32", "cpu"), ("i32", "generic")]
)
def test_keys_can_be_changed_as_they_are_stored(queue: Any, key: str, name: str) -> None:
    import pyopencl.array as cl_array

    sorter = Sorter(queue.context, key, target=name, epilogue=TURNED)
    rng = np.random.default_rng(5)
    for n in COUNTS[1:]:
        keys = rng.integers(np.iinfo(sorter.dtype).min, np.iinfo(sorter.dtype).max, n, sorter.dtype)
        (given,) = arrays(queue, sorter, keys)
        out = cl_array.zeros(queue, n + 16, sorter.dtype)
        sorter(queue, given, out=out, n=n).wait()
        assert (out.get()[:n] == np.sort(keys) ^ 0x55).all() and not out.get()[n:].any(), n
        assert (given.get() == keys).all(), n


def test_calls_that_do_not_fit_are_refused(queue: Any) -> None:
    sorter = Sorter(queue.context, "u32", target="generic", epilogue=CELLS)
    keys, small = arrays(queue, sorter, np.zeros(10, np.uint32), np.zeros(4095, np.uint32))
    with pytest.raises(ValueError, match="report is missing"):
        sorter(queue, keys)
    with pytest.raises(ValueError, match="report"):
        sorter(queue, keys, report=small)
    with pytest.raises(ValueError, match="shift 32"):
        sorter(queue, keys, report=small, shift=32)


@pytest.mark.parametrize(
    ("api", "name"),
    [
        ("opencl", "small"),
        ("metal", "small"),
        nightly("opencl", "generic", id="opencl"),
        nightly("metal", "apple-m1", id="metal"),
    ],
)
def test_validation_checks_the_report_of_an_epilogue(
    api: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Validation passes for an epilogue that stays within its report, and fails for one that writes beyond it.

    The fast run has sorts of small blocks, since a validation tries counts around several multiples of the block.
    """
    if name == "small":
        (tmp_path / "small.toml").write_text(SMALL.replace('["opencl"]', '["opencl", "metal"]'), encoding="utf-8")
        name = str(tmp_path / "small.toml")
    (tmp_path / "good.j2").write_text(CELLS.replace('"cell"', '"cell & 4095u"'), encoding="utf-8")
    (tmp_path / "bad.j2").write_text(CELLS.replace('"cell"', '"(cell & 63u) + 4090u"'), encoding="utf-8")
    command = ["validate", "-t", name, "--api", api, "--key", "u32", "--device", "Intel(R) OpenCL"]
    assert main([*command, "--epilogue", str(tmp_path / "good.j2")]) == 0
    capsys.readouterr()
    assert main([*command, "--epilogue", str(tmp_path / "bad.j2")]) == 1
    assert "of the report" in capsys.readouterr().err


def test_the_page_is_true() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/guides/epilogue.md", "exec"), {})
