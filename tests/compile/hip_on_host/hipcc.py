"""A compiler of HIP for the host, by a C++ compiler: `hsgen validate --api hip` runs kernels on this machine with it.

Takes the arguments of hipcc, in a folder that holds all sources; `HOST_WARP` of the environment is the number of lanes
of a wavefront.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = Path(__file__).parent
SHARED = "extern __shared__ unsigned long long hs_shared[];"
OURS = "auto *hs_shared = host::now->block->shared.data();"


def main(arguments: list[str]) -> int:
    """Compile; kernels get the shared memory of their block, tables the addresses by which kernels are found."""
    if "--version" in arguments:
        return subprocess.run(["cc", *arguments], check=False).returncode
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "sources"
        shutil.copytree(Path.cwd(), folder)
        for path in folder.rglob("*.hip"):
            text = path.read_text(encoding="utf-8").replace(SHARED, OURS)
            text = re.sub(r"\(const void \*\)(\w+_code::\w+)", r"host::registered(\1)", text)
            path.write_text(text, encoding="utf-8")
        warp = os.environ.get("HOST_WARP", "64")
        options = ["-std=c++17", "-x", "c++", f"-DHOST_WARP={warp}", "-D__HIP_PLATFORM_AMD__", "-I", str(INCLUDE)]
        given = [a for before, a in zip(["", *arguments], arguments, strict=False) if "-x" not in (before, a)]
        given = ["-O1" if a == "-O3" else a for a in given]
        # cc, since c++ forgets the language after a file that ends in .c
        return subprocess.run(["cc", *options, *given, "-lstdc++"], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
