"""The translation of kernels from C to WGSL: a subset of C is parsed, typed, and printed as WGSL."""

from __future__ import annotations

from collections.abc import Mapping

from hsgen.core.errors import Usage, Wrong
from hsgen.emit.wgsl.modules import translate
from hsgen.emit.wgsl.tree import Unsupported


def translated(
    where: str, prelude: str, parts: Mapping[str, str], groups: Mapping[str, int]
) -> tuple[str, dict[str, str]]:
    """Return the WGSL of the prelude and the kernels of a sort.

    where: the file, for messages.  parts: the C text of each kernel.  groups: the number of lanes of each kernel's
    work-groups.

    Raises:
        Usage: a kernel needs a feature that WGSL lacks.
        Wrong: a kernel is not in the subset of C.
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
