"""A kernel's template is short: a sequence of phases, with few statements of Jinja (docs/internals/radix.md)."""

from __future__ import annotations

import re

import kernel_templates
import pytest

from hsgen.emit.kernels import render
from hsgen.targets import target


def test_each_kernel_is_a_short_sequence_of_phases() -> None:
    faults = {template: kernel_templates.body(template).faults() for template in kernel_templates.kernels()}
    assert len(faults) > 50 and not {template: lines for template, lines in faults.items() if lines}


@pytest.mark.parametrize("file", kernel_templates.files())
def test_macros_have_few_parameters_and_lines_are_not_long(file: str) -> None:
    assert kernel_templates.faults(file) == []


def test_the_sort_of_a_gpu_opens_few_templates() -> None:
    """So that an engineer reads a whole sort: dialect, keys and phases."""
    sort = target.find("nvidia-hopper").sort("auto", "u32")
    (line,) = re.findall(r"^// templates: (.+)$", render(sort, "cuda").header, re.MULTILINE)
    assert len(line.split()) <= 25
