"""Rendered kernel text is never edited as text: what follows a template is a pass over its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hsgen
from hsgen.system import resources

PACKAGE = Path(hsgen.__file__).parent
HOSTS = ("apis", "bundle", "operations", "report")
"""The folders of templates of which kernels use none."""
FOLDERS = ("dialects", "tree", "emit/wgsl", "engines", "cuda")
EMIT = ("kernels", "unroll", "repeated", "sharing", "templates")
"""The modules of `hsgen.emit` through which the text of a kernel goes, other than those of WGSL."""
EDITS = {"replace", "sub", "subn", "translate", "removeprefix", "removesuffix", "expandtabs"}
"""Methods and functions that make another text of a text."""
TEXTS = ("dialects/", "emit/kernels", "emit/unroll", "emit/sharing", "cuda/kernels", "cuda/numeric", "cuda/finish")
TEXTS = (*TEXTS, "engines/hip_shim", "engines/metal_shim", "engines/signatures", "engines/translated", "tree/printing")
"""The modules that have kernels as text; slices elsewhere are those of lists, such as the words of a statement."""
ALLOWED: dict[tuple[str, str], str] = {
    ("dialects/reference.py", "dialects"): "the names of templates",
    ("dialects/definitions.py", "_names"): "every other word of a list",
    ("engines/harness.py", "call"): "a line of a harness's output",
    ("engines/native.py", "_compiled"): "a message of a compiler",
    ("engines/native.py", "baseline_options"): "an option of a compiler",
}
"""Functions that edit other texts or slice lists, each with what it is."""
FILTER = re.compile(r"\|\s*(?:replace|regex_\w+)\b|\.(?:replace|removeprefix|removesuffix|translate)\(")


def modules() -> list[Path]:
    found = [p for folder in FOLDERS for p in (PACKAGE / folder).rglob("*.py")]
    return sorted([*found, *(PACKAGE / "emit" / f"{name}.py" for name in EMIT)])


def edits(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, int, str]]:
    """The edits of texts: the function that has each, its line, and what it is."""
    for node in ast.iter_child_nodes(tree):
        own = node.name if isinstance(node, ast.FunctionDef) else inside
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in EDITS:
            yield own, node.lineno, node.func.attr
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
            yield own, node.lineno, "slice"
        yield from edits(node, own)


def left(name: str, text: str) -> set[str]:
    """The edits of a module that are not allowed."""
    found = (x for x in edits(ast.parse(text)) if x[2] != "slice" or name.startswith(TEXTS))
    return {f"{name}:{line}: {what} in {where}" for where, line, what in found if (name, where) not in ALLOWED}


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_no_module_edits_the_text_of_a_kernel(path: Path) -> None:
    assert left(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")) == set()


def test_no_template_of_a_kernel_edits_text() -> None:
    found = [
        p for p in resources.templates().rglob("*.j2") if p.relative_to(resources.templates()).parts[0] not in HOSTS
    ]
    assert len(found) > 100
    assert {p.name for p in found if FILTER.search(p.read_text(encoding="utf-8"))} == set()


@pytest.mark.parametrize(
    "edit",
    ['text.replace("hs_load(from, ", word)', 're.sub("a", "b", text)', "_NAME.sub(word, text)", "text[at:]"],
)
def test_an_edit_is_found(edit: str) -> None:
    assert left("emit/kernels.py", f"def body(text):\n    return {edit}\n")


def test_an_edit_in_a_template_is_found() -> None:
    assert FILTER.search('{{ body | replace("a", "b") }}') and FILTER.search('{{ key.replace("a", "b") }}')


def test_each_exception_is_needed() -> None:
    found = {
        (p.relative_to(PACKAGE).as_posix(), x[0]) for p in modules() for x in edits(ast.parse(p.read_text("utf-8")))
    }
    assert ALLOWED.keys() <= found
