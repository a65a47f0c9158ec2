"""APIs: their names and files are their own, and extensions rename them."""

from __future__ import annotations

import re

import pytest

from hsgen.apis import APIS
from hsgen.apis.api import Api
from hsgen.emit import c_calls
from hsgen.system import resources


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
            runs = (api.harness and api.harness.runtime) or api
            assert runs.file(f"harness/{name}").is_file(), (api.name, name)
    assert {p.name for p in (resources.templates() / "apis").iterdir() if p.is_dir()} <= set(APIS)


@pytest.mark.parametrize("base", [api for api in APIS.values() if api.extends is None], ids=lambda api: api.name)
def test_an_extension_has_files_in_its_own_name(base: Api) -> None:
    made = base.extended("toy", "Toy", dialect="toy")
    twice = made.extended("doll", "Doll", dialect="doll")
    for api in (made, twice):
        for pattern in (*api.headers, *api.internal, *api.sources, api.example):
            text = c_calls.completed(api, pattern)
            assert not re.search(rf"\b(hs|HS)(_targets)?_{base.name}", text, re.IGNORECASE), (api.name, pattern)
            assert f"hs_{api.name}" in text and text.count("\n") == c_calls.completed(base, pattern).count("\n")
    assert not made.tables or made.tables != base.tables
    assert c_calls.PLACE not in c_calls.completed(base, base.headers[0])
