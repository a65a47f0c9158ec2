"""Sorts of tables by several columns, and of records, against numpy: random columns, types, orders and shapes.

numpy orders floats by value; here columns are compared by their ordered bits (docs/reference/semantics.md).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_columns import SHAPES, column, order_of

from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, TYPES
from hsgen.opencl import ColumnSorter, Field
from hsgen.runners.packing import packs
from hsgen.system import toolchain

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/columns.md"
EXAMPLES = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def sorter(queue: Any) -> Iterator[Any]:
    """Sorters by their columns, each compiled once."""
    made: dict[tuple[tuple[str, str], ...], ColumnSorter] = {}

    def of(by: tuple[tuple[str, str], ...]) -> ColumnSorter:
        if by not in made:
            made[by] = ColumnSorter(queue.context, by)
        return made[by]

    yield of
    made.clear()


def test_adjacent_columns_share_words() -> None:
    """Whole columns, if as many words suffice; else words cut through columns."""

    def packed(*names: str) -> list[list[tuple[int, int]]]:
        return packs([(name, "ascending") for name in names])

    assert packed("u32") == [[(0, 0)]] and packed("u64", "u64") == [[(0, 0)], [(1, 0)]]
    assert packed("f32", "u16") == [[(0, 16), (1, 0)]] and packed("u32", "u64") == [[(0, 0)], [(1, 0)]]
    assert packed("u8", "u64", "bool") == [[(0, 8), (1, -56)], [(1, 8), (2, 0)]]
    parts = packed("u16", "u32", "u32", "u16", "u32")
    assert parts == [[(0, 48), (1, 16), (2, -16)], [(2, 48), (3, 32), (4, 0)]]


@EXAMPLES
@given(
    by=st.sampled_from(SHAPES),
    n=st.integers(0, 3000),
    sizes=st.lists(st.integers(1, 64), max_size=3),
    place=st.sampled_from(["in place", "out of place", "index", "index and out"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_tables(
    queue: Any, sorter: Any, by: tuple[tuple[str, str], ...], n: int, sizes: list[int], place: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = [column(rng, name, n) for name, _ in by]
    values = [rng.integers(0, 256, (n, size), np.uint8) for size in sizes]
    keys, moving = ([array.to_device(queue, x) for x in some] for some in (columns, values))
    order = array.zeros(queue, n, np.uint32) if "index" in place else None
    out = [array.empty_like(x) for x in keys] if "out" in place else None
    moved = [array.empty_like(x) for x in moving] if place != "in place" else None
    sorter(by)(queue, keys, out, values=moving, values_out=moved, index_out=order).wait()
    right = order_of(columns, by)
    if order is not None:
        assert np.array_equal(order.get(), right)
    results = out if out is not None else keys
    for found, x in zip(results, columns, strict=True):
        assert found.get().tobytes() == (x if place == "index" else x[right]).tobytes()
    for found, x in zip(moved or moving, values, strict=True):
        assert np.array_equal(found.get(), x[right])
    if place != "in place":
        assert all(found.get().tobytes() == x.tobytes() for found, x in zip(keys, columns, strict=True))


@EXAMPLES
@given(words=st.integers(1, 16), by=st.sampled_from(SHAPES[:6]), n=st.integers(1, 2000), data=st.data())
def test_keys_in_records(
    queue: Any, sorter: Any, words: int, by: tuple[tuple[str, str], ...], n: int, data: st.DataObject
) -> None:
    """Of records of 4 to 64 bytes, by fields at any offset, which may overlap."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    words = max(words, *(KEYS[TYPES[name].key].bytes // 4 for name, _ in by), 1)
    records, given = np.zeros((n, 4 * words), np.uint8), []
    for name, _ in by:
        size = KEYS[TYPES[name].key].bytes
        at = data.draw(st.integers(0, 4 * words - size), label="offset")
        records[:, at : at + size] = column(rng, name, n).view(np.uint8).reshape(n, size)
        given.append((at, size, name))
    columns = [records[:, at : at + size].copy().reshape(-1).view(TYPES[name].numpy) for at, size, name in given]
    on_device = array.to_device(queue, records)
    sorter(by)(queue, [Field(on_device, at) for at, _, _ in given], values=[on_device])
    assert np.array_equal(on_device.get(), records[order_of(columns, by)])


def test_what_is_refused(queue: Any, sorter: Any) -> None:
    by = (("u32", "ascending"), ("f32", "descending"))
    a, b = array.zeros(queue, 10, np.uint32), array.zeros(queue, 10, np.float32)
    order = array.zeros(queue, 10, np.uint32)
    made = sorter(by)
    for keys, more, line in (
        ([a], {}, "keys has 1 columns, this sorter has 2"),
        ([a, b[:9]], {}, "columns have 9 and 10 rows"),
        ([b, a], {}, r"keys 0 has shape \(10,\) of float32; give one dimension of uint32"),
        ([a, b], {"values": [array.zeros(queue, 9, np.uint64)]}, "columns have 9 and 10 rows"),
        ([a, b], {"out": [a]}, "out has 1 arrays, keys 2; give one for each"),
        ([a, b], {"out": [order, b], "index_out": order}, "overlap"),
        ([a, b], {"values": [order], "index_out": order}, "overlap"),
        ([a, b], {"index_out": a}, "overlap"),
        ([Field(a, 2), b], {}, "keys 0: offset 2: give 0 to 0; its keys have 4 bytes, its records 4"),
        ([Field(a, item_bytes=2), b], {}, "keys 0 has records of 2 bytes, which hold no key of 4"),
        ([a, b], {"values": [order], "values_out": [order[:9]]}, "values_out 0 has other items than values 0"),
        ([a, b], {"values": [order, order]}, "values 0 and values 1 overlap"),
        ([a, b], {"index_out": b}, r"index_out has shape \(10,\) of float32; give one dimension of uint32 or int32"),
        ([a, b], {"index_out": order.reshape(2, 5)}, r"index_out has shape \(2, 5\) of uint32; give one dimension"),
        ([a, b], {"index_out": order[:9]}, "index_out holds 9 indices, 10 are to be stored"),
        ([a, b], {"values": [array.to_device(queue, np.zeros((10, 3), order="F"))]}, "not in C order"),
    ):
        with pytest.raises(ValueError, match=line):
            made(queue, keys, **more)
    with pytest.raises(TypeError, match="give a pyopencl array"):
        made(queue, [a, np.zeros(10, np.float32)])
    with pytest.raises(Usage, match="by is empty"):
        ColumnSorter(queue.context, [])
    with pytest.raises(Usage, match="order up: unknown"):
        ColumnSorter(queue.context, [("u32", "up")])
    for index in (array.zeros(queue, 10, np.int32), cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 40)):
        made(queue, [a, b], index_out=index).wait()
    assert "('u32', 'ascending')" in repr(made) and made.max_n == 2**30 - 1


def test_an_out_of_order_queue(queue: Any, sorter: Any) -> None:
    """Events order the launches."""
    by = (("u32", "ascending"), ("u64", "descending"))
    other = cl.CommandQueue(queue.context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    rng = np.random.default_rng(1)
    for _ in range(5):
        columns = [rng.integers(0, 4, 5000, np.uint32), rng.integers(0, 4, 5000, np.uint64)]
        keys = [array.to_device(queue, x) for x in columns]
        sorter(by)(other, keys).wait()
        right = order_of(columns, by)
        assert all(np.array_equal(x.get(), y[right]) for x, y in zip(keys, columns, strict=True))


def test_the_document_says_what_happens(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    assert len(program.splitlines()) <= 40
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, tmp_path / "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=DOCUMENT.parents[2], check=False)
    assert done.returncode == 0, done.stderr
