"""Builds the example of a Vulkan bundle, with sanitizers if the compiler has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hsgen.system import compilers


def sanitizers(folder: Path) -> list[str]:
    """Sanitizer options, if the C compiler has sanitizers."""
    options = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    probe = [*compilers.c_compiler(), *options, "-xc", "-", "-o", str(folder / "probe")]
    text = "int main(void) { return 0; }\n"
    failed = subprocess.run(probe, input=text, text=True, capture_output=True, check=False).returncode
    return [] if failed else options


def example(place: Path, program: Path, text: str) -> Path:
    """The bundle's program, or another `text` of it, built with sanitizers if available."""
    main_c = program.with_suffix(".c")
    main_c.write_text(text, encoding="utf-8")
    files = [f for pattern in ("src/*.c", "targets/*/*.c", "targets/*/spirv/*.c") for f in sorted(place.glob(pattern))]
    command = [*compilers.c_compiler(), "-std=c99", *sanitizers(program.parent), f"-I{place / 'include'}"]
    command += [str(f) for f in (main_c, *files)] + ["-lvulkan", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program
