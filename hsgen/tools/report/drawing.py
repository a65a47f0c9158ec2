"""Builds drawings as inline SVG from boxes, lines and text; the page's style sheet defines their classes.

Coordinates are in pixels, with x to the right and y downwards.  The module escapes all text, so its results can be
inserted into HTML.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup, escape

from hsgen.core.quantities import power_of_two

THIN = "\N{NARROW NO-BREAK SPACE}"
FILLS = ("dark", "mid", "light", "hatch", "dots", "empty")
"""The classes of boxes.  They differ by patterns as well as by colours, for readers who cannot tell colours apart."""


def count(n: int) -> str:
    """Return a number with its digits in groups of three; a number of up to four digits is not grouped."""
    return f"{n:,}".replace(",", THIN) if n >= 10_000 else str(n)


def power(n: int) -> str:
    """Return a count as text: as 2^k or 2^k - 1 if it has this form and is at least 1023, otherwise in digits."""
    if n >= 1024 and n & (n - 1) == 0:
        return power_of_two(n.bit_length() - 1)
    return f"{power_of_two(n.bit_length())} - 1" if n >= 1023 and n & (n + 1) == 0 else count(n)


def plural(n: int, word: str) -> str:
    """Return a number with its noun: 1 row, 2 rows, 3 passes."""
    ending = "es" if word.endswith(("s", "ch")) else "s"
    return f"{count(n)} {word}{'' if n == 1 else ending}"


@dataclass(slots=True)
class Drawing:
    """A drawing that grows with its contents; `title` is the text that screen readers read."""

    title: str
    width: int = 0
    height: int = 0
    _parts: list[Markup] = field(default_factory=list)

    def box(self, x: float, y: float, w: float, h: float, fill: str, tip: str = "") -> None:
        """Add a rectangle with the class `fill`, one of `FILLS`; if `tip` is not empty, it is the tooltip."""
        assert fill in FILLS
        inner = Markup("<title>{}</title>").format(tip) if tip else Markup("")
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"'
        self._add(Markup(f'<rect class="{fill}" {place}>') + inner + Markup("</rect>"), x + w, y + h)

    def text(self, x: float, y: float, words: str, *, anchor: str = "middle", kind: str = "") -> None:
        """Add a line of text with its baseline at `y`; `anchor` says which part is at `x`: start, middle or end."""
        length = 7.2 * len(words)  # an upper bound for all fonts in use, at 12 pixels
        right = x + {"start": length, "middle": length / 2, "end": 0}[anchor]
        head = f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"' + (f' class="{kind}"' if kind else "")
        self._add(Markup(f"{head}>") + escape(words) + Markup("</text>"), right, y + 4)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "thin") -> None:
        """Add a line; `kind` is thin, thick, dashed or arrow.  The head of an arrow is at (x2, y2)."""
        place = f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"'
        head = ' marker-end="url(#head)"' if kind == "arrow" else ""
        self._add(Markup(f'<line class="{kind}" {place}{head}/>'), max(x1, x2), max(y1, y2))

    def grid(self, x: float, y: float, columns: int, rows: int, w: float, h: float) -> None:
        """Add a grid of `columns` x `rows` cells; each cell has `w` x `h` pixels."""
        right, bottom = x + columns * w, y + rows * h
        self.box(x, y, right - x, bottom - y, "light")
        across = "".join(f"M{_n(x)} {_n(y + i * h)}H{_n(right)}" for i in range(1, rows))
        down = "".join(f"M{_n(x + i * w)} {_n(y)}V{_n(bottom)}" for i in range(1, columns))
        if across or down:
            self._add(Markup(f'<path class="grid" d="{across}{down}"/>'), right, bottom)

    def bracket(self, x: float, y1: float, y2: float) -> None:
        """Add a square bracket that opens to the left, from `y1` to `y2`."""
        self._add(Markup(f'<path class="thin" d="M{_n(x)} {_n(y1)}h6V{_n(y2)}h-6"/>'), x + 6, y2)

    def markup(self) -> Markup:
        """Return the drawing as an HTML element."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = Markup('<svg role="img" {}><title>{}</title>').format(Markup(size), self.title)
        return head + Markup("\n").join(self._parts) + Markup("</svg>")

    def _add(self, part: Markup, right: float, bottom: float) -> None:
        self._parts.append(part)
        self.width = max(self.width, int(right) + 2)
        self.height = max(self.height, int(bottom) + 2)


def _n(x: float) -> str:
    """Return a number of pixels as text, with at most two decimals, so that it is the same on every machine."""
    return f"{x:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its caption."""

    drawing: Markup
    caption: str
