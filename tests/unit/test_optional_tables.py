"""Tables of algorithms that need none: their values reach kernels and plans, and wrong ones are refused."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import json_schemas
import numpy as np
import pytest

from hsgen import operations
from hsgen.algorithms import ALGORITHMS, EVERY, IMPLICIT, OPTIONAL, TABLES, operation
from hsgen.algorithms.radix_select.params import WHOLE
from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, PLAIN
from hsgen.emit.kernels import render
from hsgen.system import resources
from hsgen.targets import evidence, target
from hsgen.targets.json_schema import target_schema
from hsgen.targets.optional import replaced
from hsgen.targets.tables import labels, table_of
from hsgen.targets.target import Target
from hsgen.tools.bench import inputs
from hsgen.tools.tune import checking, edit, race
from hsgen.tools.tune.propose import Space, name_of, propose
from hsgen.tools.tune.request import Request, derived, starts
from hsgen.tools.validate import validation

TEXT = """\
schema = 3
name = "small"
summary = "a device for optional tables"
apis = ["opencl"]

[device]
subgroups = [1, 16]
shuffle = true
work_group = 256
groups = 65535
local_bytes = 32768
int64 = true
storage8 = true
storage16 = true
binding_bytes = 134217728
progress = "started"

[radix.u32.reduce_scan]
bits = 4
items = 4
work_group = 64
subgroup = 1
ranker = "bitmask"
groups = 64
"""
SELECT = "[radix_select.u32]\nwork_group = 64\nitems = 3\ncapacity = 256\nbits = 7\ngroups = 9\nrow_limit = 16384\n"
SOME: dict[str, dict[str, Any]] = {
    "radix_select": {"work_group": 64, "items": 3, "capacity": 256, "bits": 7, "groups": 9, "row_limit": 16384},
    "reduce_by_key": {"work_group": 32, "items": 5, "groups": 17},
    "gather": {"work_group": 96, "tile": 16384, "batch": 3},
    "pack": {"work_group": 96, "tile": 16384},
}


SPILLED = {(name, "u32"): {"resident": 3} for name in ("radix_select", "reduce_by_key")}
"""The tables of targets where the derived registers do not suffice."""


def read(more: str = "", text: str = TEXT) -> Target:
    return target.parse(f"{text}\n{more}", "small", "small.toml")


def written(name: str, table: dict[str, Any], key: str = "u32") -> str:
    return f"[{name}.{key}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in table.items())


def sort_of(found: Target, name: str, key: str = "u32") -> Any:
    return found.sort(name, key, operation(name).tuned)


def params(found: Target, name: str, key: str = "u32") -> Any:
    return sort_of(found, name, key).parts[0].params


def test_an_algorithm_has_a_table_of_one_kind() -> None:
    assert set(OPTIONAL) == set(SOME)
    assert {*ALGORITHMS, *IMPLICIT} == set(EVERY) and not set(ALGORITHMS) & set(IMPLICIT)
    assert set(TABLES) == {*ALGORITHMS, *OPTIONAL} <= set(EVERY)
    assert all(set(SOME[name]) <= set(algorithm.FIELDS) for name, algorithm in OPTIONAL.items())


@pytest.mark.parametrize("name", OPTIONAL)
def test_values_reach_kernels_and_plan_and_the_others_stay_derived(name: str) -> None:
    plain, found = read(), read(written(name, SOME[name]))
    assert plain.tables == {} and found.tables == {(name, "u32"): SOME[name]}
    assert params(found, name) == replace(params(plain, name), **SOME[name]) != params(plain, name)
    sort = sort_of(found, name)
    derived_lanes = ("short_rows", "short_row", *WHOLE, "chunks", "merge", "collect")  # not `work_group`
    assert {k.work_group for k in sort.kernels if k.name not in derived_lanes} == {SOME[name]["work_group"]}
    assert sort.plan != sort_of(plain, name).plan
    assert render(sort, "opencl").text != render(sort_of(plain, name), "opencl").text
    for other in set(OPTIONAL) - {name}:
        assert sort_of(found, other) == sort_of(plain, other)
    assert found.shapes != plain.shapes, "evidence is of other choices"
    for key in ("u64", "u32") if name != "gather" else ():
        one = {"work_group": 16}
        only = read(written(name, one, key), TEXT + TEXT[TEXT.index("\n[radix") :].replace("u32", "u64"))
        assert params(only, name, key).work_group == 16
        assert params(only, name, "u64" if key == "u32" else "u32").work_group > 16


def test_a_grouping_has_the_table_of_its_reduction() -> None:
    """Its own parameters stay derived, and so does the grouping of keys of another width."""
    plain, tabled = read(), read(written("reduce_by_key", SOME["reduce_by_key"]))
    before, after = params(plain, "group_by"), params(tabled, "group_by")
    assert after == replace(before, reduce=replace(before.reduce, **SOME["reduce_by_key"])) != before
    assert render(sort_of(tabled, "group_by"), "opencl").text != render(sort_of(plain, "group_by"), "opencl").text
    blackwell = target.find("nvidia-blackwell")
    assert [params(blackwell, "group_by", key).reduce.resident for key in ("u32", "u64")] == [3, 4]


def test_a_selection_leaves_registers_to_fewer_work_groups() -> None:
    hopper, blackwell = (sort_of(target.find(f"nvidia-{name}"), "radix_select") for name in ("hopper", "blackwell"))
    residents = [{k.name: k.resident for k in s.kernels} for s in (hopper, blackwell)]
    different = {name for name, resident in residents[0].items() if residents[1][name] != resident}
    assert different == {"short_row", "chunks", "merge", "collect"}
    assert [{each[name] for name in different} for each in residents] == [{4}, {3}]


def test_narrow_keys_have_the_table_of_words_or_their_own() -> None:
    words = written("radix_select", {"items": 5})
    assert params(read(words), "radix_select", "u8").items == 5
    own = read(words + written("radix_select", {"items": 6}, "u16"))
    assert [params(own, "radix_select", key).items for key in ("u8", "u16", "u32")] == [5, 6, 5]


def test_every_target_derives_what_its_constraints_allow() -> None:
    """So that an empty table, and a table of some keys, is checked by the same arithmetic."""
    tried = 0
    for name in target.names():
        found = target.find(name)
        assert found.tables == (SPILLED if name in ("nvidia-blackwell", "nvidia-blackwell-rtx") else {})
        for key in KEYS:
            for label in set(found.implicit(key)) & set(OPTIONAL):
                assert OPTIONAL[label].problems(params(found, label, key), found.device) == []
                tried += 1
    assert tried > 100


PROMISED = TEXT.replace('"started"', '"guaranteed"\ncooperative = true')
MEMORY = TEXT.replace('"started"', '"started"\nlocal = "memory"')
WRONG = [
    ("radix_select", {"work_group": 48}, TEXT, "work_group: 48 is not a power of two; give 32 or 64"),
    ("radix_select", {"work_group": 512}, TEXT, "work_group: 512 lanes exceed the work-group limit of 256; give at mo"),
    ("radix_select", {"capacity": 300}, TEXT, "capacity: 300 is not a power of two; give 256 or 512"),
    ("radix_select", {"work_group": 64, "capacity": 64}, TEXT, "work_group: 64 lanes exceed half of the 64 keys that"),
    (
        "radix_select",
        {"work_group": 64, "items": 1024},
        TEXT,
        "items: a tile of 64 lanes x 1024 has more than 65535 ke",
    ),
    ("radix_select", {"row_limit": 512}, TEXT, "row_limit: rows of 512 keys are shorter than the 2048 keys"),
    ("radix_select", {"row_limit": 2048}, TEXT, "row_limit: scratch for rows of 2048 keys has more words than 32-bit"),
    ("radix_select", {"capacity": 8192}, TEXT, "capacity: selections need 74832 bytes of local memory, the device h"),
    ("radix_select", {"work_group": 1, "items": 1}, TEXT, "row_limit: scratch for rows of 131072 keys has more words"),
    (
        "radix_select",
        {"work_group": 32, "bin_sort": True},
        TEXT,
        "bin_sort: 32 lanes would hold 64 keys each in registers",
    ),
    ("radix_select", {"bits": 14}, TEXT, "bits: 14 is not between 4 and 13; give the bits of the widest digit"),
    ("radix_select", {"groups": 70000}, TEXT, "groups: 70000 is not between 1 and 65535; give the most work-groups"),
    (
        "radix_select",
        {"short.rows": 32, "short.items": 1},
        TEXT,
        "short.rows: 32 rows of 16 lanes exceed the work-group limit of 256",
    ),
    ("radix_select", {"chunk.lanes": 48}, TEXT, "chunk.lanes: 48 is not a power of two; give 32 or 64"),
    (
        "radix_select",
        {"chunk.lanes": 512},
        TEXT,
        "chunk.lanes: 512 lanes exceed the work-group limit of 256; give at mo",
    ),
    (
        "radix_select",
        {"chunk.take": 129},
        TEXT,
        "chunk.take: candidates of 129 keys may never become few: more",
    ),
    (
        "radix_select",
        {"chunk.lanes": 16, "chunk.take": 8, "chunk.items": 7},
        TEXT,
        "chunk.items: chunks of 112 keys are sh",
    ),
    ("radix_select", {"bin_sorts": True}, TEXT, "bin_sorts: unknown key; did you mean bin_sort?"),
    ("reduce_by_key", {"work_group": 48}, TEXT, "work_group: 48 is not a power of two; give 32 or 64"),
    ("reduce_by_key", {"items": 8}, TEXT, "items: with 8 keys per lane, lanes access the same banks of local memory"),
    ("reduce_by_key", {"items": 31}, TEXT, "items: a tile needs 66560 bytes of local memory, the device has 32768; g"),
    ("reduce_by_key", {"subgroup": 16}, TEXT, "subgroup: sections require work-groups that wait for each other"),
    ("reduce_by_key", {"subgroup": 8}, PROMISED, "subgroup: this device has no subgroups of 8; give 1 or one of 16"),
    ("reduce_by_key", {"items": 6}, PROMISED, "items: 6 keys are no vectors of 4; give a multiple of 4"),
    ("reduce_by_key", {"work_group": 8}, PROMISED, "work_group: 8 lanes are no subgroups of 16; give a multiple of 16"),
    ("gather", {"work_group": 512}, TEXT, "work_group: 512 lanes exceed the work-group limit of 256; give at most 256"),
    ("gather", {"tile": 64}, TEXT, "tile: 65535 work-groups reach 4194240 items only; give at least 512"),
    ("gather", {"batch": 2}, MEMORY, "batch: lanes move whole items where local memory is ordinary memory"),
    ("pack", {"work_group": 512}, TEXT, "work_group: 512 lanes exceed the work-group limit of 256; give at most 256"),
    ("pack", {"tile": 512}, TEXT, "tile: 65535 work-groups reach 33553920 items only; give at least 1024"),
    ("pack", {"tile": "x"}, TEXT, 'tile: "x" is not a whole number; give the rows of a work-group'),
]


@pytest.mark.parametrize(("name", "table", "text", "line"), WRONG, ids=[f"{x[0]}-{i}" for i, x in enumerate(WRONG)])
def test_wrong_values_are_named_with_a_remedy(name: str, table: dict[str, Any], text: str, line: str) -> None:
    with pytest.raises(Usage) as e:
        read(written(name, table), text)
    assert len(e.value.lines) == 1 and e.value.lines[0].startswith(f"small.toml: {name}.u32.{line}"), e.value.lines
    assert "; " in e.value.lines[0]


def test_values_at_their_bounds() -> None:
    for name, table, text in (
        ("radix_select", {"work_group": 64, "items": 1023, "capacity": 128, "row_limit": 16384}, TEXT),
        ("radix_select", {"work_group": 1, "capacity": 4, "bits": 4, "items": 2}, TEXT),
        ("radix_select", {"work_group": 64, "bin_sort": True}, TEXT),
        ("reduce_by_key", {"work_group": 1, "items": 1, "groups": 1}, TEXT),
        ("reduce_by_key", {"work_group": 64, "items": 31, "subgroup": 1}, PROMISED),
        ("reduce_by_key", {"work_group": 16, "items": 32, "subgroup": 16, "resident": 0}, PROMISED),
        ("gather", {"work_group": 1, "tile": 512, "batch": 16}, TEXT),
        ("pack", {"work_group": 256, "tile": 1024}, TEXT),
    ):
        assert read(written(name, table), text).tables == {(name, "u32"): table}


def test_tables_where_they_cannot_be() -> None:
    for more, line in (
        (
            "[gather.u64]\ntile = 512\n",
            "gather.u64: there is no gather of u64 keys on this device; leave the table out",
        ),
        ("[gather.u32.more]\ntile = 512\n", "gather.u32.more: unknown key; known are work_group, tile, batch"),
        ("[pack.u33]\ntile = 1024\n", "pack.u33: unknown key; did you mean u32?"),
        ("[pack]\nu32 = 3\n", "pack.u32: is not a table; write it as [pack.u32]"),
    ):
        with pytest.raises(Usage) as e:
            read(more)
        assert e.value.lines == (f"small.toml: {line}",)


def test_the_schema_of_target_files_knows_them() -> None:
    check = json_schemas.validator(target_schema())
    tables = "".join(written(name, table) for name, table in SOME.items())
    assert check.is_valid(tomllib.loads(TEXT + tables))
    assert not check.is_valid(tomllib.loads(TEXT + "[pack.u32]\nlanes = 3\n"))
    assert not check.is_valid(tomllib.loads(TEXT + "[pack.u33]\ntile = 3\n"))


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_tuned_table_round_trips(name: str) -> None:
    """A new table is written after all others, an existing one is changed in its place."""
    text = TEXT + '\n# how it was tried\n[[evidence]]\nlevel = "cpu"\napi = "opencl"\ndevice = "d"\ndriver = "1"\n'
    text += 'date = "2026-01-31"\nresult = "seen"\n'
    at, note = (name, "u32"), "9 Mkeys/s at 2^10"
    once = edit.applied(text, "small.toml", {at: SOME[name]}, {}, [], {at: note})
    assert target.parse(once, "small", "small.toml").tables == {at: SOME[name]}
    block = f"[{name}.u32] # tuned: {note}\n" + written(name, SOME[name]).split("\n", 1)[1]
    assert once == text.replace("\n# how", f"\n{block}\n# how")
    assert {*labels(tomllib.loads(once))} == {*labels(tomllib.loads(text)), at}
    twice = edit.applied(once, "small.toml", {at: {**SOME[name], "work_group": 16}}, {}, [])
    assert table_of(tomllib.loads(twice), *at) == {**SOME[name], "work_group": 16}
    assert twice.splitlines()[: len(TEXT.splitlines())] == TEXT.splitlines()
    assert evidence.shapes(tomllib.loads(twice)) != evidence.shapes(tomllib.loads(once))


def test_the_start_of_a_tuning() -> None:
    found = read(SELECT)
    text = TEXT + SELECT
    assert starts(text, found, Request(labels=("radix_select", "pack"))) == {
        "radix_select u32": SOME["radix_select"],
        "pack u32": {},
    }
    assert "radix_select u32" not in starts(text, found, Request()), "not tuned by default"
    with pytest.raises(Usage, match="target small: no gather for u64; name another --key"):
        starts(text, found, Request(labels=("gather",), keys=("u64",)))
    with pytest.raises(Usage, match="algorithm gather-x: unknown; name bitonic, radix, scan, gather, pack, radix_sel"):
        starts(text, found, Request(labels=("gather-x",)))
    assert derived(found, "radix", "u32") is None
    assert derived(found, "radix_select", "u32") == params(read(), "radix_select")


TARGETS = ["cpu", "generic", "nvidia-hopper", "webgpu", "webgpu-cpu"]


@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.parametrize("place", TARGETS)
def test_proposals_are_legal_tables_and_differ(place: str, name: str) -> None:
    """Over two races with made-up winners; the derived shape, which has no table, lies in the space."""
    found = target.find(place)
    space = Space(name, "u32", found.device, {}, 1 << 22, derived(found, name, "u32"))
    assert len(space.boxes) >= 1 and space.place({}) is not None
    tables: dict[str, Any] = {"{}": {}}
    for number in range(2):
        made = propose(space, dict.fromkeys(tables, 0.0), tables, 6, number, seed=1)
        assert len(made) == 6
        for table in made:
            assert table and name_of(table) not in tables
            tables[name_of(table)] = table
            more = target.parse(
                (resources.targets() / f"{place}.toml").read_text(encoding="utf-8") + "\n" + written(name, table),
                place,
                f"{place}.toml",
            )
            sort = sort_of(more, name)
            assert sort == sort_of(replace(found, **replaced(found.choices, {}, name, "u32", table)), name)
            assert all(k.name in render(sort, "opencl").text for k in sort.kernels)
    listed = {k for box in space.boxes for k in box}
    assert listed >= set(OPTIONAL[name].FIELDS) - {"subgroup", "resident", "batch", "capacity"}


def test_small_devices_have_a_space() -> None:
    for lanes in (1, 2, 16):
        found = read(text=TEXT.replace("work_group = 256", f"work_group = {lanes}").replace("= 64\n", "= 1\n"))
        for name in OPTIONAL:
            space = Space(name, "u32", found.device, {}, 0, derived(found, name, "u32"))
            assert propose(space, {}, {}, 4, 0, 1), (lanes, name)


@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.parametrize("n", [1, 2, 5, 1000, 4096, 6144, 1 << 15])
def test_typical_calls_are_legal_at_every_count(name: str, n: int) -> None:
    sort = sort_of(read(), name)
    does = operations.of(sort)
    calls = does.typical(n)
    assert calls and len(set(calls)) == len(calls)
    for kind, how in calls:
        work = inputs.load(sort, n, how, np.random.default_rng(1), kind.replace(" ", "-"))
        assert work.n == n
        assert does.settled(n, work.how, {"source", "other", "other_values", "values"}).take == work.how.take


def test_typical_selections_are_of_one_row_and_of_many() -> None:
    does = operation("radix_select")
    at = {n: [(how.segment_count, how.take) for _, how in does.typical(n)] for n in (1, 4096, 5000, 1 << 20)}
    assert at == {1: [(1, 1)], 4096: [(1, 64)], 5000: [(1, 64)], 1 << 20: [(1, 64), (256, 64)]}


class Silent:
    """A candidate without a device."""

    def __init__(self, name: str, sort: Any) -> None:
        self.name, self.engine, self.unloaded = name, SimpleNamespace(sort=sort), 0

    def unload(self) -> None:
        self.unloaded += 1


def test_all_typical_calls_weigh_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that is slow in one call does not win by another; rounds that not all calls had are left out."""
    found = iter([{"a": [1.0, 4.0], "b": [2.0]}, {"a": [4.0, 9.0, 5.0], "b": [8.0]}])
    seen: list[tuple[int, int, float]] = []

    def once(some: Any, work: Any, rounds: int, send: Any, *, renew: bool, lasting: float) -> Any:
        seen.append((work.how.segment_count, work.n, lasting))
        return next(found)

    monkeypatch.setattr(race, "_timed", once)
    sort = sort_of(read(), "radix_select")
    some: Any = [Silent("a", sort), Silent("b", sort)]
    times = race.timed(some, 1 << 14, 7, 1, lambda event: None, lasting=3.0)
    assert times == {"a": pytest.approx([2.0, 6.0]), "b": pytest.approx([4.0])}
    assert seen == [(1, 1 << 14, 1.5), (4, 1 << 14, 1.5)] and [c.unloaded for c in some] == [1, 1]


def test_a_shape_whose_grid_does_not_fit_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(engine: Any, *more: Any) -> Any:
        if engine == {}:
            raise Usage("count 9: 9 work-groups do not fit a grid of 2 x 2")
        return validation.Report(cases=5)

    monkeypatch.setattr(checking, "_engine", lambda request, c, context, sort: c["table"])
    monkeypatch.setattr(checking, "_checked", refused)
    each = {"label": "radix_select", "library": "", "checked": False}
    some = [{**each, "name": "small", "table": {}}, {**each, "name": "large", "table": {"items": 3}}]
    request = {"text": TEXT, "stem": "small", "where": "small.toml", "signature": asdict(PLAIN), "native": True}
    request |= {"candidates": some, "best": "small", "key": "u32", "seed": 1, "cases": 4}
    sent: list[dict[str, Any]] = []
    assert list(checking.ready(request, sent.append, [], math.inf)) == ["large"]
    failed = [event for event in sent if "failed" in event]
    assert failed == [{"failed": "small", "kind": "device", "why": "count 9: 9 work-groups do not fit a grid of 2 x 2"}]
