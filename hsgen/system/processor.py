"""The processor of this machine."""

from __future__ import annotations

import platform
import re
from pathlib import Path

_LINUX = Path("/proc/cpuinfo")


def model() -> str:
    """Return the name of the processor, or its architecture if the name is unknown."""
    try:
        match = re.search(r"^model name\s*:\s*(.*\S)", _LINUX.read_text(encoding="utf-8", errors="replace"), re.M)
    except OSError:
        match = None
    return match[1] if match else platform.processor() or platform.machine()
