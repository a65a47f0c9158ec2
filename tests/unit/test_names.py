"""No module asks which operation, algorithm or API it has before it: it asks the object, and never compares a name.

The walk finds comparisons with registered names, `match` cases and lookup tables; in templates, comparisons with quoted
names.  Names may be compared where they live: in the modules of operations and algorithms, and of APIs and dialects.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import hsgen
from hsgen import algorithms, operations
from hsgen.system import resources

PACKAGE = Path(hsgen.__file__).parent
HOMES = ("operations", "algorithms", "apis", "dialects")
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in HOMES)


def registered() -> set[str]:
    """The names of operations and algorithms, those of their modules, and those of APIs where these are registered."""
    found = {*operations.EVERY, *algorithms.EVERY, *(o.module for o in operations.EVERY.values())}
    found |= {a.__name__.rpartition(".")[2] for a in algorithms.EVERY.values()}  # type: ignore[attr-defined]
    if find_spec("hsgen.apis"):
        found |= set(import_module("hsgen.apis").APIS)
    return found


NAMES = registered()


def named(node: ast.AST) -> Iterator[str]:
    """The registered names among a constant, or a literal collection of constants."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in NAMES:
            yield part.value


def branches(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines at which something is compared with a registered name or looked up by one, with that name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from ((node.lineno, name) for name in named(side))
        elif isinstance(node, ast.MatchValue):
            yield from ((node.lineno, name) for name in named(node.value))
        elif isinstance(node, ast.Dict) and node.keys:
            keys = [name for key in node.keys if key is not None for name in named(key)]
            if len(keys) == len(node.keys):
                yield node.lineno, keys[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_no_module_branches_on_a_name(path: Path) -> None:
    assert list(branches(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "text",
    [
        'if sort.operation == "merge": pass',
        'x = "scan" != label',
        'y = name in ("auto", "radix")',
        'y = name not in {"merge_path"}',
        'match kind:\n    case "check": pass',
        'peers = {"segments": 1, "merge": 2}.get(kind)',
    ],
)
def test_the_walk_finds_branches(text: str) -> None:
    assert list(branches(ast.parse(text)))


@pytest.mark.parametrize("text", ['record = {"sort": a, "count": b}', 'if place == "in": pass', 'label = "radix"'])
def test_the_walk_leaves_data_alone(text: str) -> None:
    assert not list(branches(ast.parse(text)))


def test_each_algorithm_carries_out_an_operation_and_each_operation_has_one() -> None:
    assert {a.OPERATION for a in algorithms.EVERY.values()} == set(operations.EVERY)
    for name, operation in operations.EVERY.items():
        assert operation.name == name and (PACKAGE / "operations" / f"{operation.module}.py").is_file()


def test_modules_about_an_operation_or_algorithm_are_called_like_it() -> None:
    """Else nobody finds them: a listing passes over what is called otherwise."""
    packages = {a.__name__.rpartition(".")[2] for a in algorithms.EVERY.values()}  # type: ignore[attr-defined]
    for folder in ("suggest/shapes", "report/shapes"):
        assert {p.stem for p in (PACKAGE / "tools" / folder).glob("*.py")} - {"__init__"} <= packages
    about = {o.module for o in operations.EVERY.values()}
    assert {p.stem for p in (resources.templates() / "operations").glob("*.j2")} <= about
    assert {p.stem for p in (PACKAGE / "tools/bench/baselines").glob("*.py")} & about == {o.module for o in timed()}


def timed() -> list[operations.Operation]:
    return [o for o in operations.EVERY.values() if o.timed]


def test_no_template_but_its_own_asks_for_an_algorithm() -> None:
    """`coordination` and others of an algorithm's own values may be called as another algorithm in its own folder."""
    folders = {k.template.split("/")[0] for k in every_kernel()}
    quoted = "|".join(sorted({*operations.EVERY, *algorithms.EVERY}))
    found = set()
    for path in resources.templates().rglob("*.j2"):
        name = path.relative_to(resources.templates())
        if name.parts[0] in folders:
            continue
        for condition in re.findall(r"\{[%{].*?[%}]\}", path.read_text(encoding="utf-8"), re.S):
            if re.search(r"==|!=|\bin\b", condition):
                found |= {(name.as_posix(), word) for word in re.findall(rf'"({quoted})"', condition)}
    assert not found


def every_kernel() -> Iterator[algorithms.Kernel]:
    """The kernels of every algorithm, as some target has it."""
    from hsgen.targets import target

    found = target.find("generic")
    for label in [*found.labels("u32"), *found.derived("u32")]:
        yield from found.sort(label, "u32").kernels
