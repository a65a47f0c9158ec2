"""Runs a race as `hsgen.tools.tune.race` does, but plants a fault into the kernels of some tables, by `groups`.

The kernels that are compiled beforehand, in other processes, are without it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines import pyopencl
from hsgen.tools.tune import race
from hsgen.tools.worker import serve

HANG, CRASH, WRONG, LATE, BUILD = 13, 14, 15, 17, 19
FAULTS = {
    HANG: "for (volatile int i = 0; i == 0;) ;",
    CRASH: "*(volatile __global int *)0 = 1;",
    WRONG: "return;",  # and faster than any that sorts
    LATE: "if (n > 200000) return;",  # more than a validation has
    BUILD: "this is no C;",
}


def planted(sort: Sort, dialect: str) -> Source:
    """Render a sort, with the fault of its table at the begin of each kernel."""
    source = render(sort, dialect)
    fault = FAULTS.get(getattr(sort.parts[0].params, "groups", 0))
    if fault is None:
        return source
    head = re.compile(r"(__kernel void [^{]*\{)")
    return replace(source, parts={k: head.sub(rf"\1 {fault}", v) for k, v in source.parts.items()})


if __name__ == "__main__":
    pyopencl.render = planted
    serve(race.perform)
