"""What `hsgen generate` makes of each option and algorithm: it honours or refuses, and drops nothing silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from hsgen.algorithms import operation
from hsgen.bundle.manifest import Choice, choose
from hsgen.bundle.selection import known, requested, sorts
from hsgen.core.errors import Usage
from hsgen.core.keys import FEATURES, TYPES, VALUES
from hsgen.core.sort import Sort
from hsgen.targets import target
from hsgen.targets.target import AUTO

NAMES = ("cpu", "generic", "nvidia-hopper")
EPILOGUE = "{% macro epilogue() %}{% endmacro %}\n"
OPTIONS: Mapping[str, Mapping[str, tuple[str, ...] | str]] = {
    **{f"value {v}": {"values": (v,)} for v in VALUES if v != "none"},
    "order descending": {"orders": ("descending",)},
    **{f"feature {f}": {"features": (f,)} for f in FEATURES},
    "feature value-starts": {"features": ("value-starts",), "values": ("v4",)},
    "max-n": {},
    **{f"key {k}": {"keys": (k,)} for k in TYPES},
}
"""Each option that is no default, as arguments of `choose`."""
EVERY = [(name, label, option) for name in NAMES for label in known(target.find(name)) for option in OPTIONS]


def choice(name: str, labels: tuple[str, ...], option: str) -> Choice:
    found = target.find(name)
    more = dict(OPTIONS[option])
    made = choose(found, more.pop("keys", ("u32",)), (), labels, **more)  # type: ignore[arg-type]
    return replace(made, max_n=4096) if option == "max-n" else made


@cache
def honoured(name: str, label: str, option: str) -> bool | None:
    """Whether an algorithm alone is made with an option; None if the request is refused."""
    wanted = choice(name, (label,), option)
    keys = wanted.keys if option.startswith("key ") else ()
    try:
        made = requested(target.find(name), wanted, keys)
    except Usage as e:
        assert len(e.lines) == 1
        return None
    return any(has(sort, option) for sort in made if sort.algorithm == label)


def has(sort: Sort, option: str) -> bool:
    """Whether a sort has an option, by its signature, its plan, and what its operation says of types."""
    word, _, name = option.partition(" ")
    if word == "value":
        return sort.signature.value == name
    if word == "order":
        return sort.signature.key_transform
    if word == "feature":
        return name in sort.signature.features
    if word == "max-n":
        return sort.plan.max_n == 4096
    packed = sort.signature.value == "packed"
    return packed or operation(sort.algorithm).serves(sort, TYPES[name])


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_every_algorithm_is_honoured_or_refused(name: str) -> None:
    found = {(label, option): honoured(name, label, option) for n, label, option in EVERY if n == name}
    assert not [at for at, done in found.items() if done is False]
    by_option = {option: {found[label, option] for label in known(target.find(name))} for option in OPTIONS}
    assert all(True in done for done in by_option.values()), "each option goes with some algorithm"
    assert all(any(found[label, option] for option in OPTIONS) for label in known(target.find(name)))


@pytest.mark.parametrize("name", NAMES)
def test_one_request_for_sorts_and_other_operations(name: str) -> None:
    """An operation that lacks an option which the sort has is made without it, as if the option were not given."""
    for option in OPTIONS:
        if option.startswith("key ") or not honoured(name, "radix", option):
            continue
        for label in known(target.find(name)):
            if operation(label).by_count or honoured(name, label, option):
                continue
            both = requested(target.find(name), choice(name, ("radix", label), option))
            assert any(has(sort, option) for sort in both if sort.algorithm == "radix"), (label, option)
            alone = sorts(target.find(name), choose(target.find(name), ("u32",), (), (label,)))
            made = {s.file for s in both if s.algorithm == label}
            assert made and made <= {s.file for s in alone}, (label, option)


def test_features_of_segmented_sorts_beside_a_sort_for_any_count() -> None:
    made = requested(target.find("cpu"), choice("cpu", (AUTO, "segmented_sort"), "feature segment-ends"))
    assert {s.algorithm: s.signature.segment_ends for s in made} == {AUTO: False, "segmented_sort": True}
    with pytest.raises(Usage, match="segmented sorts have segment ends"):
        requested(target.find("cpu"), choice("cpu", (AUTO,), "feature segment-ends"))


@pytest.mark.parametrize(
    ("label", "option", "line"),
    [
        (
            "radix_select",
            "feature bit-range",
            "radix_select for u32 takes no feature bit-range; auto, radix, segmented",
        ),
        ("merge_path", "value index", "merge_path for u32 takes no value index; auto, bitonic, radix, radix_select,"),
        ("gather", "order descending", "gather for u32 takes no descending order; auto, bitonic, radix, "),
        ("pack", "key f32", "pack for f32 takes no key f32; auto, bitonic, radix, "),
        ("group_by", "value index64", "group_by for u32 takes no value index64; auto, "),
    ],
)
def test_a_refusal_names_what_has_the_option(label: str, option: str, line: str) -> None:
    wanted = choice("cpu", (label,), option)
    with pytest.raises(Usage) as e:
        requested(target.find("cpu"), wanted, wanted.keys if option.startswith("key") else ())
    assert e.value.lines[0].startswith("target cpu: ") and line in e.value.lines[0]


def test_an_epilogue_goes_with_sorts_alone() -> None:
    found = target.find("cpu")
    for label in known(found):
        wanted = choose(found, ("u32",), (), (label,), epilogue=EPILOGUE)
        try:
            made = requested(found, wanted)
        except Usage:
            assert not operation(label).by_count
        else:
            assert any(s.signature.epilogue for s in made if s.algorithm == label)
