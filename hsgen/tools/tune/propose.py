"""Proposes the shapes, values of a sort's parameters, that are timed against each other next.

The search is a plain evolutionary search.  An algorithm declares a *search space* as several *boxes*.  A box lists the
possible values of each parameter; each combination of these values is a shape.  A shape is either drawn at random from
a box, or bred by mutating and mixing the best shapes so far.  Each race tries shapes of both kinds, so that neither a
bad start nor a local optimum stops the search.  docs/decisions/0013-tuning.md compares this search with others.
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
"""A parameter table in the form of `hsgen.targets.tables`; parameters with default values are left out."""

_DRAWS = 400  # a box counts as empty if this number of random draws gives no shape that the device can run
_PARENTS = 3  # shapes are bred from the 3 best shapes of all boxes, and from the best shape of each of the 3 best boxes
_ENOUGH = 2  # races draw shapes from boxes with fewer tried shapes than this; at most half of a race's shapes are drawn


def name_of(table: Table) -> str:
    """Return the name of a table in journals: its values as JSON, so that equal tables have equal names."""
    return json.dumps(dict(sorted(table.items())), separators=(",", ":"))


class Space:
    """The search space of a label for one key width: all shapes that a device can run."""

    def __init__(
        self, label: str, key: str, device: Device, start: Table | None, most: int = 0, derived: Any = None
    ) -> None:
        """Build the search space of a label.

        start: the initial table.  Parameters that no box lists have its values in every shape.
        most: the number of keys that each shape must be able to sort.
        derived: if a target may omit the table, the parameters that hsgen then derives from the device.
        """
        self.label, self.key, self._device, self._most = label, key, device, most
        self._algorithm, self._derived = TABLES[algorithm(label)], derived
        # a box has an empty list of values if the device is too small for each of them; such boxes are left out
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
        """Return True if the device can run the table's parameters, and they sort at least the required count."""
        if list(self._algorithm.alone(table, self._device)):
            return False
        params = self._params(table)
        return not self._algorithm.problems(params, self._device) and self._algorithm.plan(params).max_n >= self._most

    def same(self, a: Table, b: Table) -> bool:
        """Return True if two tables have the same parameters."""
        return name_of(a) == name_of(b) or bool(self._params(a) == self._params(b))

    def table(self, box: Box, at: Mapping[str, int]) -> dict[str, Any]:
        """Return the table with the values of a box at the indices `at`, one index for each parameter.

        Parameters with default values are left out, unless the initial table names them.
        """
        values = {k: choices[at[k]] for k, choices in box.items()}
        table = {**{k: v for k, v in values.items() if v is not None}, **self._fixed}
        derived = self._derived
        defaults = records.defaults(type(self._params(table))) if derived is None else flat(derived)
        return {k: v for k, v in table.items() if k in self._named or k not in defaults or v != defaults[k]}

    def draw(self, number: int, rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a random table from box number `number`; None if `_DRAWS` attempts give no table that fits."""
        return self._drawn(self.boxes[number], rng)

    def _drawn(self, box: Box, rng: np.random.Generator) -> dict[str, Any] | None:
        for _ in range(_DRAWS):
            table = self.table(box, {k: int(rng.integers(len(v))) for k, v in box.items()})
            if self.fits(table):
                return table
        return None

    def place(self, table: Table) -> tuple[Box, dict[str, int]] | None:
        """Return the box that contains a table, or else the nearest box, and the index of each parameter's value.

        Parameters that the table leaves out have default values.  A number that a box lacks is replaced by the box's
        nearest number.  The result is None if the table has, for every box, a value that the box lacks and that cannot
        be replaced.
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
        """Return the number of the box that `place` finds for a table; None if it finds none."""
        placed = self.place(table)
        return None if placed is None else next(i for i, box in enumerate(self.boxes) if box is placed[0])

    def bred(self, parents: Sequence[Table], rng: np.random.Generator) -> dict[str, Any] | None:
        """Return a new table: a mutation of a parent, or of a mix of two parents from the same box.

        The result is None if `_DRAWS` attempts give no table that fits.
        """
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
    """Return the index of the choice nearest to the number `value`, on a logarithmic scale.

    The result is None if `value` is no number, or if `choices` has no number.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    numbers = [(abs(np.log2((c + 1) / (value + 1))), i) for i, c in enumerate(choices) if isinstance(c, int)]
    return min(numbers)[1] if numbers else None


def _neighbour(at: int, length: int, rng: np.random.Generator) -> int:
    """Return a random index below `length`: in most cases at most 2 away from `at`, otherwise any index."""
    if rng.random() < 0.2 or length < 3:
        return int(rng.integers(length))
    step = int(rng.choice([-2, -1, -1, -1, 1, 1, 1, 2]))
    return min(max(at + step, 0), length - 1)


def propose(
    space: Space, board: Mapping[str, float], tables: Mapping[str, Table], count: int, number: int, seed: int
) -> list[dict[str, Any]]:
    """Return up to `count` new tables for race `number`.

    tables: the tables tried so far, which are not tried again.  board: the scores of measured tables by name; a greater
    score is better.

    A few tables are drawn at random, from the boxes with the fewest tables so far.  In the first race, all tables are
    drawn.  Later, one table is drawn for each box with fewer than `_ENOUGH` tables, but at least one and at most half
    of `count`.  The other tables are bred from the tables that `_parents` returns.  The tables belong to several
    boxes, so that a lucky measurement in one box does not end the search in other boxes.
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
    """Return the `_PARENTS` best tables, and the best table of each of the `_PARENTS` best boxes; no table twice."""
    order = sorted((x for x in board if x in tables), key=lambda x: (-board[x], x))
    firsts: dict[int | None, str] = {}
    for name in order:
        firsts.setdefault(space.box(tables[name]), name)
    return [tables[x] for x in dict.fromkeys([*order[:_PARENTS], *list(firsts.values())[:_PARENTS]])]
