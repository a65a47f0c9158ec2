"""The shapes to try next: drawn at random from the space that an algorithm declares, or bred from the best so far.

The search is a plain evolutionary search.  A space is a set of boxes; a box has a list of choices per parameter.  Each
race tries drawn and bred shapes, so that neither a bad start nor a local optimum stops the search.
docs/decisions/0013-tuning.md compares this search with others.
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
"""A table as `hsgen.targets.tables` has it, without parameters that have their defaults."""

_DRAWS = 400  # draws from a box without a shape that fits, after which the box counts as empty
_PARENTS = 3  # parents among all shapes, and as many among the best shapes of the boxes
_ENOUGH = 2  # shapes tried from a box before half of a race no longer draws from it


def name_of(table: Table) -> str:
    """Return the name of a table in journals; equal tables have equal names."""
    return json.dumps(dict(sorted(table.items())), separators=(",", ":"))


class Space:
    """The shapes of one algorithm for one width of keys that a device can run."""

    def __init__(
        self, label: str, key: str, device: Device, start: Table | None, most: int = 0, derived: Any = None
    ) -> None:
        """Build the space of a label.  Parameters of `start` that no list has stay the same in every shape.

        Every shape sorts at least `most` keys.  `derived` are the parameters without a table, if the table is optional.
        """
        self.label, self.key, self._device, self._most = label, key, device, most
        self._algorithm, self._derived = TABLES[algorithm(label)], derived
        # a list is empty if the device is too small for all of its choices
        boxes = [box for box in self._algorithm.space(KEYS[key], device) if all(box.values())]
        listed = {name for box in boxes for name in box}
        self._fixed = {k: v for k, v in (start or {}).items() if k not in listed}
        self._named = set(start or {})
        rng = np.random.default_rng(0)
        self.boxes: tuple[Box, ...] = tuple(box for box in boxes if self._drawn(box, rng) is not None)

    def _params(self, table: Table) -> Any:
        """Return the parameters of a table."""
        if self._derived is not None:
            return changed(self._derived, table)
        return self._algorithm.params(KEYS[self.key], table)

    def fits(self, table: Table) -> bool:
        """Return True if the device's facts and the algorithm's arithmetic allow a table."""
        if list(self._algorithm.alone(table, self._device)):
            return False
        params = self._params(table)
        return not self._algorithm.problems(params, self._device) and self._algorithm.plan(params).max_n >= self._most

    def same(self, a: Table, b: Table) -> bool:
        """Return True if two tables have the same parameters."""
        return name_of(a) == name_of(b) or bool(self._params(a) == self._params(b))

    def table(self, box: Box, at: Mapping[str, int]) -> dict[str, Any]:
        """Return the table of the choices `at` (indices by parameter) in a box.

        Parameters with their defaults are left out, unless the file names them.
        """
        values = {k: choices[at[k]] for k, choices in box.items()}
        table = {**{k: v for k, v in values.items() if v is not None}, **self._fixed}
        derived = self._derived
        defaults = records.defaults(type(self._params(table))) if derived is None else flat(derived)
        return {k: v for k, v in table.items() if k in self._named or k not in defaults or v != defaults[k]}

    def draw(self, number: int, rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a random table of box `number`; None if `_DRAWS` draws give no table that fits."""
        return self._drawn(self.boxes[number], rng)

    def _drawn(self, box: Box, rng: np.random.Generator) -> dict[str, Any] | None:
        for _ in range(_DRAWS):
            table = self.table(box, {k: int(rng.integers(len(v))) for k, v in box.items()})
            if self.fits(table):
                return table
        return None

    def place(self, table: Table) -> tuple[Box, dict[str, int]] | None:
        """Return the box that holds a table, or the nearest box, and the indices of the table's choices.

        Parameters that the table leaves out have their defaults.  The result is None if every box lacks a value of the
        table.
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
        """Return the number of the box that holds a table, or of the nearest box; None as for `place`."""
        placed = self.place(table)
        return None if placed is None else next(i for i, box in enumerate(self.boxes) if box is placed[0])

    def bred(self, parents: Sequence[Table], rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a mutation of a parent, or of a mix of two parents in one box; None if no attempt fits."""
        for _ in range(_DRAWS):
            placed = self.place(parents[int(rng.integers(len(parents)))])
            if placed is None:
                continue
            box, at = placed
            second = self.place(parents[int(rng.integers(len(parents)))])
            if second is not None and second[0] is box and rng.random() < 0.3:
                at = {k: (at if rng.random() < 0.5 else second[1])[k] for k in box}
            for k in rng.permutation([k for k, v in box.items() if len(v) > 1])[: int(rng.geometric(0.5))]:
                at[k] = _neighbour(at[k], len(box[k]), rng)
            table = self.table(box, at)
            if self.fits(table):
                return table
        return None


def _nearest(choices: Sequence[Any], value: object) -> int | None:
    """Return the index of the number nearest to `value`, in octaves; None without numbers to compare."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    numbers = [(abs(np.log2((c + 1) / (value + 1))), i) for i, c in enumerate(choices) if isinstance(c, int)]
    return min(numbers)[1] if numbers else None


def _neighbour(at: int, length: int, rng: np.random.Generator) -> int:
    """Return an index in a list of `length` choices: in most cases a neighbour of `at`."""
    if rng.random() < 0.2 or length < 3:
        return int(rng.integers(length))
    step = int(rng.choice([-2, -1, -1, -1, 1, 1, 1, 2]))
    return min(max(at + step, 0), length - 1)


def propose(
    space: Space, board: Mapping[str, float], tables: Mapping[str, Table], count: int, number: int, seed: int
) -> list[dict[str, Any]]:
    """Return up to `count` tables for race `number` that are not in `tables`, the tables tried so far.

    `board` has the scores of measured tables by name; a greater score is better.  Some tables are drawn from the boxes
    with the fewest tries: all tables of the first race, half of each race until `_ENOUGH` tables of every box were
    tried, then one table.  The other tables are bred from the best tables of the best boxes, so that the luck of one
    box does not end the search in other boxes.
    """
    rng = np.random.default_rng([seed, number, *space.key.encode(), *space.label.encode()])
    parents = _parents(space, board, tables)
    tried = [0] * len(space.boxes)
    for table in tables.values():
        if (box := space.box(table)) is not None:
            tried[box] += 1
    order = sorted((int(x) for x in rng.permutation(len(tried))), key=lambda x: tried[x])
    lacking = sum(n < _ENOUGH for n in tried)
    drawn = count if number == 0 or not parents else max(1, min(count // 2, lacking))
    new: dict[str, dict[str, Any]] = {}
    for i in range(4 * count):
        if len(new) == count:
            break
        shape = space.draw(order[i % len(order)], rng) if i < drawn or not parents else space.bred(parents, rng)
        if shape is not None and name_of(shape) not in tables:
            new.setdefault(name_of(shape), shape)
    return list(new.values())


def _parents(space: Space, board: Mapping[str, float], tables: Mapping[str, Table]) -> list[Table]:
    """Return the best tables of all, and the best table of each of the best boxes."""
    order = sorted((x for x in board if x in tables), key=lambda x: (-board[x], x))
    firsts: dict[int | None, str] = {}
    for name in order:
        firsts.setdefault(space.box(tables[name]), name)
    return [tables[x] for x in dict.fromkeys([*order[:_PARENTS], *list(firsts.values())[:_PARENTS]])]
