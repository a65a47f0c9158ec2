"""Flags and sentinels: numbers in one module, rendered everywhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from hsgen.core import flags, interpreter
from hsgen.core.flags import ARGUMENTS, BIT, FLAGS, PLACES, QUANTITIES, RANGES
from hsgen.emit import c_constants, c_files

ROOT = Path(__file__).parents[2]
VALUES = {1 << bit for bit in BIT.values()}
BITS = "|".join(str(bit) for bit in BIT.values())
NUMBERS = "|".join(f"{value}|{value:#x}" for value in sorted(VALUES))
NUMBER = rf"(?:1[uUlL]*\s*<<\s*(?:{BITS})|{NUMBERS})[uUlL]*\b"
MASKS = re.compile(
    rf"[&|^]=?\s*~?\s*(?:\(\w+\)\s*)?\(*{NUMBER}"  # flags & (1 << 23)
    rf"|\b{NUMBER}\)*\s*[&|^](?![&|])"  # 1 << 23 | flags
    rf"|>>\s*(?:{BITS})\s*\)*\s*&"  # flags >> 23 & 1
    rf"|[?:]\s*\(*{NUMBER}"  # counted ? 1 << 23 : 0
    rf"|(?i:\b(?:HS_)?(?:{'|'.join(FLAGS)}))\s*(?:=|\s)\s*\(*{NUMBER}"  # DEVICE_COUNT = 1 << 23
)
SENTINELS = re.compile(
    rf"\bHS_(?:{'|'.join(ARGUMENTS).upper()})\s*=\s*\d|\b(?:argument|rule)(?:\.|->)kind\s*[=!]=\s*\d"
)
TEXTS = sorted(
    path
    for pattern in (
        "templates/**/*.j2",
        "templates/apis/**/*",
        "templates/bundle/*.[ch]",
        "hsgen/engines/native/*",
        "tests/vendor/**/*.[ch]*",
        "tests/compile/*.[ch]*",
        "generated/src/*.c*",
        "generated/README.md",
    )
    for path in ROOT.glob(pattern)
    if path.is_file() and "__pycache__" not in path.parts
)


def _flagged(node: ast.AST) -> bool:
    """Whether a Python expression is the number of a flag."""
    if isinstance(node, ast.UnaryOp):
        return _flagged(node.operand)
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value in VALUES
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.LShift)
        and all(isinstance(x, ast.Constant) for x in (node.left, node.right))
        and 1 << getattr(node.right, "value", 0) in VALUES
        and getattr(node.left, "value", 0) == 1
    )


def python_masks(text: str) -> list[int]:
    """The lines of a module that use the number of a flag as a mask."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)
        and (_flagged(node.left) or _flagged(node.right))
    ]


def text_masks(text: str) -> list[str]:
    """The places in another text that contain the number of a flag or a sentinel."""
    return [found[0] for pattern in (MASKS, SENTINELS) for found in pattern.finditer(text)]


def test_python_uses_the_names() -> None:
    for path in sorted([*ROOT.glob("hsgen/**/*.py"), *ROOT.glob("tests/**/*.py")]):
        assert not python_masks(path.read_text(encoding="utf-8")), path


def test_c_and_templates_use_the_names() -> None:
    assert len(TEXTS) > 300
    constants = c_constants.constants()
    numbers = {path: text_masks(path.read_text(encoding="utf-8").replace(constants, "")) for path in TEXTS}
    assert {path: masks for path, masks in numbers.items() if masks} == {}


@pytest.mark.parametrize(
    "text",
    [
        "if ((argument & (1 << 23)) != 0) n = 1;",
        "flags |= 0x800000;",
        "flags &= ~8388608u;",
        "flags &= ~(uint32_t)(1u << 22);",
        "1 << 21 | number",
        "((hs_argument() >> 20 & 1) != 0)",
        "(rows ? 1u << 27 : 0u)",
        "enum { HS_ROWS = 1 << 27 };",
        "#define DEVICE_COUNT (1 << 23)",
        "if (step->argument.kind == 5) return 0;",
    ],
)
def test_a_number_is_found(text: str) -> None:
    assert text_masks(text)
    if ";" not in text and text.startswith("1"):
        assert python_masks(f"x = {text.replace('number', 'y')}")


def test_python_masks_are_found() -> None:
    assert python_masks("x = y & 8388608\nz = ~(1 << 23) & y\nn = 1 << 23\nm = n & 0x800001") == [1, 2]


def test_the_header_has_them_all() -> None:
    header = (ROOT / "templates/bundle/hs.h").read_text(encoding="utf-8")
    made = c_files.completed(header)
    assert header.count(c_constants.PLACE) == 1 and c_constants.PLACE not in made
    for name in FLAGS:
        assert f"HS_{name} = 1 << {BIT[name]}" in made and getattr(flags, name) == 1 << BIT[name]
    for i, name in enumerate(ARGUMENTS):
        assert f"HS_{name.upper()} = {i}" in made
    for names in (PLACES, RANGES, QUANTITIES):
        assert ", ".join(f"HS_{name} = {i}" for i, name in enumerate(names.values())) in made


def test_the_harness_has_the_numbers_of_calls() -> None:
    """In the order in which Python passes them."""
    text = (ROOT / "hsgen/engines/native/harness.h").read_text(encoding="utf-8")
    (names,) = re.findall(r"uint64_t (\w+(?:, \w+)+);", text)
    assert tuple(names.split(", ")) == interpreter.NUMBERS
    assert [interpreter.Options(**{name: 7}).number for name in interpreter.NUMBERS] == [7] * (
        len(interpreter.NUMBERS) - 2
    ) + [0, 0]
