"""The shape of a merge for a width and a form, by what a target chose for its radix sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms.mergepath.bodies import merge
from hsgen.algorithms.mergepath.shape import Params
from hsgen.device import Device
from hsgen.keys import PLAIN, Form, KeyType

LANES = 256
ITEMS = 15  # odd, so that lanes which store runs of so many keys meet no bank twice
CHAIN = 4096  # keys of a chain of a lane that walks alone
CHAINS, CHAINS_VALUED = 4, 3  # as many as registers hold; measured: docs/results/merging.md
FEW = 1024  # keys of a lane among others that walk alone


def formed(p: Mapping[str, Any], key: KeyType, form: Form, device: Device) -> Params | None:
    """Return the shape for keys of a width in a form; None where a target sorts no such keys, or for other forms than
    keys alone or with values.

    Lanes walk alone where they do in the target's radix sort.  Elsewhere a work-group has as many lanes as in that
    sort, and holds as many keys as leave room for a second work-group in local memory.
    """
    if not p or form.value not in ("none", "v4", "v8", "v16") or replace(form, value="none", typed=False) != PLAIN:
        return None
    chosen = p.get("radix")
    lanes = min(getattr(chosen, "work_group", LANES), LANES, device.work_group)
    if chosen is not None and (chosen.ranker, chosen.subgroup) == ("serial", 1):
        if lanes == 1:
            chains = CHAINS_VALUED if form.value_bytes else CHAINS
            return Params(key=key, work_group=1, items=CHAIN, chains=chains, walks=True, form=form)
        return Params(key=key, work_group=lanes, items=FEW, walks=True, form=form)
    made = Params(key=key, work_group=lanes, items=ITEMS, form=form)
    while made.items > 1 and 2 * merge(made).local_bytes(key) > device.local_bytes:
        made = replace(made, items=made.items - 2)
    return made
