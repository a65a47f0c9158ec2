"""No module outside `hsgen.apis`, and no template outside its folders, asks which API it is by name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import hsgen
from hsgen.apis import APIS
from hsgen.apis.api import Api
from hsgen.system import resources

PACKAGE = Path(hsgen.__file__).parent
NAMES = {word for api in APIS.values() for word in (api.name, api.dialect)}
OWN = ("apis", "dialects")
OTHER_THINGS = {
    ("bundle/manifest.py", "glsl"): "a member of manifest.json",
    ("bundle/manifest_parser.py", "glsl"): "a member of manifest.json",
    ("targets/isa.py", "cuda"): "the name of an offline compiler, a key of [isa]",
    ("targets/schema.py", "vulkan"): "a key of [device]",
    ("tools/compile/cuda.py", "cuda"): "the name of an offline compiler",
    ("tools/compile/radv.py", "vulkan"): "a folder of drivers",
    ("tools/suggest/query.py", "vulkan"): "a member of a query",
}
"""Strings that are equal to the name of an API or a dialect, and mean something else."""


def strings(text: str) -> set[str]:
    """The string literals of a module, those within f-strings left out: they are parts of texts."""
    tree = ast.parse(text)
    parts = {id(x) for f in ast.walk(tree) if isinstance(f, ast.JoinedStr) for x in f.values}
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in parts)
    return {n.value for n in found if isinstance(n.value, str)}


def modules() -> list[Path]:
    return [p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] not in OWN]


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_no_module_names_an_api(path: Path) -> None:
    where = path.relative_to(PACKAGE).as_posix()
    assert {(where, word) for word in strings(path.read_text(encoding="utf-8")) & NAMES} <= set(OTHER_THINGS)


def test_every_exemption_is_needed() -> None:
    for where, word in OTHER_THINGS:
        assert word in strings((PACKAGE / where).read_text(encoding="utf-8")), (where, word)


def test_no_template_names_an_api() -> None:
    """As a word in quotation marks within what Jinja evaluates."""
    templates = resources.templates()
    quoted = re.compile(rf"[\"']({'|'.join(sorted(NAMES))})[\"']")
    for path in templates.rglob("*.j2"):
        if path.relative_to(templates).parts[0] in OWN:
            continue
        code = re.findall(r"\{[{%].*?[%}]\}", path.read_text(encoding="utf-8"), re.DOTALL)
        assert not [x for x in code if quoted.search(x)], path.name


def test_names_and_files_of_apis_are_their_own() -> None:
    """Names, dialects and titles differ; the files that an API names are there; a folder belongs to an API."""
    every = list(APIS.values())
    for of in ("name", "title", "dialect"):
        assert len({getattr(api, of) for api in every}) == len(every)
    assert sum(api.text for api in every) <= 1
    for api in every:
        for pattern in (*api.headers, *api.internal, *api.sources, api.example, "build.j2"):
            assert api.file(pattern).is_file(), (api.name, pattern)
        assert not api.tables or api.file("target.j2").is_file()
        for name in api.harness.sources if api.harness else ():
            assert api.file(f"harness/{name}").is_file(), (api.name, name)
    assert {p.name for p in (resources.templates() / "apis").iterdir() if p.is_dir()} <= set(APIS)


@pytest.mark.parametrize("base", [api for api in APIS.values() if api.extends is None], ids=lambda api: api.name)
def test_an_extension_has_files_in_its_own_name(base: Api) -> None:
    made = base.extended("toy", "Toy", dialect="toy")
    twice = made.extended("doll", "Doll", dialect="doll")
    for api in (made, twice):
        for pattern in (*api.headers, *api.internal, *api.sources, api.example):
            text = api.c_text(pattern)
            assert not re.search(rf"\b(hs|HS)(_targets)?_{base.name}", text, re.IGNORECASE), (api.name, pattern)
            assert f"hs_{api.name}" in text and text.count("\n") == base.c_text(pattern).count("\n")
    assert not made.tables or made.tables != base.tables
    assert base.c_text(base.headers[0]) == base.file(base.headers[0]).read_text(encoding="utf-8")
