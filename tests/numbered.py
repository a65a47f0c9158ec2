"""Work of kernels that is given to lanes or subgroups by their number: what of it nobody does.

Only a work-group of two lanes or more clears both words by ``if (hs_local_id() < 2) words[hs_local_id()] = 0u;``.
`undone` reads the text of a kernel and finds such conditions whose bound exceeds the number of lanes or subgroups, and
loops whose stride exceeds it.  Numbers are the words for them, variables that are set once to expressions of these, and
both in calculations with constants, which are evaluated for every lane.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

WORDS = {"hs_local_id": "LANE", "hs_subgroup_id": "SUBGROUP", "hs_lane_id": "PLACE"}
"""The words for a number, and the variable that replaces each while it is evaluated."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"\d\w*|[A-Za-z_]\w*|<<=?|>>=?|[-+*/%&|^=!<>]=|&&|\|\||\+\+|--|\S")
_CONSTANT = re.compile(r"(\d+|0x[0-9a-f]+)u?")
_COMPARED = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
"""Comparisons, and what they become with their sides exchanged."""
_ENDS = {"&&", "||", "?", ":", ";", ",", "{", "}", "=", "&", "|", "^", "return", "if", "while", *_COMPARED}
_ARITHMETIC = {"+", "-", "*", "/", "%", "&", "<<", ">>", "(", ")"}
_CHANGES = {"=", "++", "--", "+=", "-=", "*=", "/=", ">>=", "<<=", "|=", "&=", "^="}


@dataclass(frozen=True)
class Workers:
    """The lanes of a work-group, in subgroups of `width` lanes."""

    lanes: int
    width: int

    @cache  # noqa: B019  (a few shapes)
    def values(self, text: str) -> tuple[int, ...] | None:
        """The values of an expression in every lane; None if it has none."""
        numbers = ({"LANE": i, "SUBGROUP": i // self.width, "PLACE": i % self.width} for i in range(self.lanes))
        try:
            code = compile(text, "expression", "eval")
            return tuple(int(eval(code, {"__builtins__": {}}, x)) for x in numbers)
        except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
            return None


def undone(text: str, workers: Workers) -> Iterator[str]:
    """Yield the conditions and loops in the body of a kernel that leave work undone."""
    tokens = _tokens(text)
    known = _set_once(tokens, workers)
    for at, token in enumerate(tokens):
        if token in _COMPARED:
            yield from _compared(token, _side(tokens, at, -1), _side(tokens, at, 1), known, workers)
        elif token in ("/", "%", "+=") and tokens[at + 1 : at + 2] in (["0"], ["0u"]):
            yield f"{' '.join(tokens[max(0, at - 6) : at + 2])}: each of too few gets a share of 0"
        elif token == "for":
            yield from _stride(tokens[at : at + 600], known, workers)


def _tokens(text: str) -> list[str]:
    """The tokens of a text without comments; words for numbers are one token each."""
    out: list[str] = []
    for token in _TOKEN.findall(_COMMENT.sub("", text)):
        out.append(token)
        if token == ")" and out[-3:-2] and out[-3] in WORDS and out[-2] == "(":
            out[-3:] = [WORDS[out[-3]]]
    return out


def _side(tokens: Sequence[str], at: int, step: int, ends: Collection[str] = _ENDS) -> list[str]:
    """The tokens on one side, up to where an expression ends, or else the parentheses around it."""
    depth, out, i = 0, [], at + step
    opens, closes = (("(", "["), (")", "]"))[::step]
    while 0 <= i < len(tokens):
        token = tokens[i]
        depth += (token in opens) - (token in closes)
        if depth < 0 or (depth == 0 and token in ends):
            break
        out.append(token)
        i += step
    return out[::step]


def _python(tokens: Sequence[str], known: Mapping[str, str]) -> str | None:
    """An expression in Python, or None if it is more than a calculation with numbers of workers and constants."""
    out = []
    for token in tokens:
        if _CONSTANT.fullmatch(token):
            out.append(token.rstrip("u"))
        elif token in _ARITHMETIC or token in WORDS.values():
            out.append("//" if token == "/" else token)
        elif token in known:
            out.append(f"({known[token]})")
        else:
            return None
    return " ".join(out) or None


def _numbered(text: str | None) -> bool:
    return text is not None and any(word in text for word in WORDS.values())


def _set_once(tokens: Sequence[str], workers: Workers) -> dict[str, str]:
    """The variables that are set once, to a number of a worker, each with its expression."""
    changes: dict[str, int] = {}
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        changes[token] = changes.get(token, 0) + (after in _CHANGES or before in ("++", "--"))
    known: dict[str, str] = {}
    for at in range(1, len(tokens) - 1):
        name = tokens[at]
        if tokens[at - 1] in ("int", ",") and tokens[at + 1] == "=" and name.isidentifier() and changes[name] == 1:
            text = _python(_side(tokens, at + 1, 1), known)
            if text and _numbered(text) and workers.values(text):
                known[name] = text
    return known


def _count(values: Sequence[int]) -> int:
    """How many workers the values number, from 0 on; 0 if they do not."""
    most = max(values) + 1
    return most if set(values) == set(range(most)) else 0


def _compared(
    sign: str, left: Sequence[str], right: Sequence[str], known: Mapping[str, str], workers: Workers
) -> Iterator[str]:
    """Yield what is wrong with a comparison of a worker's number with a constant."""
    sides = _python(left, known), _python(right, known)
    if None in sides or _numbered(sides[0]) == _numbered(sides[1]):
        return
    if _numbered(sides[1]):
        sign, sides = _COMPARED[sign], sides[::-1]
    numbers, bounds = (workers.values(str(x)) for x in sides)
    if not numbers or not bounds:
        return
    shown, least = f"{' '.join(left)} {sign} {' '.join(right)}", bounds[0] + (sign == "<=")
    if sign in ("<", "<=") and 0 < _count(numbers) < least:
        yield f"{shown}: there are {_count(numbers)}"
    if sign == "==" and bounds[0] > max(numbers):
        yield f"{shown}: the greatest number is {max(numbers)}"


def _stride(tokens: Sequence[str], known: Mapping[str, str], workers: Workers) -> Iterator[str]:
    """Yield what is wrong with a loop that begins at a worker's number: a stride beyond the number of workers, whose
    statements do not take several pieces at once."""
    if tokens[1:3] != ["(", "int"] or tokens[4] != "=":
        return
    name, start = tokens[3], _python(_side(tokens, 4, 1), known)
    head = _side(tokens, 1, 1, ())
    steps = [b for a, op, b in zip(head, head[1:], head[2:], strict=False) if (a, op) == (name, "+=") and b.isdigit()]
    if not steps or not _numbered(start) or not (values := workers.values(str(start))):
        return
    step, count = int(steps[0]), _count(values)
    several = rf"(\w+ \* )?{count}\b" if count > 1 else r"\w"
    if 0 < count < step and (step % count or not re.search(rf"\b{name} \+ {several}", " ".join(tokens))):
        yield f"for {name} from {start}: {count} step by {step}"
