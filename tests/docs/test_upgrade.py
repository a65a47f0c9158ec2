"""The names of docs/guides/upgrade.md: those of today exist in the headers, those of before do not."""

from __future__ import annotations

import re

import pytest
from doc_pages import DOCS, ROOT

PAGE = (DOCS / "guides/upgrade.md").read_text(encoding="utf-8")
HEADERS = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "generated/include/hs").glob("*.h")))
APIS = ("opencl", "vulkan", "cuda")


def renamed() -> list[tuple[str, str]]:
    """The names of C in the table of names, before and now, for each API."""
    table = PAGE.partition("## Names in C\n")[2].partition("\n## ")[0]
    pairs = re.findall(r"^\| `(hs_\w+)`[^|]* \| `(hs_\w+)`[^|]* \|$", table, re.M)
    names = [(a.replace("API", api), b.replace("API", api)) for a, b in pairs for api in APIS]
    return sorted({pair for pair in names if "TARGET" not in pair[0]})


@pytest.mark.parametrize(("before", "now"), renamed())
def test_a_renamed_name_is_that_of_the_headers(before: str, now: str) -> None:
    assert re.search(rf"\b{now}\b", HEADERS) and not re.search(rf"\b{before}\b", HEADERS)


def test_the_table_of_names_is_read() -> None:
    assert ("hs_outcome", "hs_device_status") in renamed() and len(renamed()) >= 9
