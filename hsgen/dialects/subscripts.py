"""Accesses to buffers as calls, for languages whose buffers have no elements that can be assigned to."""

from __future__ import annotations

import re
from collections.abc import Collection

_NAME = re.compile(r"(?<![\w.])(\w+)\[")
_ATOMIC = re.compile(r"\bhs_(?:local_)?atomic_\w+\(\s*$")
_ASSIGNMENT = re.compile(r"\s*=(?!=)\s*")
_COMPOUND = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)=|\s*(?:\+\+|--)")
_OPEN, _CLOSE = "([{", ")]}"


def called(text: str, buffers: Collection[str], arrays: Collection[str]) -> str:
    """Return a body in which ``b[i]`` of a buffer is ``b_load(i)``, and ``b[i] = x`` is ``b_store(i, x)``.

    The operand of an atomic access to a buffer or an array becomes ``hs_at(b, i)``.

    Raises:
        ValueError: an assignment combines a buffer's element with its old value.
    """
    out, at = "", 0
    for found in _NAME.finditer(text):
        name = found[1]
        if found.start() < at or name not in (*buffers, *arrays):
            continue
        end = _end(text, found.end(), "]")
        index = called(text[found.end() : end], buffers, arrays)
        before, at, atomic = text[at : found.start()], end + 1, _ATOMIC.search(text[: found.start()])
        if atomic:
            out += f"{before}hs_at({name}, {index})"
        elif name not in buffers:
            out += f"{before}{name}[{index}]"
        elif _COMPOUND.match(text, at):
            raise ValueError(f"{name}[{index}] is combined with its old value")
        elif assigned := _ASSIGNMENT.match(text, at):
            at = _end(text, assigned.end(), ";,")
            out += f"{before}{name}_store({index}, {called(text[assigned.end() : at], buffers, arrays)})"
        else:
            out += f"{before}{name}_load({index})"
    return out + text[at:]


def _end(text: str, at: int, ends: str) -> int:
    """The index of the first character in `ends`, or of a closing bracket, outside of nested brackets; else the end."""
    depth = 0
    while at < len(text) and (depth or text[at] not in ends + _CLOSE):
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        at += 1
    return at
