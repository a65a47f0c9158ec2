"""Mutated target files: each is quickly read, or refused in a few lines; accepted ones can be shown and generated.

A failure names its number; ``HSGEN_FUZZ=NUMBER`` runs only that file.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from commands import CONTROLS, NUMBERS, TEXTS, called
from nightly import EVERY, NIGHTLY
from tools import GLSL, WATCH

from hsgen.core.errors import Usage
from hsgen.targets import target

FILES = 8000 if EVERY else 1600 if NIGHTLY else 160
BATCH = 40
SHOWN = 5 if NIGHTLY else 20
"""Of the accepted files, one in this many is shown, and one in four times this many is generated."""

NAME = "mutant"
_SETTING = re.compile(r"^(\s*[\w.-]+\s*=\s*)(.*)$", re.MULTILINE)


def value(rng: random.Random) -> str:
    """A random TOML value, or text that resembles one."""
    number = str(rng.choice(NUMBERS))
    text = rng.choice((*TEXTS, *CONTROLS[:-1])).encode("unicode_escape").decode()
    text = re.sub(r"\\x(..)", r"\\u00\1", text)
    inner = rng.choice((number, f'"{text}"', "true"))
    every = (
        number,
        str(rng.randrange(1, 300)),
        str(1 << rng.randrange(64)),
        f'"{text}"',
        rng.choice(("true", "false")),
        rng.choice(("nan", "inf", "-inf", "1e308", "0.5", "-0.0")),
        f"[{', '.join([inner] * rng.randrange(5))}]",
        f"[{number}, {number}]",
        f"{{ a = {inner} }}",
        "1979-05-27T07:32:00Z",
        "0x" + "f" * rng.choice((4, 16, 20000)),
        "9" * rng.choice((20, 4301, 100000)),
        "[" * 3000 + "]" * 3000,
        "{a=" * 300 + "1" + "}" * 300,
        '"' + "\\U0010ffff" * 50 + '"',
        "",
    )
    return rng.choice(every)


def mutated(rng: random.Random, text: str) -> bytes:
    """A mutated, usually invalid target file."""
    lines, which = text.split("\n"), rng.randrange(12)
    at = rng.randrange(len(lines))
    if which <= 4:  # other values
        for _ in range(rng.choice((1, 1, 2, 5))):
            found = rng.choice(list(_SETTING.finditer(text)))
            text = f"{text[: found.start(2)]}{value(rng)}{text[found.end(2) :]}"
        return text.encode("utf-8", "surrogatepass")
    tables = [i for i, line in enumerate(lines) if line.startswith("[")]
    first = rng.choice(tables)
    end = next((i for i in tables if i > first), len(lines))
    if which == 5:
        del lines[first:end]
    elif which == 6:
        lines[at:at] = lines[first:end]
    elif which == 7:
        lines[at:at] = [rng.choice(lines)]
    elif which == 8:
        del lines[at]
    elif which == 9:
        lines[at:at] = [f"[{rng.choice(('device', 'merge', 'radix.u32', 'x', '', 'a.' * 2000 + 'b', 'sort.u32'))}]"]
    elif which == 10:
        lines[at] = lines[at].replace(rng.choice("aeiou=[]\"'.,"), rng.choice(("", "\t", "=", "[", '"""', "\\", "#")))
    data = bytearray("\n".join(lines).encode())
    if which == 11:
        for _ in range(rng.choice((1, 3, 50))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        data = data[: rng.choice((len(data), len(data), rng.randrange(len(data))))]
        data = bytearray(rng.choice((b"", b"", b"\xef\xbb\xbf", b"\xff\xfe"))) + data
    return bytes(data)


def tried(number: int, folder: Path) -> bool:
    """Write a mutated file and read it; return whether it was accepted."""
    rng = random.Random(f"target {number}")
    name = rng.choice(target.names())
    text = target.resources.targets().joinpath(f"{name}.toml").read_text(encoding="utf-8")
    file = folder / f"{NAME}.toml"
    file.write_bytes(mutated(rng, text.replace(f'name = "{name}"', f'name = "{NAME}"', 1)))
    try:
        found = target.find(str(file))
    except Usage:
        _, out = called(["show", str(file)], codes=(2,))
        assert not out
        return False
    if number % SHOWN == 0:
        called(["show", str(file)])
    if number % (4 * SHOWN) == 0:
        (label, key), api = next(iter(found.choices)), found.apis[0] if found.apis[0] != "vulkan" else found.apis[-1]
        WATCH.allow(GLSL)  # some targets have Vulkan alone; without a compiler, the exit code is 3
        some = ["--api", api, "--algorithm", label, "--key", key]
        called(["generate", "-t", str(file), *some, "-o", str(folder / "out"), "--dry-run"], codes=(0, 1, 2, 3))
        assert not (folder / "out").exists()
    return True


@pytest.mark.parametrize("first", range(0, FILES, BATCH))
def test_target_files(first: int, tmp_path: Path) -> None:
    numbers = [int(os.environ["HSGEN_FUZZ"])] if "HSGEN_FUZZ" in os.environ else range(first, first + BATCH)
    read = 0
    for number in numbers:
        try:
            read += tried(number, tmp_path)
        except BaseException as e:
            e.add_note(f"file {number}: HSGEN_FUZZ={number} repeats it")
            raise
    assert 0 < read < BATCH or len(numbers) == 1  # some mutants are still valid, and some are not
