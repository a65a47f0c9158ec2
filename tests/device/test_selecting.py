"""Selections on devices: OpenCL with Intel's runtime and PoCL, Vulkan on lavapipe, the command line, the Python API.

Small shapes, of which a work-group holds 64 keys and rows of more than 300 keys are shared: rows and k of every size,
with ties, all types of keys, both orders, all values, between guard bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import operation_guide
import pytest
from every import direct, faulty
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lavapipe import Lavapipe, lavapipe, validated
from nightly import NIGHTLY, nightly, sampled, thinned
from oclgrind import grind
from planted import Planted, all_caught
from selection_cases import narrowed
from selections import sort_of
from tools import OPENCL, need

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct
from hsgen.opencl import TopK
from hsgen.operations.inputs import KINDS
from hsgen.system import toolchain
from hsgen.tools.validate import validation

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")
__all__ = ["lavapipe"]  # a fixture
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/guides/top-k.md"
COUNTS = (0, 1, 2, 63, 64, 65, 127, 128, 129, 299, 300, 301, 601, 1000, 1999, 2000, 4096, 4500, 4801, 4999, 5003)


MUTANTS = {
    "equal keys by the last index": ("second < first", "second > first"),
    "every other direction": ("== ((i & size) == 0)", "== ((i & size) != 0)"),
    "a network without its last step": ("far > 0; far /= 2", "far > 1; far /= 2"),
    "an equal key too few": ("equal && same < need", "equal && same + 1 < need"),
    "no equal keys": ("lesser || (equal && same < need)", "lesser"),
    "the last key of a row": (" < length ? begin + 64 : length", " < length ? begin + 64 : length - 1"),
    "the counts of the tiles before": ("before + sums[hs_local_id()] - count", "sums[hs_local_id()] - count"),
    "the result of the first row": ("to_base = row * hs_take()", "to_base = row * 0"),
    "the first row": ("base = row * length;", "base = 0;"),
    "the bound of another lane": ("if (rank == take) bounds[block]", "if (rank + 1 == take) bounds[block]"),
    "a pair of a chunk too few": ("if (!hs_pair_less(bound, pair))", "if (hs_pair_less(pair, bound))"),
    "a key of a whole row too few": ("int count = length;", "int count = length - 1;"),
    "the rank of the pair before": (
        "hs_pair_less(candidates[i], mine) ? 1 : 0",
        "hs_pair_less(mine, candidates[i]) ? 1 : 0",
    ),
    "less for more": ("hs_less(key, low) ? 1u : hs_less(low, key)", "hs_less(low, key) ? 1u : hs_less(key, low)"),
    "a tile twice": ("group * each < tiles ? group * each", "group * each < tiles ? group * (each - 1)"),
    "the values of the row before": ("hs_index(hs_to_int(index[j]))", "hs_index(hs_to_int(index[j > 0 ? j - 1 : 0]))"),
}
"""Faults planted in the text of the kernels: a text and its replacement."""
BIN_MUTANTS = {
    "the last key of a bin": ("bin_begin + hs_to_int(slot[j] & 0xffu)", "bin_begin + hs_to_int(slot[j] & 0xffu) - 1"),
    "a bin of selected keys too few": ("if (bin_begin < take) {", "if (bin_begin + 1 < take) {"),
    "equal keys by the last index": ("index[i] < hs_to_u32(", "index[i] > hs_to_u32("),
    "the rank in the bin": ("rank = bin_begin;", "rank = 0;"),
    "a fine bin without its bin": ("hs_u32 fine = hs_to_u32(bin_begin) + ", "hs_u32 fine = "),
    "a key too many": ("if (slot[j] < hs_to_u32(take)) {", "if (slot[j] < hs_to_u32(take - 1)) {"),
    "bins by higher bits": ("low_bits > 0 ? word << (32 - low_bits)", "low_bits > 0 ? ~word << (32 - low_bits)"),
}
"""The same, in kernels that sort by bins."""
NUMBERS = ("row_lengths", "row_starts", "row_takes", "row_count", "value_starts")
ROW_MUTANTS = {
    "the length of the row before": ("lengths[row] <", "lengths[row > 0 ? row - 1 : 0] <"),
    "no length": ("most < length ? most : length", "most"),
    "the start of the first row": ("base = hs_to_int(starts[row])", "base = hs_to_int(starts[0])"),
    "the k of the row before": ("most = takes[row] <", "most = takes[row > 0 ? row - 1 : 0] <"),
    "a rest that begins late": ("for (int i = kept + ", "for (int i = 1 + kept + "),
    "another rest": ("values_out[to_base + i] = HS_NO_VALUE;", "values_out[to_base + i] = 0u;"),
    "a row beyond the number": ("hs_to_int(row_count[0])", "hs_to_int(row_count[0] + 1u)"),
    "a row too few": ("hs_to_int(row_count[0])", "hs_to_int(row_count[0] / 2u)"),
    "the values of the keys": ("values_in[value_base + ", "values_in[base + "),
    "the values of the first row": ("hs_to_int(value_starts[row])", "hs_to_int(value_starts[0])"),
}
"""The same, in kernels that read numbers of rows."""


def engine(host: Host, key: str, value: str = "none", features: tuple[str, ...] = (), **values: Any) -> Direct:
    """A small selection, compiled."""
    return direct(host, sort_of(key, value, features, **values))


def check(made: Direct, counts: tuple[int, ...] = COUNTS, seed: int = 1) -> None:
    kinds = list(KINDS)
    pairs = [(n, kinds[(i + j) % len(kinds)]) for i, n in enumerate(counts) for j in range(0, len(kinds), 2)]
    report = validation.run(made, pairs, seed, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


def ways() -> Iterator[Any]:
    """Every key width with every kind of values on two devices, and shapes in turn."""
    shapes: tuple[dict[str, Any], ...] = (
        {},
        {"bits": 3},
        {"work_group": 8, "items": 8, "groups": 3},
        {"bits": 8, "items": 1},
        {"bin_sort": True, "crowd": 4},
        {"bin_sort": True, "bits": 6, "work_group": 16, "items": 4},
    )
    for i, key in enumerate(KEYS):
        for j, value in enumerate(("none", "v4", "v16", "index", "index64")):
            for host in ("embedded", "pocl"):
                shape = shapes[(i + j) % len(shapes)]
                if host == "pocl" and "bin_sort" in shape:  # PoCL takes all lanes to have keys if the first one has
                    continue
                yield pytest.param(key, value, shape, host, id=f"{key}-{value}-{host}")


@pytest.mark.parametrize(("key", "value", "values", "host"), thinned(ways(), 8))
def test_selections(host: str, key: str, value: str, values: dict[str, Any], request: pytest.FixtureRequest) -> None:
    check(engine(request.getfixturevalue(host), key, value, **values))


@pytest.mark.parametrize(
    ("key", "value", "features"),
    [
        ("u32", "v4", NUMBERS),
        nightly("u32", "index", ("row_takes",)),
        nightly("u64", "v8", ("row_lengths",)),
        nightly("u8", "index64", ("row_lengths", "row_takes")),
        nightly("u16", "none", ("row_lengths", "row_starts", "row_takes", "row_count")),
        nightly("u32", "index", ("row_count",)),
        nightly("u64", "v16", ("value_starts",)),
        nightly("u32", "v16", NUMBERS),
    ],
)
def test_numbers_of_rows(embedded: Host, key: str, value: str, features: tuple[str, ...]) -> None:
    """Lengths, starts and k of each row, a number of rows, and starts of values; 0 and beyond the greatest."""
    check(engine(embedded, key, value, features), COUNTS[::3])


@pytest.mark.nightly
def test_numbers_of_rows_by_bins(embedded: Host) -> None:
    shape = {"bin_sort": True, "bits": 6, "work_group": 16, "items": 4}
    check(engine(embedded, "u32", "v4", NUMBERS, **shape))


def test_a_wrong_selection_is_caught(embedded: Host) -> None:
    """Expecting all to be sorted what is in the order of the row, and the other way round."""
    for capacity in (32, 128):
        made = engine(embedded, "u32")
        expecting = engine(embedded, "u32", capacity=capacity, work_group=16)
        made.sort = replace(made.sort, parts=expecting.sort.parts)
        report = validation.run(made, [(n, "random") for n in (100, 120, 250) * 8], 1)
        assert report.failed and "should be" in report.failures[0]


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    """Parameters of selections: a work-group holds at least two keys for each lane."""
    lanes = draw(st.integers(2, 6))
    return {
        "work_group": 1 << lanes,
        "items": draw(st.integers(1, 9)),
        "capacity": 1 << draw(st.integers(lanes + 1, 9)),
        "bits": draw(st.integers(2, 9)),
        "groups": draw(st.integers(1, 9)),
        "row_limit": draw(st.integers(1, 900)),
    }


@settings(max_examples=40 if NIGHTLY else 5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from([*KEYS]), value=st.sampled_from(["none", "v8", "index"]), shape=shapes(), data=st.data())
def test_shapes(embedded: Host, key: str, value: str, shape: dict[str, Any], data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 3000), min_size=2, max_size=2), label="counts")
    check(engine(embedded, key, value, **shape), (*counts, shape["capacity"] + 1))


PLAIN, ROWS, BINS = (sampled(x.items(), step) for x, step in ((MUTANTS, 9), (ROW_MUTANTS, 12), (BIN_MUTANTS, 12)))


def planted(host: Host) -> Iterator[Planted]:
    for name, fault in PLAIN:
        yield name, partial(faulty, host, sort_of("u32", "index"), fault)
    for name, fault in ROWS:
        yield name, partial(faulty, host, sort_of("u32", "v4", NUMBERS), fault)
    for name, fault in BINS:
        yield name, partial(faulty, host, sort_of("u32", "index", bin_sort=True, bits=6, work_group=16, items=4), fault)


def test_planted_faults_are_caught(embedded: Host) -> None:
    all_caught(__name__, embedded, len(PLAIN) + len(ROWS) + len(BINS))


@pytest.mark.parametrize(("key", "value"), [("u32", "index"), nightly("u64", "v8"), nightly("u8", "none")])
def test_oclgrind_reports_nothing(key: str, value: str) -> None:
    done = grind(key, value, script="grind_selecting.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "selected Oclgrind" in done.stdout and done.stderr.strip() == ""


@pytest.mark.parametrize("key", [nightly("u32"), nightly("u8"), nightly("f32"), nightly("u64")])
def test_the_command_line_validates_selections(embedded: Host, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    need(OPENCL)
    more = ["--device", "Intel(R) OpenCL", "--key", key, "--value", "index", "--json", "--runtime", "c"]
    assert main(["validate", "-t", "cpu", "--algorithm", "radix_select", *more]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "radix_select" and row["failures"] == 0 and row["cases"] >= 4000


@pytest.mark.parametrize(("lanes", "key"), [nightly(8, "u32"), nightly(4, "u64"), nightly(16, "f32")])
def test_vulkan_selects(
    lavapipe: Lavapipe, lanes: int, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lavapipe(lanes)
    chosen = ["-t", narrowed(lanes, tmp_path), "--key", key, "--value", "index", "--algorithm", "radix_select"]
    code, rows, err = validated(capsys, *chosen, "--option=validation=1")
    assert code == 0 and [(r["failures"], r["cases"] > 4000) for r in rows] == [(0, True)], err


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_the_python_api(queue: Any, order: str) -> None:
    select = TopK(queue.context, np.float32, value="index", order=order)
    host = np.random.default_rng(1).integers(-50, 50, (7, 3000)).astype(np.float32)
    keys = array.to_device(queue, host.reshape(-1))
    for k in (1, 10, 3000):
        best, places = array.empty(queue, 7 * k, np.float32), array.empty(queue, 7 * k, np.uint32)
        select(queue, keys, k, rows=7, out=best, values_out=places)
        order_of = np.argsort(host if order == "ascending" else -host, axis=1, kind="stable")[:, :k]
        assert np.array_equal(places.get().reshape(7, k), order_of)
        assert np.array_equal(best.get().reshape(7, k), np.take_along_axis(host, order_of, axis=1))
    assert np.array_equal(keys.get(), host.reshape(-1)) and select.sorted_up_to >= 3000
    assert "operation" not in repr(select) and "top_k" in repr(select)


def test_the_python_api_takes_numbers_of_rows(queue: Any) -> None:
    """A page table for each request: both rows of a request share its table, and the last row is not live."""
    select = TopK(
        queue.context, "f32", value="u32", lengths=True, starts=True, takes=True, row_count=True, value_starts=True
    )
    scores = np.array([0.5, 2, 1, 9, 3, 7, 7, 8], np.float32)
    pages = np.arange(100, 110, dtype=np.uint32)

    def words(*numbers: int) -> Any:
        return array.to_device(queue, np.array(numbers, np.uint32))

    best, places = array.zeros(queue, 8, np.float32), array.zeros(queue, 8, np.uint32)
    numbers = {
        "lengths": words(3, 4, 4, 4),
        "starts": words(0, 3, 4, 0),
        "takes": words(2, 1, 9, 2),
        "value_starts": words(0, 6, 6, 0),
    }
    pages_in = array.to_device(queue, pages)
    select(
        queue,
        array.to_device(queue, scores),
        2,
        rows=4,
        n=16,
        out=best,
        values=pages_in,
        values_out=places,
        count=words(3),
        **numbers,
    )
    last = np.array([0xFFFFFFFF], np.uint32).view(np.float32)[0]  # the last key in descending order: -NaN
    assert np.array_equal(best.get(), np.array([2, 1, 9, last, 8, 7, 0, 0], np.float32), equal_nan=True)
    assert places.get().tolist() == [101, 102, 106, 0xFFFFFFFF, 109, 107, 0, 0]
    del numbers["takes"]
    with pytest.raises(ValueError, match=r"^takes is missing: this selection has takes=True$"):
        select(queue, best, 2, rows=4, out=best, values=pages_in, values_out=places, count=words(3), **numbers)
    with pytest.raises(ValueError, match=r"^count is given; make the selection with row_count=True$"):
        TopK(queue.context, "f32")(queue, best, 2, out=best, count=words(3))
    with pytest.raises(TypeError, match=r"^length: no such argument; give lengths, starts, takes, count, "):
        TopK(queue.context, "f32")(queue, best, 2, out=best, length=words(3))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^count: no such argument; give lengths, starts, takes, row_count, "):
        TopK(queue.context, "f32", count=True)  # type: ignore[call-arg]


def test_what_the_python_api_refuses(queue: Any) -> None:
    select = TopK(queue.context, "u32", value=np.float32)
    keys, out = array.zeros(queue, 10, np.uint32), array.zeros(queue, 4, np.uint32)
    values, more = array.zeros(queue, 10, np.float32), array.zeros(queue, 4, np.float32)
    for k, rows, line in (
        (3, 3, "^rows 3: 10 keys cannot be divided into that number of equal rows$"),
        (3, 0, "^rows 0: 10 keys cannot be divided"),
        (0, 1, "^k 0: give 1 to 10, the length of a row$"),
        (6, 2, "^k 6: give 1 to 5, the length of a row$"),
    ):
        with pytest.raises((Usage, ValueError), match=line):
            room = array.zeros(queue, 20, np.uint32), array.zeros(queue, 20, np.float32)
            select(queue, keys, k, rows=rows, out=room[0], values=values, values_out=room[1])
    with pytest.raises(ValueError, match="out holds 4 keys, 6 are to be selected"):
        select(queue, keys, 3, rows=2, out=out, values=values, values_out=array.zeros(queue, 20, np.float32))
    with pytest.raises(ValueError, match="values is missing"):
        select(queue, keys, 2, rows=2, out=out, values_out=more)
    with pytest.raises(ValueError, match="overlap"):
        select(queue, keys, 2, out=keys[:4], values=values, values_out=more)
    with pytest.raises(ValueError, match="values is given"):
        TopK(queue.context, "u32")(queue, keys, 2, out=out, values=values)


def test_the_document_says_what_happens(embedded: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "the first 64 of each" in operation_guide.check(DOCUMENT, tmp_path, capsys)
