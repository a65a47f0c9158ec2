"""Target files of schema 2, and the upgrade of those of schema 1.

- Every shipped file, upgraded, makes the same choices; its evidence stays valid or outdated as before.
- Comments stay above the lines they explain; a file of schema 2 is unchanged; other files are refused.
- Each mistake in tables of strategies and in rows is reported at its position.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.targets import evidence, ranges, schema2, tables, target, upgrade
from hsgen.tools.suggest.text import literal
from hsgen.tools.tune import edit

LANES = Path(__file__).parents[1] / "device" / "lanes"
FILES = [
    path
    for path in sorted([*resources.targets().glob("*.toml"), *LANES.glob("*.toml")])
    if not re.search(r'fallback = "reduce_scan|\.partition', path.read_text(encoding="utf-8"))  # schema 1 has neither
]
WAITLESS = LANES / "waitless8.toml"
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
ranker = "bitmask"
# nobody waits
groups = 4

# buckets
[radix.u32.onesweep]
bits = 8
items = 4
work_group = 32
subgroup = 8
ranker = "match_ballot"
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


WORDS = {
    "reduce_scan": {"coordination": "scan"},
    "onesweep": {"coordination": "lookback"},
    "hybrid": {"coordination": "lookback"},
    "cooperative": {"coordination": "grid"},
    "per_thread": {"ranker": "serial", "coordination": "scan"},
}
"""How schema 1 says which strategy a table is of."""
OLD_RANKERS = {"match_ballot": "ballot", "match_broadcast": "broadcast", "bitmask": "flags", "radix_split": "split"}
OLD_NAMES = {"bitonic": "merge"}
"""Algorithms that schema 1 names otherwise."""


def lists(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rows as schema 1 has them, which knows no other keys; for values only the lists that differ."""
    out: dict[str, Any] = {}
    for end, rows in [(x.removeprefix("ranges"), table[x]) for x in table if x in (ranges.RANGES, ranges.VALUED)]:
        found = {
            f"algorithms{end}": [names.get(row["use"], row["use"]) for row in rows],
            f"upto{end}": [row["to"] for row in rows[:-1]],
        }
        out |= {k: v for k, v in found.items() if not end or v != out[k.removesuffix(end)]}
    return out


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a file in schema 1."""
    out: dict[str, Any] = {OLD_NAMES.get(name, name): value for name, value in data.items()}
    out |= {"schema": 1, "radix": {}, "sort": {}}
    names: dict[str, dict[str, str]] = {}
    for label, key in tables.labels(data):
        algorithm, dash, variant = label.partition("-")
        names.setdefault(key, {})[tables.full(data, label, key)] = OLD_NAMES.get(algorithm, algorithm) + dash + variant
        if algorithm == "radix":
            values = schema2.former("hybrid", tables.table_of(data, label, key) or {})
            values |= {"ranker": OLD_RANKERS[values["ranker"]]} if "ranker" in values else {}
            values |= WORDS[values.pop("strategy")]
            at = out["radix"].setdefault(key, {})
            at |= {variant: values} if variant else values
    out["sort"] = {key: lists(table, names[key]) for key, table in data.get("sort", {}).items()}
    return {k: v for k, v in out.items() if v != {}}


def in_schema_1(text: str) -> str:
    """The text of a target file in schema 1, without comments, named "mine"; its evidence applies to its choices."""
    data = flat(tomllib.loads(text)) | {"name": "mine"}
    rows = data.pop("evidence", [])
    out = "".join(f"{k} = {literal(v)}\n" for k, v in data.items() if not isinstance(v, dict)) + written(data)
    now = {evidence.shapes(tomllib.loads(text)): evidence.shapes(data)}
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
    with pytest.raises(Usage, match="schema: 1 is not read, this hsgen reads 2; rewrite the file with `hsgen targets"):
        target.parse(old, "mine", "mine.toml")
    made = upgrade.upgraded(old, "mine", "mine.toml")
    assert made is not None
    before, after = target.parse(path.read_text(), path.stem, path.name), target.parse(made, "mine", "mine.toml")
    assert (after.choices, after.autos, after.autos_valued) == (before.choices, before.autos, before.autos_valued)
    for level in evidence.LEVELS:
        assert evidence.cell(after.evidence, after.shapes, level) == evidence.cell(
            before.evidence, before.shapes, level
        )


def test_an_old_file_is_refused_and_generates_the_same_once_upgraded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line names the command; kernels of the upgraded file are those of the file written in schema 2."""
    made = {}
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "mine.toml"
        file.write_text(text)
        generate = ["generate", "-t", str(file), "-o", str(tmp_path / name / "out")]
        if name == "old":
            assert main(generate) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert line.endswith(f"rewrite the file with `hsgen targets --upgrade {file}`")
            assert main(["targets", "--upgrade", str(file)]) == 0
        assert main(generate) == 0
        made[name] = {p.name: p.read_bytes() for p in (tmp_path / name / "out").rglob("*.cu")}
    assert made["old"] == made["new"] != {}


def test_what_schema_1_let_pass_is_left_out() -> None:
    """Keys of other strategies that were turned off."""
    made = upgrade.upgraded(OLD.replace("bits = 5", "large = false\nplaces = 0\nbits = 5"), "mine", "mine.toml")
    assert made == NEW.replace("bits = 5", "large = false\nbits = 5")


def test_facts_alone_are_upgraded(tmp_path: Path) -> None:
    """They are what `hsgen suggest` takes."""
    assert upgrade.upgraded(f"schema = 1\n{FACTS}", "mine", "mine.toml") == f"schema = 2\n{FACTS}"


def test_comments_stay_where_they_explain_something() -> None:
    assert upgrade.upgraded(OLD, "mine", "mine.toml") == NEW
    assert upgrade.upgraded(NEW, "mine", "mine.toml") is None


def test_older_evidence_stays_older() -> None:
    now = evidence.shapes(tomllib.loads(OLD))
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
    ('ranker = "bitmask"', 'ranker = "serial"', "radix.u32.reduce_scan.low.ranker"),
    ("bits = 5", "bits = 5\nspins = 3", "radix.u32.reduce_scan.low.spins: unknown key"),
    ("bits = 5", "bits = 5\nfallback = 3", "radix.u32.reduce_scan.low.fallback: unknown key"),
    ('fallback = "onesweep"', 'fallback = "low"', 'radix.u32.hybrid.fallback: "low" is no table for it'),
    ('fallback = "onesweep"', "", "radix.u32.hybrid.fallback: missing"),
    ("[radix.u32.onesweep]", "[radix.u32.onesweeb]", "did you mean onesweep"),
    ("msd_group = 64", "msd_group = 65", "radix.u32.hybrid.partition.work_group: 65 is no power of two"),
    ("items = 4\n", "items = 99\n", "radix.u32.onesweep.items"),
    ("[radix.u32.reduce_scan.low]", "[radix.u32.reduce_scan]", "is a second table called radix"),
    ("to = 300, ", "", "sort.u32.ranges[0].to: missing"),
    ('{ use = "radix-hybrid" },\n]\n# twice', '{ to = 400, use = "radix-hybrid" },\n]\n# twice', "bounds the last row"),
    ('use = "radix-hybrid"', 'use = "radix-grid"', 'sort.u32.ranges: "radix-grid" has no table'),
    ("ranges = [", "rangos = [", "did you mean ranges"),
    ("# twice", 'first = "radix-grid"\n# twice', 'sort.u32.first: "radix-grid" has no table for u32; name one of: '),
    ("# twice", "first = 3\n# twice", "sort.u32.first: 3 is not a string"),
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


def test_tuning_edits_the_table_that_has_a_value() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix", "u32")
    assert table is not None
    for word, name in (("groups", "groups"), ("msd_from", "partition.above")):
        after = edit.applied(NEW, "mine.toml", {("radix", "u32"): {**table, name: 400}}, {}, [])
        gone, come = (set(a.splitlines()) - set(b.splitlines()) for a, b in ((NEW, after), (after, NEW)))
        values = {line for line in gone if not line.startswith("#")}  # comments of replaced values go with them
        assert (values, come) == ({f"{word} = {table[name]}"}, {f"{word} = 400"})


def test_tuning_moves_a_table_to_another_strategy() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix-low", "u32")
    assert table is not None
    changed = {("radix-low", "u32"): {**table, "strategy": "onesweep"}}
    after = edit.applied(NEW, "mine.toml", changed, {}, [])
    moved = NEW.replace("[radix.u32.reduce_scan.low] # few", "[radix.u32.onesweep.low]").replace(
        "# twice the bytes\n", ""
    )
    assert after == moved.replace("radix-reduce_scan-low", "radix-onesweep-low")
    found = target.parse(after, "mine", "mine.toml")
    assert found.choices["radix-low", "u32"].STRATEGY == "onesweep" and found.autos["u32"][0] == ("radix-low", 300)


def test_tuning_moves_a_table_to_and_from_buckets() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix", "u32") or {}
    buckets = {name for name in table if name.startswith(("partition", "bucket"))}
    plain = {**{k: v for k, v in table.items() if k not in buckets}, "strategy": "reduce_scan"}
    after = edit.applied(NEW, "mine.toml", {("radix", "u32"): plain}, {}, [])
    assert (
        "hybrid" not in after and "# buckets\n[radix.u32.reduce_scan]\n" in after and "# a guess\n[sort.u32]" in after
    )
    assert after.count('use = "radix-reduce_scan"') == 2
    assert target.parse(after, "mine", "mine.toml").choices["radix", "u32"].STRATEGY == "reduce_scan"
    again = edit.applied(after, "mine.toml", {("radix", "u32"): table}, {}, [])
    found = target.parse(again, "mine", "mine.toml")
    assert found.choices == target.parse(NEW, "mine", "mine.toml").choices
    assert '[radix.u32.hybrid]\nfallback = "onesweep"\n' in again and again.count('use = "radix-hybrid"') == 2


def test_tuning_keeps_passes_that_count_behind_buckets() -> None:
    pytest.importorskip("tomlkit")
    text = WAITLESS.read_text(encoding="utf-8")
    table = tables.table_of(tomllib.loads(text), "radix", "u32") or {}
    assert table["fallback"] == "reduce_scan" and table["groups"] == 8
    after = edit.applied(text, "x.toml", {("radix", "u32"): {**table, "partition.above": 400}}, {}, [])
    assert "msd_from = 400" in after and after.count('fallback = "reduce_scan"\n') == 2
    buckets = {
        name
        for name in table
        if name.startswith(("partition", "bucket", "pair_bucket", "dealt", "crowded", "fallback"))
    }
    plain = {**{k: v for k, v in table.items() if k not in buckets}, "strategy": "reduce_scan"}
    before = edit.applied(text, "x.toml", {("radix", "u32"): plain}, {}, [])
    again = edit.applied(before, "x.toml", {("radix", "u32"): table}, {}, [])
    found = target.parse(again, "waitless8", "x.toml").choices["radix", "u32"]
    assert found == target.parse(text, "waitless8", "x.toml").choices["radix", "u32"] and not found.looks_back


def test_a_key_that_buckets_do_not_know_is_named() -> None:
    text = WAITLESS.read_text(encoding="utf-8").replace("single = 0\n", "single = 0\ncompact = true\n", 1)
    with pytest.raises(
        Usage, match=r"radix\.u32\.reduce_scan\.compact: is no key of a table for what buckets do not hold"
    ):
        target.parse(text, "waitless8", "x.toml")


def test_tuning_leaves_a_fallback_alone_that_others_share() -> None:
    pytest.importorskip("tomlkit")
    hybrid = NEW[NEW.index("[radix.u32.hybrid]") : NEW.index("# a guess")]
    text = NEW.replace(hybrid, hybrid + hybrid.replace("hybrid]", "hybrid.more]").replace("from = 200", "from = 300"))
    table = tables.table_of(tomllib.loads(text), "radix", "u32") or {}
    assert edit.applied(text, "x.toml", {("radix", "u32"): {**table, "partition.above": 400}}, {}, [])
    with pytest.raises(Usage, match="cannot be edited"):
        edit.applied(text, "x.toml", {("radix", "u32"): {**table, "groups": 400}}, {}, [])


def test_tuning_writes_crossovers_as_rows() -> None:
    pytest.importorskip("tomlkit")
    rows = tables.rows(tomllib.loads(NEW), "u32", ["radix-low", "radix"], [500])
    after = edit.applied(NEW, "mine.toml", {}, {"u32": {"ranges": rows}}, [])
    assert '    { to = 500, use = "radix-reduce_scan-low" },\n    { use = "radix-hybrid" },\n' in after
    assert "ranges_values" not in after
    assert target.parse(after, "mine", "mine.toml").autos["u32"][0] == ("radix-low", 500)
