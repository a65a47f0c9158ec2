"""The shape of the tree: import directions, size budgets, and no dialect or vendor word in kernel bodies."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

import hsgen
from hsgen.system import resources

PACKAGE = Path(hsgen.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = (
    ("core",),
    ("system",),
    ("operations",),
    ("algorithms",),
    ("stages",),
    ("targets",),
    ("dialects",),
    ("emit",),
    ("bundle",),
    ("engines",),
    ("opencl",),
    ("tools",),
    ("cli",),
    ("__main__",),
)
"""A package imports from itself and from those before it."""


def layer(name: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if name in names)


def test_no_module_lies_beside_the_packages() -> None:
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


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if own == "__init__":
        return
    used = {part(m) for m in imports(ast.parse(path.read_text(encoding="utf-8"))) if m.startswith("hsgen.")} - {""}
    assert {u for u in used if layer(u) > layer(own)} == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_only_the_command_line_touches_the_process(path: Path) -> None:
    if path.relative_to(PACKAGE).parts[0] in ("cli", "__main__.py") or path.name in (
        "isolated_build.py",
        "worker.py",
        "sandbox.py",
    ):
        return  # these are the main of a process of their own
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bprint\(|sys\.(argv|exit|stdout)|\bclick\b", text)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 280
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 50, f"{path.name}: {node.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_public_names_have_docstrings(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    for node in [*tree.body, *(m for c in classes for m in c.body)]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.name}: {node.name}"


def test_templates_stay_small() -> None:
    for path in resources.templates().rglob("*.j2"):
        budget = 100 if path.parent.name == "dialects" else 120
        assert len(path.read_text(encoding="utf-8").splitlines()) <= budget, path.name


def test_bodies_hold_no_word_of_a_dialect_or_vendor() -> None:
    vendors = r"opencl|glsl|cuda|vulkan|metal|intel|nvidia|amd"
    words = rf"__kernel|__global|__local|__shared__|{vendors}|gl_|get_\w+_id|barrier\(CLK"
    for path in sorted((resources.templates() / "merge").glob("*.j2")):
        text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(words, text, re.IGNORECASE), path.name


def test_every_template_is_used() -> None:
    """By a sort or scan of a target, or by one with values or of another strategy."""
    from hsgen.algorithms import ALGORITHMS, EVERY, scan
    from hsgen.algorithms.radix.onesweep import Onesweep
    from hsgen.algorithms.radix.rankers import Ranked
    from hsgen.algorithms.radix.reduce_scan import ReduceScan
    from hsgen.algorithms.radix.tile import recast
    from hsgen.core.spec import APIS, Form
    from hsgen.emit.kernels import environment, sources_of
    from hsgen.targets import target
    from hsgen.targets.choices import algorithm

    host = ("LICENSE", "README.md", "CMakeLists.txt", "meson.build", "sources.txt", "target.c", "target.cu", "spirv.c")
    roots = {f"host/{name}.j2" for name in (*host, "target_metal.c", "hs_targets.h", "hs_targets.c")}
    roots |= {f"dialects/{name}.j2" for name in APIS.values()} | {f"{name}/words.j2" for name in EVERY}
    roots |= {"report/page.j2"}  # of hsgen report
    roots |= {"grids.j2"}  # of sorts with a count on the device, whatever the algorithm
    roots |= {"dialects/cuda_parts.j2", "radix/grid.j2"}  # of sorts whose work-groups wait for each other
    roots |= {f"radix/{name}.j2" for name in ("msd_begin", "msd_histogram", "msd_starts", "msd_deal", "msd_count")}
    roots |= {f"radix/{name}.j2" for name in ("msd_places", "bucket", "bucket_rest")}  # of sorts by buckets
    roots |= {f"radix/finish{name}.j2" for name in ("", "_starts", "_bounds", "_rest", "_again")}  # the same of pairs
    roots |= {f"radix/rank_{name}.j2" for name in ("match", "flags", "split")}  # imported by a name made up
    roots |= {"dialects/opencl_rows.j2"}  # of merges by rows
    roots |= {"merge/path.j2", "merge/path_walk.j2"}  # of merge sorts whose last levels are merged by paths
    changes = ("single", "count", "spine", "place", "serial_single", "serial_count", "serial_place")
    roots |= {f"changes/{name}.j2" for name in changes}  # of sorts that tell where keys change
    roots |= {"epilogue/rows.j2"}  # of sorts with one
    roots |= {"radix/exit.j2"}  # of sorts that look whether keys are in order
    roots |= {"segments/copy.j2", "segments/serial_windows.j2"}  # of narrow keys, and of keys with values
    for found in map(target.find, target.names()):
        if "u32" in found.autos:
            roots |= {k.template + ".j2" for label in found.derived("u32") for k in found.sort(label, "u32").kernels}
        for (label, _), params in found.choices.items():
            made = ALGORITHMS[algorithm(label)]
            shapes = [params]
            if hasattr(params, "form"):
                shapes += [replace(params, form=Form(value="v4"))]
            if isinstance(params, Ranked):
                shapes += [recast(params, ReduceScan), recast(params, Onesweep)]
            if isinstance(params, scan.Params):
                shapes += [replace(params, coordination=c) for c in ("scan", "lookback")]
            roots |= {k.template + ".j2" for p in shapes for k in made.kernels(p)}
    every = {p.relative_to(resources.templates()).as_posix() for p in resources.templates().rglob("*.j2")}
    assert set(sources_of(environment(), sorted(roots))) == every
