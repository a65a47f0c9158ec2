"""Making shapes smaller until the device has room for them: by the checks that every target passes."""

from __future__ import annotations

from collections.abc import Iterator

from hsgen.algorithms import ALGORITHMS
from hsgen.core.device import Device
from hsgen.core.keys import KeyType
from hsgen.core.networks import pow2_floor
from hsgen.targets import assembly
from hsgen.tools.suggest.facts import Choice, Table

_LESS = "less than the rule says, since local memory does not suffice"


def fitted(algorithm: str, key: KeyType, table: Table, device: Device) -> Table | None:
    """Return a table that the device has room for, the one given or a smaller one; None if there is none."""
    made = ALGORITHMS[algorithm]
    for tried in (table, *_smaller(algorithm, table)):
        if not made.problems(made.params(key, {name: choice.value for name, choice in tried.items()}), device):
            return tried
    return None


def launched(algorithm: str, key: KeyType, table: Table, device: Device) -> int:
    """Return the greatest count whose grids the device launches for a table."""
    made = ALGORITHMS[algorithm]
    params = made.params(key, {name: choice.value for name, choice in table.items()})
    return assembly.within(made.plan(params), device.groups).max_n


def _smaller(algorithm: str, table: Table) -> Iterator[Table]:
    return {"merge": _merges, "radix": _radices, "scan": _scans}[algorithm](table)


def _merges(table: Table) -> Iterator[Table]:
    """Without slack between columns, then fewer slabs, then lower ones."""
    now = {**table, "bank_pad": Choice(0, "without slack a block fits local memory exactly")}
    yield now
    while True:
        slabs, height = now["slabs"].value, now["height"].value
        if slabs > 1:
            slabs = pow2_floor(slabs) if slabs & (slabs - 1) else slabs // 2
        elif height > 2:
            height = pow2_floor(height - 1)
        else:
            return
        clean = pow2_floor(slabs)
        group = min(now["stream_group"].value, clean * pow2_floor(height) * now["subgroup"].value)
        small = {"slabs": slabs, "height": height, "clean_slabs": clean, "stream_group": group}
        now = {**now, **{name: Choice(value, _why(table, name, value)) for name, value in small.items()}}
        yield {name: choice for name, choice in now.items() if name != "bank_pad"}
        yield now


def _radices(table: Table) -> Iterator[Table]:
    """Fewer keys a lane (serial: fewer bits where one work-group sorts alone), then fewer bits and lanes."""
    now = dict(table)
    while True:
        serial = now["ranker"].value == "serial"
        least = {"work_group": 1 if serial else now["subgroup"].value}
        order = ("single_bits", "bits", "work_group") if serial else ("items", "bits", "work_group")
        name = next((n for n in order if n in now and now[n].value > least.get(n, 1)), None)
        if name is None:
            return
        value = now[name].value // 2 if name == "work_group" else now[name].value - 1
        now[name] = Choice(value, _why(table, name, value))
        yield dict(now)


def _scans(table: Table) -> Iterator[Table]:
    now = dict(table)
    while True:
        name = next((n for n in ("items", "work_group") if now[n].value > 1), None)
        if name is None:
            return
        value = now[name].value // 2
        now[name] = Choice(value, _why(table, name, value))
        yield dict(now)


def _why(table: Table, name: str, value: int) -> str:
    return table[name].why if table[name].value == value else _LESS
