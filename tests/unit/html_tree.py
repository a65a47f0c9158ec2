"""HTML as a tree of elements, parsed strictly: badly nested or unclosed elements are errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    name: str
    attrs: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    def every(self, *names: str) -> Iterator[Element]:
        """The elements of these names, including itself, in document order."""
        if not names or self.name in names:
            yield self
        for child in self.inside:
            if isinstance(child, Element):
                yield from child.every(*names)

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.inside)

    def cells(self) -> list[list[str]]:
        """The rows of the bodies of a table."""
        rows = [r for b in self.every("tbody") for r in b.every("tr")]
        return [[re.sub(r"[ \n]+", " ", c.text).strip() for c in row.every("td", "th")] for row in rows]


class Tree(HTMLParser):
    """Parses HTML into elements; badly nested or unclosed elements are errors."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("document", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert tag not in VOID and self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def parsed(text: str) -> Element:
    """The root of all elements of a document."""
    tree = Tree()
    tree.feed(text)
    tree.close()
    assert tree.open == [tree.root], f"never closed: {[e.name for e in tree.open[1:]]}"
    return tree.root
