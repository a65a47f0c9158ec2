"""Runs a race like `hsgen.tools.tune.race`, but plants a fault in the kernels of some tables, by `groups`.

The kernels that other processes compile beforehand do not have it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.tools.tune import checking, race
from hsgen.tools.worker import serve

HANG, CRASH, WRONG, LATE, BUILD = 13, 14, 15, 17, 19
FAULTS = {
    HANG: "for (volatile int i = 0; i == 0;) ;",
    CRASH: "*(volatile __global int *)0 = 1;",
    WRONG: "return;",  # and faster than any correct sort
    LATE: "if (n > 200000) return;",  # more keys than a validation has
    BUILD: "this is no C;",
}


def planted(sort: Sort, dialect: str) -> Source:
    """Render a sort, with the fault of its table at the start of each kernel."""
    source = render(sort, dialect)
    fault = FAULTS.get(getattr(sort.parts[0].params, "groups", 0))
    if fault is None:
        return source
    head = re.compile(r"(__kernel void [^{]*\{)")
    return replace(source, parts={k: head.sub(rf"\1 {fault}", v) for k, v in source.parts.items()})


if __name__ == "__main__":
    checking.render = planted
    serve(race.perform)
