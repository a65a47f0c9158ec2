"""The files of docs/reference/schemas: up to date; valid targets and real output conform, wrong targets do not."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import json_schemas
import pytest
import tomlkit
from nightly import NIGHTLY, nightly

from hsgen.cli import group, main
from hsgen.core.errors import Usage
from hsgen.engines.hosts import Host
from hsgen.system import resources
from hsgen.targets import target

if TYPE_CHECKING:
    import jsonschema

FILES = sorted([*resources.targets().glob("*.toml"), *(json_schemas.ROOT / "tests/device/lanes").glob("*.toml")])
MUTATED = ("cpu", nightly("lanes8"), nightly("intel-gen8"), nightly("nvidia-hopper"))
SHAPE = r": (unknown key|missing|.* is not (a|true|one of|between)|is empty)"
"""What a schema can say: keys, types, choices and ranges; but not that only the last row of ranges has no `to`."""
EACH = 1 if NIGHTLY else 9
"""The fast run takes every ninth mutant."""


def validator(name: str) -> jsonschema.Draft7Validator:
    return json_schemas.validator(
        json.loads((json_schemas.SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    )


def test_the_files_are_up_to_date() -> None:
    found = {p.name: p.read_text(encoding="utf-8") for p in json_schemas.SCHEMAS.iterdir()}
    assert found == {name: json_schemas.text_of(s) for name, s in json_schemas.schemas().items()}, "run make schemas"


def test_every_command_with_json_has_a_schema() -> None:
    named = {name for name, c in group.commands.items() if any("--json" in p.opts for p in c.params)}
    assert named | {"target"} == {p.name.split(".")[0] for p in json_schemas.SCHEMAS.iterdir()}


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schemas.target_schema()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_targets_conform(path: Path) -> None:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    errors = [f"{e.json_path}: {e.message}" for e in validator("target").iter_errors(data)]
    assert not errors, errors


def mutants(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies of a target with one change each."""
    for at in places(data):
        *above, key = at
        for what, change in (("none", None), ("text", "x"), ("list", [1.5]), ("table", {"x": 1}), ("huge", 1 << 62)):
            made = copy.deepcopy(data)
            table: Any = made
            for step in above:
                table = table[step]
            if what == "none" and isinstance(table, list):
                continue
            if what == "none":
                del table[key]
            else:
                table[key] = change
            yield f"{'.'.join(map(str, at))}: {what}", made
    for at in [(), *places(data)]:
        made = copy.deepcopy(data)
        table = made
        for step in at:
            table = table[step]
        if isinstance(table, dict):
            table["Unknown"] = 1
            yield f"{'.'.join(map(str, at))}: another key", made


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values of a document, of lists only the first two."""
    below = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in below:
        yield (*at, key)
        yield from places(inner, (*at, key))


@pytest.mark.parametrize("name", MUTATED)
def test_the_schema_agrees_with_the_reader_on_mutants(name: str) -> None:
    """Refused for keys, types, choices or ranges: by the schema, too; refused by the schema: by the reader, too."""
    path = next(p for p in FILES if p.stem == name)
    schema = validator("target")
    counts = {"both": 0, "neither": 0, "reader": 0}
    for what, made in islice(mutants(tomllib.loads(path.read_text(encoding="utf-8"))), 0, None, EACH):
        try:
            target.parse(tomlkit.dumps(made), path.stem, "mine")
            lines: tuple[str, ...] = ()
        except Usage as e:
            lines = e.lines
        wrong = not schema.is_valid(made)
        assert lines or not wrong, f"{what}: only the schema refuses it"
        shape = [line for line in lines if re.search(SHAPE, line) and "].to: missing" not in line]
        assert wrong or not shape, f"{what}: the schema accepts it: {shape[0]}"
        counts["both" if wrong else "reader" if lines else "neither"] += 1
    assert counts["both"] > 20 and counts["neither"] > 0 and counts["reader"] > 0, counts


COMMANDS = {
    "targets": [],
    "show": ["cpu", "--plan", "100000"],
    "generate": ["-t", "generic", "--api", "opencl", "-o", "new", "--dry-run"],
    "suggest": ["-t", "cpu", "--key", "u32"],
    "report": ["-t", "generic", "--no-compile"],
    "doctor": [],
}
ON_A_DEVICE = {
    "probe": ["--api", "opencl", "-o", "mine.toml"],
    "validate": ["-t", "cpu", "--key", "u16"],
    "bench": ["-t", "cpu", "--key", "u32", "--sizes", "1000", "--rounds", "1", "--against", "numpy"],
}


def conforms(command: str, arguments: list[str], capsys: pytest.CaptureFixture[str], *codes: int) -> Any:
    """Run a command; its output must conform to the schema, and an empty object in its place must not."""
    assert main([command, *arguments, "--json"]) in (codes or (0,))
    found = json.loads(capsys.readouterr().out)
    schema = validator(command)
    errors = [f"{e.json_path}: {e.message}" for e in schema.iter_errors(found)]
    assert found and not errors, errors
    assert not schema.is_valid([{}] if isinstance(found, list) else {})
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_output_conforms(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    conforms(command, COMMANDS[command], capsys)


def test_output_about_bundles_conforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    conforms("generate", ["-t", "generic", "--api", "opencl", "--key", "u32", "-o", "new"], capsys)
    (tmp_path / "new/LICENSE").write_text("changed", encoding="utf-8")
    for command, arguments in (("check", ["-o", "new"]), ("verify", ["new"])):
        assert conforms(command, arguments, capsys, 1) == [{"path": "LICENSE", "state": "stale"}]


@pytest.mark.nightly
def test_output_of_compilers_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    """Also without any compiler: then it lists the missing ones."""
    conforms("compile", ["-t", "generic", "--key", "u32"], capsys, 0, 3)


@pytest.mark.parametrize("command", ON_A_DEVICE)
def test_output_of_devices_conforms(
    command: str,
    embedded: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    device = ["--device", "Intel(R) OpenCL"]
    conforms(command, [*ON_A_DEVICE[command], *device], capsys)
