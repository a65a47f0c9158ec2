"""WGSL from kernels in C: the dialect's words expand to a subset of C, which is parsed, typed and printed again."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.core.errors import Usage, Wrong
from hsgen.emit.wgsl.modules import translate
from hsgen.emit.wgsl.tree import Unsupported


def translated(
    where: str, prelude: str, parts: Mapping[str, str], groups: Mapping[str, int]
) -> tuple[str, dict[str, str]]:
    """Return the WGSL of the prelude and the kernels of a sort.

    where: the file, for messages.  groups: the lanes of a work-group of each kernel.

    Raises:
        Usage: a kernel needs what WGSL lacks.
        Wrong: a kernel is not in the subset.
    """
    texts = {name: prelude + text for name, text in parts.items()}
    try:
        return translate(texts, groups)
    except Unsupported as e:
        if e.lacks:
            raise Usage(
                f"{where}: kernel {e.kernel} needs {e.what}, which WGSL lacks; choose a target without subgroups"
            ) from None
        lines = texts[e.kernel].splitlines()
        shown = f": {lines[e.line - 1].strip()}" if 0 < e.line <= len(lines) else ""
        raise Wrong(f"templates: {where}: kernel {e.kernel}: {e.what}{shown}; repair the template") from None
