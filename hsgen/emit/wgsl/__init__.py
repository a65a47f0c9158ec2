"""Translation of kernels from a subset of C to WGSL.

The text of a kernel is parsed (`reading`), converted to a typed syntax tree (`functions`, `expressions`), and printed
as WGSL (`bodies`, `printing`, `modules`).
"""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.core.errors import Usage, Wrong
from hsgen.emit.wgsl.modules import translate
from hsgen.emit.wgsl.tree import Unsupported


def translated(
    where: str, prelude: str, parts: Mapping[str, str], groups: Mapping[str, int]
) -> tuple[str, dict[str, str]]:
    """Return the WGSL prelude of a sort, and the WGSL of each of its kernels.

    where: the name of the sort, for messages.
    prelude, parts: the C text of the prelude and of each kernel.
    groups: the number of lanes in a work-group of each kernel.

    Raises:
        Usage: a kernel needs a feature that WGSL lacks.
        Wrong: a kernel uses C beyond the subset.
    """
    texts = {name: prelude + text for name, text in parts.items()}
    try:
        return translate(texts, groups)
    except Unsupported as e:
        if e.lacks:
            raise Usage(
                f"{where}: kernel {e.kernel} needs {e.problem}, which WGSL lacks; choose a target without subgroups"
            ) from None
        lines = texts[e.kernel].splitlines()
        shown = f": {lines[e.line - 1].strip()}" if 0 < e.line <= len(lines) else ""
        raise Wrong(f"templates: {where}: kernel {e.kernel}: {e.problem}{shown}; repair the template") from None
