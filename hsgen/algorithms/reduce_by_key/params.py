"""The parameters of a reduction by key, their constraints, and the search space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.algorithms import device_constraints
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature

MAX_N = 1 << 30
"""The greatest count: indices are signed 32-bit integers, and the last tile may extend beyond n."""

MOST_ITEMS = 32
"""The most keys of a lane: a 32-bit word has one bit for each of them."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group, a power of two", required=False, least=1),
    "items": Field("int", "the keys per lane of a tile", required=False, least=1, greatest=MOST_ITEMS),
    "groups": Field("int", "the most work-groups of spans", required=False, least=1, greatest=65535),
    "subgroup": Field("int", "the lanes that exchange reductions; 1: spans", required=False, least=1, greatest=32),
    "resident": Field("int", "sections: work-groups that a core is to hold at once", required=False, least=0),
}

_LANES = {"chip": 256, "memory": 64}
_GROUPS = {"chip": 2048, "memory": 64}
"""The number of lanes of a work-group, and the greatest number of work-groups, by `Device.local`.

`Device.local` is "chip" on GPUs, "memory" on CPUs.  A CPU has fewer cores than a GPU, and takes longer to start a
work-group.
"""

VECTOR = 4
"""The number of adjacent keys that a lane loads at once, in a reduction by sections."""
STATES = 32
"""In a reduction by sections, the index in scratch of the first word of the tile states, which follow the ticket."""

_ITEMS = (15, 11, 7, 5, 3, 1)
_IN_REGISTERS = {(False, False): (16, 4), (False, True): (16, 4), (True, False): (8, 4), (True, True): (8, 4)}
"""For a reduction by sections, the most keys of a lane, and `Params.resident`.

The keys here are (whether keys have 64 bits, whether keys have values).
"""
_LOCAL = 1 << 15  # the most bytes of local memory of a work-group, so that a core holds several


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a reduction by key.

    work_group: the number of lanes of a work-group, a power of two.
    items: the number of keys per lane of a tile.  With spans, the number is odd and below 32: the keys of a lane are
    adjacent in local memory, and with an odd number lanes access different banks.  With sections, the number is a
    multiple of `VECTOR` up to 32.
    groups: the greatest number of spans, and so of work-groups.
    subgroup: 1 selects a reduction by spans.  A greater number selects a reduction by sections; it is the width of the
    subgroups in which lanes exchange reductions.
    section: with sections, the number of tiles of a section; 0 means as many tiles as lanes.
    resident: with sections, the number of work-groups that a core must hold at once.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = 256
    items: int = 11
    groups: int = 2048
    subgroup: int = 1
    section: int = 0
    resident: int = 0

    @property
    def tile(self) -> int:
        """The number of keys in a tile."""
        return self.work_group * self.items

    @property
    def valued(self) -> bool:
        """Whether keys have values."""
        return self.signature.value_bytes > 0

    @property
    def sections(self) -> bool:
        """Whether the reduction is by sections, not by spans."""
        return self.subgroup > 1

    @property
    def section_tiles(self) -> int:
        """The number of tiles of a section, at most as many as lanes, because each lane reads the state of one tile."""
        return self.section or self.work_group

    @property
    def subgroups(self) -> int:
        """The number of subgroups of a work-group."""
        return self.work_group // self.subgroup

    @property
    def vectors(self) -> int:
        """The number of vectors of keys per lane."""
        return self.items // VECTOR

    @property
    def row_words(self) -> int:
        """The number of 32-bit words that hold one byte for each vector of a lane."""
        return -(-self.vectors // 4)

    @property
    def states(self) -> int:
        """The index of the first word of the tile states in scratch (`STATES`)."""
        return STATES

    @property
    def state_words(self) -> int:
        """The number of 32-bit words in the state of a tile: 2, or 4 with values.

        The words hold the number of runs that start in the tile, and the start of its last run.  With values, two more
        words hold the reduction of the last run.
        """
        return 4 if self.valued else 2

    @property
    def span_words(self) -> int:
        """The number of 32-bit words for each span in scratch: 3, or 5 with values.

        `hsgen.algorithms.reduce_by_key.kernels.SpanWords` says what they hold.
        """
        return 5 if self.valued else 3

    def local_bytes(self) -> int:
        """Return the number of bytes of local memory of the kernel that needs the most."""
        return self.tile * (self.key.held + 4) + 4 * (3 * self.subgroups + 1 if self.sections else 3 * self.work_group)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if such a reduction is not supported.

    Keys have no values, or values of 4 bytes.  A reduction requires that the target has a sort for such keys.  The
    count may be in device memory.
    """
    if not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    valued = signature.value == "v4"
    if replace(signature, device_count=False) != replace(PLAIN, value="v4" if valued else "none", floats=valued):
        return None
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    if able(device) and (joined := _sections(key, signature, device)):
        return joined
    lanes = 1 << min(_LANES[device.local], device.work_group).bit_length() - 1
    groups = min(_GROUPS[device.local], device.groups)
    shapes = (Params(key=key, signature=signature, work_group=lanes, items=x, groups=groups) for x in _ITEMS)
    return next((x for x in shapes if x.local_bytes() <= min(device.local_bytes, _LOCAL)), None)


def able(device: Device) -> bool:
    """Return whether a device supports reductions by sections."""
    return device.promised and device.cooperative and device.shuffle and bool(_widths(device))


def _widths(device: Device) -> list[int]:
    """Return the subgroup widths of a device from 2 to 32, with which lanes can exchange reductions."""
    return [w for w in device.subgroups if 1 < w <= min(32, device.work_group)]


def _sections(key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters of a reduction by sections; None if no tile fits local memory."""
    most, resident = _IN_REGISTERS[key.bytes == 8, signature.value_bytes > 0]
    shapes = (
        Params(
            key=key,
            signature=signature,
            work_group=1 << min(_LANES["chip"], device.work_group).bit_length() - 1,
            items=items,
            groups=min(_GROUPS["chip"], device.groups),
            subgroup=max(_widths(device)),
            resident=resident,
        )
        for items in range(most, 0, -VECTOR)
    )
    return next((x for x in shapes if x.local_bytes() <= device.local_bytes), None)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of keys in a tile; validation tests counts around multiples of it."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values as (name, text) pairs, for headers and `hsgen show`."""
    if p.sections:
        return [
            ("tile", f"{p.subgroups} subgroups of {p.subgroup} lanes x {p.items} = {p.tile} keys"),
            ("sections", f"{p.section_tiles} tiles"),
        ]
    return [
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} keys"),
        ("spans", f"at most {p.groups} work-groups of tiles"),
    ]


def alone(values: Mapping[str, Any], device: Device) -> Iterator[Problem]:
    """Check each value of a target table by itself, and yield the problems."""
    yield from device_constraints.launch(values, device)
    yield from device_constraints.grid(values, device)
    yield from device_constraints.powers(values, "work_group")
    yield from device_constraints.subgroup(values, device, "give 1, or leave it out")
    if values.get("subgroup", 1) > 1 and not able(device):
        problem = 'sections require work-groups that wait for each other (progress = "guaranteed", cooperative = true)'
        yield "subgroup", problem, "give 1, or leave it out"


def problems(p: Params, device: Device) -> list[Problem]:
    """Check complete parameters for a device, and return all problems."""
    faults: list[Problem] = []
    if p.sections:
        if p.work_group % p.subgroup:
            problem = f"{p.work_group} lanes are no subgroups of {p.subgroup}"
            faults.append(("work_group", problem, f"give a multiple of {p.subgroup}"))
        if p.items % VECTOR:
            faults.append(("items", f"{p.items} keys are no vectors of {VECTOR}", f"give a multiple of {VECTOR}"))
    elif p.items % 2 == 0:
        problem = f"with {p.items} keys per lane, lanes access the same banks of local memory"
        faults.append(("items", problem, "give an odd number, or a subgroup above 1"))
    if p.local_bytes() > device.local_bytes:
        problem = f"a tile needs {p.local_bytes()} bytes of local memory, the device has {device.local_bytes}"
        faults.append(("items", problem, "give fewer items or lanes"))
    return faults


def space(key: KeyType, device: Device) -> tuple[Box, ...]:
    """Return the search regions: one for reductions by spans, and one for sections with each subgroup width."""
    least = 1 if device.local == "memory" else min(16, device.work_group)
    spans = {
        "work_group": steps(least, min(1024, device.work_group)),
        "items": (1, 3, 5, 7, 9, 11, 13, 15, 19, 23, 27, 31),
        "groups": steps(16, min(device.groups, 8192)),
        "subgroup": (1,),
    }
    widths = [w for w in device.subgroups if 1 < w <= MOST_ITEMS] if able(device) else []
    sections = (
        {
            "work_group": steps(max(64, width), min(1024, device.work_group)),
            "items": tuple(range(VECTOR, MOST_ITEMS + 1, VECTOR)),
            "subgroup": (width,),
            "resident": (0, 1, 2, 3, 4, 5),
        }
        for width in widths
    )
    return spans, *sections
