"""The baseline numpy without AVX-512.

The sort runs in a process of its own, because numpy selects its instructions only once, at import.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from contextlib import suppress
from typing import Any

import numpy as np

from hsgen.core.errors import Unavailable, Wrong
from hsgen.engines.engine import Engine
from hsgen.operations.inputs import Keys
from hsgen.system import processes
from hsgen.tools.bench.baselines.baseline import Run

NAME = "numpy-avx2"
_OFF, _ON = "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"


def features(*parts: str) -> list[str]:
    """Return the AVX-512 features that this numpy uses, by numpy's names.

    `parts` are names of lists in numpy's configuration.  "found" lists features of this CPU that can be disabled.
    "baseline" lists features that cannot be disabled.
    """
    config: Any = np.show_config(mode="dicts")
    known = config.get("SIMD Extensions", {})
    names = [name for part in parts for name in known.get(part, [])]
    return [name for name in names if name.startswith("AVX512") or name == "X86_V4"]


class Child:
    """A process that sorts keys with numpy; `hsgen.tools.bench.baselines.numpy_child` documents the protocol."""

    def __init__(self, off: list[str]) -> None:
        """Start the process with the features `off` disabled.

        Raises:
            Unavailable: the process does not start.
        """
        words = [*os.environ.get(_OFF, "").replace(",", " ").split(), *off]
        environment = {k: v for k, v in processes.environment().items() if k not in (_OFF, _ON)}
        if words:
            environment[_OFF] = " ".join(words)
        self._noise = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  (see close)
        self._process: subprocess.Popen[bytes] = processes.start(
            processes.python("hsgen.tools.bench.baselines.numpy_child"),
            environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
        )
        assert self._process.stdin and self._process.stdout
        self._to, self._from = self._process.stdin, self._process.stdout
        try:
            self.left: list[str] = json.loads(self._read(None))
        except Wrong as e:
            self.close()
            raise Unavailable(*e.lines) from None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def _read(self, size: int | None) -> bytes:
        """Read `size` bytes; None reads a line."""
        got = self._from.readline() if size is None else self._from.read(size)
        if len(got) < (size or 0) or (size is None and not got.endswith(b"\n")):
            self._lost()
        return got

    def _write(self, data: bytes) -> None:
        try:
            self._to.write(data)
            self._to.flush()
        except BrokenPipeError:
            self._lost()

    def _lost(self) -> None:
        """Raise an error with the exit status of the process, which has closed its pipes.

        Raises:
            Wrong: always.
        """
        code = self._process.wait()
        self._noise.seek(0)
        last = (self._noise.read().strip().splitlines() or [""])[-1]
        status = processes.status(code)
        raise Wrong(f"baseline {NAME}: its process ended with {status}{': ' if last else ''}{last}")

    def give(self, keys: Keys) -> None:
        """Send the keys to sort."""
        self._write(f"keys {keys.dtype.itemsize} {len(keys)}\n".encode() + keys.tobytes())
        self._read(None)

    def prepare(self) -> None:
        """Make the process copy the keys, so that `sort` can sort the copy in place."""
        self._write(b"prepare\n")
        self._read(None)

    def sort(self) -> float:
        """Make the process sort the copy; return the seconds of the sort alone."""
        self._write(b"sort\n")
        return float(self._read(None))

    def result(self, like: Keys) -> Keys:
        """Fetch the sorted keys, with the length and type of `like`."""
        self._write(b"result\n")
        return np.frombuffer(self._read(like.nbytes), like.dtype)

    def close(self) -> None:
        """End the process."""
        processes.end(self._process)
        self._from.close()
        with suppress(BrokenPipeError):
            self._to.close()
        self._noise.close()


def numpy_avx2(engine: Engine, keys: Keys) -> Run:
    """Return a run of `numpy.sort` that behaves as on a CPU without AVX-512; its version names the disabled features.

    Raises:
        Unavailable: this numpy cannot disable the features, or its process does not start.
    """
    off = features("found")
    child = Child(off)
    if child.left:
        child.close()
        raise Unavailable(
            f"baseline {NAME}: this numpy does not run without {', '.join(child.left)}; install one from PyPI"
        )
    try:
        child.give(keys)
    except Wrong:
        child.close()
        raise
    return Run(
        name=NAME,
        prepare=child.prepare,
        sort=child.sort,
        result=lambda: child.result(keys),
        version=f"{np.__version__} without {' '.join(off) or 'AVX-512, which it does not use here'}",
        close=child.close,
    )
