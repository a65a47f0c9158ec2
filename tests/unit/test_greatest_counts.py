"""The greatest counts of the shipped sorts are those that README and docs/reference/semantics.md state, and that
`hsgen show` prints plans for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hsgen.cli import main
from hsgen.core.keys import KEYS
from hsgen.targets import target
from hsgen.targets.target import AUTO

ROOT = Path(__file__).resolve().parents[2]
USUAL, WIDE = (1 << 30) - 1, 1 << 40
WIDER = ("nvidia-hopper", "nvidia-blackwell", "nvidia-ada", "nvidia-blackwell-rtx", "nvidia-sm90")


@pytest.mark.parametrize("name", target.names())
def test_a_sort_for_any_count_sorts_as_many_keys_as_the_documents_say(name: str) -> None:
    found = target.find(name)
    most = {found.sort(AUTO, key).plan.max_n for key in KEYS if AUTO in found.labels(key)}
    assert most == {WIDE if name in WIDER else USUAL}


def test_the_documents_say_so() -> None:
    semantics = " ".join((ROOT / "docs/reference/semantics.md").read_text(encoding="utf-8").split())
    assert "`max_n` is 2^30 - 1 for the sorts that come with hsgen, except for those of" in semantics
    named = re.search(r"where it is 2\^40. The five targets are (.*?) in CUDA", semantics)
    assert named and re.findall(r"`([\w-]+)`", named[1]) == list(WIDER)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "counts range from 0 to 2³⁰ - 1, through CUDA from Ampere on to 2⁴⁰" in readme


@pytest.mark.parametrize(("name", "most"), [("intel-gen8", USUAL), ("nvidia-hopper", WIDE)])
def test_plans_for_the_greatest_count(name: str, most: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The merge sort alone sorts fewer keys, and does not keep the others from being shown."""
    command = ["show", name, "--key", "u32", "--plan"]
    assert main([*command, str(most), "--json"]) == 0
    records = {r["algorithm"]: r for r in json.loads(capsys.readouterr().out)}
    assert records["auto"]["n"] == most and records["auto"]["launches"]
    assert all(("n" in r) == (r["max_n"] >= most) for r in records.values())
    assert any("n" not in r for r in records.values())
    assert main([*command, str(most)]) == 0
    out = capsys.readouterr().out
    fewer = next(r["max_n"] for r in records.values() if "n" not in r)
    assert f"no plan for {most} keys: it sorts up to {fewer}" in " ".join(out.split())
    assert main([*command, str(most + 1)]) == 2
    out, err = capsys.readouterr()
    assert f"count {most + 1}: this plan sorts 0 to {most} keys" in err and err.count("\n") == 1 and not out
