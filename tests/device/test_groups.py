"""Groupings by key on the OpenCL CPU devices: a sort, and a reduction of its runs, in one plan.

Small shapes: tiles have 24 keys, sorts change their algorithm at 600 keys, and tables of few groups have 64 slots and
are tried above 1500 keys.  All arrays lie between guard words.  Faults are planted in the plan.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every import direct
from group_by_faults import LEAST, check, small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import NIGHTLY, nightly, thinned
from planted import all_caught
from sorters import CROSSOVER, SMALL
from tools import OPENCL, need

from hsgen.cli import main
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, TYPES
from hsgen.engines.hosts import Host, hosts
from hsgen.engines.pyopencl import Direct
from hsgen.opencl import GroupBy
from hsgen.operations.group_by import GROUPS
from hsgen.operations.oracle import permutation
from hsgen.operations.reduce_by_key import COUNTS, FIRSTS, REDUCTIONS, VALUE_TYPES, number, reduced, starts
from hsgen.system import toolchain
from hsgen.tools.validate import validation
from hsgen.tools.validate.guarded import Frame

pytestmark = pytest.mark.device
cl = toolchain.pyopencl()
array = pytest.importorskip("pyopencl.array")

AROUND = 128  # elements before and after an array, whose beginning devices require to be aligned
NS = (0, 1, 2, 23, 24, 25, 121, CROSSOVER - 1, CROSSOVER, CROSSOVER + 1, 1023, 1024, LEAST, LEAST + 1, 2001, 5003)
EXAMPLES = settings(
    max_examples=80 if NIGHTLY else 6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@cache
def made(label: str, key: str, value: str) -> Direct:
    """Such a grouping on a device, compiled once."""
    return direct(next(h for h in hosts() if h.label == label), small(key, value))


@pytest.mark.parametrize(
    ("host", "key", "value"),
    [
        *thinned([("embedded", key, value) for key in KEYS for value in ("v4", "none")], 3),
        *thinned([("pocl", key, value) for key in KEYS for value in ("v4", "none")], 5, 4),  # it compiles for seconds
    ],
)
def test_groups_match_numpy(host: str, key: str, value: str, request: pytest.FixtureRequest) -> None:
    """All types and orders, reductions of all types of values, and what is stored take turns."""
    pairs = [(n, kind) for n in NS for kind in GROUPS]
    report = validation.run(made(request.getfixturevalue(host).label, key, value), pairs, 1, stop=1)
    assert not report.failed and report.cases == 2 * len(pairs), report.failures


@EXAMPLES
@given(data=st.data())
def test_any_call_matches_numpy(embedded: Host, pocl: Host, data: st.DataObject) -> None:
    host = data.draw(st.sampled_from([embedded, pocl]), "device")
    key = data.draw(st.sampled_from(["u32", "u64"] if NIGHTLY else ["u32"]), "key")
    engine = made(host.label, key, "v4")
    sort = engine.sort
    kinds = sorted({t.kind for t in TYPES.values() if t.key == sort.key.name})
    reduction = number(*(data.draw(st.sampled_from(x)) for x in (REDUCTIONS, VALUE_TYPES)))
    stored = data.draw(st.sampled_from([0, COUNTS, FIRSTS, COUNTS | FIRSTS]), "stored")
    descending = data.draw(st.booleans(), "descending")
    how = Options(kind=data.draw(st.sampled_from(kinds)), descending=descending, reduction=reduction | stored)
    n = data.draw(st.integers(0, 3000) | st.integers(0, 40000), "n")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), "seed"))
    distinct = rng.integers(0, 1 << 8 * sort.key.bytes, data.draw(st.integers(1, 100) | st.just(n + 1)), np.uint64)
    keys = distinct.astype(f"u{sort.key.bytes}")[rng.integers(0, len(distinct), n)]
    call = validation.call(sort, keys, how, in_place=False, count=None, rng=rng)
    shifts = data.draw(st.tuples(st.integers(0, 15), st.integers(0, 15)), "shifts")
    assert Frame(engine, n).run(call, shifts) is None


@pytest.mark.parametrize(
    ("name", "key"), [("small.toml", "u32"), nightly("cpu", "u32"), nightly("generic", "u32"), nightly("cpu", "u64")]
)
def test_the_c_runtime_groups(
    embedded: Host, tmp_path: Path, name: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    need(OPENCL)
    if name == "small.toml":
        (tmp_path / name).write_text(SMALL, encoding="utf-8")
        name = str(tmp_path / name)
    more = ["--device", "Intel(R) OpenCL", "--key", key, "--value", "v4", "--json", "--runtime", "c"]
    assert main(["validate", "-t", name, "--algorithm", "group_by", *more]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["algorithm"] == "group_by" and row["failures"] == 0 and row["cases"] >= 4000


@pytest.mark.parametrize(
    ("key", "value", "order"),
    [
        ("f32", "f32", "descending"),
        ("i64", "i32", "ascending"),
        ("u8", None, "ascending"),
        ("bf16", "u32", "descending"),
    ],
)
def test_the_python_api_groups(queue: Any, key: str, value: str | None, order: str) -> None:
    """Within longer arrays, whose other elements do not change."""
    group_by, rng = GroupBy(queue.context, key, value=value, order=order), np.random.default_rng(7)
    dtype, item = np.dtype(TYPES[key].numpy), np.dtype(TYPES[value or "u32"].numpy)
    for n in (0, 1, 2, 1000, 50000):
        bits = rng.integers(0, 256, n, np.uint8).astype(f"u{dtype.itemsize}") << (8 * dtype.itemsize - 8)
        values = rng.integers(0, 100, n).astype(item)
        sent = [framed(queue, x) for x in (bits.view(dtype), values)]
        got = [framed(queue, np.zeros(n, x)) for x in (dtype, item, np.uint32, np.uint32)]
        groups, before = array.zeros(queue, 1, np.uint32), [x.get() for x in (*sent, *got)]
        out, sums, counts, firsts = (x[AROUND : AROUND + n] for x in got)
        more = {} if value is None else {"values": sent[1][AROUND : AROUND + n], "values_out": sums}
        group_by(
            queue, sent[0][AROUND : AROUND + n], out=out, groups=groups, counts=counts, first_indices=firsts, **more
        ).wait()  # fmt: skip
        by = permutation(bits, group_by._sort, Options(kind=TYPES[key].kind, descending=order == "descending"))
        ordered, begins = bits[by], starts(bits[by])
        found = int(groups.get()[0])
        assert found == len(begins)
        wanted = [ordered[begins].view(dtype), begins, np.diff(begins, append=n)]
        assert all((a.get()[:found] == b).all() for a, b in zip((out, firsts, counts), wanted, strict=True) if n)
        if value is not None and n:
            added = reduced(values[by].view(np.uint32), begins, number("sum", value))
            assert (sums.get()[:found].view(np.uint32) == added).all()
        for x, y in zip((*sent, *got), before, strict=True):
            now, stays = x.get(), np.r_[0:AROUND, AROUND + (n if any(x is s for s in sent) else found) : len(y)]
            assert now[stays].tobytes() == y[stays].tobytes()


def framed(queue: Any, data: Any) -> Any:
    """An array on the device, within one that is longer at both ends."""
    ends = np.full(AROUND, 77).astype(data.dtype)
    return array.to_device(queue, np.concatenate([ends, data, ends]))


def test_the_grouping_without_faults_passes(embedded: Host) -> None:
    for few in (True, False):
        check(direct(embedded, small("u32", "v4", few=few)))


def test_planted_faults_are_caught(embedded: Host) -> None:
    all_caught("group_by_faults", embedded, 20)
