"""Randomly mutated manifests: a command prints one line, and touches only files of the bundle."""

from __future__ import annotations

import copy
import json
import os
import random
import secrets
import shutil
from pathlib import Path
from typing import Any

import pytest
import tiny
from nightly import nightly

import hsgen
from hsgen.cli import main

TARGET = str(Path(hsgen.__file__).parents[1] / "tests/device/lanes/lanes4.toml")
CHOICE = ("-t", TARGET, "--api", "opencl", "--key", "u32", "--algorithm", "bitonic", "-o")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("generate", *CHOICE),
    ("generate", "-o"),
    ("generate", "--dry-run", *CHOICE),
    ("generate", "--remove", "lanes4", "-o"),
    ("generate", "--prefix", "acme", *CHOICE),
    ("check", "-t", TARGET, "-o"),
    ("check", "-o"),
    ("report", "-t", TARGET, "-o", os.devnull, "--bundle"),
)
MINE = ("mine.txt", ".git/config", "src/mine.c", "targets/lanes4/mine.c", "targets/other/other.c", "src/hs.c.hsgen-old")
"""Files of the user in the bundle."""

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 10**300, 1.5, "", "x", "\0", "\n", "\ud800", "\x1b[2J", "x" * 5000),
    *([], {}, [[]], {"": {}}, "../victim/precious", "/etc/passwd", "..", ".", "C:\\x", "..\\x", "CON", "a/b", "~"),
    *("mine.txt", ".git/config", "src/mine.c", "targets/lanes4/mine.c", "targets/other/other.c", "manifest.json"),
    *("u32", "u64", "opencl", "vulkan", "cuda", "metal", "bitonic", "auto", "digest", "lanes4", "cpu", "hs", "acme"),
    *([x] for x in ("u32", "opencl", "bitonic", "auto", "../x", 3, None)),
    *("index", "{{ 7 * 7 }}", "$(id)", "%s"),
)  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every position in a JSON value except the root."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for k, v in inside for p in ((*at, k), *places(v, (*at, k)))]


def mutated(data: bytes, dice: random.Random) -> bytes:
    """A manifest with some changes: mostly of values, otherwise of bytes."""
    if dice.random() < 0.15:
        text = bytearray(data)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(text))
            text[at : at + dice.choice((0, 1, 1, 7, 300))] = dice.choice((b"", b'"', b"\xff", b"[", b"\0", b"9" * 50))
        return bytes(text[: dice.choice((len(text), len(text), dice.randrange(len(text))))])
    raw = json.loads(data)
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        *above, last = dice.choice(places(raw))
        parent = raw
        for word in above:
            parent = parent[word]
        kind = dice.randrange(5)
        if kind == 0:
            del parent[last]
        elif kind == 1 and isinstance(parent, dict):
            parent[str(dice.choice(ODD))] = parent.pop(last)
        elif kind == 2 and isinstance(parent, dict):
            parent[str(dice.choice(ODD))] = parent[last]
        else:
            parent[last] = copy.deepcopy(dice.choice(ODD))  # a shared list could be put into itself, without end
        if not places(raw):
            break
    return json.dumps(raw).encode()


def restored(folder: Path, want: dict[str, bytes | None]) -> None:
    """Restore a folder."""
    if tiny.state(folder) == want:
        return
    shutil.rmtree(folder)
    folder.mkdir()
    for path, data in want.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if data is not None:
            (folder / path).write_bytes(data)
        else:
            (folder / path).mkdir(exist_ok=True)


@pytest.mark.parametrize("count", [30, nightly(1000)])
def test_no_manifest_does_harm(tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    seed = int(os.environ.get("HSGEN_SEED") or secrets.randbelow(2**32))
    print(f"HSGEN_SEED={seed}")
    dice = random.Random(seed)
    folder, victim = tmp_path / "bundle", tmp_path / "victim"
    assert main(["generate", *CHOICE, str(folder)]) == 0
    for place in (*(folder / name for name in MINE), victim / "precious", victim / "src/hs.c"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("precious")
    want, before = tiny.state(folder), tiny.state(victim)
    codes: dict[int, int] = {}
    for number in range(count):
        data = mutated(want["manifest.json"] or b"", dice)
        for command in (("verify",), dice.choice(COMMANDS)):
            restored(folder, want)
            (folder / "manifest.json").write_bytes(data)
            capsys.readouterr()
            code = main([*command, str(folder)])
            lines = capsys.readouterr().err.splitlines()
            what = f"HSGEN_SEED={seed}, number {number}: {' '.join(command)}: {code}: {lines}"
            codes[code] = codes.get(code, 0) + 1
            assert code in (0, 1, 2, 3), what
            assert code != 2 or len(lines) == 1, what
            assert all(line.isprintable() and len(line) < 1000 for line in lines), what
            have = tiny.state(folder)
            assert [have.get(name) for name in MINE] == [b"precious"] * len(MINE), what
            assert tiny.state(victim) == before and sorted(p.name for p in tmp_path.iterdir()) == [
                "bundle",
                "victim",
            ], what
            if code and command[0] == "generate":
                assert have == {**want, "manifest.json": data}, what
    assert codes.get(2) and sum(codes.values()) == 2 * count


def test_a_change_is_a_change() -> None:
    """Almost all tried changes differ from each other."""
    dice = random.Random(1)
    data = tiny.bundle({"one": "a"})[1].bytes()
    assert len({mutated(data, dice) for _ in range(200)}) > 150
