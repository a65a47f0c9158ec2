"""Target files of schema 3, and the upgrade of those of schema 2.

- A file, upgraded, makes the same choices; its evidence stays valid or outdated as before.
- Comments stay above the lines they explain; a file of schema 3 is unchanged; other files are refused.
- Each mistake in tables of strategies and in rows is reported at its position.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from hsgen.cli import main
from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.targets import evidence, tables, target, upgrade
from hsgen.targets.choices import ALL
from hsgen.tools.tune import edit

LANES = Path(__file__).parents[1] / "device" / "lanes"
FILES = [path for path in sorted([*resources.targets().glob("*.toml"), *LANES.glob("*.toml")])]
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
msd_items = 3 # of a lane
bucket_group = 32
bucket_items = 4
bucket_places = 64
rest_bits = 7

# pairs
[radix.u32.onesweep.pairs]
bits = 8
items = 4
work_group = 32
subgroup = 8
ranker = "match_ballot"
groups = 9

# many pairs
[radix.u32.hybrid.many]
fallback = "onesweep.pairs"
finish_from = 1100
finish_group = 8
finish_items = 5
finish_places = 16

[radix.u32.hybrid.pairs] # some
fallback = "onesweep.pairs"
finish_from = 416 # follows
finish_group = 8
finish_items = 4
finish_places = 16

# a guess
[sort.u32]
ranges = [
    {{ to = 300, use = "radix-reduce_scan-low" }},
    {{ use = "radix-hybrid" }},
]
# twice the bytes
ranges_values = [
    {{ to = 200, use = "radix-reduce_scan-low" }},
    # then in order
    {{ to = 2000, use = "radix-hybrid-pairs" }}, # measured
    {{ use = "radix-hybrid-many" }},
]
"""
NEW = f"""# a file
schema = 3
{FACTS}
# counted first
[radix.u32.low.reduce_scan] # few
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
# of a lane
partition = {{ above = 200, work_group = 64, items = 3 }}
bucket = {{ work_group = 32, items = 4, bins = 64 }}
crowded_bits = 7

# pairs
[radix.u32.pairs.onesweep]
bits = 8
items = 4
work_group = 32
subgroup = 8
ranker = "match_ballot"
groups = 9

[[radix.u32.pairs.hybrid]] # some
name = "pairs"
up_to = 2000
fallback = "pairs.onesweep"
# follows
pair_bucket = {{ work_group = 8, items = 4, bins = 16 }}

# many pairs
[[radix.u32.pairs.hybrid]]
name = "many"
fallback = "pairs.onesweep"
pair_bucket = {{ above = 1100, work_group = 8, items = 5, bins = 16 }}

# a guess
[sort.u32]
ranges = [
    {{ to = 300, use = "radix-low-reduce_scan" }},
    {{ use = "radix-hybrid" }},
]
# twice the bytes
ranges_values = [
    {{ to = 200, use = "radix-low-reduce_scan" }},
    # then in order
    # measured
    {{ use = "radix-pairs-hybrid" }},
]
"""


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_file_of_the_present_schema_is_left_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert upgrade.upgraded(text, path.stem, path.name) is None
    older = text.replace("schema = 3", "schema = 2", 1)
    if ".hybrid" not in text and ".partition" not in text and not re.search(r"(?m)^\[radix\.u\d+\.\w+\.", text):
        made = upgrade.upgraded(older, path.stem, path.name)
        assert made == text, "the schemas differ in nothing else"


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


def test_facts_alone_are_upgraded(tmp_path: Path) -> None:
    """They are what `hsgen suggest` takes."""
    assert upgrade.upgraded(f"schema = 2\n{FACTS}", "mine", "mine.toml") == f"schema = 3\n{FACTS}"


def test_comments_stay_where_they_explain_something() -> None:
    """Those of values that become one inline table stand above that, those of rows that one list replaces above it."""
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
    for said in ("rewritten in schema 3", "already"):
        assert (main(["targets", "--upgrade", str(file)]), file.read_text()) == (0, NEW)
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# then in order\n    {", "{", "cannot be rewritten as it is written; write each table as [NAME.KEY] with a "),
        ("bits = 8\n", "bits = 80\n", "radix.u32.onesweep.bits: 80 is not between 1 and 11"),
        ("[radix.u32.hybrid]", "[ radix . u32 . hybrid ]", "cannot be rewritten as it is written"),
        ("bucket_items = 4", "bucket_item = 4", "radix.u32.hybrid.bucket_item: unknown key"),
        ("schema = 2", "schema = [", "the file must be TOML"),
        ("schema = 2", "schema = 1", "schema: 1 is not read, this hsgen reads 3; use an hsgen that reads it"),
    ],
)
def test_what_cannot_be_rewritten_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    assert old in OLD
    file = tmp_path / "mine.toml"
    text = OLD.replace(old, new, 1)
    if "order" in old:
        text = re.sub(r"\},\s*\{ (?=to = 2000)", "}, { ", text)  # two rows on a line
    file.write_text(text)
    assert main(["targets", "--upgrade", str(file)]) == 2
    assert file.read_text() == text and message in capsys.readouterr().err


def test_only_tables_in_a_row_become_a_list() -> None:
    """Not those that serve other rows too, or have another fallback."""
    both = OLD.replace('{ use = "radix-hybrid" },', '{ use = "radix-hybrid-many" },', 1)
    made = upgrade.upgraded(both, "mine", "mine.toml")
    assert made and "[[radix" not in made and "[radix.u32.many.hybrid]" in made and "[radix.u32.pairs.hybrid]" in made
    found = target.parse(made, "mine", "mine.toml")
    assert found.autos_valued["u32"] == (("radix-low", 200), ("radix-pairs", 2000), ("radix-many", ALL))


def test_the_cases_of_a_list_serve_their_counts() -> None:
    found = target.parse(NEW, "mine", "mine.toml")
    assert found.autos_valued["u32"] == (("radix-low", 200), ("radix-pairs", 2000), ("radix-many", ALL))
    unnamed = target.parse(re.sub(r'name = "(?:pairs|many)"\n', "", NEW), "mine", "mine.toml")
    assert [label for label, _ in unnamed.autos_valued["u32"]] == ["radix-low", "radix-pairs1", "radix-pairs2"]


MISTAKES = [
    ('ranker = "bitmask"', 'ranker = "serial"', "radix.u32.low.reduce_scan.ranker"),
    ("bits = 5", "bits = 5\nspins = 3", "radix.u32.low.reduce_scan.spins: unknown key"),
    ("bits = 5", "bits = 5\nfallback = 3", "radix.u32.low.reduce_scan.fallback: unknown key"),
    ('fallback = "onesweep"', 'fallback = "low"', 'radix.u32.hybrid.fallback: "low" is no table for it'),
    ('fallback = "onesweep"', "", "radix.u32.hybrid.fallback: missing"),
    ("[radix.u32.onesweep]", "[radix.u32.onesweeb]", "did you mean onesweep"),
    ("work_group = 64", "work_group = 65", "radix.u32.hybrid.partition.work_group: 65 is no power of two"),
    ("items = 4\n", "items = 99\n", "radix.u32.onesweep.items"),
    ("[radix.u32.low.reduce_scan]", "[radix.u32.reduce_scan]", "is a second table called radix"),
    ("[radix.u32.low.reduce_scan]", "[radix.u32.low.reduce_scam]", "radix.u32.low: has no table of a strategy; known"),
    ("[radix.u32.low.reduce_scan]", "[radix.u32.reduce_scan.low]", "write [radix.u32.low.reduce_scan]"),
    ("up_to = 2000\n", "", "radix.u32.pairs.hybrid[0].up_to: missing"),
    ('name = "many"\n', 'name = "many"\nup_to = 9\n', "radix.u32.pairs.hybrid[1].up_to: bounds the last case"),
    ('name = "many"\n', 'name = "pairs"\n', "is a second table called radix-pairs"),
    ('name = "many"\n', 'name = "Many"\n', 'hybrid[1].name: "Many" cannot name a variant'),
    ("up_to = 2000", "up_to = 200", "sort.u32.ranges_values: [200, 200] does not ascend"),
    ("bins = 64", "bin = 64", "radix.u32.hybrid.bucket.bin: unknown key; did you mean bucket.bins?"),
    (", bins = 64", "", "radix.u32.hybrid.bucket.bins: missing; give buckets of keys alone: the bins on chip"),
    ("bucket = {", "bucket = 3 # {", "radix.u32.hybrid.bucket: 3 is not a table; write bucket = { work_group = ..."),
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
    assert found.labels("u32") == ["auto", "radix-low", "radix", "radix-pairs", "radix-many"]


def test_tuning_edits_the_table_that_has_a_value() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix", "u32")
    assert table is not None
    stage = "partition = { above = 200, work_group = 64, items = 3 }"
    for name, was, becomes in (
        ("groups", "groups = 8", "groups = 400"),
        ("partition.above", stage, stage.replace("200", "400")),
    ):
        after = edit.applied(NEW, "mine.toml", {("radix", "u32"): {**table, name: 400}}, {}, [])
        gone, come = (set(a.splitlines()) - set(b.splitlines()) for a, b in ((NEW, after), (after, NEW)))
        values = {line for line in gone if not line.startswith("#")}  # comments of replaced values go with them
        assert (values, come) == ({was}, {becomes})


def test_tuning_moves_a_table_to_another_strategy() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix-low", "u32")
    assert table is not None
    changed = {("radix-low", "u32"): {**table, "strategy": "onesweep"}}
    after = edit.applied(NEW, "mine.toml", changed, {}, [])
    moved = NEW.replace("[radix.u32.low.reduce_scan] # few", "[radix.u32.low.onesweep]").replace(
        "# twice the bytes\n", ""
    )
    moved = moved.replace("    # then in order\n    # measured\n", "")  # comments of replaced values go
    assert after == moved.replace("radix-low-reduce_scan", "radix-low-onesweep")
    found = target.parse(after, "mine", "mine.toml")
    assert found.choices["radix-low", "u32"].STRATEGY == "onesweep" and found.autos["u32"][0] == ("radix-low", 300)


def test_tuning_moves_a_table_to_and_from_buckets() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix", "u32") or {}
    buckets = {name for name in table if name.startswith(("partition", "bucket", "crowded"))}
    plain = {**{k: v for k, v in table.items() if k not in buckets}, "strategy": "reduce_scan"}
    after = edit.applied(NEW, "mine.toml", {("radix", "u32"): plain}, {}, [])
    assert (
        "[radix.u32.hybrid]" not in after
        and "# buckets\n[radix.u32.reduce_scan]\n" in after
        and "# a guess\n[sort.u32]" in after
    )
    assert after.count('use = "radix-reduce_scan"') == 1
    assert target.parse(after, "mine", "mine.toml").choices["radix", "u32"].STRATEGY == "reduce_scan"
    again = edit.applied(after, "mine.toml", {("radix", "u32"): table}, {}, [])
    found = target.parse(again, "mine", "mine.toml")
    assert found.choices == target.parse(NEW, "mine", "mine.toml").choices
    assert '[radix.u32.hybrid]\nfallback = "onesweep"\n' in again and again.count('use = "radix-hybrid"') == 1


def test_tuning_keeps_passes_that_count_behind_buckets() -> None:
    pytest.importorskip("tomlkit")
    text = WAITLESS.read_text(encoding="utf-8")
    table = tables.table_of(tomllib.loads(text), "radix", "u32") or {}
    assert table["fallback"] == "reduce_scan" and table["groups"] == 8
    after = edit.applied(text, "x.toml", {("radix", "u32"): {**table, "partition.above": 400}}, {}, [])
    assert "partition = { above = 400, work_group = 64, items = 3 }" in after
    assert after.count('fallback = "reduce_scan"\n') == 2
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
    hybrid = NEW[NEW.index("[radix.u32.hybrid]") : NEW.index("# pairs")]
    text = NEW.replace(
        hybrid, hybrid + hybrid.replace("u32.hybrid", "u32.more.hybrid").replace("above = 200", "above = 300")
    )
    table = tables.table_of(tomllib.loads(text), "radix", "u32") or {}
    assert edit.applied(text, "x.toml", {("radix", "u32"): {**table, "partition.above": 400}}, {}, [])
    with pytest.raises(Usage, match="cannot be edited"):
        edit.applied(text, "x.toml", {("radix", "u32"): {**table, "groups": 400}}, {}, [])


def test_tuning_writes_crossovers_as_rows() -> None:
    pytest.importorskip("tomlkit")
    rows = tables.rows(tomllib.loads(NEW), "u32", ["radix-low", "radix"], [500])
    after = edit.applied(NEW, "mine.toml", {}, {"u32": {"ranges": rows}}, [])
    assert '    { to = 500, use = "radix-low-reduce_scan" },\n    { use = "radix-hybrid" },\n' in after
    assert "ranges_values" not in after
    assert target.parse(after, "mine", "mine.toml").autos["u32"][0] == ("radix-low", 500)


SCAN = """columns = {columns}
exclusive = {exclusive}
items = {items}
work_group = 64 # lanes
groups = 9
coordination = "scan"
"""


def scans(**more: int) -> str:
    """The tables of sums of 1 and 3 columns in schema 2, with other rows of a lane for some."""
    out = ""
    for name, (columns, exclusive) in {f"x{n}{'ex' * ex}": (n, ex) for n in (1, 3) for ex in (0, 1)}.items():
        items = more.get(name, 12 // columns)
        table = SCAN.format(columns=columns, exclusive=str(bool(exclusive)).lower(), items=items)
        out += f"# sums of {columns}\n[scan.u32.{name}]\n{table}\n"
    return out


def test_sums_of_several_columns_become_one_table() -> None:
    """What differs from the rule has a table with that alone; all comments stay."""
    at = OLD.index("# a guess")
    old = OLD[:at] + scans(x3ex=3) + OLD[at:]
    made = upgrade.upgraded(old, "mine", "mine.toml")
    assert made and tomllib.loads(made)["scan"] == {
        "u32": {
            "columns": [1, 3],
            "items": 12,
            "work_group": 64,
            "groups": 9,
            "coordination": "scan",
            "x3ex": {"items": 3},
        }
    }
    assert all(made.count(x) == old.count(x) for x in ("# sums of 1", "# sums of 3", "# lanes"))
    found = target.parse(made, "mine", "mine.toml").choices
    rows = {label: p.items for (label, _), p in found.items() if label.startswith("scan")}
    assert rows == {"scan-x1": 12, "scan-x1ex": 12, "scan-x3": 4, "scan-x3ex": 3}
    assert found["scan-x3ex", "u32"].exclusive and not found["scan-x3", "u32"].exclusive
    apart = upgrade.upgraded(old.replace("[scan.u32.x3]", "[scan.u32.other]", 1), "mine", "mine.toml")
    assert apart and "[scan.u32.other]" in apart, "names that no rule has stay"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("columns = [1, 3]", "columns = []", "scan.u32.columns: is empty; give the columns of rows"),
        ("columns = [1, 3]", "columns = [1, 99]", "scan.u32.columns: 99 is not between 1 and 16"),
        ("columns = [1, 3]", "columns = [1, 3]\nexclusive = true", "scan.u32.exclusive: unknown key"),
        ("items = 12", "items = 0", "scan.u32.items: 0 is not between 1 and"),
        ("items = 3\n", "item = 3\n", "scan.u32.x3ex.item: unknown key; did you mean items?"),
        ("[scan.u32.x3ex]", "[scan.u32.x9]", "scan.u32.x9.columns: missing"),
    ],
)
def test_mistakes_in_a_table_of_several_sums_are_named(old: str, new: str, line: str) -> None:
    at = OLD.index("# a guess")
    text = upgrade.upgraded(OLD[:at] + scans(x3ex=3) + OLD[at:], "mine", "mine.toml")
    assert text and old in text
    with pytest.raises(Usage) as e:
        target.parse(text.replace(old, new, 1), "mine", "mine.toml")
    assert any(line in x for x in e.value.lines), e.value.lines


def test_tuning_gives_a_sum_of_a_list_a_table_of_its_own() -> None:
    pytest.importorskip("tomlkit")
    at = OLD.index("# a guess")
    text = upgrade.upgraded(OLD[:at] + scans() + OLD[at:], "mine", "mine.toml") or ""
    table = tables.table_of(tomllib.loads(text), "scan-x3", "u32") or {}
    assert table == {
        "columns": 3,
        "exclusive": False,
        "items": 4,
        "work_group": 64,
        "groups": 9,
        "coordination": "scan",
    }
    assert ("scan-x3", "u32") in tables.labels(tomllib.loads(text))
    after = edit.applied(text, "x.toml", {("scan-x3", "u32"): {**table, "items": 5}}, {}, [])
    choices = target.parse(after, "mine", "mine.toml").choices
    assert [choices[f"scan-{x}", "u32"].items for x in ("x1", "x1ex", "x3", "x3ex")] == [12, 12, 5, 4]
    again = edit.applied(after, "x.toml", {("scan-x3", "u32"): {**table, "items": 6}}, {}, [])
    assert again == after.replace("\nitems = 5\n", "\nitems = 6\n")


def test_tuning_edits_a_case_of_a_list() -> None:
    pytest.importorskip("tomlkit")
    table = tables.table_of(tomllib.loads(NEW), "radix-many", "u32") or {}
    assert (table["strategy"], table["pair_bucket.items"], "up_to" in table) == ("hybrid", 5, False)
    after = edit.applied(NEW, "mine.toml", {("radix-many", "u32"): {**table, "pair_bucket.items": 6}}, {}, [])
    assert after == NEW.replace("above = 1100, work_group = 8, items = 5", "above = 1100, work_group = 8, items = 6")
    more = edit.applied(NEW, "mine.toml", {("radix-pairs", "u32"): {**table, "crowded_bits": 4}}, {}, [])
    found = target.parse(more, "mine", "mine.toml").choices
    assert [found[f"radix-{x}", "u32"].crowded_bits for x in ("pairs", "many")] == [4, 0]
    with pytest.raises(Usage, match="cannot be edited"):
        plain = {k: v for k, v in table.items() if "." not in k}
        edit.applied(NEW, "mine.toml", {("radix-many", "u32"): {**plain, "strategy": "onesweep"}}, {}, [])
