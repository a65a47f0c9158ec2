"""The parameters of prefix sums by element width, and of prefix sums for which a target has no table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms.scan.constraints import FOLDED, problems
from hsgen.algorithms.scan.params import Params
from hsgen.algorithms.scan.rule import rows
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

FLOATS = replace(PLAIN, floats=True)
"""The signature of sums of floats."""

DERIVED = {f"scan-x{columns}{'ex' * ex}": (columns, bool(ex)) for columns in (1, 2, 3, 4) for ex in (0, 1)}
"""The labels of prefix sums that need no table: the columns of a row, and whether sums exclude their own row."""

_SHARE = {"chip": (256, 64, 512), "memory": (64, 256, 64)}
"""Lanes, bytes of rows per lane, and the most work-groups, by the kind of local memory."""


def specialize(p: Mapping[str, Params], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for an element width; None for other signatures than plain keys and, for 32 bits, `FLOATS`.

    Sums of floats look back only within sections: otherwise the order of additions would depend on the timing of tiles.
    """
    chosen = p.get(key.name)
    if chosen is None or signature not in (PLAIN, FLOATS) or (signature == FLOATS and key.bytes != 4):
        return None
    shape = replace(chosen, redo=not device.promised)
    if signature == PLAIN:
        return shape
    if shape.sections:  # the order of additions is fixed
        return replace(shape, floats=True)
    groups = min(shape.groups, FOLDED) if shape.serial else shape.groups
    return replace(shape, floats=True, coordination="scan", groups=groups)


def derive(label: str, p: Mapping[str, Any], key: KeyType, device: Device) -> Params | None:
    """Return the parameters of a label of `DERIVED` for which a target has no table; None if the device cannot add the
    elements.

    The parameters follow the target's sum of one column, with as many elements per lane; without such a sum, they
    follow the facts of the device.
    p: the target's parameters for this width, by label.
    """
    if key.bytes < 4 or (key.bytes == 8 and not device.int64):
        return None
    columns, exclusive = DERIVED[label]
    chosen = p.get("scan-x1ex" if exclusive else "scan-x1")
    if isinstance(chosen, Params):
        first = replace(chosen, columns=columns, items=rows(chosen.items, columns, chosen.coordination))
    else:
        lanes, share, groups = _SHARE[device.local]
        first = Params(
            key=key,
            columns=columns,
            exclusive=exclusive,
            items=max(1, share // (columns * key.bytes)),
            work_group=1 << min(lanes, device.work_group).bit_length() - 1,
            groups=min(groups, device.groups),
            coordination="scan",
        )
    return next((shape for shape in _smaller(first) if not problems(shape, device)), None)


def _smaller(p: Params) -> Iterator[Params]:
    """Yield parameters with fewer rows per lane, then with fewer lanes."""
    yield p
    while p.items > 1 or p.work_group > 1:
        p = replace(p, items=p.items // 2) if p.items > 1 else replace(p, work_group=p.work_group // 2)
        yield p
