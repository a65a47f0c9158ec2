"""The structure of the tree: import directions, size budgets, no unused template, and no test imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import covering

import hsgen
from hsgen.apis import APIS
from hsgen.cli import group
from hsgen.core.sort import Sort
from hsgen.dialects.dialect import load
from hsgen.emit.kernels import render
from hsgen.emit.templates import environment
from hsgen.system import resources

PACKAGE = Path(hsgen.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = Path(__file__).parents[1]

LAYERS = (
    ("core",),
    ("system",),
    ("apis",),
    ("operations",),
    ("algorithms",),
    ("stages",),
    ("targets",),
    ("tree",),
    ("dialects",),
    ("emit",),
    ("bundle",),
    ("engines",),
    ("runners",),
    ("opencl",),
    ("cuda",),
    ("cupy", "dask", "distributed", "jax", "numpy", "torch"),
    ("tools",),
    ("cli",),
    ("__main__",),
)
"""A package imports from itself and from those before it."""


HOSTS = ("apis", "bundle", "operations", "report")
"""The folders of templates that kernels do not use."""


def templates() -> list[str]:
    return sorted(p.relative_to(resources.templates()).as_posix() for p in resources.templates().rglob("*.j2"))


def layer(name: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if name in names)


def test_every_module_is_in_a_package() -> None:
    assert {p.name for p in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}
    assert {p.parent.name for p in PACKAGE.glob("*/__init__.py")} | {"__main__"} == {n for x in LAYERS for n in x}


def part(module: str) -> str:
    """``hsgen.algorithms.bitonic`` -> ``algorithms``"""
    return module.split(".")[1] if module.startswith("hsgen.") else ""


def imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "hsgen":
                found.update(f"hsgen.{a.name}" for a in node.names if not a.name.startswith("__"))
    return found


def long_functions(tree: ast.Module) -> list[str]:
    """The functions of more than 40 lines of a module."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [f.name for f in functions if (f.end_lineno or 0) - f.lineno >= 40]


def undocumented(tree: ast.Module) -> list[str]:
    """The public functions and classes of a module, or the module itself, that have no docstring."""
    bare = [] if ast.get_docstring(tree) or not tree.body else ["the module"]
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    for node in [*tree.body, *(m for c in classes for m in c.body)]:
        overloads = isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in node.decorator_list)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not overloads:
            bare += [] if ast.get_docstring(node) else [node.name]
    return bare


@dataclass
class Facts:
    """What the tests below check of a module, from one reading of its text."""

    imports: set[str]
    long: list[str]
    undocumented: list[str]
    process: bool
    """Whether the text prints, or reads the command line."""


@cache
def facts() -> dict[str, Facts]:
    """The facts of each module, by its path in the package."""
    modules: dict[str, Facts] = {}
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        process = re.search(r"\bprint\(|sys\.(argv|exit|stdout)|\bclick\b", text) is not None
        name = path.relative_to(PACKAGE).as_posix()
        modules[name] = Facts(imports(tree), long_functions(tree), undocumented(tree), process)
    assert len(modules) > 400
    return modules


def test_imports_go_one_way() -> None:
    wrong: dict[str, set[str]] = {}
    for name, module in facts().items():
        package = name.removesuffix(".py").split("/")[0]
        if package == "__init__":
            continue
        used = {part(m) for m in module.imports if m.startswith("hsgen.")} - {""}
        if above := {u for u in used if layer(u) > layer(package)}:
            wrong[name] = above
    assert wrong == {}


def possible_modules(tree: ast.Module) -> set[str]:
    """Return each part of the names that a module imports, by statements or by `import_module`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module or ''}.{a.name}" for a in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names.update(a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str))
    return {part for name in names for part in name.split(".")}


def test_no_module_imports_a_test() -> None:
    """Helper modules hold what several tests use."""
    files = sorted(TESTS.rglob("*.py"))
    tests = {p.stem for p in files if p.name.startswith("test_")}
    assert len(tests) > 200 and len(files) > len(tests) + 50
    for path in files:
        imported = possible_modules(ast.parse(path.read_text(encoding="utf-8"))) & tests
        assert not imported, f"{path.relative_to(TESTS)} imports {sorted(imported)}"


PROCESSES = ("isolated_build.py", "worker.py", "sandbox.py")
"""Main modules of separate processes."""


def test_only_the_command_line_touches_the_process() -> None:
    outside = (n for n in facts() if n.split("/")[0] not in ("cli", "__main__.py") and Path(n).name not in PROCESSES)
    assert [name for name in outside if facts()[name].process] == []


def test_functions_stay_small() -> None:
    assert {name: module.long for name, module in facts().items() if module.long} == {}


def test_public_names_have_docstrings() -> None:
    assert {name: module.undocumented for name, module in facts().items() if module.undocumented} == {}


def test_each_command_has_a_file_of_its_name() -> None:
    for name, command in group.commands.items():
        assert command.callback and command.callback.__module__ == f"hsgen.cli.{name}"


def test_c_files_stay_small() -> None:
    """Runtimes, examples, harnesses and baselines."""
    found = [
        p for top in (resources.templates(), PACKAGE) for p in top.rglob("*") if p.suffix in (".c", ".h", ".cu", ".m")
    ]
    assert len(found) > 50
    for path in found:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 450, path.name


def test_every_template_of_a_kernel_is_opened() -> None:
    """By a sort of `covering`: headers list the opened templates, so this check is complete."""
    left = {n for n in templates() if n.split("/")[0] not in HOSTS}
    for sort, api in promising_first((sort, api) for sort, apis in covering.sorts() for api in apis):
        (line,) = re.findall(r"^// templates: (.+)$", render(sort, api).header, re.MULTILINE)
        left -= set(line.split())
        if not left:
            return
    assert left == set()


def promising_first(found: Iterable[tuple[Sort, str]]) -> list[tuple[Sort, str]]:
    """Sorts for APIs, so that few of them open every template: first those with kernels or arguments of kernels that
    none before has in the language, rare ones before the others; languages that take long to translate are last."""
    seen: set[tuple[str, str, frozenset[str]]] = set()
    order: list[tuple[bool, bool, Sort, str]] = []
    for sort, api in reversed(list(found)):
        language = load(environment(), APIS[api].dialect)
        memory = ((k, frozenset(x.name for x in (*k.buffers, *k.arrays))) for k in sort.kernels)
        new = {(language.name, k.template, names) for k, names in memory} - seen
        order.append((not new, bool(language.translator), sort, api))
        seen |= new
    return [(sort, api) for *_, sort, api in sorted(order, key=lambda x: x[:2])]


def test_every_other_template_is_named() -> None:
    """Templates of hosts and of reports, by a module or by a template in the same folder."""
    others = [p for folder in ("report", "apis") for p in (resources.templates() / folder).rglob("*.j2")]
    texts = [p.read_text(encoding="utf-8") for p in (*MODULES, *others)]
    for name in templates():
        folder, own = name.split("/")[0], name.split("/")[-1]
        if folder == "apis" and own in ("build.j2", "target.j2"):
            continue  # every API may have it
        if folder in HOSTS:
            assert any(
                f'"{what}"' in text
                for text in texts
                for what in (name, name.removesuffix(".j2"), own.removesuffix(".j2"), name.split("/", 2)[-1])
            ), name
