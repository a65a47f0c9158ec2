"""Find the machine code of kernels in the optional package `hsgen_cubins`, which `.ci/cubins.py` builds.

If the package has the machine code of a kernel, hsgen does not compile the kernel by NVRTC.  The name of a file in the
package has the architecture, and a hash of the kernel's text and options.  If the package belongs to another version of
hsgen, it has no file for a kernel that has changed.  NVRTC then compiles this kernel.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hsgen.core.errors import HsgenError
from hsgen.cuda import driver

PACKAGE, INDEX = "hsgen_cubins", "index.json"


def name(text: str, arch: int, options: Sequence[str]) -> str:
    """Return the name of the file in the package that has the machine code for a text, an architecture and compiler
    options.
    """
    state = "\0".join([*options, text])
    return f"sm{arch}/{hashlib.sha256(state.encode()).hexdigest()}.cubin"


def code(text: str, arch: int, options: Sequence[str]) -> bytes | None:
    """Return the machine code of a text for sm_<arch>; None if the package has no such file, or the file is damaged."""
    folder, codes = _installed()
    entry = name(text, arch, options)
    if _refused or entry not in codes:
        return None
    with suppress(OSError):
        data = (folder / entry).read_bytes()
        if hashlib.sha256(data).hexdigest() == codes[entry]:
            return data
    return None


_refused = False


def used() -> bool:
    """Return True if the package `hsgen-cubins` is installed, and the driver has not refused its machine code."""
    return not _refused and bool(_installed()[1])


def refuse() -> None:
    """Stop using the package in this process, because the driver has refused machine code from it."""
    global _refused
    _refused = True


@cache
def _installed() -> tuple[Path, Mapping[str, str]]:
    """Return the folder of the package, and a dictionary with the SHA-256 of each machine-code file by name.

    The dictionary is empty if the package is missing or damaged, or if the driver is too old for its files.
    """
    nothing: tuple[Path, Mapping[str, str]] = (Path(), {})
    try:
        package = find_spec(PACKAGE)
        if package is None or not package.origin:
            return nothing
        folder = Path(package.origin).parent
        index: dict[str, Any] = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if _driver() < int(index["driver"]):
            return nothing
        return folder, {str(key): str(value) for key, value in index["codes"].items()}
    except (OSError, ValueError, KeyError, AttributeError, HsgenError):
        return nothing


def _driver() -> int:
    """Return the major version of the newest CUDA that the driver supports."""
    return int(driver.done(driver.bindings().cuDriverGetVersion())) // 1000
