"""Programs that call the runtimes by chance, over drivers that compute nothing, built with the sanitizers."""

from __future__ import annotations

import shutil
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from unittest import mock

from building import CONSUMERS, WARNINGS, folder

from hsgen.cli import main

RUNTIME = Path(__file__).parents[2] / "templates" / "runtime"
SORTS = {
    "intel-gen8": ("--key=u32", "--key=u8", "--value=none", "--value=v4", "--value=index", "--order=both", "--feature=range",
     "--feature=count", "--algorithm=auto"),
    "amd-rdna": ("--key=u32", "--value=none", "--value=v4", "--feature=changes", "--algorithm=radix"),
    "generic": ("--key=u32", "--value=none", "--value=v4", "--algorithm=mergepath", "--algorithm=check"),
    "apple-m1": ("--key=u32", "--value=index", "--value=v4", "--order=both", "--algorithm=segments"),
    "lavapipe": ("--key=u32", "--algorithm=scan-x4", "--algorithm=merge"),
}  # fmt: skip
"""What the bundle holds: sorts in all forms, reports, and each other kind."""


@cache
def tables() -> Path:
    """The sorts as data, without kernels; the runtimes are those of the templates."""
    place, said = folder("fuzz") / "sorts", StringIO()
    for name, chosen in SORTS.items():
        with mock.patch("hsgen.spirv.compiler", return_value=None), redirect_stdout(said), redirect_stderr(said):
            code = main(["generate", "-t", name, "--api", "vulkan", *chosen, "-o", str(place)])
        assert code == 0, said.getvalue()
    for header in RUNTIME.glob("*.h"):
        shutil.copy(header, place / "include" / "hs" / header.name)
    return place


def options() -> list[str | Path]:
    """Where headers are, and warnings."""
    return [*WARNINGS, "-O1", f"-I{tables() / 'include'}", f"-I{CONSUMERS}"]


def data() -> list[Path]:
    """The C files that all programs share."""
    place = tables()
    return [RUNTIME / "hs.c", place / "src" / "hs_targets.c", *sorted(place.glob("targets/*/*.c"))]
