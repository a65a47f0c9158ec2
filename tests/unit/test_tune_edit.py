"""Edits of target files change only the intended lines."""

from __future__ import annotations

import difflib
import re
import tomllib
from typing import Any

import pytest
from simulated import SMALL

from hsgen.core.errors import Unavailable, Usage
from hsgen.system import resources, toolchain
from hsgen.targets import tables, target
from hsgen.tools.tune import edit

pytest.importorskip("tomlkit")

ROW = {
    "level": "device",
    "api": "opencl",
    "device": "My GPU",
    "driver": "1.0",
    "date": "2026-01-31",
    "result": "tune: u32 merge radix; 40 shapes raced, 3 of them failed; validate: 10 cases, 0 failures",
}


def rows(*counts: int) -> list[dict[str, Any]]:
    return [*({"to": n, "use": "bitonic"} for n in counts), {"use": "radix-reduce_scan"}]


AUTO = {"ranges": rows(2000), "ranges_values": rows(700)}


def of(text: str, label: str, key: str = "u32") -> dict[str, Any]:
    found = tables.table_of(tomllib.loads(text), label, key)
    assert found is not None
    return found


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The removed and the added lines."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [x[2:] for x in lines if x.startswith("- ")], [x[2:] for x in lines if x.startswith("+ ")]


def test_only_what_changes_changes() -> None:
    tables = {("bitonic", "u32"): {**of(SMALL, "bitonic"), "height": 16, "stream_group": 32, "exchange": "select"}}
    after = edit.applied(SMALL, "small.toml", tables, {"u32": AUTO}, [ROW])
    gone, come = changed(SMALL, after)
    assert gone == ["height = 2", "stream_group = 16", '    { to = 1000, use = "bitonic" },', "] # a guess"]
    assert come[:3] == ["height = 16", "stream_group = 32", 'exchange = "select"']
    assert come[3] == '    { to = 2000, use = "bitonic" },'
    assert come[4:9] == [
        "]",
        "ranges_values = [",
        '    { to = 700, use = "bitonic" },',
        '    { use = "radix-reduce_scan" },',
        "]",
    ]
    assert come[9:] == ["", "[[evidence]]", *(f'{k} = "{v}"' for k, v in ROW.items())]
    assert "subgroup = 8 # as wide as the device has them" in after and after.startswith("# A small device")
    found = target.parse(after, "small", "small.toml")
    assert found.choices["bitonic", "u32"].height == 16 and found.autos["u32"][0] == ("bitonic", 2000)
    assert found.autos_valued["u32"][0] == ("bitonic", 700) and found.evidence == (ROW,)


REASONS = """\
[bitonic.u32] # the table
height = 28 # 16 keys a lane
# as many as fit
# the caches
slabs = 8

# Rows of streams.

stream_group = 16 # a cache line
local_scale = 1 # tuned: 5 Mkeys/s at 2^3, was 4
bank_pad = 4 # no conflicts
"""


def test_reasons_of_replaced_values_go_with_them() -> None:
    """Comments at the ends of their lines and right above; others stay.  The first has the measurement instead."""
    new = {"height": 16, "slabs": 4, "stream_group": 16, "local_scale": 1}
    notes = {("bitonic", "u32"): "512 Mkeys/s at 2^20, was 480"}
    after = edit.applied(REASONS, "x.toml", {("bitonic", "u32"): new}, {}, [], notes)
    assert after.splitlines() == [
        "[bitonic.u32] # the table",
        "height = 16 # tuned: 512 Mkeys/s at 2^20, was 480",
        "slabs = 4",
        "",
        "# Rows of streams.",
        "",
        "stream_group = 16 # a cache line",
        "local_scale = 1",
    ]
    assert edit.applied(after, "x.toml", {("bitonic", "u32"): new}, {}, [], notes) == after
    again = edit.applied(after, "x.toml", {("bitonic", "u32"): {**new, "slabs": 2}}, {}, [])
    assert changed(after, again) == (["height = 16 # tuned: 512 Mkeys/s at 2^20, was 480", "slabs = 4"],
                                     ["height = 16", "slabs = 2"])  # fmt: skip


def test_reasons_of_a_strategy_go_with_it() -> None:
    text = SMALL.replace("[radix.u32.reduce_scan]", "[radix.u32.reduce_scan] # no forward progress")
    new = {("radix", "u32"): {"strategy": "single", "bits": 8}}
    after = edit.applied(text, "x.toml", new, {}, [], {("radix", "u32"): "9 Mkeys/s at 2^10"})
    assert "[radix.u32.single]\n" in after and "bits = 8 # tuned: 9 Mkeys/s at 2^10\n" in after


def test_comments_above_changed_tables_are_named() -> None:
    new = {("bitonic", "u32"): {**of(SMALL, "bitonic"), "height": 16}, ("radix", "u32"): of(SMALL, "radix")}
    after = edit.applied(SMALL, "x.toml", new, {}, [])
    assert edit.questionable(SMALL, after, new) == ["[bitonic.u32]"]
    assert edit.questionable(SMALL, SMALL, new) == []


def test_nothing_to_change() -> None:
    tables = {("bitonic", "u32"): of(SMALL, "bitonic")}
    assert edit.applied(SMALL, "small.toml", tables, {}, []) == SMALL
    assert edit.difference(SMALL, SMALL, "small.toml") == ""


def test_again_changes_nothing() -> None:
    tables = {("radix", "u32"): {**of(SMALL, "radix"), "bits": 8}, ("radix-two", "u32"): of(SMALL, "radix")}
    once = edit.applied(SMALL, "small.toml", tables, {"u32": AUTO}, [ROW])
    assert edit.applied(once, "small.toml", tables, {"u32": AUTO}, [ROW]) == once != SMALL


def test_keys_that_a_table_no_longer_has_go() -> None:
    text = SMALL.replace("groups = 16", "groups = 16\nsplit = 1 # one at a time")
    gone, come = changed(text, edit.applied(text, "x.toml", {("radix", "u32"): of(SMALL, "radix")}, {}, []))
    assert gone == ["split = 1 # one at a time"] and come == []


def test_new_tables_stand_before_evidence_and_its_comment() -> None:
    text = SMALL + "\n# Seen once.\n[[evidence]]\n" + "".join(f'{k} = "{v}"\n' for k, v in ROW.items())
    wide = {**of(SMALL, "bitonic"), "subgroup": 1}
    after = edit.applied(text, "x.toml", {("bitonic", "u64"): wide}, {"u64": {"ranges": [{"use": "bitonic"}]}}, [])
    assert changed(text, after)[0] == []
    assert after.index("[bitonic.u64]") < after.index("[sort.u64]") < after.index("# Seen once.")
    assert after.count("\n\n\n") == 0 and after.endswith(text[text.index("# Seen once.") :])
    assert target.parse(after, "small", "small.toml").choices["bitonic", "u64"].subgroup == 1


def test_variants_are_tables_of_their_own() -> None:
    new = {**of(SMALL, "radix"), "bits": 8}
    after = edit.applied(SMALL, "x.toml", {("radix-wide", "u32"): new}, {}, [])
    assert "[radix.u32.wide.reduce_scan]" in after and of(after, "radix-wide") == new
    assert {k: v for k, v in of(after, "radix").items() if k != "wide"} == of(SMALL, "radix")
    again = edit.applied(after, "x.toml", {("radix-wide", "u32"): {**new, "bits": 7}}, {}, [])
    assert changed(after, again) == (["bits = 8"], ["bits = 7"])
    plain = edit.applied(again, "x.toml", {("radix", "u32"): {**of(SMALL, "radix"), "items": 4}}, {}, [])
    assert of(plain, "radix-wide")["bits"] == 7, "variants stay where their algorithm changes"


def test_stages_of_selections_are_inline_tables() -> None:
    """A table of a selection, whose algorithm has no strategies, gets stages, changes and loses them."""
    values = {"work_group": 64, "items": 8, "capacity": 512, "bits": 8, "groups": 16}
    plain = f"{SMALL}\n[radix_select.u32]\n" + "".join(f"{k} = {v}\n" for k, v in values.items())
    at = ("radix_select", "u32")
    wide = {**values, "short.items": 4, "chunk.take": 8}
    staged = edit.applied(plain, "small.toml", {at: wide}, {}, [])
    assert changed(plain, staged) == ([], ["short = { items = 4 }", "chunk = { take = 8 }"])
    assert of(staged, "radix_select") == target.parse(staged, "small", "small.toml").tables[at] == wide
    more = {**values, "short.items": 16, "chunk.take": 8}
    again = edit.applied(staged, "small.toml", {at: more}, {}, [])
    assert changed(staged, again) == (["short = { items = 4 }"], ["short = { items = 16 }"])
    assert tables.table_of(tomllib.loads(edit.applied(again, "small.toml", {at: values}, {}, [])), *at) == values


@pytest.mark.parametrize(
    ("more", "replaced"),
    [
        ({"date": "2026-02-02", "driver": "2.0", "result": "tune: u32 merge radix; 99 shapes raced"}, True),
        ({"device": "Another GPU"}, False),
        ({"api": "vulkan"}, False),
        ({"level": "cpu"}, False),
        ({"result": "tune: u64 merge radix; 9 shapes raced"}, False),
        ({"result": "validate --full: 200000 cases, 0 failures"}, False),
    ],
)
def test_evidence_of_an_earlier_tuning_is_replaced(more: dict[str, str], replaced: bool) -> None:
    """For the same device and keys; the evidence of other commands and people stays."""
    other = {**ROW, "result": "validate: 8000 cases, 0 failures"}
    first = edit.applied(SMALL, "x.toml", {}, {}, [other, ROW])
    after = edit.applied(first, "x.toml", {}, {}, [{**ROW, **more}])
    new = {**ROW, **more}
    assert tomllib.loads(after)["evidence"] == ([other, new] if replaced else [other, ROW, new])


@pytest.mark.parametrize("name", target.names())
def test_every_shipped_target_can_be_edited(name: str) -> None:
    """One value of each of its tables changes, in one line.  Scans of a table of several columns get tables.

    Cases of a list are refused.
    """
    text = (resources.targets() / f"{name}.toml").read_text(encoding="utf-8")
    found = target.find(name)
    for label, key in found.choices:
        table = of(text, label, key)
        table = {k: v for k, v in table.items() if not isinstance(v, dict)}
        word = "stream_group" if label.startswith("bitonic") else "groups"
        change = {(label, key): {**table, word: 1 << 20}}
        if re.search(rf'^name = "{label.removeprefix("radix-")}"$', text, re.M):
            with pytest.raises(Usage, match="cannot be edited as it is written"):
                edit.applied(text, f"{name}.toml", change, {}, [])
            continue
        after = edit.applied(text, f"{name}.toml", change, {}, [])
        gone, come = changed(text, after)
        assert sum(line.startswith(f"{word} = 1048576") for line in come) == 1, (label, key)
        assert len(gone) == len(come) == 1 or (label.startswith("scan-") and not gone), (label, key)
    data = tomllib.loads(text)
    autos = {key: {"ranges": tables.rows(data, key, [a for a, _ in auto], range(3, 2 + len(auto)))}
             for key, auto in found.autos.items()}  # fmt: skip
    assert tomllib.loads(edit.applied(text, f"{name}.toml", {}, autos, [ROW]))["evidence"][-1] == ROW


@pytest.mark.parametrize(
    "text",
    [
        "evidence = []\n" + SMALL,
        SMALL.replace("[radix.u32.reduce_scan]", "[bitonic.extra]").replace(
            "[device]", "radix = { u32 = { reduce_scan = { bits = 4 } } }\n[device]"
        ),
    ],
)
def test_a_layout_that_cannot_be_edited_is_refused(text: str) -> None:
    """Where a file's table cannot be followed by another of its name."""
    line = r"x.toml: cannot be edited as it is written; write each table as \[NAME.KEY\], with a line a key"
    with pytest.raises(Usage, match=line):
        edit.applied(text, "x.toml", {("radix", "u64"): {"strategy": "single", **of(SMALL, "bitonic")}}, {}, [ROW])


def test_inline_tables_are_changed_in_place() -> None:
    """Text after them stays."""
    text = "[radix.u32]\nsingle = { bits = 4, items = 2 } # all in one line\n\n[bitonic]\nu32 = { height = 4 } # one\n"
    new = {("radix", "u32"): {"strategy": "single", "bits": 8}, ("bitonic", "u32"): {"height": 8}}
    assert changed(text, edit.applied(text, "x.toml", new, {}, [])) == (
        ["single = { bits = 4, items = 2 } # all in one line", "u32 = { height = 4 } # one"],
        ["single = { bits = 8  } # all in one line", "u32 = { height = 8 } # one"],
    )


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "has_module", lambda name: False)
    with pytest.raises(Unavailable, match=r"needs tomlkit; install it with pip install 'hsgen\[tune\]'"):
        edit.available()
