"""Checks whether a compiler can build programs with the sanitizers."""

from __future__ import annotations

import subprocess
from functools import cache

from building import folder, need

SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def sanitizes(compiler: str) -> bool:
    """Whether programs can be built with the sanitizers."""
    need(compiler)
    return _sanitizes(compiler)


@cache
def _sanitizes(compiler: str) -> bool:
    command = [compiler, *SANITIZERS, "-xc", "-", "-o", str(folder("probe") / "probe")]
    return (
        subprocess.run(command, input="int main(void) { return 0; }\n", text=True, capture_output=True).returncode == 0
    )
