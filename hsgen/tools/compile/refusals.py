"""The error for kernels that an offline compiler refuses."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess

from hsgen.core.errors import Wrong

_MOST = 40
_REASON = re.compile(r"\berror\b|\bfatal\b|\bLLVM ERROR\b|not supported|unknown", re.IGNORECASE)


def refusal(who: str, done: CompletedProcess[str], folder: Path) -> Wrong:
    """Return the error for a compiler that failed; `who` names the compiler and the device in the message.

    The error's first line has the reason.  Further lines are the first `_MOST` lines of the log; the path of `folder`
    is removed from them.
    """
    if done.returncode < 0:
        ending = f"crashes with signal {-done.returncode}"
    else:
        ending = f"refuses the kernels with exit code {done.returncode}"
    output = (done.stdout + done.stderr).replace(f"{folder}/", "").splitlines()
    lines = [line.rstrip() for line in output if line.strip()]
    reason = next((line.strip() for line in lines if _REASON.search(line)), lines[-1] if lines else "no reason given")
    return Wrong(f"{who}: {ending}: {reason}", *lines[:_MOST])
