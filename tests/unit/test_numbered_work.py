"""No kernel gives work by number to lanes that a legal work-group lacks, or has more lanes than the device.

- The text of all kernels of random targets whose work-groups have 1 or 2 lanes or subgroups, in several dialects.
- The same of the targets that ship (nightly).
- Planted faults, among them conditions where loops are needed, are found.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import Bounds, drawn, sorts_of
from nightly import NIGHTLY
from numbered import Workers, undone

from hsgen.algorithms import operation
from hsgen.algorithms.radix.strategies import STRATEGIES
from hsgen.core.errors import Usage
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.dialects.dialect import load
from hsgen.emit import sharing
from hsgen.emit.kernels import body
from hsgen.emit.templates import environment
from hsgen.targets import target
from hsgen.targets.target import Target

DIALECTS = {"opencl": "opencl", "cuda": "cuda", "vulkan": "glsl"}
FORMS = (
    PLAIN,
    Signature(value="v4"),
    Signature(value="v4", floats=True),
    Signature(value="index", key_transform=True, bit_range=True),
    Signature(device_count=True),
    Signature(run_boundaries=True),
)
TESTS = Path(__file__).parents[1]
FILES = TESTS / "data" / "few_lanes"
TUNED = {"radix_select": operation("radix_select").tuned}
ELSEWHERE = {
    "bitonic/looped:block_sort",
    "bitonic/row_block:block_sort",
    "group_by/pairs_bucket:bucket",
    "group_by/tables:digit_tables",
}
ELSEWHERE |= {f"group_by/pair_partition:pairs_{x}" for x in ("count", "starts", "deal", "again")}
"""Kernels of targets that ship which no random target has: of work-groups of 1024 lanes, or of merges of a CPU."""


@dataclass
class Examined:
    """The kernels of some targets: their templates and strategies, and what is wrong with them."""

    templates: set[str] = field(default_factory=set)
    strategies: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    kernels: int = 0

    def take(self, found: Target, sorts: Iterable[Sort], dialect: str) -> None:
        """Examine all kernels of these sorts of a target."""
        env = environment()
        language = load(env, dialect)
        for sort in sorts:
            self.strategies |= {str(getattr(p.params, "STRATEGY", p.algorithm)) for p in sort.parts}
            for k in sort.kernels:
                self.kernels += 1
                self.templates.add(k.template)
                beyond = k.work_group > found.device.work_group or k.local_bytes(sort.key) > found.device.local_bytes
                if beyond:
                    self.wrong.append(f"{sort.name}: {k.name}: {k.work_group} lanes, {k.local_bytes(sort.key)} bytes")
                text = body(env, sort, k, language)
                said = undone(text, Workers(k.work_group, k.subgroup))
                self.wrong += [f"{sort.name} in {dialect}: {k.name} of {k.work_group} lanes: {x}" for x in said]


def drawn_ones(seeds: Iterable[int]) -> Examined:
    """The kernels of random targets of few lanes."""
    made = Examined()
    for seed in seeds:
        rng = np.random.default_rng([46, seed])
        api = list(DIALECTS)[seed % len(DIALECTS)]
        _, found = drawn(rng, Bounds(api=api, height=8, few=0.7))
        made.take(found, sorts_of(rng, found), DIALECTS[api])
    return made


def shipped(name: str) -> Iterator[tuple[Target, Iterator[Sort]]]:
    """A target that ships, and all its sorts in some forms."""
    found = target.find(name)
    for key in ("u8", "u16", "u32", "u64"):
        for label in (*found.labels(key), *found.implicit(key)):
            yield found, _forms(found, label, key)


def _forms(found: Target, label: str, key: str) -> Iterator[Sort]:
    for signature in FORMS:
        try:
            yield found.sort(label, key, signature)
        except Usage:
            continue


def test_all_work_is_done_by_few_lanes() -> None:
    """Fast run: some targets, always the same.  Nightly: as many as have all kernels that ship."""
    made = drawn_ones(range(400 if NIGHTLY else 18))
    assert made.wrong == [], made.wrong[:10]
    assert made.strategies >= set(STRATEGIES) if NIGHTLY else len(made.strategies & set(STRATEGIES)) > 4
    assert made.kernels > 300


@pytest.mark.nightly
def test_all_work_is_done_in_targets_that_ship() -> None:
    made = Examined()
    for name in target.names():
        for found, sorts in shipped(name):
            dialect = "opencl" if "opencl" in found.apis else "cuda" if "cuda" in found.apis else "glsl"
            made.take(found, sorts, dialect)
    assert made.wrong == [], made.wrong[:10]
    assert made.templates - drawn_ones(range(400)).templates <= ELSEWHERE


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("bitonic", "one-lane-merge-path"),
        ("merge_path", "one-subgroup-merge"),
        ("radix", "one-lane-buckets"),
        ("radix_select", "few-lanes-device"),
    ],
)
def test_conditions_instead_of_loops_are_found(label: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As all these kernels once were: a number that lanes compare with, of which there are too few."""
    found = target.find(f"{FILES}/{text}.toml")
    sort, made = found.sort(label, "u32", TUNED.get(label, PLAIN)), Examined()
    made.take(found, [sort], "opencl")
    assert made.wrong == []
    monkeypatch.setattr(sharing.Shared, "__str__", lambda self: self.word)
    monkeypatch.setattr(sharing.Shared, "each_if", lambda self, _: f"if ({self.word} < {self.count})")
    made.take(found, [sort], "opencl")
    found_ends = r"there are [14]$|from LANE % 32: 1 step by 32$"  # a loop inside of such a condition
    assert made.wrong and all(re.search(found_ends, x) for x in made.wrong), made.wrong


@pytest.mark.parametrize(
    ("lanes", "width", "text", "count"),
    [
        (2, 1, "if (hs_local_id() < 2) x = 0u;", 0),
        (1, 1, "if (hs_local_id() < 2) x = 0u;", 1),
        (1, 1, "if (hs_local_id() <= 1) x = 0u;", 1),
        (8, 8, "if (n > 3 && 2 > hs_subgroup_id()) { x = 0u; }", 1),
        (16, 8, "if (n > 3 && 2 > hs_subgroup_id()) { x = 0u; }", 0),
        (4, 1, "if (hs_local_id() < 4) x = 0u; else if (hs_local_id() == 4) y = 0u;", 1),
        (8, 1, "if (hs_local_id() == 4) y = 0u;", 0),
        (4, 4, "int own = hs_subgroup_id() * 4 + hs_lane_id(); if (own < 8) x[own] = 0u;", 1),
        (4, 4, "int own = hs_subgroup_id() * 4 + hs_lane_id(); for (; own < 8; own += 4) x[own] = 0u;", 0),
        (4, 1, "for (int i = hs_local_id(); i < n; i += 8) x[i] = 0u;", 1),
        (4, 1, "for (int i = hs_local_id(); i < n; i += 4) x[i] = 0u;", 0),
        (4, 1, "for (int i = hs_local_id(); i < n; i += 8) { x[i] = 0u; if (i + 4 < n) x[i + 4] = 0u; }", 0),
        (4, 1, "for (int i = hs_local_id() >> 1; i < n; i += 4) x[i] = 0u;", 1),
        (1, 1, "int side = hs_local_id() / 0;", 1),
        (4, 1, "for (int i = hs_local_id() / 8; i < n; i += 0) x[i] = 0u;", 1),
        (4, 1, "// if (hs_local_id() < 8)\nx[hs_local_id() < n ? 0 : 1] = (hs_local_id() & 7) == 0 ? 1u : 0u;", 0),
    ],
)
def test_what_nobody_does_is_found(lanes: int, width: int, text: str, count: int) -> None:
    assert len(list(undone(text, Workers(lanes, width)))) == count


HEAD = """schema = 3
name = "small"
summary = "for tests"
apis = ["opencl", "cuda"]

[device]
subgroups = [1, 4, 32]
shuffle = true
work_group = {lanes}
groups = {groups}
local_bytes = {bytes}
int64 = true
storage8 = true
storage16 = true
binding_bytes = 134217728
progress = "guaranteed"
local = "chip"
cooperative = true
cores = 2
"""
VOTES = """
[radix.u32.{strategy}]
bits = 4
items = 3
work_group = 4
subgroup = 4
ranker = "match_ballot"
groups = 2
"""


def small(tables: str, lanes: int = 256, groups: int = 65535, local: int = 262144) -> Target:
    """A target of tables on a device of some lanes, work-groups and bytes of local memory."""
    return target.parse(HEAD.format(lanes=lanes, groups=groups, bytes=local) + tables, "small", "small")


@pytest.mark.parametrize("lanes", [4, 16, 64, 256])
@pytest.mark.parametrize("local", [16384, 262144])
@pytest.mark.parametrize("serial", [False, True])
def test_derived_work_groups_fit_the_device(lanes: int, local: int, serial: bool) -> None:
    """Merges, groupings, reductions, segmented sorts and grids for counts on the device, which have no tables."""
    tables = VOTES.format(strategy="reduce_scan")
    if serial:
        tables = "\n[radix.u32.per_thread]\nbits = 4\nitems = 32\nwork_group = 2\nsubgroup = 1\ngroups = 2\n"
    found, made = small(tables, lanes, local=local), Examined()
    for label in (*found.labels("u32"), *found.implicit("u32")):
        made.take(found, _forms(found, label, "u32"), "cuda")
    assert made.wrong == [] and made.kernels > 60


def test_a_merge_sort_with_values_fits_the_local_memory_without_padding() -> None:
    """Its elements have twice the size of keys, and one slab of them with padding is too large."""
    table = "\n[bitonic.u64]\nsubgroup = 32\nheight = 4\nslabs = 1\nclean_slabs = 1\nlocal_scale = 2\nflip_scale = 2\n"
    found, made = small(f"{table}half_scale = 1\nstream_group = 32\nbank_pad = 40\n", local=16384), Examined()
    made.take(found, [found.sort("bitonic", "u64", Signature(value="v4"))], "opencl")
    assert made.wrong == []


def test_a_grouping_knows_where_its_sort_reports_even_if_no_step_is_left_that_does() -> None:
    """So few work-groups sort that one alone does; the words of the others, and of what they report, still exist."""
    head = HEAD.format(lanes=256, groups=3, bytes=32768).replace("guaranteed", "started")
    table = VOTES.format(strategy="onesweep").replace("= 4\n", "= 1\n").replace("match_ballot", "bitmask")
    found = target.parse(
        head + table.replace("bits = 1", "bits = 8").replace("items = 3", "items = 6"), "small", "small"
    )
    status = found.sort("group_by", "u8").plan.device_status
    assert status and status.binding.per_n > 1


BUCKETS = '\n[radix.{key}.hybrid]\nfallback = "reduce_scan"\npartition = {{ above = 99, work_group = 4, items = 1 }}\n'
BUCKETS += "bucket = {{ work_group = 4, items = {items}, bins = 4 }}\n{more}"


@pytest.mark.parametrize(
    ("key", "values", "message"),
    [
        ("u8", {"items": 9, "more": "counting = { bits = 12, work_group = 4, items = 1 }\n"}, "few passes anyway"),
        ("u32", {"items": 1, "width": 1}, "a bucket that holds one key holds none on average"),
    ],
)
def test_buckets_that_make_no_sense_are_refused(key: str, values: dict[str, Any], message: str) -> None:
    """By one line each, which the reader of a target's file writes."""
    text = VOTES.format(strategy="reduce_scan") + BUCKETS.format(**{"key": key, "more": "", **values})
    text = text.replace("u32", key)
    if values.get("width"):
        text = text.replace("= 4\n", "= 1\n").replace("match_ballot", "bitmask").replace("bits = 1", "bits = 4")
        text = text.replace("work_group = 4,", "work_group = 1,")
    with pytest.raises(Usage, match=message):
        small(text)


def test_a_seed_draws_the_same_target_in_every_process() -> None:
    """Or the command that a failure of the fuzz prints would try another one."""
    code = "import numpy as np, drawing as d; b = d.Bounds(few=0.7)\n"
    code += "print([d.drawn(np.random.default_rng([46, s]), b)[0] for s in range(25)])"
    command = [sys.executable, "-c", code]
    found = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": str(h)}, cwd=TESTS, capture_output=True, text=True, check=True
        ).stdout
        for h in (1, 2)
    }
    assert len(found) == 1
