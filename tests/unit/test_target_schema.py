"""Target files of schema 2, and the upgrade of those of schema 1.

- Every shipped file, upgraded, makes the same choices; its evidence stays valid or outdated as before.
- Comments stay above the lines they explain; a file of schema 2 is unchanged; other files are refused.
- Each mistake in tables of strategies and in rows is reported at its position.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.targets import evidence, target, upgrade
from hsgen.targets.flat import flat, rows
from hsgen.tools.suggest.text import literal
from hsgen.tools.tune import edit

LANES = Path(__file__).parents[1] / "device" / "lanes"
FILES = sorted([*resources.targets().glob("*.toml"), *LANES.glob("*.toml")])
FACTS = """name = "mine"
summary = "a device"
apis = ["cuda"]

[device]
subgroups = [1, 8]
shuffle = true
work_group = 1024
groups = 2147483647
local_bytes = 65536
int64 = true
storage8 = true
storage16 = true
binding_bytes = 4294967295
progress = "guaranteed"
cooperative = true
"""
OLD = f"""# a file
schema = 1
{FACTS}
# counted first
[radix.u32.low] # few
bits = 5 # digits
items = 2
work_group = 32
subgroup = 1
ranker = "flags"
coordination = "scan" # nobody waits
groups = 4

# buckets
[radix.u32]
bits = 8
items = 4
work_group = 32
subgroup = 8
ranker = "ballot"
coordination = "lookback"
groups = 8
# from here on
msd_from = 200
msd_group = 64
msd_items = 3
bucket_group = 32
bucket_items = 4
bucket_places = 64

# a guess
[sort.u32]
algorithms = ["radix-low", "radix"]
upto = [300]
upto_values = [200] # twice the bytes
"""
NEW = f"""# a file
schema = 2
{FACTS}
# counted first
[radix.u32.reduce_scan.low] # few
bits = 5 # digits
items = 2
work_group = 32
subgroup = 1
ranker = "flags"
# nobody waits
groups = 4

# buckets
[radix.u32.onesweep]
bits = 8
items = 4
work_group = 32
subgroup = 8
ranker = "ballot"
groups = 8

[radix.u32.hybrid]
fallback = "onesweep"
# from here on
msd_from = 200
msd_group = 64
msd_items = 3
bucket_group = 32
bucket_items = 4
bucket_places = 64

# a guess
[sort.u32]
ranges = [
    {{ to = 300, use = "radix-reduce_scan-low" }},
    {{ use = "radix-hybrid" }},
]
# twice the bytes
ranges_values = [
    {{ to = 200, use = "radix-reduce_scan-low" }},
    {{ use = "radix-hybrid" }},
]
"""


def in_schema_1(text: str) -> str:
    """The text of a target file in schema 1, without comments, named "mine"; its evidence applies to its choices."""
    data = flat(tomllib.loads(text))
    rows = data.pop("evidence", [])
    now = target.parse(text, data["name"], "").shapes
    data |= {"schema": 1, "name": "mine"}
    out = "".join(f"{k} = {literal(v)}\n" for k, v in data.items() if not isinstance(v, dict)) + written(data)
    now = {now: evidence.shapes(tomllib.loads(out))}
    kept = [{**row, **({"shapes": now.get(row["shapes"], row["shapes"])} if "shapes" in row else {})} for row in rows]
    blocks = ["".join([f"{k} = {literal(v)}\n" for k, v in row.items()]) for row in kept]
    return out + "".join(f"\n[[evidence]]\n{block}" for block in blocks)


def written(data: Mapping[str, Any], prefix: str = "") -> str:
    """The tables of a file."""
    out = ""
    for name, table in data.items():
        if isinstance(table, dict):
            lines = [f"{k} = {literal(v)}\n" for k, v in table.items() if not isinstance(v, dict)]
            out += f"\n[{prefix}{name}]\n{''.join(lines)}" if lines else ""
            out += written(table, f"{prefix}{name}.")
    return out


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_an_upgraded_file_makes_the_same_choices(path: Path) -> None:
    old = in_schema_1(path.read_text())
    made = upgrade.upgraded(old, "mine", "mine.toml")
    assert made is not None
    before, after = (target.parse(x, "mine", "mine.toml") for x in (old, made))
    assert (after.choices, after.autos, after.autos_valued) == (before.choices, before.autos, before.autos_valued)
    assert after.choices == target.parse(path.read_text(), path.stem, path.name).choices
    for level in evidence.LEVELS:
        assert evidence.cell(after.evidence, after.shapes, level) == evidence.cell(
            before.evidence, before.shapes, level
        )


def test_comments_stay_where_they_explain_something() -> None:
    assert upgrade.upgraded(OLD, "mine", "mine.toml") == NEW
    assert upgrade.upgraded(NEW, "mine", "mine.toml") is None


def test_older_evidence_stays_older() -> None:
    now = target.parse(OLD, "mine", "mine.toml").shapes
    row = '\n[[evidence]]\nlevel = "device"\napi = "cuda"\ndevice = "x"\ndriver = "1"\ndate = "2026-01-01"\n'
    rows = "".join(f'{row}result = "r: s"\nshapes = "{x}"\n' for x in (now, "0123456789ab"))
    made = upgrade.upgraded(OLD + rows, "mine", "mine.toml")
    assert made is not None
    new = target.parse(made, "mine", "mine.toml")
    assert [e["shapes"] for e in new.evidence] == [new.shapes, "0123456789ab"] and new.shapes != now


def test_the_command_rewrites_a_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OLD)
    for said in ("from schema 1 to 2", "already"):
        assert (main(["targets", "--upgrade", str(file)]), file.read_text()) == (0, NEW)
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("upto = [300]", "upto = [\n    300,\n]"),
        ("bits = 8\n", "bits = 80\n"),
        ("[radix.u32]", "[ radix . u32 ]"),
        ("schema = 1", "schema = ["),
    ],
)
def test_what_cannot_be_rewritten_is_left_alone(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OLD.replace(old, new, 1))
    assert main(["targets", "--upgrade", str(file)]) == 2
    assert file.read_text() == OLD.replace(old, new, 1)


MISTAKES = [
    ('ranker = "flags"', 'ranker = "serial"', "radix.u32.reduce_scan.low.ranker"),
    ("bits = 5", "bits = 5\nspins = 3", "radix.u32.reduce_scan.low.spins: unknown key"),
    ("bits = 5", "bits = 5\nfallback = 3", "radix.u32.reduce_scan.low.fallback: unknown key"),
    ('fallback = "onesweep"', 'fallback = "low"', 'radix.u32.hybrid.fallback: "low" is no table for it'),
    ('fallback = "onesweep"', "", "radix.u32.hybrid.fallback: missing"),
    ("[radix.u32.onesweep]", "[radix.u32.onesweeb]", "did you mean onesweep"),
    ("msd_group = 64", "msd_group = 65", "radix.u32.hybrid.msd_group: 65 is no power of two"),
    ("items = 4\n", "items = 99\n", "radix.u32.onesweep.items"),
    ("[radix.u32.reduce_scan.low]", "[radix.u32.reduce_scan]", "is a second table called radix"),
    ("to = 300, ", "", "sort.u32.ranges[0].to: missing"),
    ('{ use = "radix-hybrid" },\n]\n# twice', '{ to = 400, use = "radix-hybrid" },\n]\n# twice', "bounds the last row"),
    ('use = "radix-hybrid"', 'use = "radix-grid"', 'sort.u32.ranges: "radix-grid" has no table'),
    ("ranges = [", "rangos = [", "did you mean ranges"),
    ("ranges = [", "ranges = [3, ", "sort.u32.ranges: is not a list of rows"),
]


@pytest.mark.parametrize(("old", "new", "line"), MISTAKES)
def test_a_mistake_is_named_where_it_is(old: str, new: str, line: str) -> None:
    assert old in NEW
    with pytest.raises(Usage) as e:
        target.parse(NEW.replace(old, new, 1), "mine", "mine.toml")
    assert any(line in x for x in e.value.lines), e.value.lines


def test_a_strategy_is_called_by_its_full_name_as_well() -> None:
    found = target.parse(NEW, "mine", "mine.toml")
    assert found.sort("radix-hybrid", "u32").kernels == found.sort("radix", "u32").kernels
    assert found.labels("u32") == ["auto", "radix-low", "radix"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_tools_see_the_same_tables_in_either_schema(path: Path) -> None:
    text = in_schema_1(path.read_text())
    made = upgrade.upgraded(text, "mine", "mine.toml") or ""
    before, after = (flat(tomllib.loads(x)) for x in (text, made))
    assert {k: before.get(k) for k in ("radix", "bitonic", "scan")} == {
        k: after.get(k) for k in ("radix", "bitonic", "scan")
    }
    for key, table in before.get("sort", {}).items():
        assert rows({**after, "schema": 2}, key, table) == tomllib.loads(made)["sort"][key]


def test_tuning_edits_the_table_that_has_a_value() -> None:
    pytest.importorskip("tomlkit")
    table = edit.table_of(flat(tomllib.loads(NEW)), "radix", "u32")
    assert table is not None
    for word in ("groups", "msd_from"):
        after = edit.applied(NEW, "mine.toml", {("radix", "u32"): {**table, word: 400}}, {}, [])
        gone, come = (set(a.splitlines()) - set(b.splitlines()) for a, b in ((NEW, after), (after, NEW)))
        assert (gone, come) == ({f"{word} = {table[word]}"}, {f"{word} = 400"})


def test_tuning_moves_a_table_to_another_strategy() -> None:
    pytest.importorskip("tomlkit")
    table = edit.table_of(flat(tomllib.loads(NEW)), "radix-low", "u32")
    assert table is not None
    changed = {("radix-low", "u32"): {**table, "coordination": "lookback"}}
    after = edit.applied(NEW, "mine.toml", changed, {}, [])
    assert after == NEW.replace("[radix.u32.reduce_scan.low]", "[radix.u32.onesweep.low]").replace(
        "radix-reduce_scan-low", "radix-onesweep-low"
    )
    found = target.parse(after, "mine", "mine.toml")
    assert found.choices["radix-low", "u32"].STRATEGY == "onesweep" and found.autos["u32"][0] == ("radix-low", 300)


def test_tuning_writes_crossovers_as_rows() -> None:
    pytest.importorskip("tomlkit")
    lists = {"algorithms": ["radix-low", "radix"], "upto": [500]}
    after = edit.applied(NEW, "mine.toml", {}, {"u32": lists}, [])
    assert '    { to = 500, use = "radix-reduce_scan-low" },\n    { use = "radix-hybrid" },\n' in after
    assert "ranges_values" not in after
    assert target.parse(after, "mine", "mine.toml").autos["u32"][0] == ("radix-low", 500)
