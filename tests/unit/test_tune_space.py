"""Proposed shapes fit the device and the algorithm, are new, and follow from the seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hsgen.algorithms import ALGORITHMS
from hsgen.algorithms.search_space import steps
from hsgen.core.device import Device
from hsgen.core.errors import Usage
from hsgen.core.fields import Reader
from hsgen.core.keys import KEYS
from hsgen.emit.kernels import render
from hsgen.targets import target
from hsgen.targets.choices import algorithm
from hsgen.targets.tables import table_of
from hsgen.tools.tune.checking import replace_table
from hsgen.tools.tune.propose import Space, name_of, propose
from hsgen.tools.tune.request import Request, starts

PLACES = [
    (name, label, key)
    for name in ("cpu", "generic", "nvidia-sm90")
    for label, key in (("bitonic", "u32"), ("radix", "u64"), ("scan-x4", "u32"))
]


def device_of(name: str) -> Device:
    return target.find(name).device


def start_of(name: str, label: str, key: str) -> dict[str, Any]:
    import tomllib

    from hsgen.system import resources

    text = (resources.targets() / f"{name}.toml").read_text(encoding="utf-8")
    found = table_of(tomllib.loads(text), label, key)
    assert found is not None
    return dict(found)


def fields_of(algo: Any, table: dict[str, Any]) -> dict[str, Any]:
    """The keys of a table: of a radix sort those of its strategy and of its fallback."""
    if "strategy" not in table:
        return algo.FIELDS
    chosen = {key: algo.FIELDS[key] for key in ("strategy", "fallback") if key in table}
    return {**chosen, **algo.fields(table["strategy"], table.get("fallback", ""))}


@pytest.mark.parametrize(("name", "label", "key"), PLACES)
def test_proposals_fit_and_do_not_repeat(name: str, label: str, key: str) -> None:
    """Over three races with made-up winners; a target file with any proposal is parsed without an error."""
    algo, device, start = ALGORITHMS[algorithm(label)], device_of(name), start_of(name, label, key)
    space = Space(label, key, device, start)
    tables, board = {name_of(start): start}, {name_of(start): 0.0}
    for number in range(3):
        found = propose(space, board, tables, 8, number, seed=3)
        assert len(found) == 8
        if number == 0:
            assert found == propose(space, board, tables, 8, 0, seed=3) != propose(space, board, tables, 8, 0, seed=4)
        for i, table in enumerate(found):
            assert name_of(table) not in tables
            tables[name_of(table)], board[name_of(table)] = table, 0.1 * number - 0.01 * i
            reader = Reader("here")
            values = reader.fields(table, "table", fields_of(algo, table))
            assert not reader.errors
            assert not algo.problems(algo.params(KEYS[key], values), device)
            assert table.get("columns") == start.get("columns")
            assert table.get("exclusive") == start.get("exclusive")
            assert table.get("large") == start.get("large")
        _, sort = replace_table(target.find(name), label, key, found[0])
        assert all(k.name in render(sort, "opencl").text for k in sort.kernels)


@pytest.mark.parametrize("label", ["bitonic", "radix", "scan"])
@pytest.mark.parametrize("name", target.names())
def test_boxes_are_as_the_device_is(name: str, label: str) -> None:
    device = device_of(name)
    bare = replace(device, shuffle=False, subgroups=(1,), work_group=64, groups=1024, progress="none")
    for facts in (device, bare):
        boxes = ALGORITHMS[label].space(KEYS["u32"], facts)
        assert boxes
        for box in boxes:
            assert all(box.values()), "an empty list"
            widths = set(box.get("subgroup", (1,)))
            assert widths <= {1, *(facts.subgroups if facts.shuffle else ())}
            assert max(box.get("work_group", (1,))) <= facts.work_group
            assert max(box.get("groups", (1,))) <= facts.groups
            assert facts.forward_progress or "lookback" not in box.get("coordination", ())
            assert facts.forward_progress or "onesweep" not in box.get("strategy", ())
            behind = set(box.get("fallback", ("onesweep",)))
            assert facts.forward_progress or "hybrid" not in box.get("strategy", ()) or behind == {"reduce_scan"}
            assert facts.cooperative or "cooperative" not in box.get("strategy", ())
            for values in box.values():
                numbers = [v for v in values if isinstance(v, int)]
                assert numbers == sorted(numbers) and len(set(values)) == len(values), "neighbours side by side"


@pytest.mark.parametrize("name", target.names())
@pytest.mark.parametrize("key", ["u32", "u64"])
def test_what_targets_have_lies_in_their_spaces(name: str, key: str) -> None:
    """Nearly: if a value lies between two of a list, the search starts next to it."""
    found = target.find(name)
    for label in ("bitonic", "radix"):
        if (label, key) not in found.choices:
            continue
        start = start_of(name, label, key)
        place = Space(label, key, found.device, start).place(start)
        assert place is not None, label
        box, at = place
        for k, choices in box.items():
            value = start[k] if k in start else getattr(found.choices[label, key], k, None)
            if isinstance(value, str):
                assert choices[at[k]] == value
            elif value:
                assert value / 2 <= choices[at[k]] <= 2 * value, k


def test_a_place_near_a_table_and_a_table_that_has_none() -> None:
    space = Space("radix", "u32", device_of("generic"), None)
    flags = {"bits": 8, "items": 7, "work_group": 250, "subgroup": 1, "ranker": "bitmask"}
    flags["strategy"] = "reduce_scan"
    found = space.place({**flags, "groups": 300})
    assert found is not None
    box, at = found
    near = {k: box[k][at[k]] for k in box}
    assert near["ranker"] == "bitmask" and near["items"] in (6, 8) and near["work_group"] == 256
    assert near["groups"] == 256
    assert space.place({**flags, "groups": 256, "ranker": "match_ballot"}) is None


def test_keys_that_no_list_has_are_kept() -> None:
    start = {**start_of("nvidia-sm90", "radix", "u32"), "spins": 1000}
    space = Space("radix", "u32", device_of("nvidia-sm90"), start)
    rng = np.random.default_rng(1)
    drawn = [space.draw(i, rng) for i in range(len(space.boxes))]
    assert {box["strategy"][0] for box in space.boxes} == {"onesweep", "hybrid"}, "others look back or are large never"
    assert len(drawn) == 5 and all(t and t["spins"] == 1000 and t["large"] is True for t in drawn)
    bred = space.bred([start], rng)
    assert bred is not None and bred["spins"] == 1000


def test_a_box_without_valid_shapes_is_given_up() -> None:
    space = Space("bitonic", "u32", device_of("generic"), None)
    space.boxes = ({**space.boxes[0], "height": (7,)},)  # odd
    rng = np.random.default_rng(1)
    assert space.draw(0, rng) is None
    assert propose(space, {}, {}, 8, 0, 1) == []


def test_devices_of_one_lane_or_a_few() -> None:
    """Boxes that need a larger device are left out."""
    for lanes in (1, 2, 16):
        facts = replace(device_of("generic"), work_group=lanes, groups=8)
        for label in ("bitonic", "radix", "scan"):
            space = Space(label, "u32", facts, {"columns": 1, "exclusive": False} if label == "scan" else None)
            assert all(all(box.values()) for box in space.boxes)
            assert label == "bitonic" or propose(space, {}, {}, 4, 0, 1)


def test_steps() -> None:
    assert steps(1, 16) == (1, 2, 4, 8, 16)
    assert steps(3, 20) == (4, 8, 16)
    assert steps(1, 16, thirds=True) == (1, 2, 3, 4, 6, 8, 12, 16)
    assert steps(9, 8) == ()


def test_sorts_tuned_by_default() -> None:
    """Sorts that are no variants, for every width; named ones are tuned even if the target lacks them."""
    from hsgen.system import resources

    text = (resources.targets() / "cpu.toml").read_text(encoding="utf-8")
    found = target.find("cpu")
    assert list(starts(text, found, Request())) == ["bitonic u32", "radix u32", "bitonic u64", "radix u64"]
    assert list(starts(text, found, Request(keys=("u64",)))) == ["bitonic u64", "radix u64"]
    named = starts(text, found, Request(keys=("u32",), labels=("radix-new", "scan-x1")))
    assert named["radix-new u32"] is None and named["scan-x1 u32"] == start_of("cpu", "scan-x1", "u32")
    with pytest.raises(Usage, match="target cpu: no scan-x3 for u32, whose columns a table must say; add one first"):
        starts(text, found, Request(labels=("scan-x3",), keys=("u32",)))
    with pytest.raises(Usage, match="target cpu: no table for u8; name an --algorithm to find one for"):
        starts(text, found, Request(keys=("u8",)))
