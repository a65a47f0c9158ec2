"""The contract between the bodies of kernels and the dialects, which define for each kernel language what the bodies
use.

The file `FILE` lists the *words*: the functions, types and macros that bodies may use and that dialects define.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import jinja2

from hsgen.core.errors import Wrong

FILE = "dialects/contract.toml"
_WORD = re.compile(r"\bhs_\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A function, type or macro that kernel bodies may use.

    parameters: the names of its parameters; None for a word without parentheses.
    """

    name: str
    signature: str
    parameters: tuple[str, ...] | None
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of related words.

    needs: the capability of the dialects that define the words; "" if all dialects define them.
    when: a description of the sorts whose prelude defines the words; "" for all sorts.
    if_used: whether a prelude omits the definitions if no kernel uses a word of the group.
    """

    name: str
    title: str
    needs: str
    when: str
    if_used: bool
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The content of the file `FILE`.

    capabilities: the meaning of each capability, by name.
    helpers: the names of macros in ``templates/keys.j2`` that dialects use and kernel bodies do not.
    """

    groups: tuple[Group, ...]
    capabilities: dict[str, str]
    helpers: frozenset[str]

    def words(self, capabilities: Iterable[str]) -> dict[str, Word]:
        """Return, by name, the words that a dialect with these capabilities defines."""
        have = {"", *capabilities}
        return {w.name: w for g in self.groups if g.needs in have for w in g.words}

    def unused(self, text: str) -> set[str]:
        """Return the words that a prelude need not define, because `text` uses no word of their groups."""
        used = set(_WORD.findall(text))
        groups = (g for g in self.groups if g.if_used and used.isdisjoint(w.name for w in g.words))
        return {w.name for g in groups for w in g.words}


def contract(env: jinja2.Environment) -> Contract:
    """Return the contract, whose file is among the templates of a Jinja environment.

    Raises:
        Wrong: the file is not valid TOML.
    """
    assert env.loader is not None
    return _parsed(env.loader.get_source(env, FILE)[0])


@cache
def _parsed(text: str) -> Contract:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise Wrong(f"templates: {FILE}: {e}; repair the file or reinstall hsgen") from None
    helpers, capabilities = frozenset(data.pop("helpers")), data.pop("capabilities")
    groups = tuple(
        Group(
            name=name,
            title=group["title"],
            needs=group.get("needs", ""),
            when=group.get("when", ""),
            if_used=group.get("if_used", False),
            words=tuple(_word(signature, meaning) for signature, meaning in group["words"].items()),
        )
        for name, group in data.items()
    )
    return Contract(groups=groups, capabilities=capabilities, helpers=helpers)


def _word(signature: str, meaning: str) -> Word:
    name, parenthesis, rest = signature.partition("(")
    listed = rest.partition(")")[0]
    parameters = tuple(x.strip() for x in listed.split(",") if x.strip()) if parenthesis else None
    return Word(name=name, signature=signature, parameters=parameters, meaning=meaning)
