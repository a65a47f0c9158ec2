"""Prints tables on a terminal, fitted to its width.

If a table is too wide, long cells are folded.  If that is not enough, each row becomes a block of lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Literal

from hsgen.cli import terminal

Style = Callable[[str], str]
"""A function that returns the style of a cell: the name of a style of rich, such as "red", or "" for no style."""

LAYOUTS = ((2, 30), (1, 14))
"""The layouts to try in turn: (gap between columns, length up to which a word is never folded), in characters.

The second layout is tried only for tables in which at least half of the columns are numbers.
"""
INDENT = 2
TEXT = 16
"""The least width, in characters, of a column whose longest cell has more than twice as many characters."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    numeric: a function that recognises cells with numbers.  styles: the style of a column's cells, by column name.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Callable[[str], bool]
    styles: Mapping[str, Style]

    def style(self, name: str, cell: str) -> str:
        """Return the style of a cell."""
        style = self.styles.get(name)
        return style(cell) if style else ""

    def side(self, column: Sequence[str]) -> Literal["left", "right"]:
        """Return the alignment of a column: right if most of its cells are numbers."""
        known = [cell for cell in column if cell != "-"]
        return "right" if 2 * sum(map(self.numeric, known)) > len(known) else "left"

    def widths(self, total: int, gap: int, word: int, length: Callable[[str], int] = len) -> list[int] | None:
        """Return the widths of the columns, or None if the table cannot fit into `total` characters.

        The natural width of a column is the length of its longest cell.  If the table fits, columns have their natural
        widths.  Otherwise, a column is at least as wide as its longest word or number, and a column that needs no more
        than an equal share of the width keeps its natural width.  The rest of the width is divided among the other
        columns, in proportion to the difference between a column's natural and least width.

        gap: the characters between columns.  word: the length above which words may be folded.  length: the function
        that measures texts.
        """
        columns = list(zip(self.head, *self.rows, strict=True))
        natural = [max(map(length, column)) for column in columns]
        room = total - gap * (len(columns) - 1)
        if sum(natural) <= room:
            return natural
        words = [max(min(length(w), word) for cell in column for w in self._words(cell)) for column in columns]
        least = [min(n, max(w, TEXT if n > 2 * TEXT else 0)) for n, w in zip(natural, words, strict=True)]
        kept_natural = [n if n <= room // len(columns) else w for n, w in zip(natural, least, strict=True)]
        least = kept_natural if sum(kept_natural) <= room else least
        rest, lacking = room - sum(least), sum(natural) - sum(least)
        if rest < 0:
            return None
        return [w + rest * (n - w) // lacking for n, w in zip(natural, least, strict=True)]

    def _words(self, cell: str) -> list[str]:
        """Return the parts of a cell that are kept on one line: words, or the whole cell if it is a number."""
        return [cell] if not cell or self.numeric(cell) else cell.split()

    def layout(self, total: int) -> tuple[int, list[int]] | None:
        """Return the gap between columns and their widths, or None if the table cannot fit into `total` characters."""
        from rich.cells import cell_len

        sides = [self.side(column) for column in zip(*self.rows, strict=True)]
        for gap, word in LAYOUTS[: 2 if 2 * sides.count("right") >= len(sides) else 1]:
            if widths := self.widths(total, gap, word, cell_len):
                return gap, widths
        return None


def show(table: Table) -> None:
    """Print a table on stdout, which must be a terminal.

    If the table is too wide, rows with equal first cells become a table of their own; the first cell is its title.  If
    these tables are still too wide, each row becomes a block of lines.
    """
    if layout := table.layout(terminal.width()):
        _print(table, *layout)
        return
    parts = [(title, list(rows)) for title, rows in groupby(table.rows, itemgetter(0))]
    rest = replace(table, head=table.head[1:], rows=[row[1:] for row in table.rows])
    layout = rest.layout(terminal.width() - INDENT) if len(parts) < len(table.rows) else None
    for number, (title, rows) in enumerate(parts if layout else ()):
        _title(table, title, number)
        _print(replace(rest, rows=[row[1:] for row in rows]), *(layout or (0, [])), INDENT)
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
    """Print a first cell as the title of its rows; if the cell is a number, the name of the column precedes it."""
    from rich.text import Text

    console = terminal.console(sys.stdout)
    if number:
        console.print()
    title = f"{table.head[0]} {cell}" if cell.isdecimal() else cell
    console.print(Text(title, style=table.style(table.head[0], cell) or "bold", overflow="fold"))


def _blocks(table: Table) -> None:
    """Print a block for each row: its first cell as title, then a line for each further cell that is not empty."""
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    console, head = terminal.console(sys.stdout), table.head[1:]
    names = min(max(map(len, head), default=0), terminal.width() // 3)
    for number, (first, *cells) in enumerate(table.rows):
        _title(table, first, number)
        block = Grid(box=None, padding=(0, INDENT, 0, 0), pad_edge=False, show_header=False)
        block.add_column(width=names, overflow="fold")
        block.add_column(overflow="fold", ratio=1)
        for name, cell in zip(head, cells, strict=True):
            if cell:
                block.add_row(Text(name, style="dim"), Text(cell, style=table.style(name, cell)))
        console.print(Padding(block, (0, 0, 0, INDENT)))
