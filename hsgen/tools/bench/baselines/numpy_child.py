"""The process that sorts with numpy for `numpy_avx2`.  The process exits when stdin ends, so it ends with its parent.

First the process writes a line of JSON: the AVX-512 features that are not disabled.  Then it reads commands, one line
each:

- `keys SIZE N`, followed by N keys of SIZE bytes: stores the keys; the answer is an empty line
- `prepare`: copies the keys; the answer is an empty line
- `sort`: sorts the copy; the answer is a line with the seconds
- `result`: the answer is the bytes of the copy
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import BinaryIO

import numpy as np

from hsgen.operations.inputs import Keys
from hsgen.tools.bench.baselines.numpy_avx2 import features


def serve(commands: BinaryIO, answers: BinaryIO) -> None:
    """Answer commands until the stream `commands` ends."""
    source: Keys = np.empty(0, np.uint32)
    work = np.empty_like(source)
    for line in iter(commands.readline, b""):
        word, *numbers = line.split()
        answer = b"\n"
        if word == b"keys":
            size, n = map(int, numbers)
            source = np.frombuffer(commands.read(size * n), f"u{size}")
            work = np.empty_like(source)
        elif word == b"prepare":
            np.copyto(work, source)
        elif word == b"sort":
            begin = time.perf_counter()
            work.sort()
            answer = f"{time.perf_counter() - begin:.9f}\n".encode()
        else:
            answer = work.tobytes()
        answers.write(answer)
        answers.flush()


def main() -> None:
    """Answer the commands on stdin; all other output of this process goes to stderr."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    out.write(json.dumps(features("baseline", "found")).encode() + b"\n")
    out.flush()
    try:
        serve(sys.stdin.buffer, out)
    except BrokenPipeError:  # the parent has exited
        os._exit(0)


if __name__ == "__main__":
    main()
