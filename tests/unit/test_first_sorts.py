"""The sort that a target has compiled first: where bundles get it, what it is, and the tables that are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hsgen.apis import APIS
from hsgen.bundle.manifest import Choice
from hsgen.bundle.selection import sorts
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.system import resources
from hsgen.targets import target

NAME = "nvidia-vulkan"
TEXT = (resources.targets() / f"{NAME}.toml").read_text(encoding="utf-8")


def chosen(text: str = TEXT, **more: Any) -> dict[str, Sort]:
    """The sorts of a request by their files; by default u32 keys alone."""
    found = target.parse(text, NAME, "mine.toml")
    request: dict[str, Any] = {"keys": ("u32",), "apis": ("vulkan",), "algorithms": ("auto", "digest"), **more}
    return {s.file: s for s in sorts(found, Choice(**request))}


def test_it_comes_with_the_sort_for_any_count_and_after_it() -> None:
    """The match functions take the first sort that serves a request."""
    made = chosen(values=("none", "v4"))
    assert list(made) == [
        "auto_u32",
        "radix-first_u32",
        "auto_u32_v4",
        "radix-first_u32_v4",
        "digest_u32",
        "digest_u32_v4",
    ]
    assert {name: s.first for name, s in made.items() if s.first} == {
        "auto_u32": "radix-first_u32",
        "auto_u32_v4": "radix-first_u32_v4",
    }
    assert chosen(algorithms=("radix", "radix-first")).keys() == {"radix_u32", "radix-first_u32"}
    assert chosen(TEXT.replace('\nfirst = "radix-first-reduce_scan"', "")).keys() == {"auto_u32", "digest_u32"}


FORMS: list[dict[str, Any]] = [
    {"keys": ("u8", "f16", "i32", "u64")},
    {"values": ("index", "packed", "v8", "v16")},
    {"features": ("bit-range", "device-count"), "orders": ("ascending", "descending")},
    {"features": ("run-boundaries",), "max_n": 1 << 16},
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(form))
def test_it_sorts_whatever_the_other_sorts(form: dict[str, Any]) -> None:
    made = chosen(**form)
    pairs = [(s, made[s.first]) for s in made.values() if s.algorithm == "auto"]
    assert pairs
    for sort, first in pairs:
        assert first.signature == sort.signature and first.key == sort.key and first.label == sort.label
        assert first.plan.max_n >= min(sort.plan.max_n, (1 << 30) - 1)
        assert first.plan.device_status is None and sort.plan.device_status is None
        for n in (1, 100, 4096, 4097, 1 << 20, sort.plan.max_n):  # hs_vulkan_create begins with it
            assert scratch_bytes(sort, n, Options()) >= scratch_bytes(first, n, Options())


def test_a_sort_that_reports_a_status_has_none() -> None:
    """Its status lies in scratch, where the other would have something else."""
    waiting = r"\[radix\.u32\.(?:pairs\.hybrid|\w+\.partition)\].*?(?=\n\[)"
    text = re.sub(waiting, "", TEXT, flags=re.S).replace("radix-pairs-hybrid", "radix")
    text = re.sub(r".*radix-\w+-partition.*\n", "", text)
    assert not any(s.first for s in chosen(text.replace('progress = "guaranteed"', 'progress = "started"')).values())


def test_it_need_not_serve_every_form() -> None:
    text = TEXT.replace('first = "radix-first-reduce_scan"', 'first = "bitonic"')
    assert chosen(text)["auto_u32"].first == "bitonic_u32"
    assert not chosen(text, features=("bit-range",))["auto_u32"].first


def test_compact_kernels_share_their_statements_and_skip_no_pass() -> None:
    made = chosen()["radix-first_u32"]
    assert [step.kernel for step in made.plan.steps] == ["count", "rows", "scatter"] * 4
    text = render(made, "vulkan").text
    large = render(target.find(NAME).sort("auto", "u32"), "vulkan").text
    assert len(text) < len(large) / 4 and len(made.kernels) == 3
    assert "hs_load(from, " in text and "if (from == 0) {" not in text  # no statements for each buffer
    ranged = chosen(features=("bit-range",))["radix-first_u32"].plan.steps[-1]
    assert (ranged.kernel, ranged.guard.place, ranged.guard.range) == ("copy", "in", "part")


def test_compact_kernels_find_no_sorted_keys() -> None:
    with pytest.raises(Usage) as e:
        target.parse(TEXT.replace("compact = true", "compact = true\nsorted_exit = true", 1), NAME, "mine.toml")
    line = "mine.toml: radix.u32.first.reduce_scan.sorted_exit: compact kernels move all keys; leave it out"
    assert line in e.value.lines


def test_only_apis_that_defer_pipelines_use_it() -> None:
    """Others would get kernels that nothing launches."""
    for name in target.names():
        found = target.find(name)
        assert not found.firsts or all(APIS[api].spirv for api in found.apis), name
