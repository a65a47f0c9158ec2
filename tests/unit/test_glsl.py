"""GLSL: each index of a buffer is a sum that starts with the buffer's offset in its binding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hsgen.core.keys import Signature
from hsgen.emit.kernels import render
from hsgen.targets import target

LANES = Path(__file__).parents[1] / "device" / "lanes"
FORMS = [
    Signature(),
    Signature(value="v8", key_transform=True, bit_range=True, device_count=True),
    Signature(value="index", bit_range=True),
]
OPERATORS = re.compile(r"[?:|&^]|<<|>>|<|>|==|!=")


def bare(text: str) -> str:
    """Return an expression without parenthesized parts."""
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text


def indices(text: str) -> list[str]:
    """Return the expression that follows the buffer's offset in each index."""
    found = []
    for match in re.finditer(r"\w+_first \+ ", text):
        depth, at = 1, match.end()
        while depth:
            depth += {"[": 1, "]": -1}.get(text[at], 0)
            at += 1
        found.append(re.sub(r"\[.*\]", "", text[match.end() : at - 1]))
    return found


@pytest.mark.parametrize("name", ["forms1.toml", "forms8.toml"])
@pytest.mark.parametrize("signature", FORMS, ids=["plain", "values", "index"])
def test_indices_of_buffers_are_sums(name: str, signature: Signature) -> None:
    found = target.find(str(LANES / name))
    for label in found.labels("u32"):
        if signature.bit_range and label == "bitonic":
            continue
        for index in indices(render(found.sort(label, "u32", signature), "vulkan").text):
            assert not OPERATORS.search(bare(index)), index


def test_indices_other_than_sums_are_noticed() -> None:
    assert indices("x[x_first + i < n ? i : 0]") == ["i < n ? i : 0"]
    assert OPERATORS.search(bare("i < n ? i : 0")) and not OPERATORS.search(bare("(i < n ? i : 0) + 3 * j"))


def test_lines_are_stored_where_a_buffer_begins() -> None:
    """A macro gets the buffer and an index separately, so the index must contain the buffer's offset."""
    text = render(target.find("cpu").sort("radix", "u32"), "vulkan").text
    calls = re.findall(r"(?<!define )hs_store_line\((\w+), (\w+)", text)
    assert calls and all(first == f"{name}_first" for name, first in calls)
