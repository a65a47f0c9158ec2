"""No module asks for an operation, an algorithm or an API by name: it asks the object.

- Operations and algorithms: no comparison with a registered name, no `match` case and no lookup table; in templates, no
  comparison with a quoted name.  Only operations, algorithms, APIs and dialects may compare names.
- APIs: no string literal that equals the name of an API or a dialect, outside of APIs and dialects.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import hsgen
from hsgen import algorithms, operations
from hsgen.apis import APIS
from hsgen.system import resources

PACKAGE = Path(hsgen.__file__).parent
OF_APIS = ("apis", "dialects")
HOMES = ("operations", "algorithms", *OF_APIS)


def registered() -> set[str]:
    """The names of operations, algorithms and APIs, and of the modules of operations and algorithms."""
    found = {*operations.EVERY, *algorithms.EVERY, *(o.module for o in operations.EVERY.values()), *APIS}
    return found | {a.__name__.rpartition(".")[2] for a in algorithms.EVERY.values()}  # type: ignore[attr-defined]


NAMES = registered()
API_NAMES = {word for api in APIS.values() for word in (api.name, api.dialect)}
OTHER_THINGS = {
    ("bundle/manifest.py", "glsl"): "a member of manifest.json",
    ("bundle/manifest_parser.py", "glsl"): "a member of manifest.json",
    ("cuda/driver.py", "cuda"): "the API of these GPUs; the first call does not wait for an import of all APIs",
    ("engines/host.py", "opencl"): "the API of most devices; a first call does not wait for an import of all APIs",
    ("emit/spirv.py", "vulkan"): "an extra of hsgen, with a GLSL compiler",
    ("numpy/devices.py", "cuda"): "an extra of hsgen",
    ("targets/isa.py", "cuda"): "the name of an offline compiler, a key of [isa]",
    ("targets/isa.py", "hip"): "the name of an offline compiler, a key of [isa]",
    ("targets/schema.py", "vulkan"): "a key of [device]",
    ("tools/compile/cuda.py", "cuda"): "the name of an offline compiler",
    ("tools/compile/hip.py", "hip"): "the name of an offline compiler, and the suffix of its input",
    ("tools/compile/radv.py", "vulkan"): "a folder of drivers",
    ("tools/suggest/query.py", "vulkan"): "a member of a query",
}
"""Strings that equal the name of an API or a dialect, but have another meaning."""
FORMER = {("targets/schema1.py", "merge")}
"""Former names of algorithms that another algorithm or operation has now."""


def modules(homes: tuple[str, ...]) -> list[str]:
    """The modules of hsgen outside of these packages."""
    found = (p.relative_to(PACKAGE) for p in sorted(PACKAGE.rglob("*.py")))
    return [p.as_posix() for p in found if p.parts[0] not in homes]


def parsed(module: str) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def templates(homes: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """The templates outside of these folders, each with the code that Jinja evaluates."""
    for path in resources.templates().rglob("*.j2"):
        name = path.relative_to(resources.templates())
        if name.parts[0] not in homes:
            yield name.as_posix(), re.findall(r"\{[{%].*?[%}]\}", path.read_text(encoding="utf-8"), re.DOTALL)


def named(node: ast.AST) -> Iterator[str]:
    """The registered names among a constant, or a literal collection of constants."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in NAMES:
            yield part.value


def branches(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines that compare something with a registered name or look it up by one, with that name."""
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


def strings(tree: ast.AST) -> set[str]:
    """The string literals of a module, except those within f-strings, which are parts of texts."""
    parts = {id(x) for f in ast.walk(tree) if isinstance(f, ast.JoinedStr) for x in f.values}
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in parts)
    return {n.value for n in found if isinstance(n.value, str)}


@cache
def words() -> dict[str, tuple[set[str], set[str]]]:
    """Of each module outside of APIs: the names that it branches on, and its strings that name an API."""
    trees = ((module, parsed(module)) for module in modules(OF_APIS))
    return {module: ({name for _, name in branches(tree)}, strings(tree) & API_NAMES) for module, tree in trees}


def test_no_module_branches_on_a_name() -> None:
    assert len(modules(HOMES)) > 300
    assert {(module, name) for module in modules(HOMES) for name in words()[module][0]} - FORMER == set()


def test_no_module_names_an_api() -> None:
    assert {(module, word) for module, (_, names) in words().items() for word in names} <= set(OTHER_THINGS)


@pytest.mark.parametrize(
    "text",
    [
        'if sort.operation == "merge": pass',
        'x = "scan" != label',
        'y = name in ("auto", "radix")',
        'y = name not in {"merge_path"}',
        'match kind:\n    case "digest": pass',
        'baselines = {"segmented_sort": 1, "merge": 2}.get(kind)',
    ],
)
def test_the_walk_finds_branches(text: str) -> None:
    assert list(branches(ast.parse(text)))


@pytest.mark.parametrize("text", ['record = {"sort": a, "count": b}', 'if place == "in": pass', 'label = "radix"'])
def test_the_walk_leaves_data_alone(text: str) -> None:
    assert not list(branches(ast.parse(text)))


def test_every_exemption_is_needed() -> None:
    assert set(OTHER_THINGS) - {(module, word) for module, (_, names) in words().items() for word in names} == set()


def test_no_template_names_an_api() -> None:
    quoted = re.compile(rf"[\"']({'|'.join(sorted(API_NAMES))})[\"']")
    assert not [(name, x) for name, code in templates(OF_APIS) for x in code if quoted.search(x)]


def test_no_template_outside_its_folder_compares_the_name_of_an_algorithm() -> None:
    """Kernel bodies may: `coordination` and other parameters of an algorithm may have the name of another algorithm."""
    folders = {k.template.split("/")[0] for k in every_kernel()}
    quoted = "|".join(sorted({*operations.EVERY, *algorithms.EVERY}))
    found = set()
    for name, code in templates(tuple(folders)):
        for condition in code:
            if re.search(r"==|!=|\bin\b", condition):
                found |= {(name, word) for word in re.findall(rf'"({quoted})"', condition)}
    assert not found


def every_kernel() -> Iterator[algorithms.Kernel]:
    """The kernels of every algorithm, with the parameters of some target."""
    from hsgen.targets import target

    found = target.find("generic")
    for label in [*found.labels("u32"), *found.implicit("u32")]:
        yield from found.sort(label, "u32").kernels


def test_each_algorithm_implements_an_operation_and_each_operation_has_an_algorithm() -> None:
    assert {a.OPERATION for a in algorithms.EVERY.values()} == set(operations.EVERY)
    for name, operation in operations.EVERY.items():
        assert operation.name == name and (PACKAGE / "operations" / f"{operation.module}.py").is_file()


def test_modules_about_an_operation_or_algorithm_have_its_name() -> None:
    """A listing finds modules by name, so it would skip others."""
    packages = {a.__name__.rpartition(".")[2] for a in algorithms.EVERY.values()}  # type: ignore[attr-defined]
    for folder in ("suggest/shapes", "report/shapes"):
        assert {p.stem for p in (PACKAGE / "tools" / folder).glob("*.py")} - {"__init__"} <= packages
    about = {o.module for o in operations.EVERY.values()}
    assert {p.stem for p in (resources.templates() / "operations").glob("*.j2")} <= about
    timed = {o.module for o in operations.EVERY.values() if o.timed}
    assert {p.stem for p in (PACKAGE / "tools/bench/baselines").glob("*.py")} & about == timed
