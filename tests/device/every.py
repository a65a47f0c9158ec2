"""Every way to call a sort of a signature: types, orders, bit ranges, device-side counts; for tests on devices.

Values are distinct, so that only a stable sort is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, TYPES, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.builds import build, options
from hsgen.engines.compiled import Compiled
from hsgen.engines.engine import Engine
from hsgen.engines.hosts import Host
from hsgen.engines.pyopencl import Direct, context_for
from hsgen.operations.inputs import KINDS
from hsgen.targets import assembly, target
from hsgen.tools.validate import validation
from hsgen.tools.validate.cases import around
from hsgen.tools.validate.guarded import Frame

LANES = Path(__file__).parent / "lanes"
WHOLE = {"key_transform": True, "bit_range": True, "device_count": True}
COUNTED = ("all", "fewer", "more", "none")
KIND_NAMES = ("few distinct", "random", "all greatest", "sorted")


def sort_of(name: str, algorithm: str, key: str, signature: Signature) -> Sort:
    """Return a sort of a test target or of a shipped one."""
    return target.find(str(LANES / name) if name.endswith(".toml") else name).sort(algorithm, key, signature)


KEPT = 100
"""The greatest number of compiled kernels that a process keeps for other sorts with the same text of a kernel."""
_BUILT: dict[tuple[Host, str], Any] = {}
"""Compiled kernels by device and text, the latest last."""


@cache
def _context(host: Host) -> Any:
    """The context of all kernels of `_BUILT`."""
    return context_for(host)


def direct(host: Host, sort: Sort) -> Direct:
    """Return the sort; kernels are shared with other sorts, see `changed`."""
    return changed(host, sort, render(sort, "opencl"))


def faulty(host: Host, sort: Sort, fault: tuple[str, str]) -> Direct:
    """Return the sort with a planted fault, a text of its kernels and its replacement."""
    source = render(sort, "opencl")
    assert fault[0] in source.text
    whole = source.text.replace(*fault)
    parts = {name: text.replace(*fault) for name, text in source.parts.items()}
    made = replace(source, header=source.header.replace(*fault), prelude=source.prelude.replace(*fault), parts=parts)
    if made.text == whole:
        return changed(host, sort, made)
    context = _context(host)  # the fault's text begins in one kernel and ends in another
    option = options(context, source.option, lanes=sort.lanes > 1, optimized=source.optimized)
    kernels = build(context, whole, source.path, [kernel.name for kernel in sort.kernels], option)
    return Direct(context, Compiled(context, sort, source, kernels))


def changed(host: Host, sort: Sort, source: Source) -> Direct:
    """Return the sort with another text of its kernels.

    Compilers take up to 20 seconds for a large sort, so only kernels are compiled that no earlier sort had: the whole
    text if all of them are new.
    """
    context = _context(host)
    option = options(context, source.option, lanes=sort.lanes > 1, optimized=source.optimized)
    keys = {kernel.name: (host, f"{option}\n{source.only(kernel.name)}") for kernel in sort.kernels}
    lacking = [name for name, key in keys.items() if key not in _BUILT]
    if lacking:
        text = source.text if len(lacking) == len(keys) else source.only(*lacking)
        _BUILT.update(
            (keys[name], kernel) for name, kernel in build(context, text, source.path, lacking, option).items()
        )
    kernels = {name: _BUILT[key] for name, key in keys.items()}
    for key in list(_BUILT)[:-KEPT]:
        del _BUILT[key]
    return Direct(context, Compiled(context, sort, source, kernels))


def few_counts(sort: Sort, *, all_near: bool) -> list[int]:
    """Return counts around those at which the sort changes its way: the first few, and the last."""
    most = 4_000 if sort.target in ("cpu", "generic") else 1_500
    inner = {p.min_n for p in sort.parts} | {assembly.block(sort)}
    near = around([0, *inner, *assembly.test_counts(sort, most)[:3]], most)
    return sorted({*near, most}) if all_near else [*sorted(near)[:: max(1, len(near) // 8)], most]


def ranges(sort: Sort) -> list[tuple[int, int | None]]:
    """Return bit ranges: all, halves, one bit, no bit, all but the ends."""
    bits = sort.plan.bits
    return [(0, None), (0, bits // 2), (bits // 2, bits), (bits - 1, bits), (3, 3), (1, bits - 1)]


def hows(sort: Sort) -> Iterator[tuple[Options, str]]:
    """Yield every way to call the sort: type, order, bit range, where the count is."""
    kinds = sorted({t.kind for t in TYPES.values() if KEYS[t.key].bits == sort.plan.bits})
    for kind, descending in product(kinds, (False, True)):
        plain = Options(kind=kind, descending=descending)
        for number, (begin, end) in enumerate(ranges(sort)):
            discard = sort.signature.index and number % 2 == 1
            yield replace(plain, begin=begin, end=end, discard=discard), ""
        for where in COUNTED:
            yield replace(plain, device_count=True), where


def live(where: str, n: int) -> int | None:
    """Return the device-side count."""
    return {"": None, "all": n, "fewer": n // 2, "more": n + 7, "none": 0}[where]


def first_problem(engine: Engine, ns: list[int], *, each: bool = True) -> tuple[int, str | None]:
    """Call the sort in every way with every count, or with two counts in turn unless `each`.

    The start of arrays shifts from call to call by an element, or by the device's alignment.  Returns the number of
    calls and the error of the last one, or None.
    """
    sort, calls = engine.sort, 0
    frame = Frame(engine, max(ns))
    rng = np.random.default_rng(5)
    dtype = np.dtype(f"u{sort.key.bytes}")
    for number, (how, where) in enumerate(hows(sort)):
        for turn, n in enumerate(ns):
            if not each and (turn - 2 * number) % len(ns) not in (0, 1):
                continue
            kind = KIND_NAMES[(number + turn) % len(KIND_NAMES)]
            keys = KINDS[kind](rng, n, dtype)
            in_place = (number + turn // 2) % 2 == 0
            made = validation.call(sort, keys, how, in_place=in_place, count=live(where, n), rng=rng)
            problem, calls = frame.run(made, (number % 16, turn % 16)), calls + 1
            if problem is not None:
                return calls, f"{n} keys, {kind}, in place: {in_place}, {how}, count: {where}: {problem}"
    return calls, None
