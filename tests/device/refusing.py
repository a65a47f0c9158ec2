"""`python refusing.py API LIBRARY DEVICE` calls sorts of every kind without any buffer, through the C runtime in a
separate process, and prints JSON: a list of the error messages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hsgen.core.errors import Wrong
from hsgen.core.interpreter import Options
from hsgen.engines import selection
from hsgen.engines.harness import Harness, Native
from hsgen.system import toolchain
from hsgen.targets import target

LABELS = ("bitonic", "scan-x1", "segmented_sort", "merge_path", "digest")
"""A sort of the target `generic` of each kind, in the order of hs_kind."""


def main() -> None:
    """See above."""
    toolchain.prepare_opencl()
    api, path, device = sys.argv[1:4]
    harness = Harness(Path(path))
    index = selection.named(device, harness.hosts(api)).handle
    said = []
    for label in LABELS:
        engine = Native(harness, api, target.find("generic").sort(label, "u32"), index, "")
        try:
            engine.run(16, {}, Options())
            said.append("")
        except Wrong as e:
            said.append(str(e))
    print(json.dumps(said))
    engine.close()


if __name__ == "__main__":
    main()
