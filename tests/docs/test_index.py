"""docs/README.md leads to every page, and the tables that documents take from the code are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import doc_pages
import pytest
from nightly import nightly

DOCS = doc_pages.DOCS
INDEXES = ("README.md", "decisions/README.md", "results/archive/README.md")
"""Pages that lead to all pages of their folder; the first one to the pages of all folders without an index."""


def pages(index: str) -> set[str]:
    """The pages that an index has to link, relative to docs/."""
    folders = [Path(name).parent for name in INDEXES[1:]]
    found = {path.relative_to(DOCS) for path in DOCS.rglob("*.md")} - {Path(index)}
    if index == INDEXES[0]:
        return {str(p) for p in found if p.parent not in folders or str(p) in INDEXES}
    return {str(p) for p in found if p.parent == Path(index).parent}


def unlinked(index: str, text: str) -> set[str]:
    """The pages of an index that its text does not link."""
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    places = {(DOCS / index).parent.joinpath(link).resolve() for link in links if not re.match(r"\w+:", link)}
    return {page for page in pages(index) if (DOCS / page).resolve() not in places}


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_links_every_page(index: str) -> None:
    text = (DOCS / index).read_text(encoding="utf-8")
    missing = unlinked(index, text)
    assert not missing, f"docs/{index} does not link {sorted(missing)}"


@pytest.mark.parametrize(
    ("index", "link"),
    [
        ("README.md", "guides/ci.md"),
        ("decisions/README.md", "0001-schedule-is-data.md"),
        ("results/archive/README.md", "decisions.md"),
    ],
)
def test_a_page_that_is_not_linked_is_found(index: str, link: str) -> None:
    text = (DOCS / index).read_text(encoding="utf-8")
    assert f"]({link})" in text
    assert unlinked(index, text.replace(f"]({link})", "]()")) == {str(Path(index).parent / link)}


def test_the_index_has_a_line_and_a_link_for_each_question() -> None:
    lines = (DOCS / INDEXES[0]).read_text(encoding="utf-8").splitlines()
    questions = [line for line in lines if line.startswith("- ")]
    wrong = [line for line in lines if line and not line.startswith(("# ", "## ", "- ")) and line != lines[2]]
    wrong += [line for line in questions if len(re.findall(r"\]\([^)]+\)", line)) != 1]
    assert questions and not wrong, wrong


@pytest.mark.parametrize("page", ["results/gpus.md", "decisions/README.md", nightly("results/estimates.md")])
def test_tables_are_up_to_date(page: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == doc_pages.rendered(page), f"docs/{page}: run `make pages`"


def test_every_decision_has_a_status() -> None:
    for path in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        (status,) = re.findall(r"^\*\*Status\*\*: (\w+)", path.read_text(encoding="utf-8"), re.M)
        assert status in ("accepted", "proposed", "superseded"), path.name
