"""Epilogue fragments: their declarations, and the errors for wrong ones."""

from __future__ import annotations

import pytest

from hsgen.core.errors import Usage
from hsgen.core.keys import Signature
from hsgen.emit import kernels as render
from hsgen.stages import attach, epilogue
from hsgen.targets import assembly, target

RANKS = """{% set report_words_per_key = 1 %}
{% macro epilogue(value, report, i) %}{{ report(value()) }} = hs_to_u32({{ i }});{% endmacro %}
"""
PLAIN = "{% macro epilogue(key) %}{% endmacro %}"


def test_a_fragment_says_what_it_asks_for() -> None:
    says = epilogue.parsed(RANKS)
    assert says.arguments == ("value", "report", "i") and says.reports and not says.changes_keys
    assert not epilogue.parsed(PLAIN).reports


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no macro named epilogue"),
        ("{% set epilogue = 3 %}", "no macro named epilogue"),
        ("{% macro epilogue(i) %}\n{{ i }", "line 2"),
        ("{% macro epilogue(i) %}{{ j }}{% endmacro %}", "'j' is undefined"),
        ("{% macro epilogue(i) %}{{ value(0) }}{% endmacro %}", "'value' is undefined"),
        ("{% macro epilogue(i, place) %}{% endmacro %}", "unknown argument place; the arguments are i, key"),
        ("{% macro epilogue(report) %}{% endmacro %}", "set report_words"),
        ("{% set report_words = 3 %}{% macro epilogue(i) %}{% endmacro %}", "without the argument report"),
        ("{% set report_words = -1 %}{% macro epilogue(report) %}{% endmacro %}", "report_words is -1"),
        ("{% set report_words = '4' %}{% macro epilogue(report) %}{% endmacro %}", "report_words is '4'"),
        ("{% set report_words_per_key = true %}{% macro epilogue(report) %}{% endmacro %}", "is True"),
        ("{% set changes_keys = true %}{% macro epilogue(key, before) %}{% endmacro %}", "omit one of them"),
        ("{% macro epilogue(i) %}\xe4{% endmacro %}", "ASCII"),
        ("{% include 'keys.j2' %}{% macro epilogue(i) %}{% endmacro %}", "no loader"),
        ("{% macro epilogue(key) %}{{ key(1) }}{% endmacro %}", "not safely callable"),
    ],
)
def test_wrong_fragments_are_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(Usage) as e:
        epilogue.parsed(text)
    assert len(e.value.lines) == 1 and said in e.value.lines[0]


@pytest.mark.parametrize(
    ("label", "signature", "said"),
    [
        ("auto", Signature(epilogue=RANKS), "give --value"),
        ("auto", Signature(epilogue=PLAIN, device_count=True), "a device-side count"),
        ("auto", Signature(epilogue=PLAIN, run_boundaries=True), "feature run-boundaries"),
        ("segmented_sort", Signature(epilogue=PLAIN), "cannot be combined with segmented_sort"),
        ("digest", Signature(epilogue=PLAIN), "cannot be combined with digest"),
    ],
)
def test_what_has_no_epilogue_is_refused(label: str, signature: Signature, said: str) -> None:
    with pytest.raises(Usage, match=said):
        target.find("generic").sort(label, "u32", signature)


def test_a_sort_calls_it_last_and_for_every_count() -> None:
    sort = target.find("generic").sort("auto", "u32", Signature(value="index", epilogue=RANKS))
    last = sort.plan.steps[-1]
    assert last.kernel == "epilogue" and (last.guard.min_n, last.guard.max_n) == (0, sort.plan.max_n)
    assert [b.role for b in last.bindings] == ["destination", "values_out", "report"]
    assert attach.report_words(sort) == (0, 1)
    assert attach.report_length(sort, 10) == 10
    assert assembly.moved(sort, last, 1000) == 8000
    for api in ("opencl", "vulkan", "cuda"):
        text = render.render(sort, api)
        assert "--epilogue FILE" in text.header
        assert "report" in text.parts["epilogue"]
