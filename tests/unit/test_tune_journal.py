"""Journals: of killed processes, files that are not journals, and journals of something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from simulated import SMALL, head_of

from hsgen.core.errors import Usage
from hsgen.targets import target
from hsgen.tools.tune import journal
from hsgen.tools.tune.journal import Journal, merged, opened, read
from hsgen.tools.tune.request import Request

HEAD = head_of(SMALL, Request())
TABLE: dict[str, Any] = {"label": "bitonic", "key": "u32", "table": {"height": 4}}
RACE: dict[str, Any] = {"what": "race", "label": "bitonic", "key": "u32", "best": None, "candidates": [], "took": 1.5}
ROWS: list[dict[str, Any]] = [{**RACE, "number": n} for n in range(3)]


def written(path: Path, head: dict[str, Any] = HEAD, rows: list[dict[str, Any]] = ROWS) -> Path:
    book = Journal(path, head)
    for row in rows:
        book.add(row)
    return path


def test_records_come_back_in_order(tmp_path: Path) -> None:
    path = written(tmp_path / "j")
    head, rows, kept = read(path)
    assert (head, rows, kept) == (HEAD, ROWS, path.stat().st_size)
    book = opened(path, HEAD)
    assert book.records == ROWS and book.spent == 4.5
    assert [r["number"] for r in book.of("race", took=1.5)] == [0, 1, 2] and not list(book.of("race", number=7))
    assert [p.name for p in tmp_path.iterdir()] == ["j"]


def test_the_head_says_what_is_tuned() -> None:
    assert list(HEAD["start"]) == ["bitonic u32", "radix u32"] == list(HEAD["sizes"])
    assert HEAD["facts"]["subgroups"] == [8] and HEAD["facts"]["progress"] == "none"
    assert HEAD["autos"] == {"u32": [["bitonic", 1000], ["radix", 2**63 - 1]]}
    # Counts far from those that an algorithm serves in the file are not its own.
    assert HEAD["sizes"]["bitonic u32"] == [1 << b for b in range(10, 15, 2)]
    assert HEAD["sizes"]["radix u32"] == [1 << b for b in range(10, 23, 2)]
    assert json.loads(json.dumps(HEAD)) == HEAD


@pytest.mark.parametrize("torn", [b"", b"{", b'{"what": "race", "number": 3}', b"\xff\xfe"])
def test_a_torn_line_is_dropped_and_written_over(torn: bytes, tmp_path: Path) -> None:
    path = written(tmp_path / "j")
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    book = opened(path, HEAD)
    assert path.read_bytes() == whole
    book.add({"what": "race", "number": 9})
    assert path.read_bytes() == whole + b'{"what": "race", "number": 9}\n'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"no JSON\n",
        b"[1, 2]\n",
        b'{"what": "race"}\n',
        b"\xff\xfe\n",
        b'{"schema": 1}\n',
        json.dumps(HEAD).encode(),
        json.dumps(HEAD).encode() + b"\n{broken\n" + json.dumps(ROWS[0]).encode() + b"\n",
    ],
)
def test_other_files_than_journals_are_refused_and_unchanged(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(data)
    with pytest.raises(
        Usage, match="j: is not a journal; name a file that hsgen tune wrote, or one that does not exist yet"
    ):
        opened(path, HEAD)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"number": 1}, "it is no record"),
        ([1], "it is no record"),
        ({**RACE, "number": "1"}, "number"),
        ({**RACE, "number": 1, "took": "long"}, "took"),
        ({**RACE, "number": 1, "took": -1}, "took"),
        ({**RACE, "number": 1, "candidates": [{"table": {}, "seconds": {"x": 1}}]}, "candidates"),
        ({"what": "failed", **TABLE, "number": 1, "kind": None, "why": ""}, "kind"),
        ({**HEAD}, "what"),
    ],
)
def test_a_damaged_record_is_refused_by_its_line(row: Any, what: str, tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_text("".join(json.dumps(x) + "\n" for x in (HEAD, ROWS[0], row)))
    with pytest.raises(Usage, match=rf"j: line 3 is damaged \({what}\); restore it, or begin another journal"):
        opened(path, HEAD)


@pytest.mark.parametrize(
    ("name", "value"), [("sizes", {}), ("sizes", {"bitonic u32": []}), ("start", {"bitonic": None})]
)
def test_a_damaged_head_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "j", {**HEAD, name: value})
    with pytest.raises(Usage, match=rf"j: line 1 is damaged \({name}\)"):
        opened(path, HEAD)


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "j", {**HEAD, "schema": 1})
    with pytest.raises(Usage, match="j: has schema 1, this hsgen reads 2; name another"):
        opened(path, HEAD)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("target", "other", "its target is other, not small"),
        ("device", "H100", "its device is H100, not simulated"),
        ("api", "cuda", "its api is cuda, not opencl"),
        ("driver", "2", "its driver is 2, not 1"),
        ("hsgen", "0.0.1", "its hsgen is 0.0.1, not "),
        ("facts", {**HEAD["facts"], "work_group": 128}, "its facts differ from what is to be tuned"),
    ],
)
def test_a_journal_of_something_else_is_refused(name: str, value: Any, line: str, tmp_path: Path) -> None:
    path = written(tmp_path / "j", {**HEAD, name: value})
    before = path.read_bytes()
    with pytest.raises(Usage) as e:
        opened(path, HEAD)
    assert line in e.value.lines[0] and e.value.lines[0].endswith("; name another journal with --journal")
    assert path.read_bytes() == before


def test_its_own_first_line_holds(tmp_path: Path) -> None:
    """Seed, counts and tables are those at its start: the file may have changed since."""
    path = written(tmp_path / "j")
    later = head_of(SMALL.replace("bits = 4", "bits = 5"), Request(sizes=(1 << 12,)), seed=7)
    assert opened(path, later).head == HEAD


@pytest.mark.parametrize("place", ["file/j", "folder", "/proc/hsgen"])
def test_where_nothing_can_be_written(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(Usage) as e:
        opened(tmp_path / place, HEAD)
    (line,) = e.value.lines
    assert line.startswith(f"journal {tmp_path / place}: cannot be ") and "; name a" in line


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = opened(written(tmp_path / "j"), HEAD)

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal.os, "fsync", full)
    with pytest.raises(Usage, match=r"j: cannot be written \(No space left on device\); name another with --journal"):
        book.add(ROWS[0])


def test_joined_are_races_and_failures_once_each(tmp_path: Path) -> None:
    more = [
        {"what": "failed", **TABLE, "number": 3, "kind": "build", "why": "no"},
        {"what": "final", "key": "u32", "value": "none", "entries": {}, "sizes": [], "seconds": {}},
        {"what": "checked", **TABLE, "cases": 7},
        ROWS[1],
    ]
    one = written(tmp_path / "one")
    two = written(tmp_path / "two", {**HEAD, "seed": 2, "date": "2026-02-01"}, more)
    book = merged([one, two], tmp_path / "both")
    assert sorted(map(json.dumps, book.records)) == sorted(map(json.dumps, [*ROWS, more[0]]))
    assert read(tmp_path / "both")[:2] == (book.head, book.records)
    assert merged([two, one], tmp_path / "again").records == book.records
    with pytest.raises(Usage, match="both: exists; name a new file for the merged journal with --journal"):
        merged([one, two], tmp_path / "both")


@pytest.mark.parametrize(
    ("name", "value"),
    [("device", "another"), ("sizes", {"bitonic u32": [1]}), ("start", {"bitonic u32": None}), ("autos", {})],
)
def test_journals_that_do_not_belong_together_are_not_joined(name: str, value: Any, tmp_path: Path) -> None:
    one, two = written(tmp_path / "one"), written(tmp_path / "two", {**HEAD, name: value})
    with pytest.raises(Usage, match=f"two: its {name} "):
        merged([one, two], tmp_path / "both")
    with pytest.raises(Usage, match="three: cannot be read"):
        merged([one, tmp_path / "three"], tmp_path / "both")
    assert not (tmp_path / "both").exists()
    assert target.parse(SMALL, "small", "small.toml").name == HEAD["target"]
