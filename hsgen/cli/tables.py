"""Tables on a terminal: as wide as it is, with cells folded, or a block of lines for each row."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal

from hsgen.cli import terminal

Style = Callable[[str], str]
"""Returns the style of a cell: "" for none, or what rich calls one, such as "red"."""

LAYOUTS = ((2, 30), (1, 14))
"""The columns between two columns of a table, and the most characters of a word that is not folded; the second is for
tables that are mostly numbers."""
INDENT = 2
TEXT = 16
"""The least width of a column whose cells are longer texts."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its head and rows, which cells are numbers, and the styles of cells by the names of columns."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Callable[[str], bool]
    styles: Mapping[str, Style]

    def style(self, name: str, cell: str) -> str:
        """Return the style of a cell."""
        style = self.styles.get(name)
        return style(cell) if style else ""

    def side(self, column: Sequence[str]) -> Literal["left", "right"]:
        """Return the side to which the cells of a column are aligned: right if most are numbers."""
        known = [cell for cell in column if cell != "-"]
        return "right" if 2 * sum(map(self.numeric, known)) > len(known) else "left"

    def widths(self, total: int, gap: int, word: int, length: Callable[[str], int] = len) -> list[int] | None:
        """Return the widths of the columns, or None where the table cannot fit into `total`.

        A table that fits keeps its natural widths.  Else each column is at least as wide as its longest word or
        number, a column that needs no more than an equal share keeps its natural width, and columns share the rest in
        proportion to what they lack.
        """
        columns = list(zip(self.head, *self.rows, strict=True))
        natural = [max(map(length, column)) for column in columns]
        room = total - gap * (len(columns) - 1)
        if sum(natural) <= room:
            return natural
        words = [max(min(length(w), word) for cell in column for w in self._words(cell)) for column in columns]
        least = [min(n, max(w, TEXT if n > 2 * TEXT else 0)) for n, w in zip(natural, words, strict=True)]
        whole = [n if n <= room // len(columns) else w for n, w in zip(natural, least, strict=True)]
        least = whole if sum(whole) <= room else least
        rest, lacking = room - sum(least), sum(natural) - sum(least)
        if rest < 0:
            return None
        return [w + rest * (n - w) // lacking for n, w in zip(natural, least, strict=True)]

    def _words(self, cell: str) -> list[str]:
        """The parts of a cell that stay on one line: a number with its unit, or words."""
        return [cell] if not cell or self.numeric(cell) else cell.split()

    def layout(self, total: int) -> tuple[int, list[int]] | None:
        """Return the gap between columns and their widths, or None where the table cannot fit into `total`."""
        from rich.cells import cell_len

        sides = [self.side(column) for column in zip(*self.rows, strict=True)]
        for gap, word in LAYOUTS[: 2 if 2 * sides.count("right") >= len(sides) else 1]:
            if found := self.widths(total, gap, word, cell_len):
                return gap, found
        return None


def show(table: Table) -> None:
    """Print a table on the terminal that stdout is.

    If it cannot fit, the cells of its first column become titles: each of a table, if that fits, or of a block of
    lines for each row.
    """
    if layout := table.layout(terminal.width()):
        _print(table, *layout)
        return
    parts = [(title, list(some)) for title, some in groupby(table.rows, itemgetter(0))]
    rest = replace(table, head=table.head[1:], rows=[row[1:] for row in table.rows])
    layout = rest.layout(terminal.width() - INDENT) if len(parts) < len(table.rows) else None
    for number, (title, some) in enumerate(parts if layout else ()):
        _title(table, title, number)
        _print(replace(rest, rows=[row[1:] for row in some]), *(layout or (0, [])), INDENT)
    if layout is None:
        _blocks(table)


def _print(table: Table, gap: int, widths: Sequence[int], indent: int = 0) -> None:
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    folded = sum(any(len(cell) > 2 * w for cell, w in zip(row, widths, strict=True)) for row in table.rows)
    grid = Grid(box=None, padding=(0, gap, 0, 0), pad_edge=False, leading=int(2 * folded > len(table.rows)))
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(widths)
    for name, most, column in zip(table.head, widths, columns, strict=True):
        side = table.side(column)
        grid.add_column(Text(name, style="bold", justify=side), width=most, justify=side, overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(c, style=table.style(name, c)) for name, c in zip(table.head, row, strict=True)))
    terminal.console(sys.stdout).print(Padding(grid, (0, 0, 0, indent)))


def _title(table: Table, cell: str, number: int) -> None:
    """Print the title of a part of a table, with its column's name if it is only a number."""
    from rich.text import Text

    console = terminal.console(sys.stdout)
    if number:
        console.print()
    said = f"{table.head[0]} {cell}" if cell.isdecimal() else cell
    console.print(Text(said, style=table.style(table.head[0], cell) or "bold", overflow="fold"))


def _blocks(table: Table) -> None:
    """Print a block for each row: its first cell, and below it a line for each other cell that is not empty."""
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    console, head = terminal.console(sys.stdout), table.head[1:]
    names = min(max(map(len, head), default=0), terminal.width() // 3)
    for number, (first, *others) in enumerate(table.rows):
        _title(table, first, number)
        block = Grid(box=None, padding=(0, INDENT, 0, 0), pad_edge=False, show_header=False)
        block.add_column(width=names, overflow="fold")
        block.add_column(overflow="fold", ratio=1)
        for name, cell in zip(head, others, strict=True):
            if cell:
                block.add_row(Text(name, style="dim"), Text(cell, style=table.style(name, cell)))
        console.print(Padding(block, (0, 0, 0, INDENT)))
