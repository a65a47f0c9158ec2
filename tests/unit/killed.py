"""Child processes that update a bundle and are killed at one system call, by strace, which runs this file.

strace kills a process at its nth call of a kind, with the same n for all processes.  So each child first makes harmless
calls of that kind, until only the wanted number of calls is left: one run of strace serves all children.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import tiny

CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "create": ({}, {"one": "a", "two": "b"}),
    "update": ({"one": "a", "two": "b"}, {"one": "c", "two": "b"}),
    "replace": ({"one": "a", "two": "b"}, {"two": "d", "three": "e"}),
}
"""Bundles before and after the update; the first case has none before."""

_NULL = os.open(os.devnull, os.O_RDWR)
CALLS: dict[str, tuple[int, Callable[[], object]]] = {
    "mkdir": (40, lambda: os.mkdir("/")),  # noqa: PTH102
    "mkdirat": (40, lambda: os.mkdir("/", dir_fd=_NULL)),
    "unlinkat": (40, lambda: os.unlink("/", dir_fd=_NULL)),
    "renameat": (40, lambda: os.rename("/", "/", src_dir_fd=_NULL, dst_dir_fd=_NULL)),
    "write": (40, lambda: os.write(_NULL, b"")),
    "openat": (1000, lambda: os.open("", os.O_RDONLY)),
}
"""Each system call, with the count at which strace kills (more calls than an update or Python's start makes), and a
harmless call of it."""


def options() -> list[str]:
    """Return the options of strace; not every machine has every call."""
    named = {name: f"?{name}" + (",?renameat2" if name == "renameat" else "") for name in CALLS}
    kill = [f"inject={named[name]}:signal=SIGKILL:when={at}" for name, (at, _) in CALLS.items()]
    return [
        "-f",
        "-qq",
        "-o",
        os.devnull,
        *(w for e in ["trace=" + ",".join(named.values()), *kill] for w in ("-e", e)),
    ]


def in_child(do: Callable[[], object]) -> int:
    """Run a function in a child process and return its exit code, negative for a signal."""
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        code = 1
        try:
            do()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(case: str, folder: Path, step: int, first: int) -> None:
    """Start children that each update a bundle and are killed, at every `step`th call of each kind from number `first`
    on; for openat, which mostly opens folders, at an eighth of these."""
    before, after = CASES[case]
    lines: list[str] = []  # written at once, since strace counts the calls of this process too
    for name, (at, call) in CALLS.items():
        for number in range(first, at, step * 8 if name == "openat" and step > 1 else step):
            place = folder / f"{name}-{number}"
            if before and in_child(lambda place=place: tiny.write(place, before)) != 0:
                sys.exit(f"{place} cannot be made")

            def update(place: Path = place, left: int = at - number, call: Callable[[], object] = call) -> None:
                for _ in range(left):
                    with suppress(OSError):
                        call()
                tiny.write(place, after)

            code = in_child(update)
            lines.append(f"{place.name} {code}\n")
            if code >= 0:
                break
    print("".join(lines), end="")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
