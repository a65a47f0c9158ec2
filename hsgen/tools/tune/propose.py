"""Which shapes to try next: drawn from the space that an algorithm declares, or bred from the best so far.

A plain evolutionary search in boxes of lists.  Each race tries some of both kinds, so that neither a bad start nor a
local optimum holds it; docs/decisions/0013-tuning.md compares it with others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hsgen.algorithms import TABLES
from hsgen.algorithms.search_space import Box
from hsgen.core import records
from hsgen.core.device import Device
from hsgen.core.keys import KEYS
from hsgen.core.records import changed, flat
from hsgen.targets.choices import algorithm

Table = Mapping[str, Any]
"""A table as `hsgen.targets.tables` has it, without what is left to defaults."""

_DRAWS = 400  # of a box, before it is taken for empty
_PARENTS = 3  # of all shapes, and of the best of each box
_ENOUGH = 2  # shapes of a box, before it is drawn from as others are


def name_of(table: Table) -> str:
    """Return what a table is called in journals: the same for equal ones."""
    return json.dumps(dict(sorted(table.items())), separators=(",", ":"))


class Space:
    """The shapes of one algorithm for one width of keys that a device can run."""

    def __init__(
        self, label: str, key: str, device: Device, start: Table | None, most: int = 0, derived: Any = None
    ) -> None:
        """Make the space of the label; keys of `start` that no list has are kept in every shape.

        Shapes serve `most` keys at least.  derived: the parameters without a table, if it is optional.
        """
        self.label, self.key, self._device, self._most = label, key, device, most
        self._made, self._derived = TABLES[algorithm(label)], derived
        # a list is empty where the device is too small for any of what it would hold
        boxes = [box for box in self._made.space(KEYS[key], device) if all(box.values())]
        listed = {name for box in boxes for name in box}
        self._kept = {k: v for k, v in (start or {}).items() if k not in listed}
        self._said = set(start or {})
        rng = np.random.default_rng(0)
        self.boxes: tuple[Box, ...] = tuple(box for box in boxes if self._drawn(box, rng) is not None)

    def _params(self, table: Table) -> Any:
        """The parameters of a table."""
        if self._derived is not None:
            return changed(self._derived, table)
        return self._made.params(KEYS[self.key], table)

    def fits(self, table: Table) -> bool:
        """Whether the device's facts and the algorithm's own arithmetic allow a table."""
        if list(self._made.alone(table, self._device)):
            return False
        params = self._params(table)
        return not self._made.problems(params, self._device) and self._made.plan(params).max_n >= self._most

    def same(self, a: Table, b: Table) -> bool:
        """Whether two tables have the same parameters."""
        return name_of(a) == name_of(b) or bool(self._params(a) == self._params(b))

    def table(self, box: Box, at: Mapping[str, int]) -> dict[str, Any]:
        """Return the table of one place in a box, without what is a default, unless the file says that."""
        values = {k: choices[at[k]] for k, choices in box.items()}
        table = {**{k: v for k, v in values.items() if v is not None}, **self._kept}
        derived = self._derived
        defaults = records.defaults(type(self._params(table))) if derived is None else flat(derived)
        return {k: v for k, v in table.items() if k in self._said or k not in defaults or v != defaults[k]}

    def draw(self, number: int, rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a table drawn from box `number`, None if that seems to hold none that fits."""
        return self._drawn(self.boxes[number], rng)

    def _drawn(self, box: Box, rng: np.random.Generator) -> dict[str, Any] | None:
        for _ in range(_DRAWS):
            found = self.table(box, {k: int(rng.integers(len(v))) for k, v in box.items()})
            if self.fits(found):
                return found
        return None

    def place(self, table: Table) -> tuple[Box, dict[str, int]] | None:
        """Return the box that holds a table, or nearly so, and the place there; None if none does.

        What the table leaves out has its default.
        """
        values = flat(self._params(table))
        best: tuple[int, Box, dict[str, int]] | None = None
        for box in self.boxes:
            off, at = 0, {}
            for k, choices in box.items():
                value = table.get(k, values.get(k))
                if value in choices:
                    at[k] = choices.index(value)
                    continue
                near = _nearest(choices, value)
                off += 1 if near is not None or k not in table else 1000
                at[k] = near or 0
            if best is None or off < best[0]:
                best = off, box, at
        return None if best is None or best[0] >= 1000 else best[1:]

    def box(self, table: Table) -> int | None:
        """Return the number of the box that holds a table, or nearly so; None if none does."""
        found = self.place(table)
        return None if found is None else next(i for i, box in enumerate(self.boxes) if box is found[0])

    def bred(self, parents: Sequence[Table], rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a table between two parents of one box, or next to one; None if no attempt fits."""
        for _ in range(_DRAWS):
            found = self.place(parents[int(rng.integers(len(parents)))])
            if found is None:
                continue
            box, at = found
            other = self.place(parents[int(rng.integers(len(parents)))])
            if other is not None and other[0] is box and rng.random() < 0.3:
                at = {k: (at if rng.random() < 0.5 else other[1])[k] for k in box}
            for k in rng.permutation([k for k, v in box.items() if len(v) > 1])[: int(rng.geometric(0.5))]:
                at[k] = _neighbour(at[k], len(box[k]), rng)
            table = self.table(box, at)
            if self.fits(table):
                return table
        return None


def _nearest(choices: Sequence[Any], value: object) -> int | None:
    """The place of the number nearest to `value`, in octaves; None where there are no numbers to compare."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    numbers = [(abs(np.log2((c + 1) / (value + 1))), i) for i, c in enumerate(choices) if isinstance(c, int)]
    return min(numbers)[1] if numbers else None


def _neighbour(at: int, length: int, rng: np.random.Generator) -> int:
    """Another place in a list: mostly a neighbour."""
    if rng.random() < 0.2 or length < 3:
        return int(rng.integers(length))
    step = int(rng.choice([-2, -1, -1, -1, 1, 1, 1, 2]))
    return min(max(at + step, 0), length - 1)


def propose(
    space: Space, board: Mapping[str, float], tables: Mapping[str, Table], wanted: int, number: int, seed: int
) -> list[dict[str, Any]]:
    """Return up to `wanted` tables for race `number` that `tables`, which were tried, does not hold.

    `board` is the scores by name, greater ones better, of those that were measured.  Boxes that were tried least are
    drawn from: by all of the first race, by half of each until all were tried enough, then by one.  The others are bred
    from the best of the best boxes, so that the luck of one box does not end the search in others.
    """
    rng = np.random.default_rng([seed, number, *space.key.encode(), *space.label.encode()])
    parents = _parents(space, board, tables)
    tried = [0] * len(space.boxes)
    for table in tables.values():
        if (box := space.box(table)) is not None:
            tried[box] += 1
    order = sorted((int(x) for x in rng.permutation(len(tried))), key=lambda x: tried[x])
    lacking = sum(n < _ENOUGH for n in tried)
    drawn = wanted if number == 0 or not parents else max(1, min(wanted // 2, lacking))
    found: dict[str, dict[str, Any]] = {}
    for i in range(4 * wanted):
        if len(found) == wanted:
            break
        some = space.draw(order[i % len(order)], rng) if i < drawn or not parents else space.bred(parents, rng)
        if some is not None and name_of(some) not in tables:
            found.setdefault(name_of(some), some)
    return list(found.values())


def _parents(space: Space, board: Mapping[str, float], tables: Mapping[str, Table]) -> list[Table]:
    """The best few of all, and the best of each of the best boxes."""
    order = sorted((x for x in board if x in tables), key=lambda x: (-board[x], x))
    firsts: dict[int | None, str] = {}
    for name in order:
        firsts.setdefault(space.box(tables[name]), name)
    return [tables[x] for x in dict.fromkeys([*order[:_PARENTS], *list(firsts.values())[:_PARENTS]])]
