"""Comments of a target file next to values that a tuning replaces.

The comments explain the old values, so they are removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TUNED = "# tuned: "
"""The beginning of a comment that states the measurement of a table."""


def forget(table: Any, name: str, note: str = "") -> None:
    """Replace the comment at the end of a value's line by `note`, and remove the comments in the lines right above.

    Values in inline tables have no comments.
    """
    from tomlkit import items

    if not isinstance(table, items.Table):
        return
    body = table.value.body
    at = next((i for i, (key, _) in enumerate(body) if key is not None and key.key == name), None)
    if at is None:
        return
    _comment(body[at][1], note)
    while at and isinstance(body[at - 1][1], items.Comment):
        at -= 1
        body[at] = (None, items.Null())


def forget_notes(table: Any, names: Iterable[str]) -> None:
    """Remove the notes of an earlier tuning."""
    from tomlkit import items

    tuned = set(names)
    for key, item in table.value.body if isinstance(table, items.Table) else ():
        if key is not None and key.key in tuned and item.trivia.comment.startswith(TUNED):
            _comment(item, "")


def _comment(item: Any, note: str) -> None:
    item.trivia.comment_ws, item.trivia.comment = (" ", TUNED + note) if note else ("", "")


def above(text: str, heads: Iterable[str]) -> list[str]:
    """Return the heads, such as ``[bitonic.u32]``, that have a comment right above them."""
    lines = text.splitlines()
    number = {line.split("#")[0].strip(): i for i, line in enumerate(lines)}
    return [x for x in heads if number.get(x, 0) > 0 and lines[number[x] - 1].startswith("#")]
