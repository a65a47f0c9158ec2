"""Templates of digests that use all atomic exchanges and minima, which no kernel of hsgen does: sums are added by
exchanges, and minima are checked.  Reports stay the same, which validation compares with numpy's."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hsgen.emit import templates
from hsgen.system import resources

Change = Callable[[str, str, str], None]


def addition(word: str, place: str, what: str) -> str:
    """An addition that is lost if an exchange fails although it returns the expected word."""
    loop = f"hs_u32 was = {word}({place}, old, old + {what}); done = was == old; old = was;"
    return f"{{ hs_u32 old = 0u; bool done = false; while (!done) {{ {loop} }} }}"


MINIMA = """
hs_barrier();
if (hs_local_id() == 0) { sums[0] = 0xffffffffu; sums[1] = 0u; }
hs_barrier();
hs_u32 least = hs_local_atomic_min(sums[0], hs_local_id() == 21 ? 7u : 0x80000000u + hs_to_u32(hs_local_id()));
if (least == 0xffffffffu) hs_local_atomic_add(sums[1], 1u);
hs_barrier();
if (hs_local_id() == 0 && (sums[0] != 7u || sums[1] != 1u)) hs_atomic_add(report[5], 1u);
int lane = hs_group_id() * {{ p.work_group }} + hs_local_id();
least = hs_atomic_min(report[6], lane == 37 ? 0u : 0x80000000u + hs_to_u32(lane));
if (least == 0xffffffffu) hs_atomic_add(report[4], 1u);
"""
"""Minima of a work-group's lanes and of all lanes; one lane gets the initial word of each.  Words are unsigned."""
INITIAL = "hs_n() > 0 && (w == 4 || w == 6) ? 0xffffffffu : 0u"
"""The initial words of the report: the minimum in word 6 becomes 0, and so does word 4, which one lane increments."""
_SUMS, _REPORT = "sums[{{ loop.index0 }}]", "report[{{ first }} + w]"
_END = '"falls", "swaps"), "HS_REPORT_SUMS") -}}\n'
CHANGES = (
    (f"hs_local_atomic_add({_SUMS}, {{{{ name }}}});", addition("hs_local_atomic_cas", _SUMS, "{{ name }}")),
    (f"hs_atomic_add({_REPORT}, sums[w]);", addition("hs_atomic_cas", _REPORT, "sums[w]")),
    (_END, _END + MINIMA),
    ("? hs_to_u32(hs_n()) : 0u", f"? hs_to_u32(hs_n()) : {INITIAL}"),
)


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Change]:
    """Generate everything from these templates; a test may change them further."""
    place = tmp_path / "templates"
    shutil.copytree(resources.templates(), place)

    def change(file: str, old: str, new: str) -> None:
        text = (place / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, file
        (place / file).write_text(text.replace(old, new), encoding="utf-8")
        templates.environment.cache_clear()

    for old, new in CHANGES:
        change("digest/digest.j2", old, new)
    monkeypatch.setattr(resources, "templates", lambda: place)
    yield change
    templates.environment.cache_clear()
